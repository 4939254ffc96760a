/**
 * Names numbered from 1 within a parent, without gaps: agents, people and sessions in their project, versions in their
 * agent. The parent's row holds the counter; its lock serializes creation.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Locks from "../dialect/Locks.ts"
import * as RowsByName from "../dialect/RowsByName.ts"

interface Kind {
  readonly table: string
  /** The column of the name. */
  readonly name: string
  /** The column of the number. */
  readonly number: string
  readonly parent: string
  readonly counter: string
  /** Rows can be deleted, so the ones in use are locked until the transaction ends. */
  readonly isDeletable?: true
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
  isDeletable: true
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

/** The other columns of a new row, besides its key, name and number. */
export type Columns = Readonly<Record<string, unknown>>

interface NumberedName {
  readonly name: string
  readonly number: number
}

/** Names and numbers of those names that exist. */
export const select = (sql: SqlClient.SqlClient, kind: Kind, key: ParentKey, names: ReadonlyArray<string>) =>
  RowsByName.select<NumberedName>(
    sql,
    {
      table: kind.table,
      columns: sql`${sql(kind.name)} AS name, ${sql(kind.number)} AS number`,
      isOfParent: isOfParent(sql, key),
      name: kind.name,
      lock: kind.isDeletable ? Locks.keyShare(sql) : sql.literal("")
    },
    names
  )

/** The numbers of those names that exist. */
export const find = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  kind: Kind,
  key: ParentKey,
  names: ReadonlyArray<string>
) {
  if (names.length === 0) return new Map<string, number>()
  const rows = yield* select(sql, kind, key, names)
  return new Map(rows.map(({ name, number }) => [name, Number(number)] as const))
})

const isOfParent = (sql: SqlClient.SqlClient, key: ParentKey) =>
  sql.and(Object.entries(key).map(([column, value]) => sql`${sql(column)} = ${value}`))

/**
 * The numbers of all `wanted` names; creates those that do not exist. Call it in a transaction. To avoid deadlocks, calls
 * that lock the project's row come first, then those that lock agents' rows, in the order of the agents' numbers.
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

  // The update locks the row. The lookup after it sees names that other transactions committed before the lock was granted.
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
