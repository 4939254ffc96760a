/** Row locks. SQLite has none and needs none: a transaction excludes all other writers from its start. */
import type { SqlClient, Statement } from "effect/sql"

export const areNeeded = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ sqlite: () => false, orElse: () => true })

const lock =
  (strength: string) =>
  (sql: SqlClient.SqlClient): Statement.Fragment =>
    sql.literal(areNeeded(sql) ? strength : "")

/** Shared: keeps the rows from being deleted until the transaction ends. */
export const keyShare = lock("FOR KEY SHARE")

/** Exclusive until the transaction ends. */
export const update = lock("FOR UPDATE")

/** Exclusive; skips rows that another transaction has locked. */
export const updateSkipLocked = lock("FOR UPDATE SKIP LOCKED")
