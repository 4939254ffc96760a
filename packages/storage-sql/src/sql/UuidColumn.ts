/** UUIDs in rows: of the type of that name where there is one, else their sixteen bytes. Both sort as the text does. */
import { Uuid } from "@tachograph/core"
import type { SqlClient } from "effect/sql"

export type StoredId = string | Uint8Array

export const encoder = (sql: SqlClient.SqlClient): ((id: string) => StoredId) =>
  sql.onDialectOrElse({ pg: () => (id: string) => id, orElse: () => Uuid.toBytes })

export const decode = (stored: StoredId): string => (typeof stored === "string" ? stored : Uuid.fromBytes(stored))
