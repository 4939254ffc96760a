/** Row locks. SQLite has none and needs none: a transaction excludes all other writers from its start. */
import type { SqlClient, Statement } from "effect/sql"
import * as Dialects from "./Dialects.ts"

const lock =
  (strength: string) =>
  (sql: SqlClient.SqlClient): Statement.Fragment =>
    sql.literal(Dialects.of(sql).isSerial ? "" : strength)

/** Shared: keeps the rows from being deleted until the transaction ends. */
export const keyShare = lock("FOR KEY SHARE")

/** Exclusive until the transaction ends. */
export const update = lock("FOR UPDATE")

/** Exclusive; skips rows that another transaction has locked. */
export const updateSkipLocked = lock("FOR UPDATE SKIP LOCKED")
