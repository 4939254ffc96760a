/** Calls of the AI SDK that are under way, until their end is told. */
import type { CallContext } from "../context/Context.ts"
import { isObject } from "../event/Event.ts"
import type { Told } from "../event/Secrets.ts"
import * as Timers from "../platform/Timers.ts"
import { ended, type Open } from "./EndedStep.ts"
import { sizeOf } from "./Size.ts"

export type Fields = Readonly<Record<string, unknown>>

export interface Started {
  readonly inputs: Fields
  /** The messages that the steps before it answered, of version 6. */
  readonly answered: ReadonlyArray<unknown>
  /** What the model answered, of a call for an object that is not read yet. */
  readonly answer?: Fields
  /** What the model has said so far, of a stream of version 7. */
  readonly said?: () => Fields
  /** Ends the watch over the reader of such a stream. */
  readonly unwatch?: () => void
  /** What surrounded the call when it began. */
  readonly context: CallContext
  /** What the start told of credentials. */
  readonly told: Told
  readonly occurredAt: Date
  readonly startedAt: number
}

/** Some may never be said to have ended. */
const maxStarted = 1_000
const longestMs = 60 * 60 * 1000

/** What they hold of the recorder's memory. */
interface Memory {
  readonly take: (bytes: number) => boolean
  readonly release: (bytes: number) => void
}

interface Held {
  started: Started
  bytes: number
}

export interface OpenCallsOptions {
  readonly memory: Memory
  /** How many bytes of it they may hold: those that never end must leave some to others. */
  readonly maxBytes: number
  /** Called for each call that is forgotten, because too many are under way, or for too long. */
  readonly lost: () => void
}

export class OpenCalls {
  readonly #options: OpenCallsOptions
  /** Calls of version 7. */
  readonly #byCall = new Map<string, Held>()
  /** Calls of version 6, which has no ids. */
  readonly #byModel: Array<Held & Open<Started>> = []
  #bytes = 0
  #isWatching = false

  constructor(options: OpenCallsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#byCall.size + this.#byModel.length
  }

  /** The event is that of the start of a step. */
  add({ callId, model }: Fields, started: Started): void {
    const { lost, maxBytes, memory } = this.#options
    if (typeof callId !== "string" && !isObject(model)) return
    const bytes = sizeOf(started.inputs)
    while (this.size >= maxStarted || (this.size > 0 && this.#bytes + bytes > maxBytes)) this.#forgetOldest()
    if (!memory.take(bytes)) return lost()
    this.#bytes += bytes
    const held = { started, bytes }
    if (typeof callId !== "string") this.#byModel.push({ model: model as object, ...held })
    else {
      // A step that begins again.
      this.#release(this.#byCall.get(callId))
      this.#byCall.delete(callId)
      this.#byCall.set(callId, held)
    }
    this.#watch()
  }

  /** Adds what is known of the inputs later. */
  complete(event: Fields, inputs: Fields): void {
    this.#change(event, (started) => ({ ...started, inputs: { ...inputs, ...started.inputs } }))
  }

  /** Keeps what comes to be known before the end. */
  know(event: Fields, known: Pick<Started, "answer" | "said" | "unwatch">): void {
    const held = this.hold(event, sizeOf(known.answer)) ? this.#heldOf(event) : undefined
    // Without its start, or after another attempt of the step, a watch would end what it does not belong to.
    const unwatchOther = held === undefined ? known.unwatch : known.unwatch && held.started.unwatch
    unwatchOther?.()
    if (held !== undefined) held.started = { ...held.started, ...known }
  }

  /** Holds more bytes for a call of version 7. False where there is no room for them, so that it is not recorded, or it is over. */
  hold(event: Fields, bytes: number): boolean {
    const { lost, maxBytes, memory } = this.#options
    while (this.size > 1 && this.#bytes + bytes > maxBytes) this.#forgetOldest()
    const held = this.#heldOf(event)
    if (held === undefined) return false
    if (memory.take(bytes)) {
      this.#bytes += bytes
      held.bytes += bytes
      return true
    }
    this.take(event, {})
    lost()
    return false
  }

  #heldOf({ callId }: Fields): Held | undefined {
    return typeof callId === "string" ? this.#byCall.get(callId) : undefined
  }

  #change(event: Fields, change: (started: Started) => Started): void {
    const held = this.#heldOf(event)
    if (held !== undefined) held.started = change(held.started)
  }

  /** The start that an event belongs to, which is the end of it. `context` is what surrounds that end. */
  take(event: Fields, context: CallContext): Started | undefined {
    const { callId } = event
    if (typeof callId !== "string") {
      const entry = ended(this.#byModel, event, context)
      const index = this.#byModel.findIndex((each) => each === entry)
      return index === -1 ? undefined : this.#release(this.#byModel.splice(index, 1)[0])
    }
    const held = this.#byCall.get(callId)
    this.#byCall.delete(callId)
    return this.#release(held)
  }

  /** Takes those that are still under way. Those of version 6 may as well have failed. */
  takeOpen(): ReadonlyArray<Started> {
    const open = [...this.#byCall.values()].map((held) => this.#release(held))
    this.#byCall.clear()
    return open
  }

  #release<Of extends Held | undefined>(held: Of): Of extends Held ? Started : undefined
  #release(held: Held | undefined): Started | undefined {
    if (held === undefined) return undefined
    this.#bytes -= held.bytes
    this.#options.memory.release(held.bytes)
    held.started.unwatch?.()
    return held.started
  }

  /** Version 6 does not say which calls have failed, so that those of it are forgotten first. */
  #oldest(): Held | undefined {
    return this.#byModel[0] ?? this.#byCall.values().next().value
  }

  #forgetOldest(): void {
    this.#release(this.#oldest())
    if (this.#byModel.length > 0) this.#byModel.shift()
    else this.#byCall.delete(this.#byCall.keys().next().value!)
    this.#options.lost()
  }

  /** Forgets those that are never ended. */
  #watch(): void {
    const oldest = this.#oldest()
    if (this.#isWatching || oldest === undefined) return
    this.#isWatching = true
    Timers.after(longestMs - (performance.now() - oldest.started.startedAt), () => {
      this.#isWatching = false
      const before = performance.now() - longestMs
      for (let held = this.#oldest(); held !== undefined && held.started.startedAt <= before; held = this.#oldest()) {
        this.#forgetOldest()
      }
      this.#watch()
    })
  }
}
