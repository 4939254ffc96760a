/** The rows of every table on every node of a cluster. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"

/** Its distributed tables, and those of which every node has a copy. */
const tablesOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: string) {
  const rows = yield* sql<{
    name: string
    is_on_nodes: boolean
  }>`SELECT c.relname AS name, p.logicalrelid IS NOT NULL AS is_on_nodes
    FROM pg_class c LEFT JOIN pg_dist_partition p ON p.logicalrelid = c.oid
    WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace(${`"${schema}"`}) ORDER BY 1`
  const others = rows.filter(({ is_on_nodes }) => !is_on_nodes).map(({ name }) => name)
  if (others.length > 0) return yield* Effect.die(new Error(`tables of the coordinator alone: ${others.join(", ")}`))
  return rows.map(({ name }) => name)
})

/**
 * How many rows a condition finds on all nodes, copies too, by their tables, which are all if none are given. Leaves out tables
 * without such rows. The condition's row is `t`.
 */
export const countOnNodes = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: string,
  condition: string,
  tables?: ReadonlyArray<string>
) {
  const found: Record<string, number> = {}
  for (const table of tables ?? (yield* tablesOf(sql, schema))) {
    const placements = yield* sql<{ success: boolean; result: string }>`SELECT success, result FROM
      run_command_on_placements(${`"${schema}"."${table}"`}, ${`SELECT count(*) FROM %s AS t WHERE ${condition}`})`
    const failed = placements.find(({ success }) => !success)
    if (failed !== undefined || placements.length === 0)
      return yield* Effect.die(new Error(`${table}: ${failed?.result}`))
    const count = placements.reduce((sum, { result }) => sum + Number(result), 0)
    if (count > 0) found[table] = count
  }
  return found
})

/** The condition that a row contains a word, in text or in bytes. */
export const contains = (word: string): string =>
  `position('${word}' IN t::text) > 0 OR position('${Buffer.from(word).toString("hex")}' IN t::text) > 0`

/** Copies the tables to a schema of the coordinator alone, where any query can join them. */
export const copyTo = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, schema: string, copy: string) {
  yield* sql`CREATE SCHEMA ${sql(copy)}`
  for (const table of yield* tablesOf(sql, schema)) {
    yield* sql`CREATE TABLE ${sql(copy)}.${sql(table)} AS SELECT * FROM ${sql(schema)}.${sql(table)}`
  }
})
