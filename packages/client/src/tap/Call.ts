/** A call to a provider while it is under way: what is kept of it, within the budget, and how it ended. */
import { failureOfBody, type Interruption, isBroken, outputOf, withFailure } from "@tachograph/capture/Failures"
import { beginsAsEvents } from "@tachograph/capture/Recognise"
import type { Accumulator, JsonObject } from "@tachograph/formats"
import type { Budget } from "../delivery/Budget.ts"
import type { DropReason } from "../delivery/Counters.ts"
import { objectIn } from "../event/Event.ts"
import { failureOfError } from "../event/Interruption.ts"
import { Reading } from "../platform/Reading.ts"
import * as Timers from "../platform/Timers.ts"
import * as Utf8 from "../platform/Utf8.ts"
import type { CapturedRequest } from "./CapturedRequest.ts"

/** A call that is over. */
export interface FinishedCall {
  readonly request: CapturedRequest
  /**
   * The JSON text of an object, of which the text of the inputs may say the format. To be called in a later turn of the event loop, as it
   * takes its time. It may reject.
   */
  readonly output: (inputs: string) => Promise<string>
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
  /** How many bytes it holds. Takes its time. Absent where it holds all that it was pushed. */
  readonly measure?: () => number
  readonly end: (status: number, interruption: Interruption | undefined, error: unknown, inputs: string) => string
}

/** A chunk of fewer bytes takes more memory than it holds. So many in a row are joined to one. */
const [smallBytes, maxSmall] = [1024, 256]

/** What accumulates a stream, by the texts of the inputs and of the stream. */
export type FindAccumulator = (inputs: string, stream: string) => (() => Accumulator) | undefined

/** Keeps a body whose content type is not that of a stream, or whose format is not known yet. It may be one all the same, or is one. */
export const textKeeper = (find: FindAccumulator = () => undefined, isStreamed = false): Keeper => {
  const chunks: Array<Uint8Array> = []
  /** Chunks at the end that are not joined. */
  let small = 0
  return {
    push: (chunk) => {
      small = chunk.length < smallBytes ? small + 1 : 0
      chunks.push(chunk)
      if (small < maxSmall) return
      chunks.push(Utf8.joined(chunks.splice(-small)))
      small = 0
    },
    end: (status, interruption, error, inputs) => {
      const body = Utf8.textOf(chunks)
      const object = objectIn(body)
      if (object !== undefined && !isBroken(interruption)) return body
      if (object !== undefined) return withFailure(body, object as JsonObject, failureOfError(interruption!, error))
      const accumulator = isStreamed || beginsAsEvents(body) ? find(inputs, body) : undefined
      if (accumulator !== undefined) {
        const stream = streamKeeper(accumulator())
        for (const chunk of chunks) stream.push(chunk)
        return stream.end(status, interruption, error, inputs)
      }
      return JSON.stringify(
        interruption === undefined ? failureOfBody(status, body) : failureOfError(interruption, error, body)
      )
    }
  }
}

/** Keeps a stream as the answer that it stands for, which is often a small part of it. */
export const streamKeeper = (accumulator: Accumulator): Keeper => ({
  push: accumulator.push,
  measure: accumulator.size,
  end: (_status, interruption = "cut", error) => outputOf(accumulator.end(), failureOfError(interruption, error))
})

/** A keeper is measured when it got this number of bytes since the last time, and as many as it held then. */
const bytesUntilMeasured = 64 * 1024

/**
 * The part of the bytes of a stream that counts as held at least. What a stream stands for may be shorter than what is kept to know
 * it, and takes as long to measure as that: without this, measuring could take as long for each of its chunks as for all before.
 */
const leastHeld = 1 / 8

/** What a chunk takes that waits for the keeper, beside its bytes. */
const bytesOfChunk = 256

/** How many bytes of an answer, and to the end of a chunk, a keeper gets in one turn of the event loop: the application has its turns between. */
const bytesPerTurn = 32 * 1024

export class Call {
  readonly #request: CapturedRequest
  readonly #budget: Budget
  readonly #listener: CallListener
  readonly #open: Set<Call>
  readonly #occurredAt = new Date()
  readonly #startedAt = performance.now()
  #firstTokenMs: number | undefined
  #status: number | undefined
  #keeper: Keeper | undefined
  #held: number
  #isOver = false
  #isReleased = false
  /** Of the body, once it has begun. */
  #reading: Reading | undefined
  /** Copies of chunks that the keeper has not got yet: the application gets them first. */
  readonly #pending: Array<Uint8Array> = []
  /** What the keeper held when it was measured last, what it got since then, and in all. */
  #measured = 0
  #unmeasured = 0
  #passed = 0

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
    this.#reading = new Reading(unreadMs, () => this.end("unread"))
  }

  /** The application waits for bytes of the body. */
  reading(): void {
    this.#reading?.waits()
  }

  /** Takes the next bytes of the body. They may be detached afterwards. */
  push(chunk: Uint8Array): void {
    const at = this.#reading?.took()
    if (this.#isOver || this.#keeper === undefined || at === undefined) return
    this.#firstTokenMs ??= at - this.#startedAt
    if (!this.take(chunk.byteLength + bytesOfChunk)) return
    // `slice` of a `Buffer` would copy nothing, and a `DataView` has none.
    const copy = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength).slice()
    if (this.#pending.push(copy) === 1) this.#passSoon()
  }

  #passSoon(): void {
    Timers.soon(() => {
      // What is left of a call that is over is passed on as its output is made.
      if (this.#isOver) return
      try {
        this.#pass()
      } catch {
        return this.abandon("unreadable")
      }
      if (this.#pending.length > 0) this.#passSoon()
    })
  }

  /** Gives the keeper the next chunks, as many as are for one turn. */
  #pass(): void {
    let bytes = 0
    const beyond = this.#pending.findIndex(({ byteLength }) => (bytes += byteLength) >= bytesPerTurn)
    for (const chunk of this.#pending.splice(0, beyond === -1 ? Infinity : beyond + 1)) {
      this.#keeper?.push(chunk)
      this.#give(bytesOfChunk)
      this.#unmeasured += chunk.byteLength
      this.#passed += chunk.byteLength
      this.#measure()
    }
  }

  /** Gives back bytes that are held no more, or takes them where there are less than none. */
  #give(bytes: number): void {
    if (this.#isReleased) return
    this.#budget.release(bytes)
    this.#held -= bytes
  }

  /** The budget counts what is held, and not what has passed. */
  #measure(): void {
    if (this.#isReleased || this.#unmeasured < Math.max(bytesUntilMeasured, this.#measured)) return
    if (this.#keeper?.measure === undefined) return
    const measured = Math.max(this.#keeper.measure(), Math.floor(this.#passed * leastHeld))
    // What is held in another form may be longer. The next chunk finds out whether there is room.
    const change = measured - this.#measured - this.#unmeasured
    this.#give(-change)
    this.#measured = measured
    this.#unmeasured = 0
  }

  /** The call is over: whole, or interrupted. */
  end(interruption?: Interruption, error?: unknown): void {
    if (this.#isOver) return
    const durationMs = performance.now() - this.#startedAt
    this.#close()
    this.#listener.finished({
      request: this.#request,
      output: async (inputs) => {
        for (this.#pass(); this.#pending.length > 0; this.#pass()) await Timers.laterTurn()
        return (
          this.#keeper?.end(this.#status!, interruption, error, inputs) ??
          JSON.stringify(failureOfError(interruption ?? "connection_error", error))
        )
      },
      occurredAt: this.#occurredAt,
      durationMs,
      firstTokenMs: this.#firstTokenMs,
      httpStatus: this.#status,
      release: () => this.#release()
    })
  }

  /** The call is not recorded. */
  abandon(reason: DropReason): void {
    if (this.#isOver) return
    this.#close()
    this.#release()
    this.#pending.length = 0
    this.#listener.dropped(reason)
  }

  #close(): void {
    this.#isOver = true
    this.#open.delete(this)
    this.#reading?.stop()
  }

  #release(): void {
    this.#isReleased = true
    this.#budget.release(this.#held)
    this.#held = 0
    this.#keeper = undefined
  }
}
