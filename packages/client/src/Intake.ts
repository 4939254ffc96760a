/** Makes events of calls that are over, and keeps them until they are sent: in memory, or in files. */
import type { Api } from "@tachograph/formats"
import type { CallContext } from "./context/Context.ts"
import { backoffMs } from "./delivery/Backoff.ts"
import type { Budget } from "./delivery/Budget.ts"
import type { Drop } from "./delivery/Counters.ts"
import type { Delivery } from "./delivery/Delivery.ts"
import { type Envelope, isObject, objectIn, type Payload, type RecordedEvent, textOf } from "./event/Event.ts"
import * as Session from "./event/Session.ts"
import { defaults, type RecorderOptions } from "./Options.ts"
import * as Timers from "./platform/Timers.ts"
import { Spool, type SpoolEntry } from "./spool/Spool.ts"

/** The payload of a call, whose format its inputs decide: null where they are no model call. */
interface Found extends Omit<Payload, "api"> {
  readonly apiOf: (inputs: Record<string, unknown>) => Api | null
}

/** A call that is over and becomes an event. */
export interface Draft {
  readonly payload: () => Promise<Found | undefined>
  readonly envelope: Partial<Envelope>
  readonly context: CallContext
  /** Gives back what the call holds of the budget. Does nothing the second time. */
  readonly release: () => void
  /** To be called when the event is sent or dropped. */
  readonly settle: () => void
}

class Dropped extends Error {
  readonly drop: Drop
  constructor(drop: Drop) {
    super(drop.reason)
    this.drop = drop
  }
}

export interface IntakeOptions {
  readonly options: RecorderOptions
  readonly budget: Budget
  readonly delivery: Delivery
  /** The JSON text of this process's fingerprint. */
  readonly fingerprint: () => Promise<string>
}

/** A folder that cannot be read is looked at again after some seconds. */
const timesOfUnreadable = 5

/** Of calls that were to be recorded. */
const isLoss = ({ reason }: Drop): boolean => reason !== "redacted" && reason !== "unreadable"

/** Its rejection is nobody's. */
const isPromise = (value: object): boolean => {
  if (!(value instanceof Promise)) return false
  value.catch(() => {})
  return true
}

export class Intake {
  readonly #budget: Budget
  readonly #delivery: Delivery
  readonly #fingerprint: () => Promise<string>
  readonly #options: RecorderOptions
  readonly #preparing = new Set<Promise<void>>()
  readonly #spool: Spool | undefined
  /** Keys of spooled events that are in the queue. */
  readonly #queued = new Set<string>()
  /** Keys of spooled events that could not be sent, and wait on disk until a timer ends. */
  readonly #postponed = new Set<string>()
  /** Whether the spool holds events that are not in the queue. */
  #hasBacklog = false
  #isUnreadable = false
  /** How often events that are still on disk were postponed. */
  readonly #postponements = new Map<string, number>()
  #isWaiting = false
  /** Calls that are over, and lost with the process: neither on disk nor sent nor dropped. */
  readonly #unsafe = new Set<Draft>()
  /** Events that were dropped before they were on disk, and how many of them `spooled` has told. */
  #lost = 0
  #lostTold = 0
  #writeError: unknown

  constructor({ budget, delivery, fingerprint, options }: IntakeOptions) {
    this.#budget = budget
    this.#delivery = delivery
    this.#fingerprint = fingerprint
    this.#options = options
    if (options.spool === undefined) return
    this.#spool = new Spool(options.spool, options.maxSpoolBytes ?? defaults.maxSpoolBytes)
    // What earlier processes have left.
    this.#hasBacklog = true
    this.#refill()
  }

  /** Whether a call is over and neither sent nor dropped nor postponed. */
  get isBusy(): boolean {
    return this.#preparing.size > 0 || this.#delivery.size > 0
  }

  /** Whether events wait on disk that could not be sent. */
  get hasPostponed(): boolean {
    return this.#postponed.size > 0
  }

  /** Builds the event in a later turn of the event loop, so that the application goes on first. */
  add(draft: Draft): void {
    this.#unsafe.add(draft)
    this.#track(
      Timers.laterTurn()
        .then(() => this.#eventOf(draft))
        .then((event) => (event === undefined ? this.#leave(draft) : this.#keep(event, draft)))
        .catch((cause: unknown) => {
          // Errors of parsers repeat parts of a payload.
          const unreadable = { reason: "unreadable", cause: new Error("The call cannot be made an event") } as const
          const drop = cause instanceof Dropped ? cause.drop : unreadable
          this.#delivery.drop(drop)
          if (isLoss(drop)) this.#lost++
          this.#leave(draft)
        })
    )
  }

  /** The call is not recorded. */
  #leave(draft: Draft): void {
    this.#unsafe.delete(draft)
    draft.release()
    draft.settle()
  }

  /** Resolves when each call that is over is on disk, sent, or none to be recorded. Rejects where one is not. */
  async spooled(): Promise<void> {
    if (this.#spool === undefined) throw new TypeError("spooled: the recorder has no spool")
    const drafts = [...this.#unsafe]
    const told = this.#lostTold
    await this.#prepared()
    const missing = drafts.filter((draft) => this.#unsafe.has(draft)).length + this.#lost - told
    this.#lostTold = this.#lost
    if (missing > 0) throw new Error(`Calls that are not on disk: ${missing}`, { cause: this.#writeError })
  }

  /** Resolves when everything is sent, dropped or postponed. */
  async settled(): Promise<void> {
    // Files that are removed make room for others.
    while (this.isBusy) {
      await this.#prepared()
      await this.#delivery.idle()
    }
  }

  /** The process ends: what is only in memory is lost. */
  exit(): void {
    for (const _ of this.#unsafe) this.#delivery.drop({ reason: "exit" })
    this.#unsafe.clear()
  }

  async #prepared(): Promise<void> {
    await Promise.all(this.#preparing)
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#preparing.delete(tracked))
    this.#preparing.add(tracked)
  }

  /** Undefined where it is no model call. */
  async #eventOf({ context, envelope, payload: find }: Draft): Promise<Uint8Array | undefined> {
    const found = await find()
    const inputs = found && objectIn(found.inputs)
    if (found === undefined || inputs === undefined) throw new Dropped({ reason: "unreadable" })
    const api = found.apiOf(inputs)
    if (api === null) return undefined
    const whole: Envelope = {
      session: context.session ?? (await Session.derive(api, inputs)),
      agent: context.agent,
      agent_version: context.agentVersion,
      person: context.person,
      ...envelope
    }
    const payload = { api, inputs: found.inputs, output: found.output }
    return new TextEncoder().encode(this.#redacted(payload, inputs, whole))
  }

  async #keep(event: Uint8Array, draft: Draft): Promise<void> {
    const { release, settle } = draft
    if (event.length > (this.#options.maxEventBytes ?? defaults.maxEventBytes)) {
      throw new Dropped({ reason: "too-large" })
    }
    const idempotencyKey = crypto.randomUUID()
    const entry = await this.#write(event, idempotencyKey)
    if (entry !== undefined) {
      this.#unsafe.delete(draft)
      release()
      return this.#enqueue(entry, settle)
    }
    if (!this.#delivery.hasRoom) throw new Dropped({ reason: "queue-full" })
    // The event takes the place of the texts that it was made of.
    release()
    if (!this.#budget.take(event.length)) throw new Dropped({ reason: "memory" })
    this.#delivery.add({
      idempotencyKey,
      load: () => ({ event }),
      settled: () => {
        this.#unsafe.delete(draft)
        this.#budget.release(event.length)
        settle()
      }
    })
  }

  /** An event that cannot be written waits in memory, as without a spool, and `spooled` says so. */
  async #write(event: Uint8Array, idempotencyKey: string): Promise<SpoolEntry | undefined> {
    try {
      return await this.#spool?.write({ event, fingerprint: await this.#fingerprint(), idempotencyKey })
    } catch (cause) {
      this.#writeError = cause
      return undefined
    }
  }

  #enqueue(entry: SpoolEntry, settle: () => void): void {
    if (!this.#delivery.hasRoom) {
      this.#hasBacklog = true
      return settle()
    }
    const { idempotencyKey } = entry
    this.#queued.add(idempotencyKey)
    this.#delivery.add({
      idempotencyKey,
      load: () => this.#spool!.read(entry),
      settled: () => {
        this.#postponements.delete(idempotencyKey)
        const removed = this.#spool!.remove(entry).then(
          () => void this.#queued.delete(idempotencyKey),
          // It is sent, and not sent again before the next process does so, by the same key.
          () => {}
        )
        this.#track(
          removed.then(() => {
            settle()
            this.#refill()
          })
        )
      },
      postponed: () => {
        this.#queued.delete(idempotencyKey)
        this.#postponed.add(idempotencyKey)
        settle()
        const times = (this.#postponements.get(idempotencyKey) ?? 0) + 1
        this.#postponements.set(idempotencyKey, times)
        this.#tryAgainLater(times)
        this.#refill()
      }
    })
  }

  /** Sends what was postponed once more. */
  #tryAgainLater(times: number): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    Timers.after(backoffMs(times), () => {
      this.#isWaiting = false
      this.#postponed.clear()
      this.#hasBacklog = true
      this.#refill()
    })
  }

  /** Takes events that are only on disk into the queue, when that is empty. */
  #refill(): void {
    const spool = this.#spool
    if (spool === undefined || !this.#hasBacklog || this.#delivery.size > 0) return
    this.#hasBacklog = false
    const refilled = spool.list().then(
      (entries) => {
        this.#isUnreadable = false
        const waiting = entries.filter(({ idempotencyKey: key }) => !this.#queued.has(key) && !this.#postponed.has(key))
        for (const entry of waiting) this.#enqueue(entry, () => {})
      },
      (cause: unknown) => {
        // Told once.
        if (!this.#isUnreadable) this.#delivery.drop({ reason: "spool", cause })
        this.#isUnreadable = true
        this.#tryAgainLater(timesOfUnreadable)
      }
    )
    this.#track(refilled)
  }

  #redacted(payload: Payload, inputs: Record<string, unknown>, envelope: Envelope): string {
    const { redact } = this.#options
    if (redact === undefined) return textOf(payload, envelope)
    const output = objectIn(payload.output) ?? {}
    let event: RecordedEvent | null | undefined
    try {
      event = redact({ event_name: "llm", properties: { api: payload.api, inputs, output }, ...envelope })
    } catch (cause) {
      throw new Dropped({ reason: "redacted", cause })
    }
    if (!isObject(event)) throw new Dropped({ reason: "redacted" })
    if (isPromise(event)) throw new Dropped({ reason: "redacted", cause: new TypeError("redact answers a promise") })
    return JSON.stringify(event)
  }
}
