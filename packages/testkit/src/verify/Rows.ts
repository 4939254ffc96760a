/** Changes single rows of a SQL storage behind its back, and restores them. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"

export type Value = number | string | Uint8Array | bigint | null
export type Row = Readonly<Record<string, Value>>

/** The primary keys of the tables that hold what was recorded. */
export const keys = {
  projects: ["project_id"],
  fingerprints: ["project_id", "fingerprint_id"],
  agents: ["project_id", "agent_number"],
  agent_versions: ["project_id", "agent_number", "agent_version_number"],
  people: ["project_id", "person_number"],
  sessions: ["project_id", "session_number"],
  event_kinds: ["project_id", "kind_number"],
  events: ["project_id", "event_id"],
  packs: ["project_id", "session_number", "pack_number"],
  steps: ["project_id", "session_number", "trace_id", "span_id"],
  shared_pieces: ["project_id", "sha256"],
  shared_piece_owners: ["project_id", "session_number", "sha256"],
  storage_usage: ["project_id", "session_number", "agent_number"],
  agent_usage: ["project_id", "agent_number", "rules", "stripe"],
  idempotency_keys: ["project_id", "key_hash"]
} as const satisfies Readonly<Record<string, ReadonlyArray<string>>>

export type Table = keyof typeof keys

/** All rows, in the order of their keys. */
export const select = (sql: SqlClient.SqlClient, table: Table) =>
  sql.unsafe<Row>(`SELECT * FROM ${table} ORDER BY ${keys[table].join(", ")}`)

/** All rows of the tables that a verification looks at. */
export type Tables = { readonly [name in Table]: ReadonlyArray<Row> }

export const selectAll = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const tables: Partial<Record<Table, ReadonlyArray<Row>>> = {}
  for (const table of Object.keys(keys) as Array<Table>) tables[table] = yield* select(sql, table)
  return tables as Tables
})

/** `from` or `to` is undefined if the row does not exist before or afterwards. */
const replace = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: Table,
  from: Row | undefined,
  to: Row | undefined
): Effect.fn.Return<void, SqlError.SqlError> {
  if (from !== undefined) {
    yield* sql`DELETE FROM ${sql(table)} WHERE ${sql.and(keys[table].map((key) => sql`${sql(key)} = ${from[key]}`))}`
  }
  if (to !== undefined) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(to)}`
})

export interface Change {
  readonly table: Table
  readonly from: Row | undefined
  readonly to: Row | undefined
}

/** Runs `body` while rows are changed. Fails with a unique violation if that makes keys equal. */
export const changing = <A, E, R>(
  sql: SqlClient.SqlClient,
  changes: ReadonlyArray<Change>,
  body: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.acquireUseRelease(
    sql.withTransaction(
      Effect.forEach(changes, ({ from, table, to }) => replace(sql, table, from, to), { discard: true })
    ),
    () => body,
    () =>
      Effect.orDie(
        sql.withTransaction(
          Effect.forEach([...changes].reverse(), ({ from, table, to }) => replace(sql, table, to, from), {
            discard: true
          })
        )
      )
  )
