/** A body in pieces on its way to its client, which is given up if the client takes nothing for too long. */
import { BodyCut, type BodyStream } from "../response/BodyStream.ts"
import { AnswerTimeout } from "./AnswerTimeout.ts"

const lineFeed = 0x0a

export class TimedStream implements BodyStream {
  /** Called when a piece has not been taken for too long. The mount closes the connection, and then the stream. */
  onTimeout: () => void = () => this.cancel()
  /** Called once, when the body is complete or given up. */
  onEnd: () => void = () => {}
  readonly #stream: BodyStream
  readonly #timeoutMs: number
  readonly #release: () => void
  #timer: NodeJS.Timeout | undefined
  #hasTimedOut = false
  #isOver = false
  /** Whether the body is to end at the end of a line. */
  #isFinishing = false
  #isAtLineEnd = true

  /** `release` is called once, when the body is complete or given up. */
  constructor(stream: BodyStream, timeoutMs: number, release: () => void) {
    this.#stream = stream
    this.#timeoutMs = timeoutMs
    this.#release = release
    // A host may drop an answer before it asks for the first piece.
    this.#startTimer()
  }

  /**
   * The next piece; undefined after the last one. Asking for it says that the piece before is taken. Rejects if the body cannot be
   * completed, with an `AnswerTimeout` if it is asked for too late.
   */
  readonly next = async (): Promise<Uint8Array | undefined> => {
    clearTimeout(this.#timer)
    if (this.#hasTimedOut) throw new AnswerTimeout()
    if (this.#isOver) throw new BodyCut()
    if (this.#isFinished) {
      this.cancel()
      return undefined
    }
    try {
      const piece = await this.#stream.next()
      if (this.#isOver) throw new BodyCut()
      // Only the client is hurried: what makes the body may have nothing to say for long.
      if (piece === undefined) this.#end()
      else this.#startTimer()
      this.#isAtLineEnd = piece?.at(-1) === lineFeed
      return piece
    } catch (error) {
      this.#end()
      if (this.#isFinished) return undefined
      throw error
    }
  }

  readonly cancel = (): void => {
    this.#end()
    this.#stream.cancel()
  }

  /** Ends a body of lines as a whole one, after the line that is on its way. */
  readonly finish = (): void => {
    this.#isFinishing = true
    if (this.#isAtLineEnd) this.#stream.cancel()
  }

  get #isFinished(): boolean {
    return this.#isFinishing && this.#isAtLineEnd
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => {
      this.#hasTimedOut = true
      this.onTimeout()
    }, this.#timeoutMs)
    this.#timer.unref()
  }

  #end(): void {
    clearTimeout(this.#timer)
    if (this.#isOver) return
    this.#isOver = true
    this.#release()
    this.onEnd()
  }
}
