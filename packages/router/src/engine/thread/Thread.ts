/** The engine's thread: opens the storage, and answers what the host sends. Started by `EngineThread`. */
import { type ApiKey, InFlight, type StaleSession, type StoredAudit } from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Tracer from "effect/Tracer"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import { isCounted, ReserveAnswer } from "../../Engine.ts"
import { type Answer, byteLength } from "../../response/Answer.ts"
import { errorData } from "./ErrorData.ts"
import * as HeapLimit from "./HeapLimit.ts"
import * as KeyCodec from "./KeyCodec.ts"
import type { Call, FromThread, Start, ToThread } from "./Messages.ts"
import { movable, Outbox } from "./Outbox.ts"
import * as Priority from "./Priority.ts"
import { Streams } from "./Streams.ts"
import * as ThreadServices from "./ThreadServices.ts"
import { ThreadStatus } from "./ThreadStatus.ts"

/** How often the status is updated while there is work (ms). */
const beatMs = 100

type ToHandle = Extract<ToThread, { readonly type: "exchange" }>

const encoded = (key: ApiKey | undefined) => (key === undefined ? Effect.undefined : KeyCodec.encode(key))

type Calls = Readonly<Record<string, (...args: ReadonlyArray<never>) => Effect.Effect<unknown, unknown>>>

/** What the host calls by its name. */
const callsOf = (
  { keys, storage }: ThreadServices.Services,
  announceStale: (...stale: StaleSession) => void
): Calls => ({
  putApiKey: (key: unknown, hash: Uint8Array, entry: StoredAudit) =>
    Effect.flatMap(KeyCodec.decode(key), (decoded) => keys.putApiKey(decoded, hash, entry)),
  findApiKey: (hash: Uint8Array) => Effect.flatMap(keys.findApiKey(hash), encoded),
  listApiKeys: () => Effect.flatMap(keys.listApiKeys, (all) => Effect.forEach(all, KeyCodec.encode)),
  revokeApiKey: (id: string, atMs: number, entry: StoredAudit) =>
    Effect.flatMap(keys.revokeApiKey(id, DateTime.makeUnsafe(atMs), entry), encoded),
  deleteExpiredApiKeys: (prefix: string, atMs: number) => keys.deleteExpiredApiKeys(prefix, DateTime.makeUnsafe(atMs)),
  announceStale: (...stale: StaleSession) => Effect.sync(() => announceStale(...stale)),
  metrics: () => PrometheusMetrics.format(),
  ping: () => storage.ping
})

/** Asks the host for the bytes of answers. */
const reserving = (outbox: Outbox<FromThread>) => {
  const reservations = new InFlight<(isReserved: boolean) => void>()
  const onHost = (id: number, bytes: number) =>
    Effect.callback<boolean>((resume) => {
      reservations.set(id, (isReserved) => resume(Effect.succeed(isReserved)))
      outbox.send({ type: "reserve", id, bytes })
      return Effect.sync(() => reservations.delete(id))
    })
  return {
    /** The host does not count small answers: to ask it would take longer than most of them. */
    reserve:
      ({ exchange: { passed }, id }: ToHandle) =>
      (bytes: number) =>
        passed === undefined && bytes > 0 && !isCounted(bytes) ? Effect.succeed(true) : onHost(id, bytes),
    /** A read that goes on may ask again at once. */
    settle: (id: number, isReserved: boolean) => {
      const resume = reservations.get(id)
      reservations.delete(id)
      resume?.(isReserved)
    }
  }
}

/** What is wrong with an input echoes it as it is written in JSON. */
const cloneable = (refusal: Answer["refusal"]): Answer["refusal"] =>
  refusal?.detail === undefined
    ? refusal
    : {
        ...refusal,
        detail: refusal.detail.map((each) => ({ ...each, input: JSON.parse(JSON.stringify(each.input)) as unknown }))
      }

const sendAnswer = (outbox: Outbox<FromThread>, streams: Streams, id: number, { stream, ...given }: Answer): void => {
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

/**
 * Reads whose turn has not come. A read may take long without a pause: each begins in a turn of its own of the event loop, between which
 * the thread hears of those that were given up.
 */
const inTurns = (begin: (item: ToHandle) => void) => {
  const waiting = new InFlight<ToHandle>()
  let isScheduled = false
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
  return {
    add: (item: ToHandle) => {
      waiting.set(item.id, item)
      schedule()
    },
    /** Returns whether it was waiting. */
    giveUp: (id: number): boolean => waiting.delete(id)
  }
}

/** What is under way, by its id. The status is updated while there is work. */
const underWay = (beat: () => void) => {
  const fibers = new InFlight<Fiber.Fiber<unknown, unknown>>()
  let beats: NodeJS.Timeout | undefined
  return {
    began: (id: number, fiber: Fiber.Fiber<unknown, unknown>) => {
      fibers.set(id, fiber)
      beats ??= setInterval(beat, beatMs)
      fiber.addObserver(() => {
        fibers.delete(id)
        if (fibers.size > 0) return
        clearInterval(beats)
        beats = undefined
        beat()
      })
    },
    interrupt: (id: number) => fibers.get(id)?.interruptUnsafe()
  }
}

const run = async (port: MessagePort, start: Start) => {
  HeapLimit.enforce(start.heapMib)
  if (start.isReading) Priority.lower()
  const outbox = new Outbox<FromThread>(port)
  /** While a stale session of the other thread is announced. */
  let isFromHost = false
  const opened = await ThreadServices.openStorage(start.storage)
  outbox.send({ type: "loaded" })
  const runtime = ManagedRuntime.make(ThreadServices.layer(start, outbox, opened, () => isFromHost))
  const opening = await runtime.runPromiseExit(ThreadServices.services)
  if (Exit.isFailure(opening)) {
    outbox.send({ type: "failed", error: errorData(Cause.squash(opening.cause)) })
    outbox.flush()
    await runtime.dispose()
    return port.close()
  }
  const { collectGarbage, context, engine, recorder, staleSessions } = opening.value
  const calls = callsOf(opening.value, (...stale) => {
    isFromHost = true
    try {
      staleSessions.announce(...stale)
    } finally {
      isFromHost = false
    }
  })
  const fork = Effect.runForkWith(context)
  const status = new ThreadStatus(start.status)
  const beat = () => status.update(recorder.admission.capacity)
  const { began, interrupt } = underWay(beat)
  const { reserve, settle } = reserving(outbox)
  const streams = new Streams((message, transfers) => outbox.send(message, transfers))

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

  const begin = (item: ToHandle) => {
    const { exchange, id, isStreamed, span } = item
    const stream = isStreamed ? streams.receive(id) : undefined
    const arrivedAtMs = exchange.arrivedAtMs - performance.timeOrigin
    const answered = engine.handle({ ...exchange, stream, arrivedAtMs })
    const handled = span === undefined ? answered : Effect.withParentSpan(answered, Tracer.externalSpan(span))
    const reserved = Effect.provideService(handled, ReserveAnswer, reserve(item))
    const fiber = fork(Effect.annotateLogs(reserved, "request_id", exchange.requestId))
    began(id, fiber)
    // It never fails: it was interrupted, by the host or by the end of the thread.
    fiber.addObserver((exit) =>
      Exit.isSuccess(exit) ? sendAnswer(outbox, streams, id, exit.value) : outbox.send({ type: "lost", id })
    )
  }
  const reads = inTurns(begin)

  const close = async () => {
    streams.close()
    await runtime.dispose()
    outbox.send({ type: "closed" })
    outbox.flush()
    port.close()
  }

  const receive = (item: ToThread) => {
    switch (item.type) {
      case "exchange":
        // What a client sends on is taken as it comes.
        return !start.isReading || item.isStreamed ? begin(item) : reads.add(item)
      case "cancel":
        return reads.giveUp(item.id) ? outbox.send({ type: "lost", id: item.id }) : interrupt(item.id)
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
  beat()
  outbox.send({ type: "opened" })
}

if (parentPort !== null) await run(parentPort, workerData as Start)
