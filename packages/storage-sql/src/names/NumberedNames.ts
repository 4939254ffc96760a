/**
 * Names numbered from 1 within a project, without gaps: agents, people and sessions. The project's row holds the counters;
 * its lock serializes creation. `AgentVersionNumbers` does the same for versions within their agents.
 */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import type { RunAtOnce } from "../dialect/AtOnce.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Locks from "../dialect/Locks.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as SqlErrors from "../sql/SqlErrors.ts"

interface Kind {
  readonly table: string
  /** The column of the name. */
  readonly name: string
  /** The column of the number. */
  readonly number: string
  /** The column of `projects` that counts them. */
  readonly counter: string
  /** Rows can be deleted, so the ones in use are locked until the transaction ends. */
  readonly isDeletable?: true
}

export const agents: Kind = {
  table: "agents",
  name: "agent_name",
  number: "agent_number",
  counter: "agents"
}
export const people: Kind = {
  table: "people",
  name: "person_id",
  number: "person_number",
  counter: "people",
  isDeletable: true
}
export const sessions: Kind = {
  table: "sessions",
  name: "session_id",
  number: "session_number",
  counter: "sessions"
}
/** The other columns of a new row, besides its project, name and number. */
export type Columns = Readonly<Record<string, unknown>>

interface NumberedName {
  readonly name: string
  readonly number: number
}

/** Names and numbers of those names that exist. */
export const select = (sql: SqlClient.SqlClient, kind: Kind, project_id: number, names: ReadonlyArray<string>) =>
  Dialects.of(sql).rowsByName<NumberedName>(
    {
      table: kind.table,
      columns: sql`${sql(kind.name)} AS name, ${sql(kind.number)} AS number`,
      isOfParent: sql`project_id = ${project_id}`,
      name: kind.name,
      type: "varchar",
      // In a distributed database `PeopleInUse` locks them.
      lock: kind.isDeletable && !Bucket.isDistributed(sql) ? Locks.keyShare(sql) : sql.literal("")
    },
    names
  )

/** The numbers of those names that exist. */
export const find = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  kind: Kind,
  project_id: number,
  names: ReadonlyArray<string>
) {
  if (names.length === 0) return new Map<string, number>()
  const rows = yield* select(sql, kind, project_id, names)
  return new Map(rows.map(({ name, number }) => [name, Number(number)] as const))
})

/** The same at once, where a transaction excludes other writers. */
export const atOnce = (sql: SqlClient.SqlClient, kind: Kind) => {
  const columns = BulkValues.named({ project_id: "integer", number: "integer", name: "varchar" })
  const insert = BulkValues.ofOneRow(
    sql,
    columns,
    (row) => sql`INSERT INTO ${sql(kind.table)} (project_id, ${sql(kind.number)}, ${sql(kind.name)}) ${row}`
  )
  const [lookup] = select(sql, kind, 0, [""]).compile()
  const numberOf = (run: RunAtOnce, project_id: number, name: string): number | undefined => {
    const [row] = run(lookup, [project_id, name])
    return row && Number(row["number"])
  }
  return {
    /** The numbers of names; undefined if one does not exist. */
    find: (run: RunAtOnce, project_id: number, names: Iterable<string>): ReadonlyMap<string, number> | undefined => {
      const numbers = new Map<string, number>()
      for (const name of names) {
        const number = numbers.get(name) ?? numberOf(run, project_id, name)
        if (number === undefined) return undefined
        numbers.set(name, number)
      }
      return numbers
    },
    /** Creates names without other columns. Returns their numbers; undefined if one exists. */
    create: (run: RunAtOnce, project_id: number, names: Iterable<string>): ReadonlyMap<string, number> | undefined => {
      const created = Array.from(names).sort()
      if (created.some((name) => numberOf(run, project_id, name) !== undefined)) return undefined
      const counter = sql(kind.counter)
      const [project] = run(
        ...sql`UPDATE projects SET ${counter} = ${counter} + ${created.length} WHERE project_id = ${project_id}
          RETURNING ${counter} AS counter`.compile()
      )
      if (project === undefined) return undefined
      const first = Number(project["counter"]) - created.length + 1
      return new Map(
        created.map((name, n) => {
          run(insert.text, insert.values({ project_id, number: first + n, name }))
          return [name, first + n]
        })
      )
    }
  }
}

/**
 * The numbers of all `wanted` names; creates those that do not exist. Call it in a transaction. It locks the project's row,
 * so to avoid deadlocks it comes before what locks agents' rows.
 */
export const ensure = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  kind: Kind,
  project_id: number,
  wanted: ReadonlyMap<string, Columns>,
  found?: ReadonlyMap<string, number>
) {
  const numbers = new Map(found ?? (yield* find(sql, kind, project_id, Array.from(wanted.keys()))))
  const missing = () => Array.from(wanted.keys()).filter((name) => !numbers.has(name))
  if (missing().length === 0) return numbers

  // The update locks the row. The lookup after it sees names that other transactions committed before the lock was granted.
  const [project] = yield* sql<{ counter: number }>`
    UPDATE projects SET ${sql(kind.counter)} = ${sql(kind.counter)} WHERE project_id = ${project_id}
    RETURNING ${sql(kind.counter)} AS counter`
  if (project === undefined) return yield* Effect.fail(SqlErrors.damage("The row of a project is missing"))
  for (const [name, number] of yield* find(sql, kind, project_id, missing())) numbers.set(name, number)
  const created = missing().sort()
  if (created.length === 0) return numbers

  let counter = Number(project.counter)
  for (const name of created) numbers.set(name, ++counter)
  const row = (name: string): Columns => ({
    project_id,
    [kind.number]: numbers.get(name),
    [kind.name]: name,
    ...wanted.get(name)
  })
  for (const [first = "", ...others] of BulkValues.chunks(created)) {
    yield* sql`INSERT INTO ${sql(kind.table)} ${sql.insert([row(first), ...others.map(row)])}`
  }
  yield* sql`UPDATE projects SET ${sql(kind.counter)} = ${counter} WHERE project_id = ${project_id}`
  return numbers
})
