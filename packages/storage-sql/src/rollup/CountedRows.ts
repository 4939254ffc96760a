/** Reads rows of events as they are counted: as they are, or only where no field is damaged. */
import { Damage, type ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as EventColumns from "../sql/EventColumns.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as SummaryReader from "../sql/SummaryReader.ts"
import * as Damages from "./Damages.ts"
import { type CountedKind, columns, of, type Row } from "./CountedEvent.ts"

const maxCachedKinds = 10_000

/** Of an event whose kind is gone by damage. */
const noKind: CountedKind = { api: 0, unpricedParts: null }

/** Which events to read. Fragments are of the table `events e`. */
export interface Find {
  readonly where: Statement.Fragment
  readonly order: Statement.Fragment
  readonly limit?: number
  /** Follows the table's name. */
  readonly hint?: Statement.Fragment
  /** The bucket of all of them, if they have the same. */
  readonly bucket?: number
}

export const make = (sql: SqlClient.SqlClient) => {
  const { fields, isIntact, joins } = SummaryReader.make(sql)
  const nothing = sql.literal("")
  const selectedOfEvent = sql.literal(columns.map((column) => `e.${column}`).join(", "))

  /** The names of projects, which do not change. */
  const projects = new Map<number, ProjectId>()

  /** By the kinds of a project. Rows of kinds are only ever added. */
  const kinds = new Map<string, CountedKind>()
  const { unpricedParts } = EventColumns.kindFields(sql)

  const toCounted = Effect.fnUntraced(function* (project_id: number, rows: ReadonlyArray<Row>) {
    const nameOf = (kind: Integer) => `${project_id} ${kind}`
    const unknown = new Set(rows.map(({ kind_number }) => kind_number).filter((kind) => !kinds.has(nameOf(kind))))
    if (kinds.size > maxCachedKinds) kinds.clear()
    for (const chunk of BulkValues.chunks(Array.from(unknown))) {
      const found = yield* sql<{ kind_number: Integer; api: Integer; unpriced_parts: Integer | null }>`
        SELECT kind_number, api, unpriced_parts FROM event_kinds
        WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "kind_number", "integer", chunk)}`
      for (const { api, kind_number, unpriced_parts } of found) {
        kinds.set(nameOf(kind_number), {
          api: Number(api),
          unpricedParts: unpricedParts.decode(unpriced_parts, EventColumns.alone)
        })
      }
    }
    return rows.map((row) => of(row, kinds.get(nameOf(row.kind_number)) ?? noKind))
  })

  const projectOf = Effect.fnUntraced(function* (project_id: number) {
    const known = projects.get(project_id)
    if (known !== undefined) return known
    const [row] = yield* sql<{ project_name: ProjectId }>`SELECT project_name FROM projects
      WHERE project_id = ${project_id}`
    if (row !== undefined) projects.set(project_id, row.project_name)
    return row?.project_name
  })

  const rowsOf = ({ hint = nothing, where }: Find, columns: Statement.Fragment, joined = nothing) =>
    sql`SELECT ${columns} FROM events e ${hint} ${joined} WHERE ${where}`

  const ending = ({ limit, order }: Find) =>
    limit === undefined ? sql`ORDER BY ${order}` : sql`ORDER BY ${order} LIMIT ${limit}`

  /** As they are, damaged or not. */
  const readAny = (project_id: number, find: Find) =>
    Effect.flatMap(sql<Row>`${rowsOf(find, selectedOfEvent)} ${ending(find)}`, (rows) => toCounted(project_id, rows))

  /** With the fields of summaries. */
  const wholeRowsOf = (find: Find) => {
    const all = sql`${fields}, ${selectedOfEvent}`
    // A node joins its own rows. A page of the rows of several nodes would be joined with all sessions of the project.
    if (Bucket.isDistributed(sql) && find.bucket === undefined)
      return sql`${rowsOf(find, all, joins())} ${ending(find)}`
    // An index leads to the page before anything is joined, whatever the planner expects.
    const ofPage = find.limit === undefined ? nothing : ending(find)
    return sql`SELECT ${all} FROM (${rowsOf(find, sql.literal("e.*"))} ${ofPage}) AS e ${joins(find.bucket)}
      ORDER BY ${find.order}`
  }

  /** Fails if a field of one of them is not what was recorded. */
  const readIntact = Effect.fnUntraced(function* (project_id: number, find: Find) {
    const project = yield* projectOf(project_id)
    const rows = yield* sql<Row & SummaryReader.EventRow>`${wholeRowsOf(find)}`
    yield* Damages.readable(() => {
      for (const row of rows) {
        if (project === undefined || !isIntact(project, row)) {
          throw new Damage(`The checksum of the fields of event ${UuidColumn.decode(row.event_id)} differs`)
        }
      }
    })
    return yield* toCounted(project_id, rows)
  })

  return { readAny, readIntact, toCounted }
}

export type Read = ReturnType<typeof make>["readAny"]
