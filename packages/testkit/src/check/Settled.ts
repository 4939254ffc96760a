/** Records by several storages over one database at the same time, and compares what is below each watermark with what is there in the end. */
import { CurrentProject, type EventId, ProjectId, Recorder, type Storage } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Calls from "./Calls.ts"
import * as StoreCheck from "./StoreCheck.ts"

type Service = Storage["Service"]

/** A storage that records, as in a server whose clock is ahead by this many milliseconds. */
export interface Writer {
  readonly storage: Service
  readonly aheadMs?: number
}

interface Observed {
  readonly watermark: EventId
  /** The events up to the watermark. */
  readonly ids: ReadonlyArray<EventId>
}

export const project = ProjectId.make("settled")

const idsUpTo = (ids: ReadonlyArray<EventId>, watermark: EventId): ReadonlyArray<EventId> =>
  ids.filter((id) => id <= watermark)

const listIds = (storage: Service) =>
  Effect.map(StoreCheck.listAll(storage, project), (events) => events.map(({ id }) => id))

const observe = Effect.fnUntraced(function* (storage: Service) {
  const watermark = yield* storage.watermark(project)
  return { watermark, ids: idsUpTo(yield* listIds(storage), watermark) } satisfies Observed
})

/** Each writer records calls of sessions of its own and of a common one, some with idempotency keys and new names. */
const record = Effect.fnUntraced(function* ({ aheadMs = 0, storage }: Writer, seed: number, count: number) {
  const next = Calls.random(seed)
  const sessions = [`${seed}-a`, `${seed}-b`, "common"].map((name, n) => Calls.calls(name, ["alice", "bob"], seed + n))
  const calls = Array.from({ length: count }, (_, n) => ({
    ...sessions[next(sessions.length)]!.next().value!,
    ...(next(4) === 0 ? { key: `${seed}-${n}` } : {}),
    ...(next(8) === 0 ? { session: `${seed}-${n}` } : {})
  }))
  return yield* Effect.flatMap(Recorder, (recorder) =>
    Effect.forEach(calls, (call) => Effect.andThen(Effect.sleep(next(5)), Calls.record(recorder, call)), {
      concurrency: 1 + next(8)
    })
  ).pipe(Effect.provide(Calls.recorderOver(storage)), Effect.updateService(Clock.Clock, ahead(aheadMs)))
})

const ahead =
  (ms: number) =>
  (clock: Clock.Clock): Clock.Clock => {
    const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + ms
    return Object.assign(Object.create(clock) as Clock.Clock, {
      currentTimeMillisUnsafe,
      currentTimeMillis: Effect.sync(currentTimeMillisUnsafe)
    })
  }

/** Returns what is wrong, in sentences, and how often the watermark moved. */
export const look = Effect.fnUntraced(
  function* (writers: ReadonlyArray<Writer>, reader: Service, seed: number, count: number) {
    yield* Calls.putFingerprint(reader, project)
    const observed: Array<Observed> = []
    const observer = yield* Effect.forkChild(
      Effect.forever(
        Effect.andThen(
          Effect.map(observe(reader), (each) => observed.push(each)),
          Effect.sleep(3)
        )
      )
    )
    const recorded = yield* Effect.forEach(writers, (writer, n) => record(writer, 1_000 * seed + 100 * n, count), {
      concurrency: "unbounded"
    })
    yield* Fiber.interrupt(observer)
    const newest = recorded.flat().sort().at(-1)!
    const last = yield* Effect.repeat(observe(reader), {
      until: ({ watermark }) => watermark >= newest,
      schedule: Schedule.spaced("20 millis"),
      times: 500
    })
    observed.push(last)
    const final = yield* listIds(reader)
    const problems: Array<string> = []
    if (final.length !== recorded.flat().length) problems.push(`${final.length} events are stored`)
    if (last.watermark < newest) problems.push(`The watermark did not reach ${newest}`)
    for (const [index, { ids, watermark }] of observed.entries()) {
      const before = observed[index - 1]?.watermark
      if (before !== undefined && watermark < before) problems.push(`After ${before} came ${watermark}`)
      const late = idsUpTo(final, watermark).filter((id) => !ids.includes(id))
      for (const id of late) problems.push(`${id} appeared below ${watermark}`)
    }
    return { problems, watermarks: new Set(observed.map(({ watermark }) => watermark)).size }
  },
  Effect.provideService(CurrentProject, project)
)
