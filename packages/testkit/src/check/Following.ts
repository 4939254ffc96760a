/** Follows events while several servers record them, and compares what was given with what is stored: each event once. */
import {
  CurrentProject,
  type EventId,
  PersonId,
  type FollowPosition,
  ProjectId,
  Recorder,
  type Storage
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Calls from "./Calls.ts"
import * as StoreCheck from "./StoreCheck.ts"

type Service = Storage["Service"]
type Server = Recorder["Service"]
type Filter = Parameters<Server["awaitEvents"]>[0]

const project = ProjectId.make("followed")

/** All events; by an index; by comparing each. */
const filters: ReadonlyArray<Filter> = [{}, { person: PersonId.make("bob") }, { fields: { isError: false } }]

/** Records calls of sessions that the servers share, and of new ones. Tries again while the storage is out of reach. */
const record = Effect.fnUntraced(function* (server: Server, seed: number, count: number) {
  const next = Calls.random(seed)
  const sessions = [`${seed}`, "common"].map((name, n) => Calls.calls(name, ["alice", "bob"], seed + n))
  const calls = Array.from({ length: count }, (_, n) => {
    const call = sessions[next(sessions.length)]!.next().value!
    return { ...call, key: `${seed}-${n}`, ...(next(8) === 0 ? { session: `${seed}-${n}` } : {}) }
  })
  yield* Effect.forEach(
    calls,
    (call) =>
      Effect.andThen(
        Effect.sleep(next(5)),
        Effect.retry(Calls.recordOnce(server, call), {
          while: ({ _tag }) => _tag === "overloaded" || _tag === "storage-unavailable",
          schedule: Schedule.spaced("50 millis")
        })
      ),
    { concurrency: 1 + next(8) }
  )
})

/**
 * Follows until all events up to `newest` were given. Each request goes to one of the servers, and some go on from the position
 * after an event within the answer before, as after a connection that broke.
 */
const follow = Effect.fnUntraced(function* (
  servers: ReadonlyArray<Server>,
  filter: Filter,
  from: FollowPosition,
  seed: number,
  newest: () => EventId | undefined
) {
  const next = Calls.random(seed)
  const given: Array<EventId> = []
  let position = from
  for (;;) {
    const end = newest()
    const exit = yield* Effect.exit(servers[next(servers.length)]!.awaitEvents(filter, position, 100 * next(3)))
    if (Exit.isFailure(exit)) {
      yield* Effect.sleep(50)
      continue
    }
    const { events } = exit.value
    const taken = next(3) === 0 ? events.slice(0, 1 + next(5)) : events
    for (const { summary } of taken) given.push(summary.id)
    position = taken.length < events.length ? taken.at(-1)!.position : exit.value.next
    if (end !== undefined && events.length === 0 && position.settled >= end) return given
  }
})

interface Options {
  readonly storages: ReadonlyArray<Service>
  readonly seed: number
  /** Calls that each server records. */
  readonly count: number
  /** Runs meanwhile. */
  readonly meanwhile?: Effect.Effect<unknown>
}

/** Returns what is wrong, in sentences, and how many events were recorded. */
export const look = Effect.fnUntraced(
  function* ({ count, meanwhile = Effect.void, seed, storages }: Options) {
    const [storage] = storages
    yield* Calls.putFingerprint(storage!, project)
    const servers = yield* Effect.forEach(storages, (each) =>
      Effect.flatMap(Layer.build(Calls.recorderOver(each)), (context) => Effect.provide(Recorder, context))
    )
    const end: { newest?: EventId } = {}
    const followers = yield* Effect.forEach(filters, (filter, n) =>
      Effect.flatMap(servers[0]!.startFollowing(filter), (from) =>
        Effect.forkChild(follow(servers, filter, from, seed + n, () => end.newest))
      )
    )
    yield* Effect.all(
      [
        Effect.forEach(servers, (server, n) => record(server, 1_000 * seed + 100 * n, count), {
          concurrency: "unbounded"
        }),
        meanwhile
      ],
      { concurrency: "unbounded" }
    )
    const events = yield* StoreCheck.listAll(storage!, project)
    end.newest = events.at(-1)!.id
    const problems: Array<string> = []
    if (events.length !== storages.length * count) problems.push(`${events.length} events are stored`)
    for (const [n, follower] of followers.entries()) {
      const given = yield* Fiber.join(follower)
      const expected = events.filter(({ person }) => n !== 1 || person === "bob").map(({ id }) => id)
      const lost = expected.filter((id) => !given.includes(id))
      problems.push(...lost.map((id) => `Follower ${n} was not given ${id}`))
      if (given.length !== expected.length - lost.length)
        problems.push(`Follower ${n} was given ${given.length} events`)
    }
    return { problems, events: events.length }
  },
  Effect.scoped,
  Effect.provideService(CurrentProject, project)
)
