/** Reads the fields of events with the names that their numbers stand for. */
import {
  CallTime,
  checksumOfSummary,
  Damage,
  type EventId,
  EventSummary,
  type ProjectId,
  type StoredSummary
} from "@tachograph/core"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import type * as BulkValues from "../dialect/BulkValues.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as EventColumns from "./EventColumns.ts"
import type { Codec } from "./FieldCodec.ts"
import { type Integer, orUndefined, trusted } from "./RowDecoding.ts"

const namedFields = Object.keys(EventColumns.nameColumns) as ReadonlyArray<keyof typeof EventColumns.nameColumns>

/** By the names of the fields, with the checksums. */
export type EventRow = Readonly<
  Record<keyof EventSummary, BulkValues.Value> & { readonly rules: string | null } & Record<
      "summary_checksum" | "texts_checksum",
      Integer
    > & { readonly distant_at: Integer | null }
>

export interface Reader {
  /** The fields of a summary, for a `SELECT` from the table `events e` with `joins`. */
  readonly fields: Statement.Fragment
  /** `bucket` is that of all events, if they have the same. */
  readonly joins: (bucket?: number) => Statement.Fragment
  readonly toStored: (row: EventRow) => StoredSummary
  /** Whether the fields are what was recorded. Costs less than `toStored`. */
  readonly isIntact: (project: ProjectId, row: EventRow) => boolean
}

/** Left joins, so that a damaged number does not hide the event. */
const joins = (
  sql: SqlClient.SqlClient,
  bucket: number | undefined
) => sql`LEFT JOIN sessions s ON s.project_id = e.project_id
      AND s.session_number = e.session_number
      ${bucket === undefined ? Bucket.andSame(sql, "s", "e") : Bucket.and(sql, bucket, "s.")}
    LEFT JOIN agents a ON a.project_id = e.project_id AND a.agent_number = e.agent_number
    LEFT JOIN agent_versions v ON v.project_id = e.project_id AND v.agent_number = e.agent_number
      AND v.agent_version_number = e.agent_version_number
    LEFT JOIN people p ON p.project_id = e.project_id AND p.person_number = e.person_number
    LEFT JOIN event_kinds ek ON ek.project_id = e.project_id AND ek.kind_number = e.kind_number`

export const make = (sql: SqlClient.SqlClient): Reader => {
  const fields = EventColumns.storedFields(sql)
  const ofKind = EventColumns.kindFields(sql)
  const selected = [
    ...Object.entries(fields).map(([field, { column }]) => `e.${column} AS "${field}"`),
    ...Object.entries(ofKind).map(([field, { column }]) => `ek.${column} AS "${field}"`),
    ...Object.entries(EventColumns.nameColumns).map(([field, column]) => `${column} AS "${field}"`),
    "e.distant_at",
    "e.summary_checksum",
    "e.texts_checksum"
  ]
  const { rules: _, ...ofSummary } = ofKind
  const decoders = Object.entries<Pick<Codec<unknown>, "decode">>({ ...fields, ...ofSummary }).map(
    ([field, { decode }]) => [field, decode] as const
  )
  const toFields = (row: EventRow): EventSummary => {
    const summary: Record<string, unknown> = {}
    for (const field of namedFields) summary[field] = row[field]
    for (const [field, decode] of decoders) summary[field] = decode(row[field as keyof EventSummary], row)
    const fields = summary as unknown as EventSummary
    const distantMs = CallTime.distantMs(fields)
    if ((row.distant_at === null ? null : Number(row.distant_at)) !== distantMs) {
      throw new Damage("An event is not where its time is looked for")
    }
    return fields
  }
  return {
    fields: sql.literal(selected.join(", ")),
    joins: (bucket) => joins(sql, bucket),
    toStored: (row) => ({
      id: UuidColumn.decode(row.id as UuidColumn.StoredId) as EventId,
      summary: orUndefined(() => new EventSummary(toFields(row), trusted)),
      checksums: { summary: Number(row.summary_checksum), texts: Number(row.texts_checksum) },
      rules: row.rules ?? undefined
    }),
    isIntact: (project, row) =>
      orUndefined(() => checksumOfSummary(project, toFields(row))) === Number(row.summary_checksum)
  }
}
