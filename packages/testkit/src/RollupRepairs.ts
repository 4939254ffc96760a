/** What becomes of rows that say what events add up to, where they were changed behind the storage's back. */
import {
  CurrentProject,
  EventId,
  EventTime,
  PersonId,
  Prices,
  Recorder,
  Reindexer,
  SessionId,
  Storage,
  Throttle,
  Uuid
} from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import * as Calls from "./check/Calls.ts"
import * as RandomJson from "./RandomJson.ts"
import * as Verifying from "./check/Verifying.ts"
import { append, appendEvent, project } from "./Samples.ts"
import { seed } from "./TestSeed.ts"

type Test = (title: string, body: Effect.Effect<void, unknown, Storage | SqlClient.SqlClient>) => void

const beginMs = Date.UTC(2026, 9, 21, 22, 7)
const end = EventId.make(EventTime.firstIdOf(beginMs + 3_600_000))
const count = 60

/** An event of one of six sessions, each with a person of three. */
const eventOf = (n: number) =>
  appendEvent(EventTime.firstIdOf(beginMs + 1_000 * n), {
    session: SessionId.make(`s${n % 6}`),
    person: PersonId.make(`p${n % 3}`),
    durationMs: 100 + n
  })

const deriveAll = Effect.flatMap(Storage, (storage) =>
  Effect.repeat(storage.deriveEvents(project, end, 20), { while: (added) => added > 0 })
)

const fill = Effect.gen(function* () {
  const storage = yield* Storage
  yield* append(
    storage,
    Array.from({ length: count }, (_, n) => eventOf(n))
  )
  yield* deriveAll
})

/** How many events the sessions have, by what is derived and what is not. */
const sessions = Effect.gen(function* () {
  const storage = yield* Storage
  const { rows } = yield* storage.listSessions(project, { order: "desc", limit: 100 })
  return rows.map(({ events, session }) => [session, events])
})

const usage = Effect.gen(function* () {
  const storage = yield* Storage
  const { groups } = yield* storage.sumUsage(project, { groupBy: [], timeZone: "UTC", limit: 1 })
  return groups[0]?.events
})

const expectAll = Effect.fnUntraced(function* (expected: ReadonlyArray<number>) {
  const all = [5, 4, 3, 2, 1, 0].filter((n) => expected[n]! > 0).map((n) => [`s${n}`, expected[n]])
  expect(yield* sessions).toEqual(all)
  expect(yield* usage).toBe(expected.reduce((sum, each) => sum + each, 0))
})

/** What all rows can be asked for. */
const figures = Effect.gen(function* () {
  const storage = yield* Storage
  const { rows } = yield* storage.listSessions(project, { order: "desc", limit: 100 })
  const groups = yield* Effect.forEach(
    [[], ["day"], ["person"], ["person", "day"], ["model"], ["agent", "hour"], ["session"]] as const,
    (groupBy) => storage.sumUsage(project, { groupBy, timeZone: "UTC", limit: 100 })
  )
  const sorted = yield* storage.rankSessions(project, { sort: "tokens", order: "asc", limit: 100 })
  const calls = yield* storage.rankEvents(project, { sort: "tokens", order: "desc", fields: {}, limit: 10 })
  return { rows, groups: groups.map((page) => page.groups), sorted: sorted.rows, calls: calls.rows.map(({ id }) => id) }
})

/** An id of Postgres is text. */
const flipped = (stored: string | number | Uint8Array, next: (below: number) => number): string | Uint8Array => {
  const bytes = Uint8Array.from(typeof stored === "string" ? Uuid.toBytes(stored) : (stored as Uint8Array))
  bytes[next(bytes.length)]! ^= 1 << next(8)
  return typeof stored === "string" ? Uuid.fromBytes(bytes) : bytes
}

const damaged = Buffer.from([0xff])

const storageDamaged = { _tag: "storage-unavailable", cause: { name: "Damage" } }

const damages = {
  sums: Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE rollups SET sums = ${damaged} WHERE series <> 0`),
  "the position": Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE rollups SET sums = ${damaged} WHERE series = 0`
  ),
  "the last event of sessions": Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE rollups SET last_event = NULL WHERE series = 1`
  ),
  "the last call of sessions": Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE rollups SET last_call = NULL WHERE series = 1`
  )
}

export const define = (test: Test) => {
  for (const [what, damage] of Object.entries(damages)) {
    test(
      `erases events where ${what} of what they add up to is damaged, and adds up anew`,
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* fill
        yield* damage
        expect(yield* storage.eraseEvents(project, { person: PersonId.make("p1") }, 100)).toEqual({ events: 20 })
        yield* deriveAll
        yield* expectAll([10, 0, 10, 10, 0, 10])
      })
    )

    test(
      `appends older events where ${what} of what they add up to is damaged, and adds up anew`,
      Effect.gen(function* () {
        yield* fill
        yield* damage
        const names = { session: SessionId.make("s0"), person: PersonId.make("p0") }
        const older = appendEvent(EventTime.firstIdOf(beginMs - 1), names)
        yield* append(yield* Storage, [older])
        yield* deriveAll
        yield* expectAll([11, 10, 10, 10, 10, 10])
      })
    )

    test(
      `computes facts anew where ${what} of what events add up to is damaged`,
      Effect.gen(function* () {
        const storage = yield* Storage
        const own = yield* CurrentProject
        yield* Calls.putFingerprint(storage, own)
        const calls = Calls.take(Calls.calls("s", ["p"], 1), 20)
        yield* Effect.flatMap(Recorder, (recorder) =>
          Effect.forEach(calls, (call) => Calls.record(recorder, call))
        ).pipe(Effect.provide(Calls.recorderOver(storage)))
        yield* storage.deriveEvents(own, EventTime.firstIdOf(Date.now() + 60_000), 500)
        yield* damage
        const counts = new Reindexer.Counts()
        yield* Reindexer.reindex(storage, {
          projects: [own],
          throttle: Throttle.unthrottled,
          counts,
          report: () => Effect.void
        }).pipe(Effect.provideService(Prices, { own: { date: "2026-11-01", prices: [] } }))
        expect(counts).toMatchObject({ events: 20, left: 0 })
        const page = yield* storage.sumUsage(own, { groupBy: [], timeZone: "UTC", limit: 1 })
        expect(page.groups.map(({ events }) => events)).toEqual([20])
      })
    )
  }

  // Only the six rows of sessions have a last event, and a last call.
  for (const [column, thorough] of [
    ["sums", 240],
    ["last_event", 120],
    ["last_call", 120]
  ] as const) {
    test(
      `gives the right figures or says that the storage is damaged, whichever bit of ${column} is flipped, seed ${seed}`,
      Effect.gen(function* () {
        const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
        const next = Calls.random(seed)
        yield* fill
        const name = sql.literal(column)
        const rows = yield* sql<Record<string, string | number | Uint8Array>>`SELECT * FROM rollups
          WHERE ${name} IS NOT NULL`
        const right = yield* figures
        for (let n = 0; n < RandomJson.runs(thorough); n++) {
          const { [column]: stored, last_event: _, last_call: __, sums: ___, ...key } = rows[next(rows.length)]!
          const isRow = sql.and(Object.entries(key).map(([each, value]) => sql`${sql(each)} = ${value}`))
          yield* sql`UPDATE rollups SET ${name} = ${flipped(stored!, next)} WHERE ${isRow}`
          const read = yield* Effect.exit(figures)
          if (Exit.isSuccess(read)) expect(read.value, JSON.stringify(key)).toEqual(right)
          else expect(Cause.squash(read.cause), JSON.stringify(key)).toMatchObject(storageDamaged)
          yield* sql`UPDATE rollups SET ${name} = ${stored!} WHERE ${isRow}`
        }
        expect(yield* figures).toEqual(right)
        yield* storage.dropDerived(project)
      })
    )
  }

  for (const change of [
    "input_tokens = 7",
    "cost = 1",
    "duration_ms = 1",
    "model = 'another'",
    "error_type = 'another'",
    "agent_version_number = 99",
    "person_number = 99",
    "kind_number = 99"
  ]) {
    test(
      `says that the storage is damaged where an event is to be added to figures whose ${change}`,
      Effect.gen(function* () {
        const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
        yield* append(storage, [eventOf(0), eventOf(1), eventOf(2)])
        const bySession = storage.sumUsage(project, { groupBy: ["session"], timeZone: "UTC", limit: 10 })
        const list = storage.listSessions(project, { order: "desc", limit: 10 })
        const sorted = storage.rankSessions(project, { sort: "cost", order: "desc", limit: 10 })
        yield* bySession
        const [row] = yield* sql<{
          first: string | Uint8Array
        }>`SELECT event_id AS first FROM events ORDER BY event_id LIMIT 1`
        yield* sql`UPDATE events SET ${sql.literal(change)} WHERE event_id = ${row!.first}`
        expect(yield* Effect.flip(usage)).toMatchObject(storageDamaged)
        expect(yield* Effect.flip(bySession)).toMatchObject(storageDamaged)
        expect(yield* Effect.flip(list)).toMatchObject(storageDamaged)
        expect(yield* Effect.flip(sorted)).toMatchObject(storageDamaged)
        yield* sql`DELETE FROM events WHERE event_id = ${row!.first}`
      })
    )
  }

  for (const [what, change] of [
    [
      "has the number of another session",
      "UPDATE rollups SET session_number = 99 WHERE series = 1 AND session_number = ?"
    ],
    ["is of no series", "UPDATE rollups SET series = 33 WHERE series = 1 AND session_number = ?"],
    ["is gone", "DELETE FROM rollups WHERE series = 1 AND session_number = ?"]
  ] as const) {
    test(
      `says that the storage is damaged where the row of a session ${what}`,
      Effect.gen(function* () {
        const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
        yield* fill
        const [row] = yield* sql<{ last: number }>`SELECT max(session_number) AS last FROM rollups WHERE series = 1`
        yield* sql.unsafe(change.replace("?", String(Number(row!.last))))
        for (const read of [
          storage.rankSessions(project, { sort: "cost", order: "desc", limit: 10 }),
          storage.rankEvents(project, { sort: "tokens", order: "desc", fields: {}, limit: 10 }),
          storage.sumUsage(project, { groupBy: ["agent"], timeZone: "UTC", limit: 10 })
        ]) {
          expect(yield* Effect.flip(read as Effect.Effect<unknown, unknown>)).toMatchObject(storageDamaged)
        }
        yield* storage.dropDerived(project)
      })
    )
  }

  test(
    "verifies what events add up to, and says what differs, until it is built anew",
    Effect.gen(function* () {
      const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
      yield* fill
      const found = Effect.map(Verifying.verify(storage), ({ findings }) =>
        findings.flatMap(({ problem, reason }) => (problem === "rollup-wrong" ? [reason] : []))
      )
      const week = "of the week from 2026-10-15"
      expect(yield* found).toEqual([])
      yield* sql`UPDATE rollups SET sums = ${damaged} WHERE series = 2`
      yield* sql`DELETE FROM rollups WHERE series = 6`
      yield* sql`UPDATE rollups SET session_number = 99
        WHERE series = 1 AND session_number = (SELECT min(session_number) FROM sessions)`
      const numbers = Number((yield* sql`SELECT min(session_number) AS first FROM sessions`)[0]!["first"])
      expect(yield* found).toMatchObject(
        [
          /^Derived tables: 1 of \d+ rows of the day 2026-10-21 are not what the events add up to$/,
          new RegExp(`1 of \\d+ rows ${week}`),
          new RegExp(`1 of 6 rows of sessions ${numbers} to 99`),
          /1 of \d+ rows in total/
        ].map((pattern) => expect.stringMatching(pattern))
      )
      yield* storage.dropDerived(project)
      expect(yield* found).toEqual([])
      yield* deriveAll
      expect(yield* found).toEqual([])
    })
  )

  test(
    "lists sessions of which rows are damaged, by their events",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fill
      yield* append(yield* Storage, [eventOf(count)])
      for (const isOne of [true, false]) {
        const which = isOne ? sql`session_number = (SELECT min(session_number) FROM sessions)` : sql`1 = 1`
        yield* sql`UPDATE rollups SET sums = ${damaged} WHERE series = 1 AND ${which}`
        const [first, ...others] = yield* sessions
        expect([first, ...others]).toEqual([["s0", 11], ...[5, 4, 3, 2, 1].map((n) => [`s${n}`, 10])])
      }
    })
  )

  test(
    "says of damaged rows of usage, and of a damaged position, that the storage is damaged, until they are built anew",
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* fill
      yield* damages.sums
      expect(yield* Effect.flip(usage)).toMatchObject(storageDamaged)
      yield* damages["the position"]
      expect(yield* Effect.flip(sessions)).toMatchObject(storageDamaged)
      expect(yield* Effect.flip(usage)).toMatchObject(storageDamaged)
      const summary = storage.sessionSummary(project, SessionId.make("s1"))
      expect(yield* Effect.flip(summary)).toMatchObject(storageDamaged)
      yield* deriveAll
      yield* expectAll([10, 10, 10, 10, 10, 10])
    })
  )

  test(
    "lists sessions although rows of others do not have their last calls",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fill
      yield* sql`UPDATE rollups SET last_call = NULL
        WHERE series = 1 AND session_number = (SELECT max(session_number) FROM sessions)`
      expect((yield* sessions).length).toBe(5)
    })
  )

  test(
    "keeps no row of a session that has no event, where more was added up than there was",
    Effect.gen(function* () {
      const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
      yield* fill
      // All is added up again.
      yield* sql`DELETE FROM rollups WHERE series = 0`
      yield* deriveAll
      yield* storage.eraseEvents(project, { session: SessionId.make("s2") }, 100)
      expect(yield* sql`SELECT 1 FROM rollups WHERE series = 1 AND last_event IS NULL`).toEqual([])
      const listed = yield* sessions
      expect(listed.map(([session]) => session)).toEqual(["s5", "s4", "s3", "s1", "s0"])
      yield* storage.dropDerived(project)
      yield* deriveAll
      yield* expectAll([10, 10, 0, 10, 10, 10])
    })
  )
}
