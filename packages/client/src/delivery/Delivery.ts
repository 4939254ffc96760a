/**
 * Sends events in the background: several at once, again after failures, and never more than it may hold. What waits because every request
 * is in use shares one, until it fails.
 */
import * as Callbacks from "../platform/Callbacks.ts"
import * as Timers from "../platform/Timers.ts"
import * as Utf8 from "../platform/Utf8.ts"
import { backoffMs } from "./Backoff.ts"
import * as Cause from "./Cause.ts"
import type { Counters, Drop, DropReason } from "./Counters.ts"
import { Queue, type Queued } from "./Queue.ts"
import type { Outcome, SentEvent, Transport } from "./Transport.ts"

interface LoadedEvent {
  /** JSON in UTF-8, without `fingerprint_id`. */
  readonly event: Uint8Array
  /** That of an earlier process; absent for that of this one. */
  readonly fingerprint?: string
}

export interface Item {
  readonly idempotencyKey: string
  /** How long the event is at most (bytes). */
  readonly bytes: number
  /** Called for each attempt. Undefined where another process has sent the event. It may reject, for ever with `isFinal`. */
  readonly load: () => Promise<LoadedEvent | undefined> | LoadedEvent
  /** Called once, when the event is sent or dropped. */
  readonly settled: () => void
  /**
   * Called instead where the event cannot be sent now, but may be later, and is on disk. Absent for an event that is only in
   * memory: that one is dropped.
   */
  readonly postponed?: () => void
  /** Whether it was postponed before, and is counted already. */
  readonly isAgain?: boolean
}

export interface DeliveryOptions {
  readonly transport: Transport
  /** The JSON text of this process's fingerprint. It never rejects. */
  readonly fingerprint: () => Promise<string>
  /** How many events may wait or be under way. */
  readonly maxEvents: number
  /** Runs what must not run in the async context of a call. */
  readonly apart: <A>(run: () => A) => A
  /** How many requests with events are under way at once. */
  readonly concurrency: number
  readonly onDrop: (drop: Drop) => void
  /** Called where an event that is on disk has to wait there. */
  readonly onPostpone: (cause: unknown) => void
  /** Called when several attempts in a row have failed: the events wait. */
  readonly onOutage: (cause: unknown) => void
}

interface Waiting extends Item, Queued {
  /** How many attempts failed in a way that makes sense to repeat a few times only. */
  limited: number
  /** Whether it may be sent together with others: not once it has failed, so that it harms none of them. */
  mayShare: boolean
}

/** An event as it is sent. */
interface Ready extends SentEvent {
  readonly item: Waiting
  readonly fingerprint: string
}

/** This number of failures in a row is an outage: fewer may be a restart. */
const failuresOfOutage = 3

/** The longest wait between two attempts while somebody waits for them (ms). */
const longestHurriedMs = 1_000

/** An attempt that registers unknown fingerprints again may find them unknown again, but not for ever. */
const attemptsOfFingerprints = 5

/** How many events are sent together at most. */
const maxBatchEvents = 100

/** How long what is sent together is at most (bytes): a proxy such as nginx takes no more unless it is told to. */
const maxBatchBytes = 1024 * 1024

/** What a line of a batch has beside the event at most (bytes): a key and the id of a fingerprint. */
const bytesBesideEvent = 256

const newline = 10

const stored: Outcome<void> = { type: "done", value: undefined }

const failed = (cause: unknown): Outcome<void> => ({ type: "retry", cause })

/** The event with the id of its fingerprint as its first field. */
const withFingerprint = (id: string, event: Uint8Array): Uint8Array<ArrayBuffer> =>
  // The first byte of an event is its opening brace.
  Utf8.joined([Utf8.bytesOf(`{"fingerprint_id":${JSON.stringify(id)},`), event.subarray(1)])

export class Delivery {
  readonly #options: DeliveryOptions
  readonly #waiting = new Queue<Waiting>(() => this.#pump())
  readonly #fingerprints = new Map<string, string>()
  readonly #registering = new Map<string, Promise<Outcome<string>>>()
  readonly #idle = new Set<() => void>()
  readonly #dropped: Partial<Record<DropReason, number>> = {}
  /** How many events are being sent, and by how many requests. */
  #sending = 0
  #requests = 0
  /** How long what is sent together may be (bytes). */
  #batchBytes: number
  /** Failures since the last success. */
  #failures = 0
  #stopTimer: (() => void) | undefined
  /** Until when the timer runs. */
  #pausedUntil = 0
  /** Whether the server has asked for the wait. */
  #isAskedToWait = false
  /** How many wait for the events to be sent. */
  #hurried = 0
  #problem: string | undefined
  /** How many events were left on disk since the last success. */
  #postponed = 0
  #recorded = 0
  #sent = 0
  #retried = 0

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#batchBytes = options.transport.sendBatch === undefined ? 0 : maxBatchBytes
  }

  counters(): Omit<Counters, "heldBytes" | "making" | "onDisk" | "postponed" | "underWay" | "unrecognised"> {
    return {
      recorded: this.#recorded,
      sent: this.#sent,
      retried: this.#retried,
      waiting: this.size,
      dropped: { ...this.#dropped },
      ...(this.#problem === undefined ? {} : { problem: this.#problem })
    }
  }

  get size(): number {
    return this.#waiting.size + this.#sending
  }

  get hasRoom(): boolean {
    return this.size < this.#options.maxEvents
  }

  /** The caller has looked at `hasRoom`. */
  add(item: Item): void {
    if (item.isAgain !== true) this.#recorded++
    this.#waiting.add({ ...item, ...this.#waiting.place(), limited: 0, mayShare: item.isAgain !== true })
    this.#pump()
  }

  /** Counts a call that is not recorded. */
  drop(drop: Drop): void {
    this.#dropped[drop.reason] = (this.#dropped[drop.reason] ?? 0) + 1
    Callbacks.run(() => this.#options.onDrop(drop))
  }

  /** Resolves when nothing waits and nothing is under way, or an event was left on disk. */
  idle(): Promise<void> {
    if (this.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.add(resolve))
  }

  /** Whether one event after another has to wait on disk, as where the key is refused. One alone may be refused for itself. */
  get isStuck(): boolean {
    return this.#postponed > 1
  }

  /** Ends the attempts that are under way, as the process does. */
  stopAttempts(): void {
    this.#options.transport.stop()
  }

  /** Tries again at once, and soon after each failure, until what it returns is called. A `Retry-After` is obeyed all the same. */
  hurry(): () => void {
    this.#hurried++
    this.#waiting.hurry()
    if (!this.#isAskedToWait) this.#resume()
    return () => {
      this.#hurried--
    }
  }

  #resume(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#pump()
  }

  /** What is begun here goes on in no context of the application, such as that of a request which a tracer measures. */
  #pump(): void {
    if (this.#stopTimer === undefined) this.#options.apart(() => this.#start())
  }

  #start(): void {
    // After a failure one event finds out whether the server is back.
    const isProbe = this.#failures > 0
    const concurrency = isProbe ? 1 : this.#options.concurrency
    while (this.#requests < concurrency) {
      const item = this.#waiting.take(concurrency, isProbe)
      if (item === undefined) break
      const items = isProbe ? [item] : this.#batchOf(item)
      this.#requests++
      this.#sending += items.length
      void this.#attempt(items)
    }
  }

  /** An event, and those behind it that are sent together with it. */
  #batchOf(first: Waiting): ReadonlyArray<Waiting> {
    let events = 0
    let bytes = 0
    const fits = (item: Waiting) =>
      item.mayShare && ++events <= maxBatchEvents && (bytes += item.bytes + bytesBesideEvent) <= this.#batchBytes
    return fits(first) ? [first, ...this.#waiting.takeWhile(fits)] : [first]
  }

  async #attempt(items: ReadonlyArray<Waiting>): Promise<void> {
    const ready: Array<Ready> = []
    for (const [index, item] of items.entries()) {
      const one = await this.#prepare(item)
      if (one !== undefined) ready.push(one)
      else if (this.#stopTimer !== undefined) {
        // The server is away: what follows waits for it, as all others do.
        this.#sendAlone(items.slice(index + 1))
        break
      }
    }
    // A text that a provider or the application has laid out stays as it is, and is no line.
    const lines = ready.filter(({ event }) => !event.includes(newline))
    const sent = lines.length > 1 ? lines : ready.slice(0, 1)
    this.#sendAlone(ready.filter((one) => !sent.includes(one)).map(({ item }) => item))
    if (sent.length > 1) await this.#sendBatch(sent)
    else for (const one of sent) this.#judge(one.item, await this.#send(one).catch(failed))
    this.#requests--
    this.#pump()
  }

  async #sendBatch(batch: ReadonlyArray<Ready>): Promise<void> {
    const items = batch.map(({ item }) => item)
    const left = new Set(items)
    const settle = (index: number) => {
      const item = items[index]
      if (item !== undefined && left.delete(item)) this.#judge(item, stored)
    }
    const outcome = await this.#options.transport.sendBatch!(batch, settle).catch(failed)
    // What was said against a line may be due to the batch. Alone, each event is judged by itself.
    if (outcome.type === "refused") {
      // The server, or what stands before it, takes no batches that are as long, or none at all.
      const { status } = outcome.cause as { readonly status?: unknown }
      if (status === 413) this.#batchBytes /= 2
      else if (status === 404 || status === 405) this.#batchBytes = 0
    }
    if (outcome.type !== "retry") return this.#sendAlone([...left])
    const { afterMs, cause } = outcome
    for (const item of left) this.#retry(item, { type: "retry", afterMs, cause })
  }

  /** Each by itself, before all others. */
  #sendAlone(items: ReadonlyArray<Waiting>): void {
    for (const item of items) item.mayShare = false
    this.#sending -= items.length
    this.#waiting.again(...items)
  }

  #judge(item: Waiting, outcome: Outcome<void>): void {
    if (outcome.type === "done") {
      this.#waiting.succeeded(this.#failures >= failuresOfOutage)
      this.#failures = 0
      this.#problem = undefined
      this.#postponed = 0
      this.#sent++
      this.#settle(item)
    } else if (outcome.type === "refused") {
      this.#giveUp(item, "refused", outcome.cause, outcome.isFinal)
    } else {
      this.#retry(item, outcome)
    }
  }

  #retry(item: Waiting, outcome: Exclude<Outcome<void>, { type: "done" | "refused" }>): void {
    const isFailure = outcome.type === "retry"
    const cause = isFailure ? outcome.cause : new Error("The server does not keep the fingerprint")
    const limit = isFailure ? outcome.limit : attemptsOfFingerprints
    if (limit !== undefined && ++item.limited >= limit) {
      return this.#giveUp(item, "failed", cause)
    }
    this.#problem = Cause.inWords(cause)
    item.mayShare = false
    this.#retried++
    this.#sending--
    if (isFailure) this.#fail(item, outcome)
    else this.#waiting.again(item)
  }

  #fail(item: Waiting, { afterMs, cause }: { readonly afterMs?: number | undefined; readonly cause: unknown }): void {
    // Clients that are told the same time come back at different times.
    const askedMs = afterMs === undefined ? 0 : afterMs * (1 + Math.random() / 10)
    const isAlone = this.#waiting.failed(item, this.#longestMs, askedMs)
    // Others get through, and go on.
    if (isAlone && this.#failures === 0) return
    this.#pause(askedMs)
    if (this.#failures === failuresOfOutage) this.#options.onOutage(cause)
  }

  /** An event that is on disk stays there for later, unless it can never be sent. */
  #giveUp(item: Waiting, reason: DropReason, cause: unknown, isFinal = false): void {
    this.#problem = Cause.inWords(cause)
    if (isFinal || item.postponed === undefined) {
      this.drop({ reason, idempotencyKey: item.idempotencyKey, cause })
      return this.#settle(item)
    }
    this.#postponed++
    Callbacks.run(() => this.#options.onPostpone(cause))
    // The others may be refused for the same reason.
    this.#pause(0)
    this.#leave(item, item.postponed)
    this.#wake()
  }

  /** All events wait together, at least for the pause after the failures so far: what keeps one from being sent keeps the others. */
  #pause(askedMs: number): void {
    const isPaused = this.#stopTimer !== undefined
    if (!isPaused) this.#failures++
    const ownMs = isPaused ? 0 : Math.min(backoffMs(this.#failures), this.#longestMs)
    const ms = Math.max(ownMs, askedMs)
    const until = performance.now() + ms
    if (isPaused && until <= this.#pausedUntil) return
    this.#stopTimer?.()
    this.#pausedUntil = until
    this.#isAskedToWait = askedMs > ownMs
    this.#stopTimer = Timers.after(ms, () => this.#resume())
  }

  get #longestMs(): number {
    return this.#hurried > 0 ? longestHurriedMs : Infinity
  }

  #settle(item: Waiting): void {
    this.#leave(item, item.settled)
  }

  #leave(item: Waiting, tell: () => void): void {
    this.#sending--
    this.#waiting.leave(item)
    tell()
    if (this.size === 0) this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#idle) resolve()
    this.#idle.clear()
  }

  /** Undefined where nothing is to be sent, which is judged. */
  async #prepare(item: Waiting): Promise<Ready | undefined> {
    let loaded: LoadedEvent | undefined
    try {
      loaded = await item.load()
    } catch (cause) {
      return void this.#giveUp(item, "spool", cause, (cause as { readonly isFinal?: unknown }).isFinal === true)
    }
    // Another process has sent it.
    if (loaded === undefined) return void this.#judge(item, stored)
    const fingerprint = loaded.fingerprint ?? (await this.#options.fingerprint())
    const registered = await this.#register(fingerprint)
    if (registered.type === "done") {
      const event = withFingerprint(registered.value, loaded.event)
      return { item, fingerprint, event, idempotencyKey: item.idempotencyKey }
    }
    // A fingerprint that is refused is no fault of the event: with that of another process it may be taken.
    this.#judge(item, registered.type === "refused" ? { ...registered, isFinal: false } : registered)
    return undefined
  }

  async #send(ready: Ready): Promise<Outcome<void>> {
    const outcome = await this.#options.transport.send(ready)
    if (outcome.type === "unknown-fingerprint") this.#fingerprints.delete(ready.fingerprint)
    return outcome
  }

  /** Registers each fingerprint once, however many events wait for it. */
  #register(fingerprint: string): Promise<Outcome<string>> | Outcome<string> {
    const id = this.#fingerprints.get(fingerprint)
    if (id !== undefined) return { type: "done", value: id }
    const underWay = this.#registering.get(fingerprint)
    if (underWay !== undefined) return underWay
    const registering = this.#options.transport.register(fingerprint).then((outcome) => {
      this.#registering.delete(fingerprint)
      if (outcome.type === "done") this.#fingerprints.set(fingerprint, outcome.value)
      return outcome
    })
    this.#registering.set(fingerprint, registering)
    return registering
  }
}
