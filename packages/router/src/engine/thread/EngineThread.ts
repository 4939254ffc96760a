/** One thread of the engine, as the host sees it: what it is asked, and what it answers. */
import { InFlight, type StaleSession } from "@tachograph/core"
import { extname } from "node:path"
import { Worker } from "node:worker_threads"
import type { Exchange } from "../../Engine.ts"
import * as Answer from "../../response/Answer.ts"
import { toError } from "./ErrorData.ts"
import * as HeapLimit from "./HeapLimit.ts"
import type { FromThread, Start, ToThread } from "./Messages.ts"
import { movable, Outbox } from "./Outbox.ts"
import type { HostSpans, SpanReference } from "./Spans.ts"
import { Streams } from "./Streams.ts"
import { ThreadStatus } from "./ThreadStatus.ts"

/** The host of an exchange. One of `onAnswer` and `onLost` is called, once; `onReserve` as long as the answer is made. */
export interface Waiting {
  readonly onAnswer: (answer: Answer.Answer) => void
  /** Whether the answer may take this number of bytes. */
  readonly onReserve: (bytes: number) => Promise<boolean>
  /** The thread has ended without an answer. */
  readonly onLost: () => void
}

type Log = Extract<FromThread, { readonly type: "log" }>

export interface Options {
  readonly start: Omit<Start, "status">
  readonly onLog: (log: Log) => void
  readonly spans: HostSpans
  /** What is kept of a session is stale: it was found damaged, or something of it was erased. */
  readonly onStale?: (...stale: StaleSession) => void
  /** The thread has ended by itself. */
  readonly onDeath: (error: Error) => void
}

/** Beside this module: the source in the workspace, or what is published. */
const moduleUrl = new URL(`Thread${extname(import.meta.url)}`, import.meta.url)

/**
 * What is made and dropped quickly. V8's own choice grows to several times that under load. Under a load of small events a third of it
 * costs a tenth more processor time, which a thread that only reads does not see.
 */
const youngGenerationMib = { recording: 64, reading: 24 }

/** For this long a thread that has work may show no sign of life (ms). */
export const frozenAfterMs = 1_000

/** For so long a thread may close its storage (ms); together with the grace of a server less than the 10 s of Docker. */
const closeGraceMs = 1_500

/** The thread's modules cannot be loaded, as in a bundle that does not contain them. */
export class ThreadUnavailable extends Error {
  constructor(cause: Error) {
    super(`The engine's thread cannot be started: ${cause.message}`, { cause })
  }
}

interface Pending extends Partial<Waiting> {
  readonly onReturn?: (value: unknown) => void
  readonly onThrow?: (error: Error) => void
}

export class EngineThread {
  readonly #worker: Worker
  readonly #outbox: Outbox<ToThread>
  readonly #status: ThreadStatus
  readonly #pending = new InFlight<Pending>()
  /** The bodies that are on their way, after the answers to their exchanges. */
  readonly #streams: Streams
  readonly #options: Options
  #lastId = 0
  #hasEnded = false
  /** Set when it was asked to end. */
  #onClosed: (() => void) | undefined
  /** The last sign of life, and when it was first seen. */
  #seen = { beat: 0, atMs: performance.now() }

  private constructor(worker: Worker, status: ThreadStatus, options: Options) {
    this.#worker = worker
    this.#outbox = new Outbox(worker)
    this.#streams = new Streams(
      (message, transfers) => this.#outbox.send(message, transfers),
      () => this.#updateRef()
    )
    this.#status = status
    this.#options = options
  }

  /** Resolves when the storage is open. Rejects with the error of opening it, or a `ThreadUnavailable`. */
  static open(options: Options): Promise<EngineThread> {
    const { onDeath, start } = options
    const status = new ThreadStatus()
    const worker = new Worker(moduleUrl, {
      name: start.isReading ? "tachograph reads" : "tachograph",
      workerData: { ...start, status: status.memory } satisfies Start,
      resourceLimits: {
        maxOldGenerationSizeMb: HeapLimit.ofV8(start.heapMib),
        maxYoungGenerationSizeMb: youngGenerationMib[start.isReading ? "reading" : "recording"]
      }
    })
    const thread = new EngineThread(worker, status, options)
    return new Promise((resolve, reject) => {
      let isLoaded = false
      let isOpen = false
      let error: Error | undefined
      worker.on("message", (items: ReadonlyArray<FromThread>) => {
        for (const item of items) {
          if (item.type === "loaded") isLoaded = true
          else if (item.type === "opened") {
            isOpen = true
            // From now on it keeps the process alive only while something is asked of it.
            worker.unref()
            resolve(thread)
          } else if (item.type === "failed") error = toError(item.error)
          else thread.#receive(item)
        }
      })
      worker.once("error", (thrown) => (error = thrown instanceof Error ? thrown : new Error(String(thrown))))
      worker.once("exit", (code) => {
        const reason = error ?? new Error(`The thread ended with code ${code}`)
        // Before it is told what was lost: who asks again at once must not ask this thread.
        if (isOpen && thread.#onClosed === undefined) onDeath(reason)
        thread.#end()
        if (!isLoaded) reject(new ThreadUnavailable(reason))
        else if (!isOpen) reject(reason)
      })
    })
  }

  /** How many events may be queued: one more would probably time out. */
  get capacity(): number {
    return this.#status.capacity
  }

  /** How much it has been asked and has not answered. */
  get inFlight(): number {
    return this.#pending.size
  }

  /** Whether it has nothing to do. */
  get isIdle(): boolean {
    return this.#pending.size + this.#streams.size === 0
  }

  /** Whether it has work, but has shown no sign of life for a second. */
  get isFrozen(): boolean {
    const { beat } = this.#status
    const now = performance.now()
    if (beat !== this.#seen.beat || this.#pending.size === 0) this.#seen = { beat, atMs: now }
    return now - this.#seen.atMs > frozenAfterMs
  }

  /** The body is moved to the thread, unless others use its memory. Returns a function that gives the exchange up. */
  exchange(exchange: Exchange, span: SpanReference | undefined, waiting: Waiting): () => void {
    const id = this.#await(waiting)
    const { stream, ...sent } = exchange
    const body = movable(exchange.body, exchange.isBodyOwned)
    const isStreamed = stream !== undefined
    this.#outbox.send({ type: "exchange", id, exchange: { ...sent, body }, isStreamed, span }, [body.buffer])
    if (isStreamed) this.#streams.send(id, stream)
    return () => {
      if (this.#pending.has(id)) this.#outbox.send({ type: "cancel", id })
      this.#settle(id)
      this.#streams.stop(id)
    }
  }

  call(name: string, args: ReadonlyArray<unknown>): Promise<unknown> {
    return new Promise((onReturn, onThrow) => {
      const id = this.#await({ onReturn, onThrow, onLost: () => onThrow(new Error("The thread has ended")) })
      this.#outbox.send({ type: "call", id, name, args })
    })
  }

  /**
   * Resolves with true when everything is answered and the storage is closed; with false when that took too long, and the thread
   * was ended without it.
   */
  async close(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const closed = new Promise<boolean>((resolve) => {
      this.#onClosed = () => resolve(true)
      timer = setTimeout(() => resolve(false), closeGraceMs)
    })
    this.#worker.ref()
    this.#outbox.send({ type: "close" })
    const isClosed = await closed
    clearTimeout(timer)
    const ended = this.#worker.terminate()
    // A thread within a call of the system, such as a sync of a disk that hangs, ends when that returns.
    if (isClosed) await ended
    return isClosed
  }

  /** Ends it at once: what it was asked is lost. */
  async end(): Promise<void> {
    this.#onClosed = () => {}
    await this.#worker.terminate()
  }

  #await(pending: Pending): number {
    if (this.#pending.size === 0) this.#seen = { beat: this.#status.beat, atMs: performance.now() }
    const id = ++this.#lastId
    this.#pending.set(id, pending)
    this.#updateRef()
    if (this.#hasEnded) queueMicrotask(() => this.#settle(id)?.onLost?.())
    return id
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    if (this.#pending.delete(id)) this.#updateRef()
    return pending
  }

  /** It keeps the process alive only while something is asked of it. */
  #updateRef(): void {
    if (this.isIdle) this.#worker.unref()
    else this.#worker.ref()
  }

  #answer({ answer, id, isStreamed }: Extract<FromThread, { readonly type: "answer" }>): void {
    const { onAnswer, onReserve } = this.#pending.get(id) ?? {}
    if (isStreamed === undefined) {
      this.#settle(id)
      // An error, of which the body does not matter.
      this.#streams.stop(id)
      return onAnswer === undefined ? Answer.free(answer) : onAnswer(answer)
    }
    // Given up before the answer came.
    if (onAnswer === undefined) return this.#outbox.send({ type: "stop", id })
    const stream = this.#streams.receive(id, onReserve)
    this.#settle(id)
    onAnswer({ ...answer, stream })
  }

  #receive(item: FromThread): void {
    switch (item.type) {
      case "answer":
        return this.#answer(item)
      case "lost":
        return this.#settle(item.id)?.onLost?.()
      case "reserve": {
        const { bytes, id } = item
        const asked = this.#pending.get(id)?.onReserve?.(bytes) ?? this.#streams.reserve(id, bytes)
        return void asked?.then((isReserved) => this.#outbox.send({ type: "reserved", id, isReserved }))
      }
      case "returned":
        return this.#settle(item.id)?.onReturn?.(item.value)
      case "threw":
        return this.#settle(item.id)?.onThrow?.(toError(item.error))
      case "log":
        return this.#options.onLog(item)
      case "stale":
        return this.#options.onStale?.(...item.stale)
      case "span-began":
        return this.#options.spans.began(item)
      case "span-ended":
        return this.#options.spans.ended(item)
      case "closed":
        return this.#onClosed?.()
      case "loaded":
      case "opened":
      case "failed":
        return
      default:
        return this.#streams.handle(item)
    }
  }

  #end(): void {
    this.#hasEnded = true
    const lost = Array.from(this.#pending.entries())
    for (const [id] of lost) this.#pending.delete(id)
    for (const [, { onLost }] of lost) onLost?.()
    this.#streams.close()
    this.#options.spans.lost(BigInt(Date.now()) * 1_000_000n)
    this.#onClosed?.()
  }
}
