/** The messages of one direction of a WebSocket, whole, within bounds: a copy never delays or fails what passes. */
import { BodyCollector } from "../front/BodyCollector.ts"
import type { CopyBudget } from "./Copies.ts"
import { type Frame, FrameReader } from "./SocketFrames.ts"

/** Why a message cannot be read: it is too long, or the copies of everything take too much. */
export type Lost = "payload-too-large" | "held-bytes"

export interface MessageHandlers {
  /** A message of text or of bytes. What it takes of the budget is the handler's, to be released. */
  readonly message: (bytes: Buffer) => void
  readonly lost: (reason: Lost) => void
  /** What comes is no frame that this direction may have. Nothing of it is read any more. */
  readonly invalid: () => void
  /** The frame that closes the connection. 1005 stands for no code (RFC 6455, section 7.4.1). */
  readonly close: (code: number) => void
}

const [continuation, text, binary, close] = [0, 1, 2, 8]
const opcodes: ReadonlySet<number> = new Set([continuation, text, binary, close, 9, 10])
const noCode = 1005

/** The longest payload of a frame that controls the connection. */
const maxControlBytes = 125

const isControl = ({ opcode }: Frame): boolean => opcode >= close

export class MessageReader {
  readonly #frames: FrameReader
  readonly #budget: CopyBudget
  readonly #maxBytes: number
  readonly #isMasked: boolean
  readonly #handlers: MessageHandlers
  #frame: Frame | undefined
  #control: Array<Buffer> = []
  /** The message that has begun. */
  #message: BodyCollector | undefined
  /** Whether the message that has begun cannot be kept. */
  #isLost = false
  #isInvalid = false

  constructor(budget: CopyBudget, maxBytes: number, isMasked: boolean, handlers: MessageHandlers) {
    this.#budget = budget
    this.#maxBytes = maxBytes
    this.#isMasked = isMasked
    this.#handlers = handlers
    this.#frames = new FrameReader({
      begin: (frame) => this.#begin(frame),
      payload: (bytes) => this.#payload(bytes),
      end: () => this.#end()
    })
  }

  /** Whether a frame may be added here. */
  get isBetweenFrames(): boolean {
    return !this.#isInvalid && this.#frames.isBetweenFrames
  }

  push(chunk: Buffer): void {
    if (!this.#isInvalid) this.#frames.push(chunk)
  }

  /** Gives up what has come of a message. */
  end(): void {
    this.#release()
    this.#isInvalid = true
  }

  #isValid(frame: Frame): boolean {
    const { isFinal, isMasked, length, opcode, reserved } = frame
    if (reserved !== 0 || isMasked !== this.#isMasked || !opcodes.has(opcode)) return false
    if (isControl(frame)) return isFinal && length <= maxControlBytes
    return (opcode === continuation) === (this.#message !== undefined) && Number.isSafeInteger(length)
  }

  #begin(frame: Frame): void {
    if (this.#isInvalid) return
    if (!this.#isValid(frame)) {
      this.end()
      return this.#handlers.invalid()
    }
    this.#frame = frame
    if (!isControl(frame)) this.#message ??= new BodyCollector(this.#maxBytes, this.#budget)
  }

  #payload(bytes: Buffer): void {
    if (this.#isInvalid) return
    if (isControl(this.#frame!)) return void this.#control.push(bytes)
    if (this.#isLost) return
    const refused = this.#message!.add(bytes)
    if (refused === undefined) return
    this.#release()
    this.#isLost = true
    this.#handlers.lost(refused._tag === "payload-too-large" ? refused._tag : "held-bytes")
  }

  #end(): void {
    if (this.#isInvalid) return
    if (isControl(this.#frame!)) return this.#endControl()
    if (!this.#frame!.isFinal) return
    const message = this.#message!
    this.#message = undefined
    if (this.#isLost) this.#isLost = false
    else this.#handlers.message(message.bytes)
  }

  #endControl(): void {
    const payload = Buffer.concat(this.#control)
    this.#control = []
    if (this.#frame!.opcode === close) this.#handlers.close(payload.length < 2 ? noCode : payload.readUInt16BE())
  }

  #release(): void {
    if (this.#message === undefined) return
    this.#budget.release(this.#message.length)
    this.#message.clear()
  }
}
