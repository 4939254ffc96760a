/** Keeps a thread of the engine running: a thread that dies is followed by another, unless that happens too often. */
import { Effect, type Scope, Tracer } from "effect"
import { OtherThreads } from "../../response/MetricsText.ts"
import { EngineThread, frozenAfterMs, type Options } from "./EngineThread.ts"
import { HostSpans } from "./Spans.ts"

/** The third death within this time leaves the engine down (ms). */
const deathsWithinMs = 60_000

/** Between attempts to open the storage again, after the thread has died (ms). */
const reopenMs = 500

type SupervisedOptions = Omit<Options, "onDeath" | "onLog" | "spans">
type Run = (effect: Effect.Effect<void>) => void

export class Supervisor {
  readonly #options: SupervisedOptions
  readonly #run: Run
  readonly #tracer: Tracer.Tracer
  readonly #deathsAtMs: Array<number> = []
  #thread: EngineThread | undefined
  #isClosed = false
  /** The metrics of the thread, when they were last read. */
  #lastMetrics = ""
  #onDeath = () => {}

  private constructor(options: SupervisedOptions, run: Run, tracer: Tracer.Tracer) {
    this.#options = options
    this.#tracer = tracer
    this.#run = run
  }

  /** Succeeds when the storage is open. Fails as `EngineThread.open`. Closing the scope closes the storage. */
  static readonly open = Effect.fnUntraced(function* (
    options: SupervisedOptions
  ): Effect.fn.Return<Supervisor, unknown, Scope.Scope> {
    const run = Effect.runForkWith(yield* Effect.context<never>())
    const supervisor = new Supervisor(options, run, yield* Tracer.Tracer)
    supervisor.#thread = yield* Effect.tryPromise({ try: () => supervisor.#open(), catch: (error) => error })
    const threads = yield* OtherThreads
    const metrics = supervisor.#readMetrics
    const keepMetrics = () => {
      threads.keep(supervisor.#lastMetrics)
      supervisor.#lastMetrics = ""
    }
    threads.add(metrics)
    supervisor.#onDeath = keepMetrics
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        supervisor.#isClosed = true
        threads.delete(metrics)
        // At once: a thread that stands still would be waited for twice.
        yield* Effect.all([metrics, supervisor.#close], { concurrency: "unbounded" })
        keepMetrics()
      })
    )
    return supervisor
  })

  /** Undefined while there is none. */
  get thread(): EngineThread | undefined {
    return this.#thread
  }

  /** Whether a new event would probably time out, or meet no thread that works. */
  get isSaturated(): boolean {
    return this.#thread === undefined || this.#thread.isSaturated || this.#thread.isFrozen
  }

  /** Calls a function of the thread. Rejects if there is none, if it ends, or if it stands still. */
  async callSoon(name: string): Promise<unknown> {
    if (this.#thread === undefined) throw new Error("The engine's thread is down")
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("The engine's thread stands still")), frozenAfterMs)
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
      (isClosed) => (isClosed ? Effect.void : Effect.logWarning("The engine's thread stood still, and was ended"))
    )
  })

  #open(): Promise<EngineThread> {
    return EngineThread.open({
      ...this.#options,
      spans: new HostSpans(this.#tracer),
      onLog: ({ annotations, level, message }) =>
        this.#run(Effect.annotateLogs(Effect.logWithLevel(level)(...message), annotations)),
      onDeath: (error) => this.#afterDeath(error)
    })
  }

  #afterDeath(error: Error): void {
    this.#thread = undefined
    this.#onDeath()
    const now = performance.now()
    this.#deathsAtMs.push(now)
    const isDown = this.#deathsAtMs.filter((at) => now - at < deathsWithinMs).length >= 3
    const sequel = isDown ? "for the third time in a minute, and stays down" : "and is started again"
    this.#run(Effect.logError(`The engine's thread has died, ${sequel}: ${error.message}`))
    if (!isDown) void this.#reopen()
  }

  async #reopen(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const opened = await this.#open()
        if (this.#isClosed) return void (await opened.close())
        this.#thread = opened
        return
      } catch (error) {
        this.#run(Effect.logWarning("The engine's thread cannot be started again yet", error))
        await new Promise((resolve) => setTimeout(resolve, reopenMs))
      }
    }
  }
}
