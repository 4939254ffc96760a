/** Makes events of calls that are over, and keeps them until they are sent: in memory, or in files. */
import { type Asked, laterIn } from "@tachograph/capture/Endings"
import { recordedOf } from "@tachograph/capture/Grouping"
import * as Patterns from "@tachograph/capture/masking/Patterns"
import type { ProgramNames } from "@tachograph/capture/Programs"
import type { Api } from "@tachograph/formats"
import type { CallContext } from "./context/Context.ts"
import type { Budget } from "./delivery/Budget.ts"
import type { Drop } from "./delivery/Counters.ts"
import type { Delivery } from "./delivery/Delivery.ts"
import { fitting } from "./event/Details.ts"
import { type Envelope, objectIn, textOf } from "./event/Event.ts"
import { Later } from "./event/Later.ts"
import { type Made, masked } from "./event/Masking.ts"
import { groupingOf } from "./event/Names.ts"
import { Redacted, redactedText } from "./event/Redaction.ts"
import * as Session from "./event/Session.ts"
import { defaults, type RecorderOptions } from "./Options.ts"
import * as Ids from "./platform/Ids.ts"
import * as Timers from "./platform/Timers.ts"
import * as Utf8 from "./platform/Utf8.ts"
import { Spool, type SpooledEvent, type SpoolEntry } from "./spool/Spool.ts"
import { SpoolQueue } from "./SpoolQueue.ts"
import { Turns } from "./Turns.ts"
import type { Warn } from "./Warnings.ts"

/** The payload of a call, whose format its inputs decide: null where they are no model call. */
interface FoundCall extends Made {
  readonly instead?: Instead
  /** What is recorded of it beside its masks. */
  readonly recorded?: Envelope["recorded"]
  readonly apiOf: (inputs: Record<string, unknown>) => Api | null
  /** Absent where nothing tells the headers of the call. */
  readonly said?: ProgramNames
}

/** What counts in place of a draft: the end of a call is one of that call. */
interface Instead {
  readonly asked: Asked
  readonly envelope: Partial<Envelope>
  readonly context: CallContext
}

/** A call that is over and becomes an event. */
export interface Draft {
  /** Undefined where it cannot be read, and `none` where nothing is to be recorded. */
  readonly payload: () => Promise<FoundCall | "none" | undefined>
  readonly envelope: Partial<Envelope>
  readonly context: CallContext
  /** Gives back what the call holds of the budget. Called once. */
  readonly release: () => void
  /** Called once, when the event is sent or dropped, or left on disk for later. */
  readonly settle: () => void
}

/** A draft without what it is made of, which is not held longer than needed. */
interface Pending {
  /** Gives back what is held of the budget now. */
  release: () => void
  readonly settle: () => void
  /** Writes the event at once. Throws if it cannot. Absent where there is no event yet, or no spool. */
  save?: () => void
}

class Dropped extends Error {
  readonly drop: Drop
  constructor(drop: Drop) {
    super(drop.reason)
    this.drop = drop
  }
}

const dropBy = (cause: unknown): Drop => {
  if (cause instanceof Dropped) return cause.drop
  if (cause instanceof Redacted)
    return cause.cause === undefined ? { reason: "redacted" } : { reason: "redacted", cause: cause.cause }
  // Errors of parsers repeat parts of a payload.
  return { reason: "unreadable", cause: new Error("The call cannot be made an event") }
}

/** Somebody who waits for calls to be sent. */
interface Flush {
  readonly tell: () => void
  /** Whether what is safe on disk need not be sent before. */
  readonly isAtEnd: boolean
  /** Those of the calls that were over as it began that are not settled. */
  readonly calls: Set<Pending>
}

export interface IntakeOptions {
  readonly options: RecorderOptions
  readonly budget: Budget
  readonly delivery: Delivery
  /** The JSON text of this process's fingerprint. */
  readonly fingerprint: () => Promise<string>
  readonly warn: Warn
}

/** Whether the call should have been recorded, and was not. */
const isLoss = ({ reason }: Drop): boolean => reason !== "redacted" && reason !== "unreadable"

/** An event, and its idempotency key. */
interface Keyed {
  readonly event: Uint8Array
  readonly key: string
}

export class Intake {
  /** What is known of calls whose answer comes by another request. */
  readonly later = new Later()
  readonly #given: IntakeOptions
  readonly #patterns: Patterns.Patterns | undefined
  readonly #preparing = new Set<Promise<void>>()
  readonly #spool: Spool | undefined
  readonly #spoolQueue: SpoolQueue | undefined
  /** Of calls to be made events, and written. */
  readonly #turns: Turns
  /** Calls that are over, and lost with the process: neither on disk nor sent nor dropped. */
  readonly #unsafe = new Set<Pending>()
  /** Events that were dropped before they were on disk, and how many of them `spooled` has told. */
  #lost = 0
  #lostTold = 0
  #writeError: unknown
  /** Nothing is lost by it yet, so that it is no drop. */
  readonly #onUnusable: (cause: unknown) => void
  /** Calls that are over, and neither sent nor dropped nor left on disk for later. */
  readonly #unsettled = new Set<Pending>()
  readonly #flushes = new Set<Flush>()
  #isSettling = false

  constructor(given: IntakeOptions) {
    const { budget, delivery, options, warn } = (this.#given = given)
    this.#onUnusable = (cause) =>
      warn("the spool cannot be used, and calls wait in memory", cause, "recorder.spooled() rejects.")
    this.#patterns = typeof options.redact === "string" ? Patterns.parse(options.redact) : undefined
    const maxEvents = options.maxEvents ?? defaults.maxEvents
    if (options.spool === undefined) {
      this.#turns = new Turns(maxEvents)
      return
    }
    // What is written waits neither long nor in the queue, however short that is.
    const maxMaking = Math.max(maxEvents, defaults.maxEvents)
    this.#turns = new Turns(maxMaking, budget)
    this.#spool = new Spool(options.spool, options.maxSpoolBytes ?? defaults.maxSpoolBytes)
    this.#spoolQueue = new SpoolQueue({
      spool: this.#spool,
      delivery,
      maxKnown: maxMaking,
      onUnusable: this.#onUnusable,
      track: (work) => this.#track(work)
    })
  }

  /** Whether a call is over and neither sent nor dropped nor postponed. */
  get isBusy(): boolean {
    return this.#turns.size > 0 || this.#preparing.size > 0 || this.#given.delivery.size > 0
  }

  /** How many events wait on disk that could not be sent. */
  get postponed(): number {
    return this.#spoolQueue?.postponed ?? 0
  }

  /** How many calls are over, and neither lost, nor handed on to be sent, nor left on disk. */
  get making(): number {
    return this.#turns.size
  }

  /** How many events the folder of the spool holds, as far as is known. */
  get onDisk(): number {
    return this.#spool?.size ?? 0
  }

  /** Whether all that is left is on disk, and would be refused there, as what was tried of it. */
  get isLeftOnDisk(): boolean {
    return this.#unsafe.size === 0 && this.#given.delivery.isStuck
  }

  /** Builds the event in a later turn of the event loop, so that the application goes on first. */
  add(draft: Draft): void {
    const pending: Pending = {
      release: draft.release,
      settle: () => {
        draft.settle()
        this.#unsettled.delete(pending)
        this.#settled(pending)
      }
    }
    this.#unsettled.add(pending)
    const refused = this.#turns.add(() => this.#make(draft, pending))
    if (refused === undefined) this.#unsafe.add(pending)
    else {
      this.lose({ reason: refused })
      this.#leave(pending)
    }
  }

  #make(draft: Draft, pending: Pending): Promise<void> {
    return this.#made(draft)
      .then((made) => (made === undefined ? this.#leave(pending) : this.#keep(made, pending)))
      .catch((cause: unknown) => {
        this.lose(dropBy(cause))
        this.#leave(pending)
      })
  }

  /** Counts a call that is not recorded. */
  lose(drop: Drop): void {
    if (isLoss(drop)) this.#lost++
    this.#given.delivery.drop(drop)
  }

  /** By itself, so that nothing else holds the draft. */
  #made(draft: Draft): Promise<Keyed | undefined> {
    return Timers.laterTurn().then(() => this.#eventOf(draft))
  }

  /** The call is not recorded, or nothing more is to be done for it. */
  #leave(pending: Pending): void {
    this.#unsafe.delete(pending)
    this.#free(pending)
    pending.settle()
  }

  #free(pending: Pending): void {
    const { release } = pending
    pending.release = () => {}
    release()
  }

  /** Resolves when each call that is over is on disk, sent, or none to be recorded. Rejects where one is not. */
  async spooled(): Promise<void> {
    if (this.#spool === undefined) throw new TypeError("spooled: the recorder has no spool")
    const calls = [...this.#unsafe]
    const told = this.#lostTold
    await this.#prepared()
    const missing = calls.filter((call) => this.#unsafe.has(call)).length + this.#lost - told
    this.#lostTold = this.#lost
    if (missing > 0) throw new Error(`Calls that are not on disk: ${missing}`, { cause: this.#writeError })
  }

  /**
   * Calls back once when everything is sent, dropped or postponed, or, with `isAtEnd`, left on disk. Where calls keep coming, it is when
   * those that are over now are. Returns what forgets the callback.
   */
  whenSettled(tell: () => void, isAtEnd: boolean): () => void {
    const flush = { tell, isAtEnd, calls: new Set(this.#unsettled) }
    this.#flushes.add(flush)
    if (!this.#isSettling) void this.#settle()
    return () => void this.#flushes.delete(flush)
  }

  #settled(call: Pending): void {
    // Those that only wait for room on disk are not sent.
    const isMoreComing = this.#unsettled.size > 0 && this.#spoolQueue?.hasBacklog !== true
    this.#tell(({ calls }) => calls.delete(call) && calls.size === 0 && isMoreComing)
  }

  /** One for all that wait, some of which may have given up. */
  async #settle(): Promise<void> {
    this.#isSettling = true
    // Files that are removed make room for others.
    while (this.isBusy) {
      await this.#prepared()
      await this.#given.delivery.idle()
      if (this.isLeftOnDisk) this.#tell(({ isAtEnd }) => isAtEnd)
    }
    this.#isSettling = false
    this.#tell(() => true)
  }

  #tell(isOver: (flush: Flush) => boolean): void {
    for (const flush of this.#flushes) {
      if (!isOver(flush)) continue
      this.#flushes.delete(flush)
      flush.tell()
    }
  }

  /** The process ends: what is only in memory is lost, unless it can be written at once. */
  exit(): void {
    for (const { save } of this.#unsafe) {
      try {
        if (save !== undefined) {
          save()
          continue
        }
      } catch {}
      this.#given.delivery.drop({ reason: "exit" })
    }
    this.#unsafe.clear()
  }

  async #prepared(): Promise<void> {
    await Promise.all([this.#turns.done(), ...this.#preparing])
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#preparing.delete(tracked))
    this.#preparing.add(tracked)
  }

  /** Undefined where it is no model call. */
  async #eventOf(draft: Draft): Promise<Keyed | undefined> {
    const found = await draft.payload()
    if (found === undefined) throw new Dropped({ reason: "unreadable" })
    if (found === "none") return undefined
    const context = found.instead?.context ?? draft.context
    const envelope = { ...draft.envelope, ...found.instead?.envelope }
    const call = masked(found, this.#patterns)
    const inputs = objectIn(call.inputs)
    if (inputs === undefined) {
      throw new Dropped({ reason: "unreadable", cause: new TypeError("inputs: expected the JSON text of an object") })
    }
    const api = found.apiOf(inputs)
    if (api === null) return undefined
    const later = laterIn(api, inputs, call.output)
    const { said = {} } = found
    const grouping = await groupingOf(context, said)
    const session = grouping.session ?? (await Session.find(api, inputs, said.agent, later?.seed))
    // A person may be named by their key.
    const { model } = envelope
    const beside = { ...grouping, session, model, metadata: context.metadata ?? undefined }
    const { subagent, ...safe } = JSON.parse(call.beside(JSON.stringify(beside))) as typeof beside
    const whole: Envelope = {
      ...envelope,
      ...safe,
      // Masks may be longer than what they stand for.
      metadata: fitting(safe.metadata, this.#given.warn),
      trace_id: context.traceId || undefined,
      span_id: context.spanId || undefined,
      recorded: recordedOf(call.count(), subagent, found.recorded)
    }
    const payload = { api, inputs: call.inputs, output: call.output }
    const { redact } = this.#given.options
    const isAsked = typeof redact === "function"
    const event = Utf8.bytesOf(isAsked ? redactedText(redact, payload, inputs, whole) : textOf(payload, whole))
    const { agent, agent_version: agentVersion, person } = safe
    const begun = { inputs: call.inputs, model, occurredAt: envelope.occurred_at }
    const key = this.later.made(later, found.instead?.asked, {
      ...begun,
      names: { agent, agentVersion, person, session: safe.session }
    })
    return { event, key: key ?? Ids.random() }
  }

  async #keep({ event, key }: Keyed, pending: Pending): Promise<void> {
    const { length } = event
    if (length > (this.#given.options.maxEventBytes ?? defaults.maxEventBytes))
      throw new Dropped({ reason: "too-large" })
    const spool = this.#spool
    const fingerprint = spool && (await this.#given.fingerprint())
    // The event takes the place of the texts that it was made of.
    this.#free(pending)
    if (!this.#given.budget.take(length)) throw new Dropped({ reason: "memory" })
    pending.release = () => this.#given.budget.release(length)
    const idempotencyKey = key
    const spooled = fingerprint === undefined ? undefined : { event, fingerprint, idempotencyKey }
    if (spooled !== undefined) pending.save = () => spool!.writeNow(spooled)
    const entry = spooled && (await this.#write(spooled))
    if (entry !== undefined) {
      this.#unsafe.delete(pending)
      this.#free(pending)
      return this.#spoolQueue!.add(entry, pending.settle)
    }
    if (!this.#given.delivery.hasRoom) throw new Dropped({ reason: "queue-full" })
    this.#given.delivery.add({
      idempotencyKey,
      bytes: length,
      load: () => ({ event }),
      settled: () => this.#leave(pending)
    })
  }

  /** An event that cannot be written waits in memory, as without a spool, and `spooled` says so. */
  async #write(event: SpooledEvent): Promise<SpoolEntry | undefined> {
    try {
      return await this.#spool!.write(event)
    } catch (cause) {
      this.#writeError = cause
      this.#onUnusable(cause)
      return undefined
    }
  }
}
