/** What events add up to, while several servers derive, import and erase at the same time. */
import { CallTime, EventId, EventTime, PersonId, SessionId, RowChecksum } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { SqlStorage } from "@tachograph/storage-sql"
import { DateTime, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { emptySchema } from "./EmptySchema.ts"
import { type Server, whileHeld, withServers } from "./Servers.ts"

const { project } = Samples

const beginMs = Date.UTC(2026, 9, 21, 22, 7)

const eventsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) =>
    Samples.appendEvent(EventTime.firstIdOf(beginMs + 1_000 * (from + n)), {
      session: SessionId.make(`s${(from + n) % 7}`),
      person: PersonId.make(`p${(from + n) % 3}`)
    })
  )

const end = EventId.make(EventTime.firstIdOf(beginMs + 3_600_000))

const deriveAll = Effect.fnUntraced(function* ({ storage }: Server, limit = 500) {
  while ((yield* storage.deriveEvents(project, end, limit)) > 0);
})

/** As before anything was derived, imported or erased. */
const forget = ({ sql }: Server) => sql`DELETE FROM rollups`

/** How many events there are by the rollups alone, by time and by session, and by the events. */
const countsOf = Effect.fnUntraced(function* ({ sql, storage }: Server) {
  const usage = (groupBy: ReadonlyArray<"person">) =>
    Effect.map(storage.sumUsage(project, { groupBy, timeZone: "UTC", limit: 100 }), ({ groups }) =>
      groups.reduce((sum, { events }) => sum + events, 0)
    )
  const { rows } = yield* storage.listSessions(project, { order: "desc", limit: 100 })
  const [stored] = yield* sql<{ n: number }>`SELECT CAST(count(*) AS integer) AS n FROM events`
  return {
    all: yield* usage([]),
    people: yield* usage(["person"]),
    sessions: rows.reduce((sum, { events }) => sum + events, 0),
    events: stored!.n
  }
})

const expectCounts = Effect.fnUntraced(function* (server: Server, events: number) {
  yield* deriveAll(server)
  expect(yield* countsOf(server)).toEqual({ all: events, people: events, sessions: events, events })
})

it("adds each event up once where the first two derivations begin at once", () =>
  withServers(emptySchema, (one, two) =>
    Effect.gen(function* () {
      yield* Samples.append(one.storage, eventsOf(0, 60))
      yield* forget(one)
      yield* whileHeld(one, one.storage.deriveEvents(project, end, 50), two.storage.deriveEvents(project, end, 50))
      yield* expectCounts(two, 60)
    })
  ))

it("adds each event up once while many derive", () =>
  withServers(emptySchema, (one, two) =>
    Effect.gen(function* () {
      yield* Samples.append(one.storage, eventsOf(0, 300))
      for (let round = 0; round < 5; round++) {
        yield* forget(one)
        const derivers = Array.from({ length: 10 }, (_, n) => deriveAll(n % 2 === 0 ? one : two, 20))
        yield* Effect.all(derivers, { concurrency: "unbounded" })
        yield* expectCounts(two, 300)
      }
    })
  ))

it("adds up what is imported while others are derived for the first time", () =>
  withServers(emptySchema, (one, two) =>
    Effect.gen(function* () {
      yield* Samples.append(one.storage, eventsOf(30, 60))
      yield* forget(one)
      yield* whileHeld(one, Samples.append(one.storage, eventsOf(0, 20)), deriveAll(two))
      yield* expectCounts(two, 50)
    })
  ))

it("does not add up what is erased while it is derived for the first time", () =>
  withServers(emptySchema, (one, two) =>
    Effect.gen(function* () {
      yield* Samples.append(one.storage, eventsOf(0, 60))
      yield* forget(one)
      const before = EventTime.firstIdOf(beginMs + 20_000)
      const [{ events }] = yield* whileHeld(one, one.storage.eraseEvents(project, { before }, 100), deriveAll(two))
      expect(events).toBe(20)
      yield* expectCounts(two, 40)
    })
  ))

it("reads what events add up to while that changes all the time", () =>
  withServers(emptySchema, (one, two) =>
    Effect.gen(function* () {
      yield* Samples.append(one.storage, eventsOf(0, 300))
      yield* deriveAll(one)
      const before = yield* countsOf(one)
      let version = 1_000
      const [position] = yield* two.sql<{ key: string }>`SELECT concat(project_id, ' ', last_event, '  ') AS key
        FROM rollups WHERE series = 0`
      const key = `${position!.key}${JSON.stringify([0, 0, 0, 0, 0, 0, 0, "", ""])}`
      const change = Effect.suspend(() => {
        const sums = RowChecksum.append(key, Buffer.from(Float64Array.of(version++, 0).buffer))
        return two.sql`UPDATE rollups SET sums = ${sums} WHERE series = 0`
      })
      const changing = yield* Effect.forkChild(Effect.forever(change))
      expect(yield* countsOf(one)).toEqual(before)
      expect((yield* one.storage.sessionSummary(project, SessionId.make("s3")))?.events).toBe(43)
      yield* Fiber.interrupt(changing)
      expect(version).toBeGreaterThan(1_000)
    })
  ))

it("finds when calls took place in a database that was made without that", () =>
  withServers(emptySchema, (one) =>
    Effect.gen(function* () {
      const { sql, storage } = one
      const year = 365 * 86_400_000
      const delays = [0, 3_600_000, 3_600_001, -3_600_000, -3_600_001, year, 50 * year, -800 * year, 3_000 * year]
      const events = delays.flatMap((delay, n) =>
        [0, 1].map((isReceipt) => {
          const id = EventTime.firstIdOf(beginMs + 1_000 * (2 * n + isReceipt))
          const at = DateTime.makeUnsafe(EventTime.of(id) - delay)
          // The receipt is at most days from the id: both are of servers.
          const receivedAt = DateTime.makeUnsafe(
            EventTime.of(id) - Math.sign(delay) * Math.min(Math.abs(delay), 86_400_000)
          )
          return Samples.appendEvent(id, isReceipt === 1 ? { receivedAt } : { occurredAt: at })
        })
      )
      yield* Samples.append(storage, events)
      const stored = sql<{
        id: string
        ms: string | null
      }>`SELECT event_id AS id, distant_at AS ms FROM events ORDER BY event_id`
      const expected = events.map(({ summary }) => [summary.id, CallTime.distantMs(summary)])
      const found = Effect.map(stored, (rows) => rows.map(({ id, ms }) => [id, ms === null ? null : Number(ms)]))
      expect(yield* found).toEqual(expected)
      yield* sql`ALTER TABLE events DROP COLUMN distant_at`
      yield* sql`ALTER TABLE rollups DROP COLUMN last_call`
      yield* sql`DROP TABLE waiting_parts`
      yield* sql`DROP TABLE steps`
      yield* sql`ALTER TABLE events DROP COLUMN error_code`
      yield* sql`DROP INDEX events_by_error`
      yield* sql`DELETE FROM tachograph_migrations WHERE migration_id >= 5`
      yield* Effect.scoped(Layer.build(Layer.provide(SqlStorage.layer(), Layer.succeed(SqlClient.SqlClient, sql))))
      expect(yield* found).toEqual(expected)
    })
  ))
