/**
 * The engine on a thread of its own, so that neither its work nor the disk keep the host's event loop from its own. The
 * storage is opened there. What says how the process is, is answered here: health, readiness, metrics, how people sign in.
 */
import {
  AdmissionControl,
  type ApiKey,
  CommitLimits,
  Errors,
  KeyStorage,
  MemoryStorage,
  moduleOf,
  Prices,
  Recorder,
  SessionCacheBytes,
  showAdmission,
  type StaleSession,
  type Storage,
  type StorageModule
} from "@tachograph/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { BasePath } from "../../BasePath.ts"
import { Engine, OtlpWaitMs, ProxyUpstreams, RedactPatterns, ServesViewer } from "../../Engine.ts"
import * as SignIn from "../../handlers/SignIn.ts"
import * as System from "../../handlers/System.ts"
import * as ErrorAnswer from "../../response/ErrorAnswer.ts"
import * as LocalEngine from "../LocalEngine.ts"
import { ThreadUnavailable } from "./EngineThread.ts"
import * as Handler from "./Handler.ts"
import * as KeyCodec from "./KeyCodec.ts"
import { Supervisor } from "./Supervisor.ts"

export interface ThreadOptions {
  /** The largest heap of each thread, in MiB. 1,024 by default. */
  readonly heapMib?: number | undefined
  /** A thread that dies this many times within a minute is not started again. 3 by default. */
  readonly maxDeaths?: number | undefined
}

/** The keys in the storage of the thread. */
const keysOf = (supervisor: Supervisor): KeyStorage["Service"] => {
  const call = (name: string, ...args: ReadonlyArray<unknown>) =>
    Effect.tryPromise({
      try: async () => {
        if (supervisor.thread === undefined) throw new Error("The engine's thread is down")
        return await supervisor.thread.call(name, args)
      },
      catch: (cause) => new Errors.StorageUnavailable({ cause })
    })
  const decoded = (value: unknown): Effect.Effect<ApiKey | undefined> =>
    value === undefined ? Effect.undefined : KeyCodec.decode(value)
  return {
    putApiKey: (key, hash, entry) =>
      Effect.asVoid(Effect.flatMap(KeyCodec.encode(key), (encoded) => call("putApiKey", encoded, hash, entry))),
    findApiKey: (hash) => Effect.flatMap(call("findApiKey", hash), decoded),
    listApiKeys: Effect.flatMap(call("listApiKeys"), (keys) =>
      Effect.forEach(keys as ReadonlyArray<unknown>, KeyCodec.decode)
    ),
    revokeApiKey: (id, at, entry) => Effect.flatMap(call("revokeApiKey", id, at.epochMilliseconds, entry), decoded),
    deleteExpiredApiKeys: (prefix, at) => Effect.asVoid(call("deleteExpiredApiKeys", prefix, at.epochMilliseconds))
  }
}

const make = Effect.fnUntraced(function* (storage: StorageModule, { heapMib = 1_024, maxDeaths = 3 }: ThreadOptions) {
  const commitLimits = yield* CommitLimits
  const start = {
    heapMib,
    basePath: yield* BasePath,
    commitLimits,
    sessionCacheBytes: yield* SessionCacheBytes,
    prices: yield* Prices,
    redact: yield* RedactPatterns,
    otlpWaitMs: yield* OtlpWaitMs,
    servesViewer: yield* ServesViewer,
    proxyUpstreams: yield* ProxyUpstreams,
    logLevel: yield* References.MinimumLogLevel,
    isTraced: (yield* Tracer.Tracer) !== Tracer.nativeTracer
  }
  /** A thread that ends keeps nothing of the session. */
  const announceTo =
    (other: () => Supervisor | undefined) =>
    (...stale: StaleSession) => {
      other()
        ?.thread?.call("announceStale", stale)
        .catch(() => {})
    }
  const supervisor: Supervisor = yield* Supervisor.make({
    name: "engine's thread",
    isOnDemand: false,
    maxDeaths,
    start: { ...start, storage, isReading: false },
    beforeRestart: async () => reader?.end(),
    onStale: announceTo(() => reader)
  })
  // Closed before the other one, which has the last connection to a file of SQLite then.
  const reader: Supervisor | undefined =
    storage.reading === undefined
      ? undefined
      : yield* Supervisor.make({
          name: "reading thread",
          isOnDemand: true,
          maxDeaths,
          start: { ...start, storage: { ...storage, name: storage.reading }, isReading: true },
          onStale: announceTo(() => supervisor)
        })
  yield* Effect.tryPromise({ try: supervisor.start, catch: (error) => error })
  const admission = new AdmissionControl(commitLimits, () => supervisor.capacity)
  yield* showAdmission(admission)
  const ping = Effect.tryPromise({
    try: () => supervisor.callSoon("ping"),
    catch: (cause) => new Errors.StorageUnavailable({ cause })
  })
  const ownOperations = new Map([...(yield* System.make(Effect.asVoid(ping))), ...(yield* SignIn.operations)])
  const handleInThread = yield* Handler.make(supervisor, reader)
  const answerErrors = ErrorAnswer.make()
  const engine = Engine.of({
    admission,
    handle: (exchange) => {
      const operation = ownOperations.get(exchange.endpoint)
      if (operation === undefined) return handleInThread(exchange)
      return answerErrors(
        Effect.suspend(() => operation(exchange)),
        exchange.requestId
      )
    }
  })
  return Context.make(Engine, engine).pipe(Context.add(KeyStorage, keysOf(supervisor)))
})

/** Fails with what the storage could not be opened for, or with a `ThreadUnavailable`. */
export const layer = (storage: StorageModule, options: ThreadOptions = {}): Layer.Layer<Engine | KeyStorage, unknown> =>
  Layer.effectContext(make(storage, options))

/** The engine on the thread of the host. */
export const localLayer = <E>(storage: Layer.Layer<Storage, E>): Layer.Layer<Engine | KeyStorage, E> =>
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
 * The engine on a thread of its own, where the storage can be opened there; otherwise on that of the host, which is logged. In
 * memory it is always on that of the host.
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
