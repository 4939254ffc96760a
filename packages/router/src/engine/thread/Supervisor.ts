/** Keeps a thread running: one that dies is followed by another, unless that happens too often. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { OtherThreads, type ThreadMetrics } from "../../response/MetricsText.ts"
import { toError } from "./ErrorData.ts"
import { EngineThread, frozenAfterMs, type Options } from "./EngineThread.ts"
import { HostSpans } from "./Spans.ts"

/** Deaths are counted for this long (ms). */
const deathsWithinMs = 60_000

/** Between attempts to open the storage again, after the thread has died (ms). */
const reopenMs = 500

/** A thread on demand that could not be started is not tried again for so long (ms). */
const failedForMs = 5_000

/** A thread on demand that nothing was asked of for so long is ended (ms). */
const idleMs = 60_000

export interface SupervisedOptions extends Omit<Options, "onDeath" | "onLog" | "spans"> {
  /** For the log. */
  readonly name: string
  /** Started by `start`, and ended when it is idle. Otherwise it is started once, and again when it has died. */
  readonly isOnDemand: boolean
  /** This many deaths within a minute leave it down: for ever, or on demand until a minute after the first of them. */
  readonly maxDeaths: number
  /** Resolves when it may be started again after a death. */
  readonly beforeRestart?: () => Promise<void>
}

/** The thread has died too often to be started again, or its scope is closed. */
export class ThreadDown extends Error {
  constructor(name: string) {
    super(`The ${name} is down`)
  }
}

type Run = (effect: Effect.Effect<void>) => void

export class Supervisor {
  readonly #options: SupervisedOptions
  readonly #run: Run
  readonly #tracer: Tracer.Tracer
  readonly #metrics: ThreadMetrics
  #deathsAtMs: ReadonlyArray<number> = []
  #thread: EngineThread | undefined
  #opening: Promise<EngineThread> | undefined
  #failure: { readonly error: unknown; readonly atMs: number } | undefined
  #idle: NodeJS.Timeout | undefined
  #isClosed = false
  /** The metrics of the thread, when they were last read. */
  #lastMetrics = ""

  private constructor(options: SupervisedOptions, run: Run, tracer: Tracer.Tracer, metrics: ThreadMetrics) {
    this.#options = options
    this.#run = run
    this.#tracer = tracer
    this.#metrics = metrics
  }

  /** Starts nothing yet. Closing the scope closes the storage. */
  static readonly make = Effect.fnUntraced(function* (
    options: SupervisedOptions
  ): Effect.fn.Return<Supervisor, never, Scope.Scope> {
    const run = Effect.runForkWith(yield* Effect.context<never>())
    const metrics = yield* OtherThreads
    const supervisor = new Supervisor(options, run, yield* Tracer.Tracer, metrics)
    metrics.add(supervisor.#readMetrics)
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        supervisor.#isClosed = true
        metrics.delete(supervisor.#readMetrics)
        // At once: a thread that stands still would be waited for twice.
        yield* Effect.all([supervisor.#readMetrics, supervisor.#close], { concurrency: "unbounded" })
        supervisor.#forget()
      })
    )
    return supervisor
  })

  /** Undefined while there is none. */
  get thread(): EngineThread | undefined {
    return this.#thread
  }

  /** How many events may be queued: one more would probably time out, or meet no thread that works. */
  get capacity(): number {
    return this.#thread === undefined || this.#thread.isFrozen ? 0 : this.#thread.capacity
  }

  /** The thread, which is started if there is none. Rejects as `EngineThread.open`, or with `ThreadDown`. */
  readonly start = async (): Promise<EngineThread> => {
    this.#idle?.refresh()
    if (this.#thread !== undefined) return this.#thread
    return (this.#opening ??= this.#openOnce().finally(() => (this.#opening = undefined)))
  }

  /** Ends a thread on demand: what it was asked is lost. */
  async end(): Promise<void> {
    await this.#opening?.catch(() => {})
    const thread = this.#thread
    this.#forget()
    await thread?.end()
  }

  /** Calls a function of the thread. Rejects if there is none, if it ends, or if it stands still. */
  async callSoon(name: string): Promise<unknown> {
    if (this.#thread === undefined) throw new ThreadDown(this.#options.name)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`The ${this.#options.name} stands still`)), frozenAfterMs)
    })
    return Promise.race([this.#thread.call(name, []), late]).finally(() => clearTimeout(timer))
  }

  readonly #readMetrics: Effect.Effect<string | undefined> = Effect.promise(() =>
    this.callSoon("metrics").then(
      (text) => (this.#lastMetrics = String(text)),
      () => undefined
    )
  )

  readonly #close = Effect.suspend(() => {
    const thread = this.#thread
    if (thread === undefined) return Effect.void
    return Effect.flatMap(
      Effect.promise(() => thread.close()),
      (isClosed) => (isClosed ? Effect.void : Effect.logWarning(`The ${this.#options.name} stood still, and was ended`))
    )
  })

  /** There is no thread any more. */
  #forget(): void {
    this.#thread = undefined
    clearTimeout(this.#idle)
    this.#metrics.keep(this.#lastMetrics)
    this.#lastMetrics = ""
  }

  /** Remembers a failure. */
  async #openOnce(): Promise<EngineThread> {
    if (this.#failure !== undefined && performance.now() - this.#failure.atMs < failedForMs) throw this.#failure.error
    try {
      return await this.#open()
    } catch (error) {
      if (this.#options.isOnDemand && !this.#isClosed && !(error instanceof ThreadDown)) {
        this.#failure = { error, atMs: performance.now() }
        this.#run(
          Effect.logWarning(
            `The ${this.#options.name} cannot be started, and is not used for ${failedForMs / 1_000} s`,
            error
          )
        )
      }
      throw error
    }
  }

  async #open(): Promise<EngineThread> {
    const { isOnDemand, maxDeaths, name } = this.#options
    if (this.#isClosed || this.#recentDeaths() >= maxDeaths) throw new ThreadDown(name)
    const thread = await EngineThread.open({
      ...this.#options,
      spans: new HostSpans(this.#tracer),
      onLog: ({ annotations, cause, level, message }) => {
        const causes = cause === undefined ? [] : [Cause.fail(toError(cause))]
        this.#run(Effect.annotateLogs(Effect.logWithLevel(level)(...message, ...causes), annotations))
      },
      onDeath: (error) => this.#afterDeath(error)
    })
    if (this.#isClosed) {
      await thread.close()
      throw new ThreadDown(name)
    }
    this.#thread = thread
    if (isOnDemand) this.#idle = setTimeout(() => void this.#endIfIdle(), idleMs).unref()
    return thread
  }

  async #endIfIdle(): Promise<void> {
    const thread = this.#thread
    if (thread === undefined) return
    if (thread.isIdle) await Effect.runPromise(this.#readMetrics)
    if (thread !== this.#thread) return
    if (!thread.isIdle) return void this.#idle?.refresh()
    this.#forget()
    await thread.close()
  }

  #recentDeaths(): number {
    const now = performance.now()
    this.#deathsAtMs = this.#deathsAtMs.filter((at) => now - at < deathsWithinMs)
    return this.#deathsAtMs.length
  }

  #afterDeath(error: Error): void {
    const { isOnDemand, maxDeaths, name } = this.#options
    this.#forget()
    this.#deathsAtMs = [...this.#deathsAtMs, performance.now()]
    const isDown = this.#recentDeaths() >= maxDeaths
    const sequel = isDown
      ? `${maxDeaths} times in a minute, and stays down${isOnDemand ? " for a while" : ""}`
      : `and is started again${isOnDemand ? " when it is needed" : ""}`
    this.#run(Effect.logError(`The ${name} has died ${sequel}: ${error.message}`))
    if (!isDown && !isOnDemand) void this.#reopen()
  }

  async #reopen(): Promise<void> {
    const { beforeRestart, name } = this.#options
    await beforeRestart?.()
    while (!this.#isClosed) {
      try {
        return void (await this.#open())
      } catch (error) {
        if (error instanceof ThreadDown) return
        this.#run(Effect.logWarning(`The ${name} cannot be started again yet`, Cause.fail(error)))
        await new Promise((resolve) => setTimeout(resolve, reopenMs))
      }
    }
  }
}
