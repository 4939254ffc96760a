/** Reads the audit log. */
import * as Effect from "effect/Effect"
import type { AuditEntry } from "../domain/AuditEntry.ts"
import { inProject } from "../domain/Project.ts"
import * as EventPages from "./EventPages.ts"
import type { Storage } from "../Storage.ts"
import type { ListPage } from "../storage/Lists.ts"
import type { Result } from "../storage/Result.ts"
import * as Audit from "../audit/Audit.ts"

export interface AuditListQuery extends EventPages.Period {
  /** Begins after this entry, in descending order. */
  readonly after: string | undefined
  readonly limit: number
}

export interface AuditLog {
  /** Who erased what, and keys, the latest first. */
  readonly listAudit: (query: AuditListQuery) => Result<ListPage<AuditEntry, string>>
}

export const make = (storage: Storage["Service"]): AuditLog => ({
  listAudit: inProject("listAudit", (project, { after, from, limit, to }) => {
    const { above, below } = EventPages.idsBetween(from, to)
    const page = storage.listAudit(project, { above, below: after ?? below, limit })
    return Effect.map(page, ({ next, rows }) => ({ rows: rows.map(Audit.ofStored), next }))
  })
})
