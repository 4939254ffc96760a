/** API keys, and the audit log. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { ApiKey } from "../domain/ApiKey.ts"
import type { Keys } from "../storage/Keys.ts"
import type { MemoryProjects } from "./MemoryProjects.ts"

export const make = (projects: MemoryProjects): Keys => {
  const keys = new Map<string, { readonly key: ApiKey; readonly hash: string }>()

  return {
    putApiKey: (key, hash, entry) =>
      Effect.sync(() => {
        keys.set(key.id, { key, hash: Buffer.from(hash).toString("hex") })
        projects.of(key.project).appendAudit(entry)
      }),
    findApiKey: (hash) =>
      Effect.sync(() => {
        const hexHash = Buffer.from(hash).toString("hex")
        for (const entry of keys.values()) if (entry.hash === hexHash) return entry.key
        return undefined
      }),
    listApiKeys: Effect.sync(() => Array.from(keys.values(), ({ key }) => key)),
    apiKeyHashes: Effect.sync(
      () => new Map(Array.from(keys.values(), ({ hash, key }) => [key.id, Buffer.from(hash, "hex")]))
    ),
    revokeApiKey: (id, at, entry) =>
      Effect.sync(() => {
        const stored = keys.get(id)
        if (stored === undefined || stored.key.revokedAt !== null) return stored?.key
        const key = new ApiKey({ ...stored.key, revokedAt: at })
        keys.set(id, { ...stored, key })
        projects.of(key.project).appendAudit(entry)
        return key
      }),
    deleteExpiredApiKeys: (prefix, at) =>
      Effect.sync(() => {
        for (const [id, { key }] of keys) {
          if (id.startsWith(prefix) && key.expiresAt !== null && DateTime.isLessThanOrEqualTo(key.expiresAt, at)) {
            keys.delete(id)
          }
        }
      }),
    appendAudit: (project, entry) => Effect.sync(() => projects.of(project).appendAudit(entry)),
    listAudit: (project, query) => Effect.sync(() => projects.read(project).listAudit(query))
  }
}
