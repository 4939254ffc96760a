/** Which events go to the database in one statement, that they are as others, and that the others are appended all the same. */
import {
  type AppendEvent,
  AgentVersionName,
  IdempotencyKey,
  PersonId,
  ProjectId,
  SessionId,
  SessionConflict,
  Storage
} from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Deferred, Effect, Exit, Fiber, Schedule, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

const project = ProjectId.make("default")
const person = PersonId.make("ann")

/** Whether an effect takes a transaction of several statements. */
const takesSteps = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  let transactions = 0
  const tracer = Tracer.make({
    span: (options) => {
      if (options.name === "sql.transaction") transactions++
      return new Tracer.NativeSpan(options)
    }
  })
  const exit = yield* Effect.exit(Effect.provideService(effect, Tracer.Tracer, tracer))
  return [Exit.isSuccess(exit), transactions > 0] as const
})

const inOne = [true, false]
const inSteps = [true, true]
const refused = [false, true]

const run = (test: (storage: Storage["Service"]) => Effect.Effect<void, unknown>) =>
  Effect.runPromise(Effect.flatMap(Storage, test).pipe(Effect.provide(PostgresStorage.layer(freshSchema()))))

const event = (n: number, fields: Parameters<typeof Samples.appendEvent>[1] = {}) =>
  Samples.appendEvent(Samples.eventId(n), { person, ...fields })

it("appends in one statement what is of a session, an agent and people that are there", () =>
  run((storage) =>
    Effect.gen(function* () {
      const append = (...events: ReadonlyArray<AppendEvent>) => takesSteps(Samples.append(storage, events))
      const other = { session: SessionId.make("s2"), person: PersonId.make("bob") }
      expect(yield* append(event(1), event(2, other))).toEqual(inSteps)
      // A version is remembered when it was found, because what creates it may be taken back.
      expect(yield* append(event(3))).toEqual(inSteps)
      const known = [event(4), event(5, other), event(6, { person: null }), event(7, { ...other, person })]
      expect(yield* append(...known)).toEqual(inOne)

      // Each of these has something that is not there yet, or that somebody else may have.
      expect(yield* append(event(8), event(9, { session: SessionId.make("s3") }))).toEqual(inSteps)
      expect(yield* append(event(10, { person: PersonId.make("eve") }))).toEqual(inSteps)
      expect(yield* append(event(11, { agentVersion: AgentVersionName.make("v2") }))).toEqual(inSteps)
      const keyed = { key: IdempotencyKey.make("k"), bodyHash: new Uint8Array(32) }
      expect(yield* append({ ...event(12), idempotency: keyed })).toEqual(inSteps)
      const shared = event(13)
      const piece = Samples.sharedPiece("piece")
      expect(yield* append({ ...shared, pack: { ...shared.pack, shared: [piece] } })).toEqual(inSteps)

      // Now all of it is there.
      expect(yield* append(event(14, { person: PersonId.make("eve"), session: SessionId.make("s3") }))).toEqual(inOne)
      const page = yield* storage.listEvents(project, { order: "asc", limit: 100 })
      expect(page.slice(3, 7)).toEqual(known.map(({ summary }) => summary))
      expect(page).toHaveLength(14)
      const packs = yield* storage.readPacks(project, 1, [{ from: 1, to: 100 }])
      expect(packs.map(({ bytes, number }) => [number, Array.from(bytes)])).toEqual(
        [1, 3, 4, 6, 8, 10, 11, 12, 13].map((n, index) => [index + 1, Array.from(event(n).pack.bytes)])
      )
      const { events, storedBytes } = yield* storage.usage(project, 0)
      expect([events, storedBytes]).toEqual([14, 14 * 3 + Buffer.byteLength("piece piece")])
    })
  ))

it("appends nothing where a session is not as expected, and says which", () =>
  run((storage) =>
    Effect.gen(function* () {
      yield* Samples.append(storage, [event(1), event(2, { session: SessionId.make("s2") })])
      const [first, second] = [yield* storage.getSession(project, SessionId.make("s1")), { number: 2, generation: 0 }]
      const asAfter = (event: AppendEvent, session: AppendEvent["pack"]["session"], number: number): AppendEvent => ({
        ...event,
        pack: { ...event.pack, session, number }
      })
      const moved = storage.appendEvents([
        asAfter(event(3), first, 2),
        asAfter(event(4, { session: SessionId.make("s2") }), second, 5)
      ])
      expect(yield* takesSteps(moved)).toEqual(refused)
      expect(yield* Effect.flip(moved)).toEqual(new SessionConflict({ sessions: [{ project, session: "s2" }] }))
      expect(yield* storage.getSession(project, SessionId.make("s1"))).toEqual(first)
      expect(yield* storage.listEvents(project, { order: "asc", limit: 100 })).toHaveLength(2)
    })
  ))

it("creates a person again who was erased", () =>
  run((storage) =>
    Effect.gen(function* () {
      yield* Samples.append(storage, [event(1), event(2, { person: null })])
      yield* storage.eraseEvents(project, { person }, 10)
      expect(yield* storage.deletePerson(project, person)).toBe(true)
      expect(yield* takesSteps(Samples.append(storage, [event(3)]))).toEqual(inSteps)
      const page = yield* storage.listEvents(project, { order: "asc", limit: 100, person })
      expect(page).toEqual([event(3).summary])
    })
  ))

type Sql = SqlClient.SqlClient
type Statement = (sql: Sql) => Effect.Effect<unknown, unknown>
const nothing: Statement = () => Effect.void

/** Runs a statement in a transaction that goes on until an effect waits for its locks, and another one at its end. */
const meanwhile = Effect.fnUntraced(function* <A, E>(
  waiter: string,
  first: Statement,
  last: Statement,
  effect: Effect.Effect<A, E>
) {
  const sql = yield* SqlClient.SqlClient
  const holds = yield* Deferred.make<void>()
  const isAwaited = yield* Deferred.make<void>()
  const other = yield* Effect.forkChild(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* first(sql)
        yield* Deferred.succeed(holds, undefined)
        yield* Deferred.await(isAwaited)
        yield* last(sql)
      })
    )
  )
  yield* Deferred.await(holds)
  const waiting = yield* Effect.forkChild(effect)
  const waits = sql`SELECT 1 FROM pg_stat_activity WHERE application_name = ${waiter} AND wait_event_type = 'Lock'`
  yield* Effect.repeat(waits, { until: (rows) => rows.length > 0, schedule: Schedule.spaced("5 millis") })
  yield* Deferred.succeed(isAwaited, undefined)
  yield* Fiber.join(other)
  return yield* Fiber.join(waiting)
})

const holdPerson: Statement = (sql) => sql`SELECT 1 FROM people WHERE person_id = 'ann' FOR UPDATE`

it.each<[what: string, first: Statement, last: Statement, outcome: ReadonlyArray<boolean>]>([
  [
    "another count of its sessions",
    (sql) => sql`UPDATE sessions SET pending_sweep = pending_sweep + 1`,
    nothing,
    inOne
  ],
  [
    "a count that comes to be what it was",
    (sql) => sql`UPDATE sessions SET packs = packs + 1`,
    (sql) => sql`UPDATE sessions SET packs = packs - 1`,
    inOne
  ],
  [
    "the packs of one session",
    (sql) => sql`UPDATE sessions SET packs = packs + 1 WHERE session_id = 's2'`,
    nothing,
    refused
  ],
  [
    "a session's generation",
    (sql) => sql`UPDATE sessions SET generation = 9 WHERE session_id = 's2'`,
    nothing,
    refused
  ],
  ["whether a session is there", (sql) => sql`DELETE FROM sessions WHERE session_id = 's2'`, nothing, refused],
  ["nothing of a person", holdPerson, nothing, inOne],
  ["whether a person is there", holdPerson, (sql) => sql`DELETE FROM people WHERE person_id = 'ann'`, inSteps]
])("appends all or nothing where it waited for somebody who changed %s", async (_, first, last, outcome) => {
  const { schema, ...config } = freshSchema()
  const test = Effect.gen(function* () {
    const storage = yield* Storage
    const sql = yield* SqlClient.SqlClient
    const other = { session: SessionId.make("s2"), person: null }
    yield* Samples.append(storage, [event(1), event(2, other)])
    yield* Samples.append(storage, [event(3)])
    const [s1, s2] = [yield* storage.getSession(project, event(1).summary.session), { number: 2, generation: 0 }]
    const appending = storage.appendEvents([
      { ...event(4), pack: { ...event(4).pack, session: s1, number: 3 } },
      { ...event(5, other), pack: { ...event(5).pack, session: s2, number: 2 } },
      { ...event(6), pack: { ...event(6).pack, session: s1, number: 4 } }
    ])
    expect(yield* meanwhile(schema!, first, last, takesSteps(appending))).toEqual(outcome)

    const count = (what: string) =>
      Effect.map(sql<{ n: string }>`SELECT count(*) AS n FROM ${sql.literal(what)}`, ([row]) => Number(row!.n))
    const [isAppended] = outcome
    const events = isAppended ? 6 : 3
    expect(yield* count("events")).toBe(events)
    expect(yield* count("packs")).toBe(events)
    expect((yield* storage.usage(project, 0)).events).toBe(events)
    expect(yield* count("sessions WHERE session_id = 's1' AND packs = 4")).toBe(isAppended ? 1 : 0)
    // Who was deleted, as nobody would be whose events are there, has a new number.
    expect(yield* count("events WHERE session_number = 1 AND pack_number > 2 AND person_number IS NOT NULL")).toBe(
      isAppended ? 2 : 0
    )
    expect(yield* count("people")).toBe(1)
  })
  await Effect.runPromise(
    test.pipe(
      Effect.provide(PostgresStorage.layer({ ...config, schema, applicationName: schema })),
      Effect.provide(PostgresStorage.client({ ...config, schema }))
    )
  )
})
