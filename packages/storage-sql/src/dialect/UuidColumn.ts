/** UUID columns, which sort like the UUID's text in each database. */
import { Uuid } from "@tachograph/core"
import type { SqlClient } from "effect/sql"
import type { StoredId } from "./Dialect.ts"
import * as Dialects from "./Dialects.ts"

export type { StoredId }

export const encoder = (sql: SqlClient.SqlClient): ((id: string) => StoredId) => Dialects.of(sql).toStoredId

export const decode = (stored: StoredId): string => (typeof stored === "string" ? stored : Uuid.fromBytes(stored))
