/** API keys. Lookups are by the hash of the key, across projects: the key determines the project. */
import type { ApiKey, StoredAudit } from "@tachograph/core"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Hex from "effect/encoding/Hex"
import type { SqlClient } from "effect/sql"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as Audit from "./Audit.ts"
import type * as Projects from "../names/Projects.ts"
import { type ApiKeyRow, type Integer, toApiKey } from "../sql/RowDecoding.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const audit = Audit.writer(sql)
  const select = sql.literal(`SELECT k.key_id, p.project_name, k.key_name, k.scopes, k.created_at, k.expires_at,
    k.revoked_at FROM api_keys k JOIN projects p ON p.project_id = k.project_id`)

  const putApiKey = Effect.fn("SqlStorage.putApiKey")(function* (key: ApiKey, hash: Uint8Array, entry: StoredAudit) {
    const row = {
      project_id: yield* projects.findOrCreate(key.project),
      key_id: key.id,
      key_hash: Hex.encode(hash),
      key_name: key.name,
      scopes: key.scopes.join(","),
      created_at: key.createdAt.epochMilliseconds,
      expires_at: key.expiresAt?.epochMilliseconds ?? null,
      revoked_at: key.revokedAt?.epochMilliseconds ?? null
    }
    yield* TwoPhaseCommit.onAllNodes(
      sql,
      Effect.andThen(sql`INSERT INTO api_keys ${sql.insert(row)}`, audit(row.project_id, entry))
    )
  })

  const findApiKey = Effect.fn("SqlStorage.findApiKey")(function* (hash: Uint8Array) {
    const [row] = yield* sql<ApiKeyRow>`${select} WHERE k.key_hash = ${Hex.encode(hash)}`
    return row && toApiKey(row)
  })

  const listApiKeys = Effect.map(sql<ApiKeyRow>`${select} ORDER BY k.created_at, k.key_id`, (rows) =>
    rows.map(toApiKey)
  )

  const revokeApiKey = Effect.fn("SqlStorage.revokeApiKey")(function* (
    id: string,
    at: DateTime.Utc,
    entry: StoredAudit
  ) {
    const revoked = sql<{ project_id: Integer }>`UPDATE api_keys SET revoked_at = ${at.epochMilliseconds}
      WHERE key_id = ${id} AND revoked_at IS NULL RETURNING project_id`
    yield* TwoPhaseCommit.onAllNodes(
      sql,
      Effect.flatMap(revoked, (rows) =>
        Effect.forEach(rows, ({ project_id }) => audit(Number(project_id), entry), { discard: true })
      )
    )
    const [row] = yield* sql<ApiKeyRow>`${select} WHERE k.key_id = ${id}`
    return row && toApiKey(row)
  })

  const deleteExpiredApiKeys = Effect.fn("SqlStorage.deleteExpiredApiKeys")((prefix: string, at: DateTime.Utc) =>
    TwoPhaseCommit.onAllNodes(
      sql,
      sql`DELETE FROM api_keys WHERE substr(key_id, 1, ${prefix.length}) = ${prefix} AND expires_at <= ${at.epochMilliseconds}`
    )
  )

  const apiKeyHashes = Effect.map(
    sql<{ key_id: string; key_hash: string }>`SELECT key_id, key_hash FROM api_keys`,
    (rows) =>
      new Map(
        rows.flatMap(({ key_hash, key_id }) => {
          const hash = Hex.decode(key_hash)
          // A damaged one opens nothing, and so it has none to copy.
          return Result.isSuccess(hash) ? [[key_id, hash.success]] : []
        })
      )
  )

  return { putApiKey, findApiKey, listApiKeys, apiKeyHashes, revokeApiKey, deleteExpiredApiKeys }
}
