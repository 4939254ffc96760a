/** The audit log: entries are added, and deleted when they are old. */
import { Audit, type AuditQuery, type ListPage, type ProjectId, type StoredAudit } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"

interface Row extends Pick<StoredAudit, "action" | "actor" | "subject"> {
  readonly entry_id: UuidColumn.StoredId
  readonly events: Integer | null
}

/** Writes an entry in the current transaction. */
export const writer = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)
  return Effect.fnUntraced(function* (project_id: number, entry: StoredAudit) {
    const { id, ...fields } = entry
    yield* sql`INSERT INTO audit_log ${sql.insert({ project_id, entry_id: toStored(id), ...fields })}`
    yield* sql`DELETE FROM audit_log
      WHERE project_id = ${project_id} AND entry_id < ${toStored(Audit.oldestBeside(entry))}`
  })
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const toStored = UuidColumn.encoder(sql)
  const write = writer(sql)

  const appendAudit = Effect.fn("SqlStorage.appendAudit")(function* (project: ProjectId, entry: StoredAudit) {
    const number = yield* projects.findOrCreate(project)
    yield* TwoPhaseCommit.onAllNodes(sql, write(number, entry))
  })

  const listAudit = Effect.fn("SqlStorage.listAudit")(function* (
    project: ProjectId,
    { above, below, limit }: AuditQuery
  ): Effect.fn.Return<ListPage<StoredAudit, string>, SqlError.SqlError> {
    const number = yield* projects.find(project)
    const isBelow = below === undefined ? sql`` : sql`AND entry_id < ${toStored(below)}`
    const isAbove = above === undefined ? sql`` : sql`AND entry_id > ${toStored(above)}`
    const found = yield* sql<Row>`SELECT entry_id, action, actor, subject, events FROM audit_log
      WHERE project_id = ${number} ${isBelow} ${isAbove} ORDER BY entry_id DESC LIMIT ${limit + 1}`
    const rows = found.slice(0, limit).map(({ action, actor, entry_id, events, subject }) => ({
      ...{ id: UuidColumn.decode(entry_id), action, actor, subject },
      events: events === null ? null : Number(events)
    }))
    return { rows, next: found.length > limit ? rows.at(-1)?.id : undefined }
  })

  return { appendAudit, listAudit }
}
