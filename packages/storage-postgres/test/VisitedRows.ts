/** How many rows reads visit, by the plans that Postgres ran for them. */
import type { Storage } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

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

/** Runs the statements of a read again, and returns the rows of tables that they read, and how. */
export const visited = Effect.fnUntraced(function* <A, E>(
  sql: SqlClient.SqlClient,
  reading: Effect.Effect<A, E>,
  tables: ReadonlyArray<string> = ["events"]
) {
  const [, statements] = yield* StorageSuite.Statements.capture(reading)
  let rows = 0
  const kinds = new Set<string>()
  for (const { parameters, text } of statements) {
    const [row] = yield* sql.unsafe<{ "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      parameters
    )
    for (const node of nodesOf(row!["QUERY PLAN"][0]!.Plan)) {
      if (!tables.includes(node["Relation Name"] ?? "")) continue
      rows += rowsOf(node)
      kinds.add(node["Node Type"])
    }
  }
  return { rows, kinds, statements: statements.length }
})

/** Runs a test over an empty storage. */
export const run = <A, E>(test: Effect.Effect<A, E, Storage | SqlClient.SqlClient>) => {
  const { schema, ...config } = freshSchema()
  const layers = Layer.provideMerge(
    PostgresStorage.layer({ ...config, schema, operationTimeout: 120_000 }),
    PostgresStorage.client({ ...config, schema, operationTimeout: 120_000 })
  )
  return Effect.runPromise(Effect.provide(test, layers))
}
