/** A call to a provider while it is under way: what is kept of it, within the budget, and how it ended. */
import type { Accumulator } from "@tachograph/formats"
import { failureOfBody, type Interruption, outputOf } from "@tachograph/formats/Failures"
import type { Budget } from "../delivery/Budget.ts"
import type { DropReason } from "../delivery/Counters.ts"
import { objectIn } from "../event/Event.ts"
import { failureOfError } from "../event/Interruption.ts"
import * as Timers from "../platform/Timers.ts"
import type { CapturedRequest } from "./CapturedRequest.ts"

/** A call that is over. */
export interface FinishedCall {
  readonly request: CapturedRequest
  /** The JSON text of an object. */
  readonly output: string
  readonly occurredAt: Date
  readonly durationMs: number
  readonly firstTokenMs: number | undefined
  readonly httpStatus: number | undefined
  /** Gives back what the call holds of the budget. Does nothing the second time. */
  readonly release: () => void
}

/** What a call reports to. Exactly one of them is called, once. */
export interface CallListener {
  readonly finished: (call: FinishedCall) => void
  readonly dropped: (reason: DropReason) => void
}

/** How the bytes of an answer are kept: as the text that they are, or as what the stream stands for. */
export interface Keeper {
  readonly push: (chunk: Uint8Array) => void
  readonly end: (status: number, interruption: Interruption | undefined, error: unknown) => string
}

/** Keeps a body that is not a stream. */
export const textKeeper = (): Keeper => {
  const decoder = new TextDecoder()
  const parts: Array<string> = []
  return {
    push: (chunk) => void parts.push(decoder.decode(chunk, { stream: true })),
    end: (status, interruption, error) => {
      parts.push(decoder.decode())
      const body = parts.join("")
      // A text that ends with its last brace is whole, whatever happened to the connection after it.
      if (objectIn(body) !== undefined) return body
      return JSON.stringify(
        interruption === undefined ? failureOfBody(status, body) : failureOfError(interruption, error, body)
      )
    }
  }
}

/** Keeps a stream as the answer that it stands for. */
export const streamKeeper = (accumulator: Accumulator): Keeper => ({
  push: accumulator.push,
  end: (_status, interruption = "cut", error) => outputOf(accumulator.end(), failureOfError(interruption, error))
})

export class Call {
  readonly #request: CapturedRequest
  readonly #budget: Budget
  readonly #listener: CallListener
  readonly #occurredAt = new Date()
  readonly #startedAt = performance.now()
  #firstTokenMs: number | undefined
  #status: number | undefined
  #keeper: Keeper | undefined
  #held: number
  #isOver = false
  #isReleased = false
  #stopTimer: (() => void) | undefined
  #readAt = 0

  readonly #open: Set<Call>

  /** The call is in `open` while it is under way. */
  constructor(request: CapturedRequest, budget: Budget, listener: CallListener, open: Set<Call>) {
    this.#open = open.add(this)
    this.#request = request
    this.#budget = budget
    this.#listener = listener
    this.#held = request.bytes
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Counts more bytes that are held for the call, whether it is over or not. Without room for them it is not recorded. */
  readonly take = (bytes: number): boolean => {
    if (this.#isReleased) return false
    if (!this.#budget.take(bytes)) {
      this.abandon("memory")
      return false
    }
    this.#held += bytes
    return true
  }

  /** The provider has answered, and its body begins. */
  answered(status: number, keeper: Keeper, unreadMs: number): void {
    this.#status = status
    this.#keeper = keeper
    this.#readAt = performance.now()
    this.#watch(unreadMs, unreadMs)
  }

  /** Takes the next bytes of the body. They may be detached afterwards. */
  push(chunk: Uint8Array): void {
    if (this.#isOver || this.#keeper === undefined) return
    this.#readAt = performance.now()
    this.#firstTokenMs ??= this.#readAt - this.#startedAt
    if (!this.take(chunk.byteLength)) return
    try {
      this.#keeper.push(chunk)
    } catch {
      this.abandon("unreadable")
    }
  }

  /** The call is over: whole, or interrupted. */
  end(interruption?: Interruption, error?: unknown): void {
    if (this.#isOver) return
    const durationMs = performance.now() - this.#startedAt
    this.#close()
    const release = () => this.#release()
    let output: string
    try {
      output =
        this.#keeper?.end(this.#status!, interruption, error) ??
        JSON.stringify(failureOfError(interruption ?? "connection_error", error))
    } catch {
      release()
      return this.#listener.dropped("unreadable")
    }
    this.#listener.finished({
      request: this.#request,
      output,
      occurredAt: this.#occurredAt,
      durationMs,
      firstTokenMs: this.#firstTokenMs,
      httpStatus: this.#status,
      release
    })
  }

  /** The call is not recorded. */
  abandon(reason: DropReason): void {
    if (this.#isOver) return
    this.#close()
    this.#release()
    this.#listener.dropped(reason)
  }

  #close(): void {
    this.#isOver = true
    this.#open.delete(this)
    this.#stopTimer?.()
  }

  #release(): void {
    this.#isReleased = true
    this.#budget.release(this.#held)
    this.#held = 0
  }

  /** Ends a call whose answer was not read on for `unreadMs`. */
  #watch(unreadMs: number, waitMs: number): void {
    this.#stopTimer = Timers.after(waitMs, () => {
      const leftMs = unreadMs - (performance.now() - this.#readAt)
      if (leftMs <= 0) this.end("unread")
      else this.#watch(unreadMs, leftMs)
    })
  }
}
