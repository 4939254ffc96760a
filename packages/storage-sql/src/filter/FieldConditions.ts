/** The part of a filter that the fields of an event decide. */
import type { FieldFilter } from "@tachograph/core"
import * as Failure from "@tachograph/core/domain/Failure"
import type { SqlClient, Statement } from "effect/sql"
import * as EventColumns from "../sql/EventColumns.ts"

/** The conditions that events `e` match a filter. */
export const of = (
  sql: SqlClient.SqlClient,
  { failure, isError, model, ...equal }: FieldFilter
): ReadonlyArray<Statement.Fragment> => {
  // None of the fields that lists are filtered by depends on another.
  const fields: EventColumns.AnyColumns = EventColumns.storedFields(sql)
  const ofKind: EventColumns.AnyColumns = EventColumns.kindFields(sql)
  const conditions: Array<Statement.Fragment> = []
  const kindConditions: Array<Statement.Fragment> = []
  for (const [field, value] of Object.entries(equal)) {
    if (value === undefined) continue
    const { column, encode } = ofKind[field] ?? fields[field]!
    const encoded = encode(value as never, EventColumns.alone)
    if (field in ofKind) kindConditions.push(sql`${sql.literal(`ek.${column}`)} = ${encoded}`)
    else conditions.push(sql`${sql.literal(`e.${column}`)} = ${encoded}`)
  }
  if (kindConditions.length > 0) {
    conditions.push(sql`EXISTS (SELECT 1 FROM event_kinds ek WHERE ek.project_id = e.project_id
      AND ek.kind_number = e.kind_number AND ${sql.and(kindConditions)})`)
  }
  if (model !== undefined) conditions.push(sql`(e.model = ${model} OR e.response_model = ${model})`)
  if (isError !== undefined) conditions.push(sql`e.error_type IS ${sql.literal(isError ? "NOT NULL" : "NULL")}`)
  if (failure !== undefined) conditions.push(...ofFailure(sql, failure))
  return conditions
}

/** As `Failure.keyOf` says it of an event. */
const ofFailure = (
  sql: SqlClient.SqlClient,
  { code, status, type }: NonNullable<FieldFilter["failure"]>
): ReadonlyArray<Statement.Fragment> => {
  const first = sql.literal(String(Failure.firstErrorStatus))
  const statusOf = sql`COALESCE(e.error_status, CASE WHEN e.http_status >= ${first} THEN e.http_status END)`
  return [
    sql`e.error_type = ${type}`,
    code === null ? sql`e.error_code IS NULL` : sql`e.error_code = ${code}`,
    status === null ? sql`${statusOf} IS NULL` : sql`${statusOf} = ${status}`
  ]
}
