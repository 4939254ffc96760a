/** An answer on its way to the client. A large one is written in pieces, so that a client that does not read holds little. */
import type { ProjectId } from "@tachograph/core"
import { isCounted } from "../Engine.ts"
import * as Answer from "../response/Answer.ts"
import { type BodyStream, pieceBytes } from "../response/BodyStream.ts"
import { AnswerTimeout } from "./AnswerTimeout.ts"
import { TimedStream } from "./TimedStream.ts"

/** A shorter answer takes less than the request that it answers (bytes). */
const minBehindBytes = 1024

/** As many UTF-16 units fit into a piece, whatever they are. */
const pieceUnits = Math.floor(pieceBytes / 3)

export interface Reply extends Answer.Answer {
  /** The body in pieces, which the mount takes one after the other; undefined if it is small, to be written at once. */
  readonly pieces?: Pieces
  /** The body, where it is made while the mount takes it. */
  readonly live?: TimedStream
}

/** What a request may hold of the memory of the process until its answer is taken. */
interface AnswerPermit {
  readonly reserveAnswer: (bytes: number) => boolean
  readonly openStream: (project: ProjectId) => boolean
  readonly release: () => void
}

/** A body that is held until its last piece is written, or none has been taken for too long. */
export class Pieces {
  /** Called when no piece has been taken for too long. The mount closes the connection, and then the pieces. */
  onTimeout: () => void = () => this.close()
  #answer: Answer.Answer | undefined
  readonly #release: () => void
  readonly #timer: NodeJS.Timeout
  #parts: ReadonlyArray<string | Uint8Array>
  #part = 0
  #offset = 0
  #hasTimedOut = false

  /** `release` is called when the body is freed. */
  constructor(answer: Answer.Answer, timeoutMs: number, release: () => void) {
    const { body } = answer
    this.#answer = answer
    this.#parts = typeof body === "string" ? [body] : body
    this.#release = release
    this.#skipEmpty()
    this.#timer = setTimeout(() => {
      this.#hasTimedOut = true
      this.onTimeout()
    }, timeoutMs)
    // An answer that is not taken does not keep a process running.
    this.#timer.unref()
  }

  /** Whether the last piece has been taken. */
  get isEmpty(): boolean {
    return this.#part >= this.#parts.length
  }

  /** The next piece, a view of the body; undefined after the last. Throws an `AnswerTimeout` if it comes too late. */
  next(): Uint8Array | undefined {
    if (this.#hasTimedOut) throw new AnswerTimeout()
    const part = this.#parts[this.#part]
    if (part === undefined) return undefined
    this.#timer.refresh()
    const start = this.#offset
    this.#offset = typeof part === "string" ? cut(part, start) : start + pieceBytes
    const piece = typeof part === "string" ? Buffer.from(part.slice(start, this.#offset)) : view(part, start)
    this.#skipEmpty()
    return piece
  }

  /** The last piece is written, or no more will be. Frees the body, and with it every piece that was taken. Idempotent. */
  close(): void {
    clearTimeout(this.#timer)
    this.#parts = []
    if (this.#answer !== undefined) Answer.free(this.#answer)
    this.#answer = undefined
    this.#release()
  }

  #skipEmpty(): void {
    while (this.#part < this.#parts.length && this.#offset >= this.#parts[this.#part]!.length) {
      this.#part++
      this.#offset = 0
    }
  }
}

const view = (part: Uint8Array, start: number): Uint8Array => part.subarray(start, start + pieceBytes)

/** Where the piece of a text that begins at `start` ends. A pair of surrogates is not cut. */
const cut = (text: string, start: number): number => {
  const end = start + pieceUnits
  return (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end
}

/**
 * A large answer counts in the admission control until its client has taken it: `reserveAnswer` counts its bytes, and `release`
 * gives them back. So does a small one behind others that were not taken: a client may ask for many at once. An answer that is made
 * while it is taken counts as a stream. Undefined if it does not fit. An answer that is the same for every request takes no memory of
 * its own.
 */
export const of = (
  answer: Answer.Answer,
  timeoutMs: number,
  permit: AnswerPermit,
  project: ProjectId,
  isBehind: () => boolean = () => false
): Reply | undefined => {
  if (answer.stream !== undefined) return ofStream(answer, answer.stream, timeoutMs, permit, project)
  if (answer.isShared === true) return { ...answer, pieces: new Pieces(answer, timeoutMs, () => {}) }
  const bytes = Answer.byteLength(answer.body)
  if (!isCounted(bytes) && (bytes < minBehindBytes || !isBehind())) return answer
  if (permit.reserveAnswer(bytes)) return { ...answer, pieces: new Pieces(answer, timeoutMs, permit.release) }
  Answer.free(answer)
  return undefined
}

const ofStream = (
  answer: Answer.Answer,
  stream: BodyStream,
  timeoutMs: number,
  permit: AnswerPermit,
  project: ProjectId
): Reply | undefined => {
  if (permit.openStream(project)) return { ...answer, live: new TimedStream(stream, timeoutMs, permit.release) }
  stream.cancel()
  return undefined
}
