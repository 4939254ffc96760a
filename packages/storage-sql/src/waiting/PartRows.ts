/** Rows of parts that wait. What changes several rows of a group locks them in the order of their keys. */
import type { ReadPart } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as AtOnce from "../dialect/AtOnce.ts"
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

  /** In SQLite, events are committed while the disk takes the change. */
  const changeAtOnce = (statement: Statement.Statement<unknown>) =>
    Effect.flatMap(
      AtOnce.transact(sql, (run) => run(...statement.compile()), true),
      // Says why it was not committed.
      (rows) => (rows === undefined ? statement : Effect.succeed(rows))
    )

  /** Runs a statement that changes rows, in a transaction of its own. The rows are locked first if it is said which. */
  const change = (
    statement: Statement.Statement<unknown>,
    where?: Statement.Fragment
  ): Effect.Effect<unknown, SqlError.SqlError> => {
    if (isSerial) return changeAtOnce(statement)
    if (where === undefined) return statement
    const lock = sql`SELECT 1 FROM waiting_parts WHERE ${where} ORDER BY part_id ${Locks.update(sql)}`
    return sql.withTransaction(Effect.andThen(lock, statement))
  }

  return { isOfGroup, areUnchanged, change }
}

export type PartRows = ReturnType<typeof make>
