/** Fingerprints: what an application ran in, stored once. */
import { Errors, type FingerprintId, type ProjectId, type StoredFingerprint } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Projects from "../names/Projects.ts"
import { fingerprintColumns, type FingerprintRow, toFingerprint } from "../sql/RowDecoding.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const toStored = UuidColumn.encoder(sql)

  const putFingerprint = Effect.fn("SqlStorage.putFingerprint")(function* (
    project: ProjectId,
    fingerprint: StoredFingerprint
  ) {
    // Without a write where it exists: in a distributed database that would need all nodes.
    if (yield* hasFingerprint(project, fingerprint.id)) return
    const row = {
      project_id: yield* projects.findOrCreate(project),
      fingerprint_id: toStored(fingerprint.id),
      fields: fingerprint.fields,
      created_at: fingerprint.createdAt.epochMilliseconds
    }
    yield* sql`INSERT INTO fingerprints ${sql.insert(row)} ON CONFLICT (project_id, fingerprint_id) DO NOTHING`
  })

  const hasFingerprint = Effect.fn("SqlStorage.hasFingerprint")(function* (project: ProjectId, id: FingerprintId) {
    const number = yield* projects.find(project)
    const rows = yield* sql`SELECT 1 FROM fingerprints
      WHERE project_id = ${number} AND fingerprint_id = ${toStored(id)}`
    return rows.length > 0
  })

  const getFingerprint = Effect.fn("SqlStorage.getFingerprint")(function* (project: ProjectId, id: FingerprintId) {
    const number = yield* projects.find(project)
    const [row] = yield* sql<FingerprintRow>`SELECT ${sql.literal(fingerprintColumns)} FROM fingerprints
      WHERE project_id = ${number} AND fingerprint_id = ${toStored(id)}`
    return row === undefined ? yield* new Errors.FingerprintNotFound() : toFingerprint(row)
  })

  return { putFingerprint, hasFingerprint, getFingerprint }
}
