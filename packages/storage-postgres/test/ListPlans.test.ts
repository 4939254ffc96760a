/** How many rows of `events` lists read, by the plans that Postgres ran for them. */
import { type EventQuery, EventTime, PersonId, ProjectId, Storage } from "@tachograph/core"
import { Samples, StorageSuite } from "@tachograph/testkit"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { run, visited } from "./VisitedRows.ts"

const { ManyEvents, ManyNames, ManySessions } = StorageSuite
const project = ProjectId.make("default")
const events = 4_000
const limit = 20

/** The smallest number of events that the session, the person or the version of a filter has, with its agent. */
const smallest = ({ agent, agentVersion, person, session }: Partial<EventQuery>): number => {
  const all = ManyEvents.summariesOf(events)
  const lists = [
    { session, agent },
    { person, agent },
    { agentVersion, agent }
  ].filter((list) => Object.keys(list).some((field) => field !== "agent" && list[field as keyof typeof list]))
  return Math.min(
    ...lists.map((list) => {
      const given = Object.entries(list).filter(([, name]) => name !== undefined)
      return ManyEvents.expected(all, { ...Object.fromEntries(given), order: "asc", limit: events }).length
    })
  )
}

const statistics = [
  ["without", false],
  ["with", true]
] as const

it.each(statistics)("reads only what a page needs, %s statistics", async (_, hasStatistics) => {
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyEvents.fill(storage, events)
    if (hasStatistics) yield* sql`ANALYZE events, sessions, agents, agent_versions, people`
    for (const [name, filter] of Object.entries(ManyEvents.exact)) {
      for (const page of ManyEvents.pagesOf(events, limit)) {
        const { kinds, rows } = yield* visited(sql, storage.listEvents(project, { ...filter, ...page }))
        // The page, its ids, and three rows for each of at most 52 streams.
        expect(rows, `${name}, ${JSON.stringify(page)}: ${Array.from(kinds).join(", ")}`).toBeLessThanOrEqual(
          2 * limit + 3 * 52
        )
        expect(kinds, name).not.toContain("Seq Scan")
      }
    }
    for (const [name, filter] of Object.entries(ManyEvents.intersections)) {
      for (const page of ManyEvents.pagesOf(events, limit)) {
        const { kinds, rows } = yield* visited(sql, storage.listEvents(project, { ...filter, ...page }))
        // Both lists are read as far as the smaller one goes, by steps, and the page.
        expect(rows, `${name}, ${JSON.stringify(page)}: ${Array.from(kinds).join(", ")}`).toBeLessThanOrEqual(
          2 * smallest(filter) + 768
        )
      }
    }
    for (const filter of ManyEvents.unknown) {
      const { rows, statements } = yield* visited(sql, storage.listEvents(project, { ...filter, order: "asc", limit }))
      expect([rows, statements]).toEqual([0, 1])
    }
  })
  await run(test)
})

it.each(statistics)("reads only the events of a trace, %s statistics", async (_, hasStatistics) => {
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyEvents.fill(storage, events)
    if (hasStatistics) yield* sql`ANALYZE events, sessions, agents, agent_versions, people`
    for (const [fields, names] of ManyEvents.fields) {
      if (fields.traceId === undefined) continue
      const find = storage.findEvents(project, { ...names, order: "asc", limit }, fields, events)
      const { kinds, rows } = yield* visited(sql, find)
      // The six events of the trace, and the ones that are wanted. With names, the first step of their list is read too.
      const ofNames = Object.keys(names).length === 0 ? 0 : 256 + limit
      expect(rows, `${JSON.stringify({ fields, names })}: ${Array.from(kinds).join(", ")}`).toBeLessThanOrEqual(
        12 + ofNames
      )
    }
  })
  await run(test)
})

it.each(statistics)("reads only the events around the calls of a time, %s statistics", async (_, hasStatistics) => {
  const beginMs = Date.UTC(2026, 5, 1)
  const minute = 60_000
  const year = 365 * 24 * 60 * minute
  // One a minute, half of which took place a moment before, and half an hour apart a year before that.
  const eventOf = (n: number) => {
    const ms = beginMs + n * minute
    const occurredMs = n % 2 === 0 ? ms - 1_000 : beginMs - year + ((n * 7) % events) * 30 * minute
    return Samples.appendEvent(EventTime.firstIdOf(ms), {
      occurredAt: DateTime.makeUnsafe(occurredMs),
      person: PersonId.make(`p${n % 5}`)
    })
  }
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    const all = Array.from({ length: events }, (_, n) => eventOf(n))
    for (let at = 0; at < events; at += 1_000) yield* Samples.append(storage, all.slice(at, at + 1_000))
    if (hasStatistics) yield* sql`ANALYZE events, sessions, agents, agent_versions, people`
    const middle = beginMs + (events / 2) * minute
    const day = beginMs - year + 20 * 24 * 60 * minute
    const times = [
      { fromMs: middle, toMs: middle + 10 * minute },
      { fromMs: day, toMs: day + 24 * 60 * minute },
      { toMs: day }
    ]
    for (const time of times) {
      for (const filter of [{}, { person: PersonId.make("p1") }]) {
        for (const order of ["asc", "desc"] as const) {
          const list = storage.listEvents(project, { ...time, ...filter, order, limit })
          const { kinds, rows } = yield* visited(sql, list)
          // A step of those of two hours, the calls that are sorted, and the page.
          const what = `${JSON.stringify({ ...time, ...filter, order })}: ${Array.from(kinds).join(", ")}`
          expect(rows, what).toBeLessThanOrEqual(time.fromMs === undefined ? 1_000 + limit : 2 * 130 + limit)
          expect(rows, what).toBeGreaterThan(0)
        }
      }
    }
  })
  await run(test)
})

it.each(statistics)("reads the figures of the sessions that are asked for, %s statistics", async (_, hasStatistics) => {
  const sessions = 20_000
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManySessions.fill(sql, sessions)
    if (hasStatistics) yield* sql`ANALYZE sessions, storage_usage, agent_usage, agents`
    for (const largest of [0, 1, 10]) {
      const usage = storage.usage(project, largest)
      expect((yield* usage).sessions).toHaveLength(largest)
      const { kinds, rows } = yield* visited(sql, usage, ["sessions", "storage_usage", "agent_usage"])
      // An eighth of the sessions are at most an eighth smaller than the largest one.
      const similar = largest === 0 ? 0 : sessions / 8
      expect(rows, Array.from(kinds).join(", ")).toBeLessThanOrEqual(similar + 10 * largest + 10)
    }
  })
  await run(test)
})

// Without statistics Postgres sorts what follows the cursor, in tables that have a few thousand rows; larger ones it does not.
it("reads the names that a page lists", async () => {
  const tables = ["agents", "agent_versions", "people", "fingerprints"]
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyNames.fill(sql)
    yield* sql`ANALYZE agents, agent_versions, people, fingerprints`
    const read = ManyNames.pages(storage, limit)
    for (const { rows } of Object.values(yield* read)) expect(rows).toHaveLength(limit)
    const { kinds, rows } = yield* visited(sql, read, tables)
    // Of each of the four, the sizes of the page and of one row more, and the rows; and the agent of the versions.
    expect(rows, Array.from(kinds).join(", ")).toBe(4 * (2 * limit + 1) + 1)
  })
  await run(test)
})

it.each(statistics)(
  "reads the packs of several sessions that are asked for, %s statistics",
  async (_, hasStatistics) => {
    const test = Effect.gen(function* () {
      const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
      yield* ManyEvents.fill(storage, events)
      if (hasStatistics) yield* sql`ANALYZE packs, sessions`
      const ranges = [1, 2, 3].map((session) => ({ session, from: 2, to: 5 }))
      const read = storage.readPackRanges(project, ranges, 1_000)
      const found = (yield* read).length
      expect(found).toBeGreaterThan(3)
      const { kinds, rows } = yield* visited(sql, read, ["packs"])
      expect(rows, Array.from(kinds).join(", ")).toBe(found)
    })
    await run(test)
  }
)
