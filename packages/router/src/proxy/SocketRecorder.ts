/** Records the calls that a WebSocket carries, of copies of its bytes: the messages of both directions in the order in which they came. */
import { JsonValue, Steps } from "@tachograph/core"
import type { Interruption } from "../calls/PassedCall.ts"
import type { CopiedCall } from "./CallRecorder.ts"
import type { CopyBudget } from "./Copies.ts"
import { type Lost, MessageReader } from "./SocketMessages.ts"
import { maxTurns, ResponseCalls, type SocketEvent } from "./ResponseCalls.ts"

export interface SocketRecording {
  readonly budget: CopyBudget
  /** The limit on the length of a message. */
  readonly maxBytes: number
  readonly begin: () => CopiedCall
  /** Counts what cannot be recorded. */
  readonly drop: (reason: Lost | "undecodable") => void
}

const fields = JsonValue.fieldsAt([
  ["type"],
  ["stream_id"],
  ["generate"],
  ["status"],
  ["previous_response_id"],
  ["response", "previous_response_id"],
  ["steer", "previous_response_id"]
])

/** The frame that closed the connection first. */
export interface Closing {
  readonly isOfClient: boolean
  readonly code: number
}

interface Waiting {
  readonly isOfClient: boolean
  readonly bytes: Buffer
}

/** Does the steps of a long text in turns of the event loop. */
const inTurns = <A>(steps: Steps.Steps<A>, done: (result: A) => void): void => {
  const next = steps.next()
  if (next.done === true) done(next.value)
  else setImmediate(inTurns, steps, done)
}

export class SocketRecorder {
  /** What the application sends, and what it gets. */
  readonly client: MessageReader
  readonly server: MessageReader
  readonly #recording: SocketRecording
  readonly #calls: ResponseCalls
  readonly #waiting: Array<Waiting> = []
  readonly #onIdle: () => void
  #isReading = false
  #ending: readonly [interruption: Interruption, failureCode: string | undefined] | undefined
  #isOver = false
  #closing: Closing | undefined

  /** `onIdle` is called whenever the last request is answered. */
  constructor(recording: SocketRecording, onIdle: () => void) {
    this.#recording = recording
    this.#onIdle = onIdle
    this.#calls = new ResponseCalls(recording.begin, () => recording.drop("undecodable"))
    this.client = this.#reader(true)
    this.server = this.#reader(false)
  }

  /** Whether no request waits for its answer. */
  get isIdle(): boolean {
    return this.#isOver || (this.#calls.size === 0 && this.#waiting.length === 0 && !this.#isReading)
  }

  /** Undefined while there is none. */
  get closing(): Closing | undefined {
    return this.#closing
  }

  /** Nothing passes any more: records the calls under way as far as they came. */
  end(interruption: Interruption, failureCode: string | undefined): void {
    this.client.end()
    this.server.end()
    this.#ending = [interruption, failureCode]
    this.#read()
  }

  #reader(isOfClient: boolean): MessageReader {
    const { budget, maxBytes } = this.#recording
    return new MessageReader(budget, maxBytes, isOfClient, {
      message: (bytes) => {
        this.#waiting.push({ isOfClient, bytes })
        this.#read()
      },
      lost: (reason) => this.#lose(isOfClient, reason),
      invalid: () => this.#giveUp(),
      // Each side answers such a frame with one: the first says who closes.
      close: (code) => {
        this.#closing ??= { isOfClient, code }
      }
    })
  }

  /** Where several requests are under way, or messages before it wait, it is not known which of them it belongs to. */
  #lose(isOfClient: boolean, reason: Lost): void {
    if (this.#isOver) return
    this.#recording.drop(reason)
    if (this.#isReading || this.#calls.hasLanes || (!isOfClient && this.#calls.size > 1)) return this.#stop()
    if (isOfClient) this.#calls.sentUnread()
    else this.#calls.end()
  }

  /** Ends recording, as of bytes that are no frames. They pass. */
  #giveUp(): void {
    if (this.#isOver) return
    this.#recording.drop("undecodable")
    this.#stop()
  }

  #stop(): void {
    this.#isOver = true
    this.client.end()
    this.server.end()
    for (const { bytes } of this.#waiting.splice(0)) this.#recording.budget.release(bytes.length)
    this.#calls.end()
  }

  #read(): void {
    while (!this.#isReading && !this.#isOver) {
      const next = this.#waiting.shift()
      if (next === undefined) return this.#settle()
      this.#isReading = true
      inTurns(JsonValue.parseInSteps(next.bytes, fields), (parsed) => {
        this.#isReading = false
        if (!this.#isOver && "value" in parsed) this.#take(next, parsed.value)
        this.#recording.budget.release(next.bytes.length)
        if (next.bytes.length >= Steps.longFromBytes) this.#read()
      })
    }
  }

  #take({ bytes, isOfClient }: Waiting, value: unknown): void {
    if (typeof value !== "object" || value === null) return
    if (isOfClient) this.#calls.sent(value as SocketEvent, bytes)
    else this.#calls.received(value as SocketEvent, bytes)
    if (this.#calls.size > maxTurns) this.#giveUp()
  }

  #settle(): void {
    if (this.#ending !== undefined) {
      this.#isOver = true
      this.#calls.end(...this.#ending)
    }
    if (this.isIdle) this.#onIdle()
  }
}
