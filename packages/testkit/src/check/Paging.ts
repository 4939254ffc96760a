/** Reads lists page by page while several servers record: nothing that was there at the start is lost, and nothing comes twice. */
import {
  CurrentProject,
  type EventId,
  type EventListQuery,
  PersonId,
  ProjectId,
  Recorder,
  type Storage
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Calls from "./Calls.ts"
import * as StoreCheck from "./StoreCheck.ts"

type Service = Storage["Service"]
type Server = Recorder["Service"]

const project = ProjectId.make("paged")

const filters: ReadonlyArray<Pick<EventListQuery, "person" | "fields">> = [
  {},
  { person: PersonId.make("bob") },
  { fields: { isError: false } }
]

/** What one pass through the pages of a list has seen. */
interface Pass {
  readonly order: "asc" | "desc"
  readonly filter: number
  readonly ids: ReadonlyArray<EventId>
  /** Acknowledged before the first page was asked for. */
  readonly before: ReadonlySet<EventId>
  /** Where the last page began. */
  readonly settled: EventId | undefined
}

const pass = Effect.fnUntraced(function* (
  server: Server,
  acknowledged: ReadonlySet<EventId>,
  next: (below: number) => number
): Effect.fn.Return<Pass, Effect.Error<ReturnType<Server["listEvents"]>>, never> {
  const before = new Set(acknowledged)
  const order = next(2) === 0 ? "asc" : "desc"
  const filter = next(filters.length)
  const ids: Array<EventId> = []
  let after: EventId | undefined
  for (;;) {
    const page = yield* server.listEvents({ ...filters[filter], order, limit: 1 + next(40), after })
    for (const { id } of page.events) ids.push(id)
    if (page.next === undefined) return { order, filter, ids, before, settled: after }
    after = page.next
  }
})

const problemsOf = (
  { before, filter, ids, order, settled }: Pass,
  events: Effect.Success<ReturnType<typeof StoreCheck.listAll>>
): ReadonlyArray<string> => {
  const pass = `A pass in ${order} order with filter ${filter}`
  const matching = events.filter(({ person }) => filter !== 1 || person === "bob").map(({ id }) => id)
  const seen = new Set(ids)
  const isInOrder = ids.every((id, n) => n === 0 || (order === "asc" ? ids[n - 1]! < id : ids[n - 1]! > id))
  const lost = matching.filter((id) => !seen.has(id) && before.has(id))
  // What has committed late, below the end of a page.
  const missed = matching.filter((id) => !seen.has(id) && order === "asc" && settled !== undefined && id <= settled)
  return [
    ...(isInOrder ? [] : [`${pass} repeats an event`]),
    ...lost.map((id) => `${pass} lost ${id}`),
    ...missed.map((id) => `${pass} missed ${id}`)
  ]
}

/** Returns what is wrong, in sentences, and how many passes there were. */
export const look = Effect.fnUntraced(
  function* (storages: ReadonlyArray<Service>, seed: number, count: number) {
    yield* Calls.putFingerprint(storages[0]!, project)
    const servers = yield* Effect.forEach(storages, (each) =>
      Effect.flatMap(Layer.build(Calls.recorderOver(each)), (context) => Effect.provide(Recorder, context))
    )
    const acknowledged = new Set<EventId>()
    const record = Effect.fnUntraced(function* (server: Server, n: number) {
      const next = Calls.random(seed + n)
      const calls = Calls.take(Calls.calls("common", ["alice", "bob"], seed + n), count)
      yield* Effect.forEach(
        calls,
        (call, index) =>
          Effect.map(
            Effect.andThen(Effect.sleep(next(5)), Calls.record(server, { ...call, session: `${n}-${index % 9}` })),
            (id) => acknowledged.add(id)
          ),
        { concurrency: 6 }
      )
    })
    const recording = yield* Effect.forkChild(Effect.forEach(servers, record, { concurrency: "unbounded" }))
    const passes: Array<Pass> = []
    const next = Calls.random(seed)
    while (recording.pollUnsafe() === undefined)
      passes.push(yield* pass(servers[next(servers.length)]!, acknowledged, next))
    yield* Fiber.join(recording)
    const events = yield* StoreCheck.listAll(storages[0]!, project)
    return { problems: passes.flatMap((each) => problemsOf(each, events)), passes: passes.length }
  },
  Effect.scoped,
  Effect.provideService(CurrentProject, project)
)
