/**
 * Names that are numbered from 1 within a parent, without gaps: agents, people and sessions in their project, versions in
 * their agent. The counter stands on the parent's row, and its lock is what makes creation one at a time.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Locks from "../sql/Locks.ts"
import * as BulkValues from "../sql/BulkValues.ts"

interface Kind {
  readonly table: string
  /** The column that holds the name, and the one that holds its number. */
  readonly name: string
  readonly number: string
  readonly parent: string
  readonly counter: string
  /** Rows may be taken away by others, and are held until the end of the transaction. */
  readonly isHeld?: true
}

export const agents: Kind = {
  table: "agents",
  name: "agent_name",
  number: "agent_number",
  parent: "projects",
  counter: "agents"
}
export const people: Kind = {
  table: "people",
  name: "person_id",
  number: "person_number",
  parent: "projects",
  counter: "people",
  isHeld: true
}
export const sessions: Kind = {
  table: "sessions",
  name: "session_id",
  number: "session_number",
  parent: "projects",
  counter: "sessions"
}
export const agentVersions: Kind = {
  table: "agent_versions",
  name: "agent_version_name",
  number: "agent_version_number",
  parent: "agents",
  counter: "versions"
}

/** The parent's primary key, as columns and values. */
export type ParentKey = { readonly project_id: number; readonly agent_number?: number }

/** The columns of a row that is created beside its key, name and number. */
export type Columns = Readonly<Record<string, unknown>>

/**
 * Names and numbers of those that there are, one after the other: of many, Postgres would rather read all rows of the parent,
 * until it knows how many they are. For Postgres alone.
 */
export const findEach = (sql: SqlClient.SqlClient, kind: Kind, key: ParentKey, names: ReadonlyArray<string>) =>
  sql<NumberedName>`
    SELECT found.* FROM unnest(${BulkValues.array(sql, "varchar", names)}) AS wanted (name) CROSS JOIN LATERAL (
      SELECT ${columnsOf(sql, kind)} FROM ${sql(kind.table)}
      WHERE ${isOfParent(sql, key)} AND ${sql(kind.name)} = wanted.name LIMIT 1 ${holding(sql, kind)}) AS found`

/** The numbers of those names that there are. */
export const find = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  kind: Kind,
  key: ParentKey,
  names: ReadonlyArray<string>
) {
  if (names.length === 0) return new Map<string, number>()
  const rows = yield* sql.onDialectOrElse({
    pg: () => findEach(sql, kind, key, names),
    orElse: () => sql<NumberedName>`
      SELECT ${columnsOf(sql, kind)} FROM ${sql(kind.table)} WHERE ${isOfParent(sql, key)} AND ${sql.in(kind.name, names)}`
  })
  return new Map(rows.map(({ name, number }) => [name, Number(number)] as const))
})

interface NumberedName {
  readonly name: string
  readonly number: number
}

const columnsOf = (sql: SqlClient.SqlClient, kind: Kind) =>
  sql`${sql(kind.name)} AS name, ${sql(kind.number)} AS number`

const holding = (sql: SqlClient.SqlClient, kind: Kind) => (kind.isHeld ? Locks.keyShare(sql) : sql.literal(""))

const isOfParent = (sql: SqlClient.SqlClient, key: ParentKey) =>
  sql.and(Object.entries(key).map(([column, value]) => sql`${sql(column)} = ${value}`))

/**
 * The numbers of names, those that are not found created. To be called in a transaction; of several calls in one, those on
 * the project's row come first and those on agents' rows in the order of their numbers, so that no two transactions deadlock.
 */
export const ensure = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  kind: Kind,
  key: ParentKey,
  wanted: ReadonlyMap<string, Columns>,
  found?: ReadonlyMap<string, number>
) {
  const numbers = new Map(found ?? (yield* find(sql, kind, key, Array.from(wanted.keys()))))
  const missing = () => Array.from(wanted.keys()).filter((name) => !numbers.has(name))
  if (missing().length === 0) return numbers

  // Takes the lock; what others have committed until then is seen by the look after it.
  const isParent = isOfParent(sql, key)
  const [parent] = yield* sql<{ counter: number }>`
    UPDATE ${sql(kind.parent)} SET ${sql(kind.counter)} = ${sql(kind.counter)} WHERE ${isParent}
    RETURNING ${sql(kind.counter)} AS counter`
  for (const [name, number] of yield* find(sql, kind, key, missing())) numbers.set(name, number)
  const created = missing().sort()
  if (created.length === 0) return numbers

  let counter = Number(parent!.counter)
  for (const name of created) numbers.set(name, ++counter)
  const row = (name: string): Columns => ({
    ...key,
    [kind.number]: numbers.get(name),
    [kind.name]: name,
    ...wanted.get(name)
  })
  yield* sql`INSERT INTO ${sql(kind.table)} ${sql.insert([row(created[0]!), ...created.slice(1).map(row)])}`
  yield* sql`UPDATE ${sql(kind.parent)} SET ${sql(kind.counter)} = ${counter} WHERE ${isParent}`
  return numbers
})
