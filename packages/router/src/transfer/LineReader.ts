/** The lines of a body as it comes. Holds one line at most, beside what one piece completes. */
import { Buffer } from "node:buffer"
import { Chunks } from "../response/Chunks.ts"
import type { BodyStream } from "../response/BodyStream.ts"

export interface Line {
  /** From 1. Empty lines count, and are left out. */
  readonly number: number
  /** Without its line break. Undefined if it is too long. */
  readonly bytes: Buffer | undefined
}

/** A line that is longer than this is long (bytes). */
const longBytes = 256 * 1024

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Some editors begin a text with it. JSON has it nowhere else than in a string. */
const byteOrderMark = Buffer.from("\ufeff")

/** Lets one of several readers hold a long line. */
export class LongLines {
  #last: Promise<void> = Promise.resolve()

  /** Resolves with a function that lets the next one in. */
  async enter(): Promise<() => void> {
    const before = this.#last
    let leave = () => {}
    this.#last = new Promise((resolve) => (leave = resolve))
    await before
    return leave
  }
}

/** What follows a line of this length is not read. */
export class LineTooLong extends Error {
  constructor() {
    super("A line is too long to be skipped")
  }
}

export class LineReader {
  readonly #body: BodyStream
  readonly #maxBytes: number
  readonly #longLines: LongLines
  /** The beginning of a line. */
  readonly #rest = new Chunks()
  #restBytes = 0
  #number = 0
  #isSkipping = false
  #isOver = false
  #isClosed = false
  #leave: (() => void) | undefined

  constructor(body: BodyStream, maxBytes: number, longLines: LongLines) {
    this.#body = body
    this.#maxBytes = maxBytes
    this.#longLines = longLines
  }

  /**
   * The lines that the next piece completes, which may be none; undefined after the last. The lines before are used up. Rejects where
   * a line has more than twice the bytes that it may have: compressed, the rest may be of any length.
   */
  async next(): Promise<ReadonlyArray<Line> | undefined> {
    if (this.#restBytes <= longBytes) this.#leaveLong()
    if (this.#isOver) return undefined
    const piece = await this.#body.next()
    const lines: Array<Line> = []
    if (piece === undefined) {
      this.#isOver = true
      this.#complete(lines)
      return lines
    }
    for (let start = 0; start < piece.length;) {
      // Compressed, empty lines are many more than others can be.
      if (this.#restBytes === 0 && piece[start] === lineFeed) {
        this.#number++
        start++
        continue
      }
      const end = piece.indexOf(lineFeed, start)
      await this.#add(piece.subarray(start, end === -1 ? piece.length : end))
      if (end === -1) break
      this.#complete(lines)
      start = end + 1
    }
    return lines
  }

  /** Reads no further. */
  close(): void {
    this.#isClosed = true
    this.#body.cancel()
    this.#leaveLong()
  }

  async #add(part: Uint8Array): Promise<void> {
    this.#restBytes += part.length
    if (this.#restBytes > this.#maxBytes) {
      if (this.#restBytes > 2 * this.#maxBytes) throw new LineTooLong()
      this.#isSkipping = true
      this.#rest.clear()
      return
    }
    if (part.length > 0 && !this.#isSkipping) this.#rest.add(part)
    if (this.#restBytes <= longBytes || this.#leave !== undefined) return
    this.#leave = await this.#longLines.enter()
    if (this.#isClosed) this.#leaveLong()
  }

  #complete(lines: Array<Line>): void {
    const { bytes } = this.#rest
    const isSkipped = this.#isSkipping
    this.#rest.clear()
    this.#restBytes = 0
    this.#isSkipping = false
    this.#number++
    const start = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0
    const line = bytes.subarray(start, bytes.at(-1) === carriageReturn ? -1 : undefined)
    if (isSkipped) lines.push({ number: this.#number, bytes: undefined })
    else if (line.length > 0) lines.push({ number: this.#number, bytes: line })
  }

  #leaveLong(): void {
    this.#leave?.()
    this.#leave = undefined
  }
}
