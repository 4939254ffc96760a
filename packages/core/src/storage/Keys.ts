/** Keys, and the log of who did what. */
import type * as DateTime from "effect/DateTime"
import type { ApiKey } from "../domain/ApiKey.ts"
import type { StoredAudit } from "../domain/AuditEntry.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { AuditQuery, ListPage } from "./Lists.ts"
import type { Result } from "./Result.ts"

export interface Keys {
  /** `hash` is the SHA-256 of the key. The project is created if it does not exist. Adds the entry to its audit log. */
  readonly putApiKey: (key: ApiKey, hash: Uint8Array, entry: StoredAudit) => Result<void>
  readonly findApiKey: (hash: Uint8Array) => Result<ApiKey | undefined>
  /** The keys of all projects, oldest first. */
  readonly listApiKeys: Result<ReadonlyArray<ApiKey>>
  /** The hashes of all keys, by their ids: for a copy of the storage. */
  readonly apiKeyHashes: Result<ReadonlyMap<string, Uint8Array>>
  /**
   * Returns the updated key, or undefined if the id is unknown. A second revocation keeps the time of the first. The first adds the entry
   * to the audit log of the key's project.
   */
  readonly revokeApiKey: (id: string, at: DateTime.Utc, entry: StoredAudit) => Result<ApiKey | undefined>
  /** Deletes the keys of all projects that expired at this time or before, of those whose ids begin with `prefix`. */
  readonly deleteExpiredApiKeys: (prefix: string, at: DateTime.Utc) => Result<void>
  /** Adds an entry to the audit log of a project, and deletes those that are too old beside it. */
  readonly appendAudit: (project: ProjectId, entry: StoredAudit) => Result<void>
  /** The latest first. `next` is the id of the last one of the page. */
  readonly listAudit: (project: ProjectId, query: AuditQuery) => Result<ListPage<StoredAudit, string>>
}
