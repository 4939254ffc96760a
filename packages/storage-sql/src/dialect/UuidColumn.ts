/** UUID columns: of the type `uuid` in Postgres, 16 bytes elsewhere. Both sort like the UUID's text. */
import { Uuid } from "@tachograph/core"
import type { SqlClient } from "effect/sql"

export type StoredId = string | Uint8Array

export const encoder = (sql: SqlClient.SqlClient): ((id: string) => StoredId) =>
  sql.onDialectOrElse({ pg: () => (id: string) => id, orElse: () => Uuid.toBytes })

export const decode = (stored: StoredId): string => (typeof stored === "string" ? stored : Uuid.fromBytes(stored))
