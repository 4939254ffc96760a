/** Reads the audit log. */
import * as Effect from "effect/Effect"
import type { AuditEntry } from "../domain/AuditEntry.ts"
import { CurrentProject } from "../domain/Project.ts"
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
  listAudit: Effect.fn("Recorder.listAudit")(function* ({ after, from, limit, to }: AuditListQuery) {
    const period = EventPages.idsBetween(from, to)
    const query = { above: period.above, below: after ?? period.below, limit }
    const { next, rows } = yield* storage.listAudit(yield* CurrentProject, query)
    return { rows: rows.map(Audit.ofStored), next }
  })
})
