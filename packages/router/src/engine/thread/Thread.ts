/** The engine's thread: opens the storage, and answers what the host sends. Started by `EngineThread`. */
import {
  type ApiKey,
  CollectGarbage,
  CommitLimits,
  DeriveInBackground,
  InFlight,
  KeyStorage,
  Prices,
  Recorder,
  SessionCacheBytes,
  type StaleSession,
  type StoredAudit,
  StaleSessions,
  Storage,
  type StorageModule
} from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import { BasePath } from "../../BasePath.ts"
import { Engine, isCounted, RedactPatterns, ReserveAnswer } from "../../Engine.ts"
import { type Answer, byteLength } from "../../response/Answer.ts"
import * as LocalEngine from "../LocalEngine.ts"
import { errorData } from "./ErrorData.ts"
import * as HeapLimit from "./HeapLimit.ts"
import * as KeyCodec from "./KeyCodec.ts"
import type { Call, FromThread, Start, ToThread } from "./Messages.ts"
import { movable, Outbox } from "./Outbox.ts"
import * as Priority from "./Priority.ts"
import * as Spans from "./Spans.ts"
import { Streams } from "./Streams.ts"
import { ThreadStatus } from "./ThreadStatus.ts"

/** How often the status is updated while there is work (ms). */
const beatMs = 100

const openStorage = async ({ args, name, url }: StorageModule): Promise<Layer.Layer<Storage, unknown>> => {
  const module = (await import(url)) as Readonly<Record<string, (...args: ReadonlyArray<unknown>) => unknown>>
  return module[name]!(...args) as Layer.Layer<Storage, unknown>
}

type ToHandle = Extract<ToThread, { readonly type: "exchange" }>

/** Logs on the thread of the host. */
const forwardingLogger = (outbox: Outbox<FromThread>) =>
  Logger.make<unknown, void>(({ cause, fiber, logLevel, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    outbox.send({
      type: "log",
      // A line is never logged at `All` or `None`.
      level: logLevel as LogLevel.Severity,
      message: (Array.isArray(message) ? message : [message]).map(String),
      cause: cause.reasons.length === 0 ? undefined : errorData(Cause.squash(cause)),
      annotations: JSON.parse(JSON.stringify(annotations)) as Readonly<Record<string, unknown>>
    })
  })

/** Announces the sessions that were found stale here to the host, which passes them on to the other thread. */
const announcing = (outbox: Outbox<FromThread>, isFromHost: () => boolean) =>
  Layer.effectDiscard(
    Effect.flatMap(StaleSessions, ({ listen }) =>
      listen((...stale) => {
        if (!isFromHost()) outbox.send({ type: "stale", stale })
      })
    )
  )

const run = async (port: MessagePort, start: Start) => {
  HeapLimit.enforce(start.heapMib)
  if (start.isReading) Priority.lower()
  const outbox = new Outbox<FromThread>(port)
  const status = new ThreadStatus(start.status)
  /** While a stale session of the other thread is announced. */
  let isFromHost = false
  const opened = await openStorage(start.storage)
  outbox.send({ type: "loaded" })
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(LocalEngine.layer.pipe(Layer.provideMerge(Recorder.layer)), KeyStorage.layer).pipe(
      Layer.merge(announcing(outbox, () => isFromHost)),
      Layer.provideMerge(StaleSessions.layer),
      Layer.provideMerge(opened),
      Layer.provideMerge(
        Layer.mergeAll(
          Layer.succeed(BasePath, start.basePath),
          Layer.succeed(CommitLimits, start.commitLimits),
          Layer.succeed(SessionCacheBytes, start.sessionCacheBytes),
          Layer.succeed(Prices, start.prices),
          Layer.succeed(RedactPatterns, start.redact),
          Layer.succeed(DeriveInBackground, !start.isReading),
          Logger.layer([forwardingLogger(outbox)]),
          Layer.succeed(References.MinimumLogLevel, start.logLevel),
          start.isTraced
            ? Layer.succeed(
                Tracer.Tracer,
                Spans.forwarding((item) => outbox.send(item))
              )
            : Layer.empty
        )
      )
    )
  )
  const opening = await runtime.runPromiseExit(
    Effect.all({
      collectGarbage: CollectGarbage,
      engine: Engine,
      keys: KeyStorage,
      recorder: Recorder,
      staleSessions: StaleSessions,
      storage: Storage,
      context: Effect.context<never>()
    })
  )
  if (Exit.isFailure(opening)) {
    outbox.send({ type: "failed", error: errorData(Cause.squash(opening.cause)) })
    outbox.flush()
    await runtime.dispose()
    return port.close()
  }
  const { collectGarbage, engine, keys, recorder, staleSessions, storage } = opening.value
  const fork = Effect.runForkWith(opening.value.context)

  const fibers = new InFlight<Fiber.Fiber<unknown, unknown>>()
  const reservations = new InFlight<(isReserved: boolean) => void>()
  let beats: NodeJS.Timeout | undefined
  const beat = () => status.update(recorder.admission.wouldTimeOut())

  const began = (id: number, fiber: Fiber.Fiber<unknown, unknown>) => {
    fibers.set(id, fiber)
    beats ??= setInterval(beat, beatMs)
    fiber.addObserver(() => {
      fibers.delete(id)
      if (fibers.size > 0) return
      clearInterval(beats)
      beats = undefined
      beat()
    })
  }

  /** A read that goes on may ask again at once. */
  const settle = (id: number, isReserved: boolean) => {
    const resume = reservations.get(id)
    reservations.delete(id)
    resume?.(isReserved)
  }

  const reserveOnHost = (id: number, bytes: number) =>
    Effect.callback<boolean>((resume) => {
      reservations.set(id, (isReserved) => resume(Effect.succeed(isReserved)))
      outbox.send({ type: "reserve", id, bytes })
      return Effect.sync(() => reservations.delete(id))
    })

  /** The host does not count small answers: to ask it would take longer than most of them. */
  const reserve =
    ({ exchange: { passed }, id }: ToHandle) =>
    (bytes: number) =>
      passed === undefined && bytes > 0 && !isCounted(bytes) ? Effect.succeed(true) : reserveOnHost(id, bytes)

  const streams = new Streams((message, transfers) => outbox.send(message, transfers))

  const answer = (id: number, { stream, ...given }: Answer) => {
    const answer = { ...given, refusal: cloneable(given.refusal) }
    if (stream !== undefined) {
      outbox.send({ type: "answer", id, answer, isStreamed: true })
      return streams.send(id, stream)
    }
    if (typeof answer.body === "string") return outbox.send({ type: "answer", id, answer })
    // Several small parts would cost more to transfer than one costs to copy.
    const body = isCounted(byteLength(answer.body))
      ? answer.body.map((part) => movable(part, answer.isShared !== true))
      : [movable(Buffer.concat(answer.body), true)]
    const transfers = new Set(body.map(({ buffer }) => buffer))
    outbox.send({ type: "answer", id, answer: { ...answer, body } }, Array.from(transfers))
  }

  const calls: Readonly<Record<string, (...args: ReadonlyArray<never>) => Effect.Effect<unknown, unknown>>> = {
    putApiKey: (key: unknown, hash: Uint8Array, entry: StoredAudit) =>
      Effect.flatMap(KeyCodec.decode(key), (decoded) => keys.putApiKey(decoded, hash, entry)),
    findApiKey: (hash: Uint8Array) => Effect.flatMap(keys.findApiKey(hash), encoded),
    listApiKeys: () => Effect.flatMap(keys.listApiKeys, (all) => Effect.forEach(all, KeyCodec.encode)),
    revokeApiKey: (id: string, atMs: number, entry: StoredAudit) =>
      Effect.flatMap(keys.revokeApiKey(id, DateTime.makeUnsafe(atMs), entry), encoded),
    announceStale: (...stale: StaleSession) =>
      Effect.sync(() => {
        isFromHost = true
        try {
          staleSessions.announce(...stale)
        } finally {
          isFromHost = false
        }
      }),
    metrics: () => PrometheusMetrics.format(),
    ping: () => storage.ping
  }

  const call = ({ args, id, name }: Call) => {
    const fiber = fork(calls[name]!(...(args as ReadonlyArray<never>)))
    began(id, fiber)
    fiber.addObserver((exit) =>
      outbox.send(
        Exit.isSuccess(exit)
          ? { type: "returned", id, value: exit.value }
          : { type: "threw", id, error: errorData(Cause.squash(exit.cause)) }
      )
    )
  }

  const close = async () => {
    streams.close()
    await runtime.dispose()
    outbox.send({ type: "closed" })
    outbox.flush()
    port.close()
  }

  const begin = (item: ToHandle) => {
    const { exchange, id, isStreamed, span } = item
    const stream = isStreamed ? streams.receive(id) : undefined
    const arrivedAtMs = exchange.arrivedAtMs - performance.timeOrigin
    const answered = engine.handle({ ...exchange, stream, arrivedAtMs })
    const handled = span === undefined ? answered : Effect.withParentSpan(answered, Tracer.externalSpan(span))
    const fiber = fork(
      Effect.annotateLogs(
        Effect.provideService(handled, ReserveAnswer, reserve(item)),
        "request_id",
        exchange.requestId
      )
    )
    began(id, fiber)
    // It never fails: it was interrupted, by the host or by the end of the thread.
    fiber.addObserver((exit) => (Exit.isSuccess(exit) ? answer(id, exit.value) : outbox.send({ type: "lost", id })))
  }

  /** Reads whose turn has not come. */
  const waiting = new InFlight<ToHandle>()

  let isScheduled = false
  /** A read may take long without a pause. Each begins in a turn of its own, between which the thread hears of those that were given up. */
  const beginNext = () => {
    isScheduled = false
    const [next] = waiting.entries()
    if (next === undefined) return
    const [id, item] = next
    waiting.delete(id)
    begin(item)
    schedule()
  }
  const schedule = () => {
    if (isScheduled || waiting.size === 0) return
    isScheduled = true
    setImmediate(beginNext)
  }

  const receive = (item: ToThread) => {
    switch (item.type) {
      case "exchange":
        // What a client sends on is taken as it comes.
        if (!start.isReading || item.isStreamed) return begin(item)
        waiting.set(item.id, item)
        return schedule()
      case "cancel":
        if (waiting.delete(item.id)) return outbox.send({ type: "lost", id: item.id })
        return void fibers.get(item.id)?.interruptUnsafe()
      case "reserved":
        return settle(item.id, item.isReserved)
      case "call":
        return call(item)
      case "close":
        return void close()
      default:
        return streams.handle(item)
    }
  }
  port.on("message", (items: ReadonlyArray<ToThread>) => {
    for (const item of items) receive(item)
    beat()
  })
  // Loading the modules has left half of the heap unused.
  collectGarbage()
  outbox.send({ type: "opened" })
}

/** What is wrong with an input echoes it as it is written in JSON. */
const cloneable = (refusal: Answer["refusal"]): Answer["refusal"] =>
  refusal?.detail === undefined
    ? refusal
    : {
        ...refusal,
        detail: refusal.detail.map((each) => ({ ...each, input: JSON.parse(JSON.stringify(each.input)) as unknown }))
      }

const encoded = (key: ApiKey | undefined) => (key === undefined ? Effect.undefined : KeyCodec.encode(key))

if (parentPort !== null) await run(parentPort, workerData as Start)
