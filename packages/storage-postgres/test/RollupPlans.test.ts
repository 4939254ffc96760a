/** How many rows sessions and usage read, by the plans that Postgres ran for them. */
import { AgentName, EventId, firstIdOf, PersonId, ProjectId, SessionId, Storage } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { run, visited } from "./VisitedRows.ts"

const project = ProjectId.make("default")

/** Events half an hour apart, in sessions of four, by one of 120 people each: as many sessions as are in digests. */
const events = 4_000
const beginMs = Date.UTC(2026, 5, 1)
const stepMs = 30 * 60_000
const people = 120

const eventOf = (n: number) => {
  const ms = beginMs + n * stepMs
  return Samples.appendEvent(EventId.make(firstIdOf(ms).slice(0, 24) + n.toString(16).padStart(12, "0")), {
    receivedAt: DateTime.makeUnsafe(ms),
    session: SessionId.make(`s${Math.floor(n / 4)}`),
    agent: AgentName.make(`a${Math.floor(n / 4) % 3}`),
    person: PersonId.make(`p${Math.floor(n / 4) % people}`)
  })
}

const fill = Effect.fnUntraced(function* (storage: Storage["Service"]) {
  const all = Array.from({ length: events }, (_, n) => eventOf(n))
  for (let at = 0; at < events; at += 1_000) yield* Samples.append(storage, all.slice(at, at + 1_000))
  const upTo = all.at(-1)!.summary.id
  while ((yield* storage.deriveEvents(project, upTo, 1_000)) > 0);
})

it.each([
  ["without", false],
  ["with", true]
])("reads the rows of what sessions and usage list, %s statistics", async (_, hasStatistics) => {
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* fill(storage)
    if (hasStatistics) yield* sql`ANALYZE events, rollups, sessions, storage_usage`
    const time = { fromMs: beginMs + 86_400_000, toMs: beginMs + 31 * 86_400_000 }
    const usage = { timeZone: "UTC", limit: 1_000 }
    const person = PersonId.make("p7")
    // The events of sessions that go on over several hours, or over a day of Kolkata. Without statistics the table is small enough to be
    // read as a whole.
    const ofSplit = hasStatistics ? 31 * 12 * 4 : events
    const reads: Readonly<Record<string, readonly [read: Effect.Effect<unknown, unknown>, rows: number]>> = {
      // Some rows for each of what is listed, and some of the ends.
      sessions: [storage.listSessions(project, { order: "desc", limit: 5 }), 60],
      "a session": [storage.sessionSummary(project, SessionId.make("s7")), 20],
      usage: [storage.sumUsage(project, { ...usage, groupBy: [] }), 40],
      "a month by day": [storage.sumUsage(project, { ...usage, ...time, groupBy: ["day"] }), 60],
      "a month by day in Berlin": [
        storage.sumUsage(project, { ...usage, ...time, groupBy: ["day"], timeZone: "Europe/Berlin" }),
        30 * 10
      ],
      "a month by day in Kolkata": [
        storage.sumUsage(project, { ...usage, ...time, groupBy: ["day"], timeZone: "Asia/Kolkata" }),
        30 * 13 + ofSplit
      ],
      "a month by hour": [storage.sumUsage(project, { ...usage, ...time, groupBy: ["hour"] }), 30 * 25 + ofSplit],
      "by agent": [storage.sumUsage(project, { ...usage, groupBy: ["agent"] }), 3 * 15 + 25],
      "by person": [storage.sumUsage(project, { ...usage, groupBy: ["person"], limit: 5 }), 150],
      "a person's days": [storage.sumUsage(project, { ...usage, groupBy: ["day"], person }), 70],
      // Looks rows up by their keys, as a derivation does: the events of a day, and the rows that they count in.
      "a check of a day": [storage.checkDerived(project, undefined), 48 * 8]
    }
    for (const [name, [read, limit]] of Object.entries(reads)) {
      const { kinds, rows } = yield* visited(sql, read, ["rollups", "events"])
      expect(rows, `${name}: ${Array.from(kinds).join(", ")}`).toBeLessThanOrEqual(limit)
      expect(rows, name).toBeGreaterThan(0)
    }
  })
  await run(test)
})
