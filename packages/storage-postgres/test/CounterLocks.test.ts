/**
 * The order in which transactions lock counters: the rows of agents, and then the project's own row. In another order two
 * transactions could wait for each other.
 */
import { type AppendEvent, ProjectId, SessionId, Storage } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { emptySchema } from "./EmptySchema.ts"

type Service = Storage["Service"]

const project = ProjectId.make("default")

/** An event with a shared piece of its own. */
const event = (n: number, session: string): AppendEvent => {
  const event = Samples.appendEvent(Samples.eventId(n), { session: SessionId.make(session) })
  return { ...event, pack: { ...event.pack, shared: [Samples.sharedPiece(`piece ${n}`)] } }
}

/** Ends the sweep of a session, which owns no piece any more. */
const sweep = (session: number) => (storage: Service) =>
  storage.sweepPacks(project, session, { to: 9, limit: 9, above: 9 }, ({ packs, pendingSweep }) => ({
    packs: packs
      .filter(({ isKept }) => !isKept)
      .map(({ number }) => ({ number, bytes: undefined, formerNewBytes: 5, newBytes: 0 })),
    pieces: 0,
    done: { owned: [], pendingSweep, remaining: 0 },
    value: undefined
  }))

const erase = (limit: number) => (storage: Service) =>
  storage.eraseEvents(project, { before: Samples.eventId(9) }, limit)

it.each<
  [
    change: string,
    before: (storage: Service) => Effect.Effect<unknown, unknown>,
    change: (storage: Service) => Effect.Effect<unknown, unknown>
  ]
>([
  ["an append", () => Effect.void, (storage) => Samples.append(storage, [event(4, "s3")])],
  ["a sweep of a session that keeps events", erase(1), sweep(2)],
  ["a sweep of a session that is left without events", erase(2), sweep(2)]
])("%s locks the rows of agents before the project's own", async (_, before, change) => {
  const { schema, ...config } = await emptySchema()
  const test = Effect.gen(function* () {
    const storage = yield* Storage
    const sql = yield* SqlClient.SqlClient
    // Creates all counters: a row that a transaction inserts could not be seen.
    yield* Samples.append(storage, [event(1, "s1")])
    yield* erase(1)(storage)
    yield* sweep(1)(storage)
    yield* Samples.append(storage, [event(2, "s2"), event(3, "s2")])
    yield* before(storage)
    const isHeld = yield* Deferred.make<void>()
    const isSeen = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT 1 FROM storage_usage WHERE session_number = 0 FOR UPDATE`
          yield* Deferred.succeed(isHeld, undefined)
          yield* Deferred.await(isSeen)
        })
      )
    )
    yield* Deferred.await(isHeld)
    const changing = yield* Effect.forkChild(change(storage))
    const waits = sql`SELECT 1 FROM pg_stat_activity WHERE application_name = ${schema!} AND wait_event_type = 'Lock'`
    yield* Effect.repeat(waits, { until: (rows) => rows.length > 0, schedule: Schedule.spaced("5 millis") })
    const agents = yield* sql`SELECT 1 FROM agent_usage`
    const free = yield* sql`SELECT 1 FROM agent_usage FOR UPDATE SKIP LOCKED`
    yield* Deferred.succeed(isSeen, undefined)
    yield* Fiber.join(holder)
    yield* Fiber.join(changing)
    expect(agents.length - free.length).toBe(1)
  })
  // One connection, and so one stripe of counters.
  const one = { ...config, schema: schema!, applicationName: schema!, maxConnections: 1 }
  await Effect.runPromise(
    test.pipe(
      Effect.provide(PostgresStorage.layer(one)),
      Effect.provide(PostgresStorage.client({ ...config, schema: schema! }))
    )
  )
})
