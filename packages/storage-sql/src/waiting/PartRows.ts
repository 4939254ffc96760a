/** Rows of parts that wait. What changes several rows of a group locks them in the order of their keys. */
import type { ReadPart } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as Locks from "../dialect/Locks.ts"

export const make = (sql: SqlClient.SqlClient) => {
  const { isSerial } = Dialects.of(sql)
  const readColumns = BulkValues.make<ReadPart>(sql, {
    part_id: { type: "varchar", value: ({ part }) => part },
    size: { type: "integer", value: ({ size }) => size }
  })

  const isOfGroup = (project_id: number, group: string): Statement.Fragment =>
    sql`project_id = ${project_id} AND group_id = ${group}${Bucket.and(sql, Bucket.ofGroup(group))}`

  /** Parts of a group that have not been replaced: one at least. */
  const areUnchanged = (project_id: number, group: string, parts: ReadonlyArray<ReadPart>): Statement.Fragment =>
    sql`${isOfGroup(project_id, group)} AND (part_id, size) IN (${readColumns.of(parts)})`

  const lock = (where: Statement.Fragment): Effect.Effect<void, SqlError.SqlError> =>
    isSerial
      ? Effect.void
      : Effect.asVoid(sql`SELECT 1 FROM waiting_parts WHERE ${where} ORDER BY part_id ${Locks.update(sql)}`)

  return { isOfGroup, areUnchanged, lock }
}

export type PartRows = ReturnType<typeof make>
