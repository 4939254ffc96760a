/** Which events are appended in one statement, and that the result is the same as that of a transaction. */
import {
  type AppendEvent,
  AgentVersionName,
  EventId,
  IdempotencyKey,
  PersonId,
  ProjectId,
  SessionId,
  SessionConflict,
  Storage,
  idempotencyKeyHash
} from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Deferred, Effect, Exit, Fiber, Schedule, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { emptySchema, emptyStorage } from "./EmptySchema.ts"

const project = ProjectId.make("default")
const person = PersonId.make("ann")

/** Whether an effect succeeds, and whether it uses a transaction. */
const outcomeOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
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

const oneStatement = [true, false]
const transaction = [true, true]
const failed = [false, true]

const run = (test: (storage: Storage["Service"]) => Effect.Effect<void, unknown>) =>
  Effect.runPromise(Effect.flatMap(Storage, test).pipe(Effect.provide(emptyStorage())))

/** The id of an event that is recorded now, by a clock that is ahead: late events are derived in the transaction that appends them. */
const newId = (n: number) => EventId.make(Samples.eventId(n).replace(/^0190/, "01ff"))

const event = (n: number, fields: Parameters<typeof Samples.appendEvent>[1] = {}): AppendEvent => ({
  ...Samples.appendEvent(newId(n), { person, ...fields }),
  hasNewId: true
})

it("appends in one statement if the agent and the people exist", () =>
  run((storage) =>
    Effect.gen(function* () {
      const append = (...events: ReadonlyArray<AppendEvent>) => outcomeOf(Samples.append(storage, events))
      const other = { session: SessionId.make("s2"), person: PersonId.make("bob") }
      expect(yield* append(event(1), event(2, other))).toEqual(transaction)
      // A version is cached when it is read, not when it is created, because the transaction may be rolled back.
      expect(yield* append(event(3))).toEqual(transaction)
      const simple = [event(4), event(5, other), event(6, { person: null }), event(7, { ...other, person })]
      expect(yield* append(...simple)).toEqual(oneStatement)

      // Sessions that are new, beside one that exists, and alone.
      expect(yield* append(event(8), event(9, { session: SessionId.make("s3") }))).toEqual(oneStatement)
      const created = ["s5", "s4", "s5"].map((name, n) => event(15 + n, { session: SessionId.make(name) }))
      expect(yield* append(...created)).toEqual(oneStatement)
      const numbers = ["s1", "s2", "s3", "s4", "s5"].map((name) => storage.getSession(project, SessionId.make(name)))
      expect((yield* Effect.all(numbers)).map((state) => [state!.number, state!.packs])).toEqual([
        [1, 5],
        [2, 3],
        [3, 1],
        [5, 1],
        [4, 2]
      ])

      // Each of the others creates another name, with a key or without, or shares a piece.
      const eve = {
        ...event(10, { person: PersonId.make("eve") }),
        idempotency: { ...keyed, key: IdempotencyKey.make("e") }
      }
      expect(yield* append(eve)).toEqual(transaction)
      expect(yield* append(event(11, { agentVersion: AgentVersionName.make("v2") }))).toEqual(transaction)
      expect(yield* append({ ...event(12), idempotency: keyed })).toEqual(oneStatement)
      const shared = event(13)
      const piece = Samples.sharedPiece("piece")
      expect(yield* append({ ...shared, pack: { ...shared.pack, shared: [piece] } })).toEqual(transaction)

      // Now all names exist.
      expect(yield* append(event(14, { person: PersonId.make("eve"), session: SessionId.make("s3") }))).toEqual(
        oneStatement
      )
      const page = yield* storage.listEvents(project, { order: "asc", limit: 100 })
      expect(page.slice(3, 7).map((each) => each.summary)).toEqual(simple.map(({ summary }) => summary))
      expect(page).toHaveLength(17)
      const packs = yield* storage.readPacks(project, 1, [{ from: 1, to: 100 }])
      expect(packs.map(({ bytes, number }) => [number, Array.from(bytes)])).toEqual(
        [1, 3, 4, 6, 8, 10, 11, 12, 13].map((n, index) => [index + 1, Array.from(event(n).pack.bytes)])
      )
      const { events, storedBytes } = yield* storage.usage(project, 0)
      expect([events, storedBytes]).toEqual([17, 17 * 3 + Buffer.byteLength("piece piece")])
    })
  ))

it("appends nothing if a session is not as expected, and reports which", () =>
  run((storage) =>
    Effect.gen(function* () {
      yield* Samples.append(storage, [event(1), event(2, { session: SessionId.make("s2") })])
      const [first, second] = [yield* storage.getSession(project, SessionId.make("s1")), { number: 2, generation: 0 }]
      const following = (event: AppendEvent, session: AppendEvent["pack"]["session"], number: number): AppendEvent => ({
        ...event,
        pack: { ...event.pack, session, number }
      })
      const conflicting = storage.appendEvents([
        following(event(3), first, 2),
        following(event(4, { session: SessionId.make("s2") }), second, 5)
      ])
      expect(yield* outcomeOf(conflicting)).toEqual(failed)
      expect(yield* Effect.flip(conflicting)).toEqual(new SessionConflict({ sessions: [{ project, session: "s2" }] }))
      expect(yield* storage.getSession(project, SessionId.make("s1"))).toEqual(first)
      expect(yield* storage.listEvents(project, { order: "asc", limit: 100 })).toHaveLength(2)
    })
  ))

it("creates an erased person again", () =>
  run((storage) =>
    Effect.gen(function* () {
      yield* Samples.append(storage, [event(1), event(2, { person: null })])
      yield* storage.eraseEvents(project, { person }, 10)
      expect(yield* storage.deletePerson(project, person)).toBe(true)
      expect(yield* outcomeOf(Samples.append(storage, [event(3)]))).toEqual(transaction)
      const page = yield* storage.listEvents(project, { order: "asc", limit: 100, person })
      expect(page.map((each) => each.summary)).toEqual([event(3).summary])
    })
  ))

type Sql = SqlClient.SqlClient
type Statement = (sql: Sql) => Effect.Effect<unknown, unknown>
const nothing: Statement = () => Effect.void
const keyed = { key: IdempotencyKey.make("k"), bodyHash: new Uint8Array(32) }

/**
 * Runs `effect` while another transaction holds locks: it runs `first`, waits until a connection of the application `waiter`
 * waits for a lock, runs `last`, and commits.
 */
const withConcurrent = Effect.fnUntraced(function* <A, E>(
  waiter: string,
  first: Statement,
  last: Statement,
  effect: Effect.Effect<A, E>
) {
  const sql = yield* SqlClient.SqlClient
  const isLocked = yield* Deferred.make<void>()
  const isAwaited = yield* Deferred.make<void>()
  const other = yield* Effect.forkChild(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* first(sql)
        yield* Deferred.succeed(isLocked, undefined)
        yield* Deferred.await(isAwaited)
        yield* last(sql)
      })
    )
  )
  yield* Deferred.await(isLocked)
  const waiting = yield* Effect.forkChild(effect)
  const waits = sql`SELECT 1 FROM pg_stat_activity WHERE application_name = ${waiter} AND wait_event_type = 'Lock'`
  yield* Effect.repeat(waits, { until: (rows) => rows.length > 0, schedule: Schedule.spaced("5 millis") })
  yield* Deferred.succeed(isAwaited, undefined)
  yield* Fiber.join(other)
  return yield* Fiber.join(waiting)
})

const holdPerson: Statement = (sql) => sql`SELECT 1 FROM people WHERE person_id = 'ann' FOR UPDATE`

it.each<[change: string, first: Statement, last: Statement, outcome: ReadonlyArray<boolean>]>([
  [
    "another counter of the sessions",
    (sql) => sql`UPDATE sessions SET pending_sweep = pending_sweep + 1`,
    nothing,
    oneStatement
  ],
  [
    "a counter, and changed it back",
    (sql) => sql`UPDATE sessions SET packs = packs + 1`,
    (sql) => sql`UPDATE sessions SET packs = packs - 1`,
    oneStatement
  ],
  [
    "the number of packs of a session",
    (sql) => sql`UPDATE sessions SET packs = packs + 1 WHERE session_id = 's2'`,
    nothing,
    failed
  ],
  [
    "the generation of a session",
    (sql) => sql`UPDATE sessions SET generation = 9 WHERE session_id = 's2'`,
    nothing,
    failed
  ],
  ["a session, by deleting it", (sql) => sql`DELETE FROM sessions WHERE session_id = 's2'`, nothing, failed],
  ["nothing, but locked a person", holdPerson, nothing, oneStatement],
  ["a person, by deleting it", holdPerson, (sql) => sql`DELETE FROM people WHERE person_id = 'ann'`, transaction]
])("appends all or nothing after it waited for a transaction that changed %s", async (_, first, last, outcome) => {
  const { schema, ...config } = await emptySchema()
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
    expect(yield* withConcurrent(schema!, first, last, outcomeOf(appending))).toEqual(outcome)

    const count = (rows: string) =>
      Effect.map(sql<{ n: string }>`SELECT count(*) AS n FROM ${sql.literal(rows)}`, ([row]) => Number(row!.n))
    const [isAppended] = outcome
    const events = isAppended ? 6 : 3
    expect(yield* count("events")).toBe(events)
    expect(yield* count("packs")).toBe(events)
    expect((yield* storage.usage(project, 0)).events).toBe(events)
    expect(yield* count("sessions WHERE session_id = 's1' AND packs = 4")).toBe(isAppended ? 1 : 0)
    // A deleted person has been created again, under a new number. (Erasure deletes no person who has events.)
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

it.each<[change: string, change: Statement, outcome: ReadonlyArray<boolean>, sessions: ReadonlyArray<unknown>]>([
  [
    "the counter of the project",
    (sql) => sql`UPDATE projects SET sessions = sessions + 5`,
    oneStatement,
    [
      ["s1", 1, 2],
      ["s2", 7, 1]
    ]
  ],
  [
    "its key",
    (sql) => sql`INSERT INTO idempotency_keys (project_id, key_hash, body_hash, event_id)
      VALUES (1, ${idempotencyKeyHash(SessionId.make("s2"), keyed.key)}, '', ${newId(1)})`,
    failed,
    [["s1", 1, 1]]
  ],
  [
    "a session that it creates",
    (sql) =>
      Effect.andThen(
        sql`UPDATE projects SET sessions = sessions + 1`,
        sql`INSERT INTO sessions (project_id, session_number, session_id, packs) VALUES (1, 2, 's2', 1)`
      ),
    failed,
    [
      ["s1", 1, 1],
      ["s2", 2, 1]
    ]
  ],
  ["a session that exists", (sql) => sql`UPDATE sessions SET packs = packs + 1`, failed, [["s1", 1, 2]]]
])(
  "appends to a new session, with a key, or nothing after it waited for a transaction that changed %s",
  async (_, change, outcome, sessions) => {
    const { schema, ...config } = await emptySchema()
    const test = Effect.gen(function* () {
      const storage = yield* Storage
      const sql = yield* SqlClient.SqlClient
      yield* Samples.append(storage, [event(1)])
      const cached = { ...event(2), pack: { ...event(2).pack, session: undefined, number: 7 } }
      yield* Effect.flip(storage.appendEvents([cached]))
      const s1 = yield* storage.getSession(project, event(1).summary.session)
      const created = event(4, { session: SessionId.make("s2") })
      const appending = storage.appendEvents([
        { ...event(3), pack: { ...event(3).pack, session: s1, number: 2 } },
        { ...created, pack: { ...created.pack, session: undefined, number: 1 }, idempotency: keyed }
      ])
      expect(yield* withConcurrent(schema!, change, nothing, outcomeOf(appending))).toEqual(outcome)
      const rows = yield* sql<{
        session_id: string
        session_number: number
        packs: number
      }>`SELECT session_id, session_number, packs FROM sessions ORDER BY session_id`
      expect(rows.map((row) => [row.session_id, row.session_number, row.packs])).toEqual(sessions)
      const counters = yield* sql`SELECT sessions, (SELECT count(*)::integer FROM events) AS events FROM projects`
      expect(counters).toEqual([{ sessions: rows.at(-1)!.session_number, events: outcome[0] ? 3 : 1 }])
    })
    await Effect.runPromise(
      test.pipe(
        Effect.provide(PostgresStorage.layer({ ...config, schema, applicationName: schema })),
        Effect.provide(PostgresStorage.client({ ...config, schema }))
      )
    )
  }
)
