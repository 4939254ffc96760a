/**
 * The engine on a thread of its own, so that neither its work nor the disk keep the host's event loop from its own. The
 * storage is opened there. What needs no storage is answered here: whether the process responds, and its metrics.
 */
import {
  AdmissionControl,
  type ApiKey,
  CommitLimits,
  Errors,
  KeyStorage,
  MemoryStorage,
  moduleOf,
  Recorder,
  SessionCacheBytes,
  showAdmission,
  type Storage,
  type StorageModule
} from "@tachograph/core"
import { Context, Effect, Layer, References } from "effect"
import { BasePath } from "../../BasePath.ts"
import { Engine, type Exchange, ReserveAnswer } from "../../Engine.ts"
import * as System from "../../handlers/System.ts"
import type * as Answer from "../../response/Answer.ts"
import * as ErrorAnswer from "../../response/ErrorAnswer.ts"
import { MetricsText } from "../../response/MetricsText.ts"
import * as PrometheusText from "../../response/PrometheusText.ts"
import { EngineThread, frozenAfterMs, ThreadUnavailable } from "./EngineThread.ts"
import * as LocalEngine from "../LocalEngine.ts"
import * as KeyCodec from "./KeyCodec.ts"

export interface ThreadOptions {
  /** The largest heap of the thread, in MiB. 1,024 by default. */
  readonly heapMib?: number | undefined
}

/** So many deaths within `deathsWithinMs` leave the engine down. */
const maxDeaths = 3
const deathsWithinMs = 60_000

/** Between attempts to open the storage again, after the thread has died (ms). */
const reopenMs = 500

const unavailable = ErrorAnswer.of(new Errors.StorageUnavailable({ cause: undefined }))!

/** Credentials stay on the thread of the host. */
const secretHeaders = new Set(["authorization", "cookie", "proxy-authorization"])

const withoutSecrets = (headers: Exchange["headers"]): Exchange["headers"] => {
  const kept: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !secretHeaders.has(name)) kept[name] = value
  }
  return kept
}

const frozen = new Errors.StorageUnavailable({ cause: new Error("The engine's thread stands still") })

/** The metrics of this thread and of the engine's; of this one alone, if the other does not answer. */
const makeMetrics = Effect.fnUntraced(function* (ofThread: Effect.Effect<unknown, Errors.StorageUnavailable>) {
  const ofHost = yield* MetricsText
  return Effect.gen(function* () {
    const texts = [
      yield* ofHost,
      ...(yield* Effect.match(ofThread, { onSuccess: (text) => [String(text)], onFailure: () => [] }))
    ]
    return PrometheusText.render(PrometheusText.sum(texts.map(PrometheusText.parse)))
  })
})

const make = Effect.fnUntraced(function* (storage: StorageModule, { heapMib = 1_024 }: ThreadOptions) {
  const context = yield* Effect.context<never>()
  const runFork = Effect.runForkWith(context)
  const runPromise = Effect.runPromiseWith(context)
  const commitLimits = yield* CommitLimits
  const start = {
    storage,
    basePath: yield* BasePath,
    commitLimits,
    sessionCacheBytes: yield* SessionCacheBytes,
    logLevel: yield* References.MinimumLogLevel
  }

  let thread: EngineThread | undefined
  let isClosed = false
  const deaths: Array<number> = []

  const open = (): Promise<EngineThread> =>
    EngineThread.open({
      start,
      heapMib,
      onLog: ({ annotations, level, message }) =>
        void runFork(Effect.annotateLogs(Effect.logWithLevel(level)(...message), annotations)),
      onDeath
    })

  const reopen = async (): Promise<void> => {
    while (!isClosed) {
      try {
        const opened = await open()
        if (isClosed) return await opened.close()
        thread = opened
        return
      } catch (error) {
        await runPromise(Effect.logWarning("The engine cannot be opened again yet", error))
        await new Promise((resolve) => setTimeout(resolve, reopenMs))
      }
    }
  }

  function onDeath(error: Error): void {
    thread = undefined
    const now = performance.now()
    deaths.push(now)
    const isDown = deaths.filter((at) => now - at < deathsWithinMs).length >= maxDeaths
    runFork(
      Effect.logError(
        isDown
          ? `The engine's thread has died ${maxDeaths} times in a minute, and stays down`
          : "The engine's thread has died, and is started again",
        error.message
      )
    )
    if (!isDown) void reopen()
  }

  thread = yield* Effect.tryPromise({ try: open, catch: (error) => error })
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      isClosed = true
      await thread?.close()
    })
  )

  const admission = new AdmissionControl(
    commitLimits,
    () => thread === undefined || thread.isSaturated || thread.isFrozen
  )
  yield* showAdmission(admission)

  const call = (name: string, ...args: ReadonlyArray<unknown>): Effect.Effect<unknown, Errors.StorageUnavailable> =>
    Effect.tryPromise({
      try: () => (thread === undefined ? Promise.reject(new Error("The engine is down")) : thread.call(name, args)),
      catch: (cause) => new Errors.StorageUnavailable({ cause })
    })

  const handleInThread = (exchange: Exchange): Effect.Effect<Answer.Answer> =>
    Effect.flatMap(ReserveAnswer, (reserve) =>
      Effect.callback<Answer.Answer>((resume) => {
        if (thread === undefined) return resume(Effect.succeed(unavailable))
        const sent = {
          ...exchange,
          headers: withoutSecrets(exchange.headers),
          arrivedAtMs: performance.timeOrigin + exchange.arrivedAtMs
        }
        const giveUp = thread.exchange(sent, {
          onAnswer: (answer) => resume(Effect.succeed(answer)),
          onReserve: (bytes) => runPromise(reserve(bytes)),
          onLost: () => resume(Effect.succeed(unavailable))
        })
        return Effect.sync(giveUp)
      })
    )

  const decoded = (value: unknown): Effect.Effect<ApiKey | undefined> =>
    value === undefined ? Effect.undefined : KeyCodec.decode(value)

  /** A thread that stands still is not waited for. */
  const soon = <A>(effect: Effect.Effect<A, Errors.StorageUnavailable>) =>
    Effect.suspend(() => (thread?.isFrozen === true ? Effect.fail(frozen) : effect)).pipe(
      Effect.timeoutOrElse({ duration: frozenAfterMs, orElse: () => Effect.fail(frozen) })
    )
  const metrics = yield* makeMetrics(soon(call("metrics")))
  const system = yield* Effect.provideService(System.make(Effect.asVoid(soon(call("ping")))), MetricsText, metrics)
  // Answered here: they say how the thread is.
  const ownOperations = new Map(system)
  const answerErrors = ErrorAnswer.make()
  const engine = Engine.of({
    admission,
    handle: (exchange) => {
      const operation = ownOperations.get(exchange.endpoint)
      return operation === undefined
        ? handleInThread(exchange)
        : answerErrors(
            Effect.suspend(() => operation(exchange)),
            exchange.requestId
          )
    }
  })
  const keys = KeyStorage.of({
    putApiKey: (key, hash) =>
      Effect.asVoid(Effect.flatMap(KeyCodec.encode(key), (encoded) => call("putApiKey", encoded, hash))),
    findApiKey: (hash) => Effect.flatMap(call("findApiKey", hash), decoded),
    listApiKeys: Effect.flatMap(call("listApiKeys"), (keys) =>
      Effect.forEach(keys as ReadonlyArray<unknown>, KeyCodec.decode)
    ),
    revokeApiKey: (id, at) => Effect.flatMap(call("revokeApiKey", id, at.epochMilliseconds), decoded)
  })
  return Context.make(Engine, engine).pipe(Context.add(KeyStorage, keys))
})

/** Fails with what the storage could not be opened for, or with a `ThreadUnavailable`. */
export const layer = (storage: StorageModule, options: ThreadOptions = {}): Layer.Layer<Engine | KeyStorage, unknown> =>
  Layer.effectContext(make(storage, options))

const localLayer = <E>(storage: Layer.Layer<Storage, E>): Layer.Layer<Engine | KeyStorage, E> =>
  Layer.mergeAll(LocalEngine.layer.pipe(Layer.provide(Recorder.layer)), KeyStorage.layer).pipe(
    Layer.provideMerge(storage)
  )

let isSaid = false

/** Logs it once in a process. */
const sayLocal = (reason: string): Layer.Layer<never> =>
  Layer.effectDiscard(
    Effect.suspend(() => {
      if (isSaid) return Effect.void
      isSaid = true
      return Effect.logWarning(`The engine runs on the thread of the host: ${reason}`)
    })
  )

/**
 * The engine on a thread of its own, where the storage can be opened there; otherwise on this one, which is logged. In memory
 * it is always on this one.
 */
export const layerWherePossible = <E>(
  storage: Layer.Layer<Storage, E>,
  options: ThreadOptions = {}
): Layer.Layer<Engine | KeyStorage, unknown> => {
  const local = localLayer(storage)
  if (storage === (MemoryStorage.layer as Layer.Layer<Storage, unknown>)) return local
  const module = moduleOf(storage)
  if (module === undefined) return Layer.merge(local, sayLocal("its storage cannot be opened on another"))
  return Layer.catch(layer(module, options), (error) =>
    error instanceof ThreadUnavailable
      ? Layer.merge(local, sayLocal(error.message))
      : Layer.effectContext(Effect.fail(error))
  )
}

export { localLayer }
