/** The lines of a body as it comes. Holds one line at most, beside what one piece completes. */
import { PayloadTooLargeError } from "@tachograph/api"
import { Errors } from "@tachograph/core"
import { Buffer } from "node:buffer"
import { Chunks } from "../response/Chunks.ts"
import type { BodyStream } from "../response/BodyStream.ts"

interface WholeLine<Held> {
  /** From 1. Empty lines count, and are left out. */
  readonly number: number
  /** Without its line break. */
  readonly bytes: Buffer
  /** What holds the memory of a long line. Who takes the line releases it. */
  readonly held: Held | undefined
}

/** A line that is too long, or that finds no memory. */
interface SkippedLine {
  readonly number: number
  readonly bytes: undefined
  readonly refusal: PayloadTooLargeError | Errors.Overloaded
}

export type Line<Held = HeldLine> = WholeLine<Held> | SkippedLine

/** The memory of a long line. */
export interface HeldLine {
  /** Whether the line may have this number of bytes more. */
  readonly reserve: (bytes: number) => boolean
  readonly release: () => void
}

/** Says when a long line may be held. */
export interface LongLines<Held> {
  readonly hold: () => Held | Promise<Held>
}

/** A line that is longer than this is long (bytes). */
const longBytes = 256 * 1024

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Some editors begin a text with it. JSON has it nowhere else than in a string. */
const byteOrderMark = Buffer.from("\ufeff")

/** Lets one of several readers hold a long line; the others wait. */
export class OneAtATime implements LongLines<HeldLine> {
  #last: Promise<void> = Promise.resolve()

  async hold(): Promise<HeldLine> {
    const before = this.#last
    let release = () => {}
    this.#last = new Promise((resolve) => (release = resolve))
    await before
    return { reserve: () => true, release }
  }
}

/** What follows a line of this length is not read. */
export class LineTooLong extends Error {
  constructor() {
    super("A line is too long to be skipped")
  }
}

export class LineReader<Held extends HeldLine> {
  readonly #body: BodyStream
  readonly #maxBytes: number
  readonly #maxSkippedBytes: number
  readonly #longLines: LongLines<Held>
  /** The beginning of a line. */
  readonly #rest = new Chunks()
  #restBytes = 0
  #number = 0
  #refusal: SkippedLine["refusal"] | undefined
  #isOver = false
  #isClosed = false
  #held: Held | undefined

  /** Lines of more than `maxBytes` are refused, and skipped as far as `maxSkippedBytes`. */
  constructor(body: BodyStream, maxBytes: number, maxSkippedBytes: number, longLines: LongLines<Held>) {
    this.#body = body
    this.#maxBytes = maxBytes
    this.#maxSkippedBytes = maxSkippedBytes
    this.#longLines = longLines
  }

  /** The number of the last line that was complete. */
  get number(): number {
    return this.#number
  }

  /**
   * The lines that the next piece completes, which may be none; undefined after the last. Rejects where a line is too long to be skipped,
   * or the rest of the body cannot be had.
   */
  async next(): Promise<ReadonlyArray<Line<Held>> | undefined> {
    if (this.#isOver) return undefined
    const piece = await this.#body.next()
    const lines: Array<Line<Held>> = []
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
    this.#release()
  }

  async #add(part: Uint8Array): Promise<void> {
    this.#restBytes += part.length
    if (this.#restBytes > this.#maxSkippedBytes) throw new LineTooLong()
    if (this.#refusal !== undefined || part.length === 0) return
    if (this.#restBytes > this.#maxBytes) return this.#skip(new PayloadTooLargeError())
    this.#rest.add(part)
    if (this.#restBytes <= longBytes) return
    const isFirst = this.#held === undefined
    this.#held ??= await this.#longLines.hold()
    if (this.#isClosed) this.#release()
    else if (!this.#held.reserve(isFirst ? this.#restBytes : part.length)) this.#skip(new Errors.Overloaded())
  }

  #skip(refusal: SkippedLine["refusal"]): void {
    this.#refusal = refusal
    this.#rest.clear()
    this.#release()
  }

  #complete(lines: Array<Line<Held>>): void {
    const { bytes } = this.#rest
    const refusal = this.#refusal
    const held = this.#held
    this.#rest.clear()
    this.#restBytes = 0
    this.#refusal = undefined
    this.#held = undefined
    const number = ++this.#number
    const start = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0
    const line = bytes.subarray(start, bytes.at(-1) === carriageReturn ? -1 : undefined)
    if (refusal !== undefined) lines.push({ number, bytes: undefined, refusal })
    else if (line.length > 0) lines.push({ number, bytes: line, held })
  }

  #release(): void {
    this.#held?.release()
    this.#held = undefined
  }
}
