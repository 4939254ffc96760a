/** How many rows of `events` lists read, by the plans that Postgres ran for them. */
import { type EventQuery, ProjectId, Storage } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

const { ManyEvents, Statements } = StorageSuite
const project = ProjectId.make("default")
const events = 4_000
const limit = 20

interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly Plans?: ReadonlyArray<Plan>
}

const nodesOf = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

const rowsOf = (node: Plan) =>
  node["Actual Loops"] *
  (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0))

/** Runs the statements of a list again, and returns the rows of `events` that they read, and how. */
const visited = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, storage: Storage["Service"], query: EventQuery) {
  const [, statements] = yield* Statements.capture(storage.listEvents(project, query))
  let rows = 0
  const kinds = new Set<string>()
  for (const { parameters, text } of statements) {
    const [row] = yield* sql.unsafe<{ "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      parameters
    )
    for (const node of nodesOf(row!["QUERY PLAN"][0]!.Plan)) {
      if (node["Relation Name"] !== "events") continue
      rows += rowsOf(node)
      kinds.add(node["Node Type"])
    }
  }
  return { rows, kinds, statements: statements.length }
})

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

it.each([
  ["without", false],
  ["with", true]
])("reads only what a page needs, %s statistics", async (_, hasStatistics) => {
  const { schema, ...config } = freshSchema()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyEvents.fill(storage, events)
    if (hasStatistics) yield* sql`ANALYZE events, sessions, agents, agent_versions, people`
    for (const [name, filter] of Object.entries(ManyEvents.exact)) {
      for (const page of ManyEvents.pagesOf(events, limit)) {
        const { kinds, rows } = yield* visited(sql, storage, { ...filter, ...page })
        // The page, its ids, and three rows for each of at most 52 streams.
        expect(rows, `${name}, ${JSON.stringify(page)}: ${Array.from(kinds).join(", ")}`).toBeLessThanOrEqual(
          2 * limit + 3 * 52
        )
        expect(kinds, name).not.toContain("Seq Scan")
      }
    }
    for (const [name, filter] of Object.entries(ManyEvents.intersections)) {
      for (const page of ManyEvents.pagesOf(events, limit)) {
        const { kinds, rows } = yield* visited(sql, storage, { ...filter, ...page })
        // Both lists are read as far as the smaller one goes, by steps, and the page.
        expect(rows, `${name}, ${JSON.stringify(page)}: ${Array.from(kinds).join(", ")}`).toBeLessThanOrEqual(
          2 * smallest(filter) + 768
        )
      }
    }
    for (const filter of ManyEvents.unknown) {
      const { rows, statements } = yield* visited(sql, storage, { ...filter, order: "asc", limit })
      expect([rows, statements]).toEqual([0, 1])
    }
  })
  const layers = Layer.provideMerge(
    PostgresStorage.layer({ ...config, schema, operationTimeout: 120_000 }),
    PostgresStorage.client({ ...config, schema, operationTimeout: 120_000 })
  )
  await Effect.runPromise(Effect.provide(test, layers))
})
