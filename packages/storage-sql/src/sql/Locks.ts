/** Row locks, where a database has several writers. In SQLite a transaction is the only one from its start. */
import type { SqlClient, Statement } from "effect/sql"

export const areNeeded = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ sqlite: () => false, orElse: () => true })

const lock =
  (strength: string) =>
  (sql: SqlClient.SqlClient): Statement.Fragment =>
    sql.literal(areNeeded(sql) ? strength : "")

/** The rows stay; many may hold them. */
export const keyShare = lock("FOR KEY SHARE")

/** Nobody else holds the rows, or will until the transaction ends. */
export const update = lock("FOR UPDATE")

/** The same, of those rows that nobody holds. */
export const updateFree = lock("FOR UPDATE SKIP LOCKED")
