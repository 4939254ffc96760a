/**
 * The columns of an event: the only list of them besides the DDL of the migrations. Statements that insert or read events
 * derive their columns from it. A field of `EventSummary` without a column does not compile; nor does a column that no
 * migration creates.
 */
import {
  type AppendEvent,
  CallFacts,
  checksumOfSummary,
  type EventId,
  EventSummary,
  EventTime,
  type FieldFilter,
  type ProjectId,
  type StoredSummary,
  stopReasons,
  type TraceId,
  unpricedReasons,
  Uuid
} from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import * as DateTime from "effect/DateTime"
import type { SqlClient, Statement } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Initial from "../migrations/0001Initial.ts"
import * as KnownWords from "./KnownWords.ts"
import { type Integer, trusted } from "./RowDecoding.ts"

type Value = BulkValues.Value

/** Columns of the tables `events` and `event_kinds` that some migration creates. */
type CreatedColumn = Initial.EventColumn
type KindColumn = Initial.KindColumn

/** How a field is stored. */
interface Codec<A> {
  readonly type: BulkValues.Type
  readonly encode: (field: A, summary: EventSummary) => Value
  readonly decode: (stored: Value, row: EventRow) => A
}

interface FieldColumn<A, Column = CreatedColumn> extends Codec<A> {
  readonly column: Column
}

/** A column of any field. */
interface AnyColumn {
  readonly column: string
  readonly encode: (field: never, summary: never) => Value
  readonly decode: (stored: Value, row: never) => unknown
}

type AnyColumns = Readonly<Record<string, AnyColumn>>

/** For fields that do not depend on others. */
const alone = undefined as never

const text = <A extends string>(): Codec<A> => ({
  type: "varchar",
  encode: (field) => field,
  decode: (stored) => stored as A
})

/** Postgres returns a `bigint` as text. */
const number = (type: BulkValues.Type): Codec<number> => ({ type, encode: (field) => field, decode: Number })

const time: Codec<DateTime.Utc> = {
  type: "bigint",
  encode: (field) => field.epochMilliseconds,
  decode: (stored) => DateTime.makeUnsafe(Number(stored))
}

/** As the milliseconds since the time in the event's id. */
const sinceId: Codec<DateTime.Utc> = {
  type: "bigint",
  encode: (field, { id }) => field.epochMilliseconds - EventTime.of(id),
  decode: (stored, { id }) =>
    DateTime.makeUnsafe(EventTime.of(UuidColumn.decode(id as UuidColumn.StoredId) as EventId) + Number(stored))
}

/** An index into a list to which words are only ever appended. */
const wordOf = <A extends string>(words: ReadonlyArray<A>): Codec<A> => ({
  type: "smallint",
  encode: (field) => words.indexOf(field),
  decode: (stored) => words[Number(stored)]!
})

const knownWord = (words: ReadonlyArray<string>): Codec<string> => ({
  type: "varchar",
  encode: (field) => KnownWords.encode(words, field),
  decode: (stored) => KnownWords.decode(words, stored as string)
})

const boolean: Codec<boolean> = { type: "smallint", encode: Number, decode: (stored) => Number(stored) === 1 }

/** Separated by line feeds, which no name has. */
const names: Codec<ReadonlyArray<string>> = {
  type: "varchar",
  encode: (field) => field.join("\n"),
  decode: (stored) => (stored === "" ? [] : (stored as string).split("\n"))
}

/** Empty for the model that was asked for: it mostly is the one that answers. */
const answeringModel: Codec<string> = {
  type: "varchar",
  encode: (field, { model }) => (field === model ? "" : field),
  decode: (stored, { model }) => (stored === "" ? model : stored) as string
}

const uuid = <A extends string>(sql: SqlClient.SqlClient): Codec<A> => ({
  type: "uuid",
  encode: UuidColumn.encoder(sql),
  decode: (stored) => UuidColumn.decode(stored as UuidColumn.StoredId) as A
})

/** Hexadecimal digits, in bytes. */
const hex = <A extends string>(): Codec<A> => ({
  type: "bytea",
  encode: (field) => Uuid.hexToBytes(field),
  decode: (stored) => Uuid.bytesToHex(stored as Uint8Array) as A
})

/** As long as a UUID, whose columns take as many bytes as it has. */
const traceId = (sql: SqlClient.SqlClient): Codec<TraceId> => {
  const { decode, encode, type } = uuid<string>(sql)
  return {
    type,
    encode: (field, summary) => encode(Uuid.fromHex(field), summary),
    decode: (stored, row) => decode(stored, row).replaceAll("-", "") as TraceId
  }
}

const nullable = <A>({ decode, encode, type }: Codec<A>): Codec<A | null> => ({
  type,
  encode: (field, summary) => (field === null ? null : encode(field, summary)),
  decode: (stored, row) => (stored === null ? null : decode(stored, row))
})

const stored = <A, Column>(column: Column, codec: Codec<A>): FieldColumn<A, Column> => ({ column, ...codec })

/** Fields that the row holds as numbers, which stand for the names in other tables. */
const nameColumns = {
  session: "s.session_id",
  agent: "a.agent_name",
  agentVersion: "v.agent_version_name",
  person: "p.person_id"
} as const satisfies Partial<Record<keyof EventSummary, string>>

type NameField = keyof typeof nameColumns

const namedFields = Object.keys(nameColumns) as ReadonlyArray<NameField>

/** Fields of the event's kind, whose number the row holds. None depends on other fields. */
export type EventKind = Pick<EventSummary, "fingerprintId" | "api" | "price" | "priceIsExact" | "unpriced"> &
  Pick<AppendEvent, "rules">
type KindFields = { readonly [Field in keyof EventKind]: FieldColumn<EventKind[Field], KindColumn> }

const kindFields = (sql: SqlClient.SqlClient): KindFields => ({
  fingerprintId: stored("fingerprint_id", uuid(sql)),
  api: stored("api", wordOf(ProviderNames.apis)),
  price: stored("price_name", nullable(text())),
  priceIsExact: stored("price_is_exact", nullable(boolean)),
  unpriced: stored("unpriced", nullable(wordOf(unpricedReasons))),
  rules: stored("rules", text())
})

/** By the names of the fields. */
export type KindRow = Readonly<Record<keyof EventKind, Value> & { kind_number: number }>

/** The table `event_kinds`. */
export const kinds = (sql: SqlClient.SqlClient) => {
  const fields = Object.entries<AnyColumn>(kindFields(sql)) as ReadonlyArray<[keyof EventKind, AnyColumn]>
  return {
    /** For a `SELECT`. */
    columns: sql.literal(fields.map(([field, { column }]) => `${column} AS "${field}"`).join(", ")),
    /** The columns but the numbers. */
    encode: (kind: EventKind): Readonly<Record<string, Value>> =>
      Object.fromEntries(fields.map(([field, { column, encode }]) => [column, encode(kind[field] as never, alone)])),
    /** Undefined if it is damaged. */
    decode: (row: KindRow): EventKind | undefined =>
      orUndefined(
        () =>
          Object.fromEntries(
            fields.map(([field, { decode }]) => [field, decode(row[field], alone)])
          ) as unknown as EventKind
      )
  }
}

/** Fields that the row holds itself. */
type StoredFields = {
  readonly [Field in Exclude<keyof EventSummary, NameField | keyof EventKind>]: FieldColumn<EventSummary[Field]>
}

const storedFields = (sql: SqlClient.SqlClient): StoredFields => ({
  id: stored("event_id", uuid(sql)),
  receivedAt: stored("received_after", sinceId),
  occurredAt: stored("occurred_at", nullable(time)),
  durationMs: stored("duration_ms", nullable(number("double precision"))),
  firstTokenMs: stored("first_token_ms", nullable(number("double precision"))),
  httpStatus: stored("http_status", nullable(number("smallint"))),
  traceId: stored("trace_id", nullable(traceId(sql))),
  spanId: stored("span_id", nullable(hex())),
  provider: stored("provider", nullable(knownWord(KnownWords.providers))),
  model: stored("model", nullable(text())),
  responseModel: stored("response_model", nullable(answeringModel)),
  inputTokens: stored("input_tokens", nullable(number("integer"))),
  outputTokens: stored("output_tokens", nullable(number("integer"))),
  cacheReadTokens: stored("cache_read_tokens", nullable(number("integer"))),
  cacheWriteTokens: stored("cache_write_tokens", nullable(number("integer"))),
  reasoningTokens: stored("reasoning_tokens", nullable(number("integer"))),
  stopReason: stored("stop_reason", nullable(wordOf(stopReasons))),
  providerStopReason: stored("provider_stop_reason", nullable(knownWord(KnownWords.stopReasons))),
  toolCalls: stored("tool_calls", nullable(names)),
  errorType: stored("error_type", nullable(text())),
  errorStatus: stored("error_status", nullable(number("smallint"))),
  costUsd: stored("cost", nullable(number("bigint"))),
  inputsBytes: stored("inputs_bytes", number("integer")),
  outputBytes: stored("output_bytes", number("integer"))
})

/** An event with the numbers that stand for its names. */
export interface NumberedEvent {
  readonly project_id: number
  readonly session_number: number
  readonly agent_number: number
  readonly agent_version_number: number
  readonly person_number: number | null
  readonly kind_number: number
  readonly pack_number: number
  readonly summary_checksum: number
  readonly texts_checksum: number
  readonly bucket: number
  readonly metadata: string | null
  readonly summary: EventSummary
}

const numberTypes = {
  project_id: "integer",
  session_number: "integer",
  agent_number: "integer",
  agent_version_number: "integer",
  person_number: "integer",
  kind_number: "integer",
  pack_number: "integer",
  summary_checksum: "integer",
  texts_checksum: "integer",
  metadata: "varchar"
} as const satisfies Record<Exclude<keyof NumberedEvent, "bucket" | "summary"> & CreatedColumn, BulkValues.Type>

/** All columns of the table, for inserting events. */
export const toInsert = (sql: SqlClient.SqlClient): BulkValues.Columns<NumberedEvent> => {
  const fields = storedFields(sql)
  const entry = <Field extends keyof StoredFields>(field: Field) => {
    const { column, encode, type }: FieldColumn<EventSummary[Field]> = fields[field]
    return [column, { type, value: ({ summary }: NumberedEvent) => encode(summary[field], summary) }] as const
  }
  return {
    ...BulkValues.named({ ...numberTypes, ...Bucket.types(sql) }),
    ...Object.fromEntries((Object.keys(fields) as Array<keyof StoredFields>).map(entry))
  }
}

/** An event with new facts. */
export interface ChangedFacts {
  readonly summary: EventSummary
  /** The checksum of its fields. */
  readonly checksum: number
  readonly kind_number: number
}

/** The columns of the facts, their checksum and the kind, and the event's id. */
export const factColumns = (sql: SqlClient.SqlClient): BulkValues.Columns<ChangedFacts> => {
  const isFact = (field: string) => field === "id" || field in CallFacts.fields
  const fields = Object.entries<AnyColumn & { readonly type: BulkValues.Type }>(storedFields(sql))
  return {
    ...Object.fromEntries(
      fields
        .filter(([field]) => isFact(field))
        .map(([field, { column, encode, type }]) => [
          column,
          {
            type,
            value: ({ summary }: ChangedFacts) =>
              encode(summary[field as keyof EventSummary] as never, summary as never)
          }
        ])
    ),
    kind_number: { type: numberTypes.kind_number, value: (changed) => changed.kind_number },
    summary_checksum: { type: numberTypes.summary_checksum, value: ({ checksum }) => checksum }
  }
}

/** The conditions that events `e` match a filter. */
export const conditionsOf = (
  sql: SqlClient.SqlClient,
  { isError, model, ...equal }: FieldFilter
): ReadonlyArray<Statement.Fragment> => {
  // None of the fields that lists are filtered by depends on another.
  const fields: AnyColumns = storedFields(sql)
  const ofKind: AnyColumns = kindFields(sql)
  const conditions: Array<Statement.Fragment> = []
  const kindConditions: Array<Statement.Fragment> = []
  for (const [field, value] of Object.entries(equal)) {
    if (value === undefined) continue
    const { column, encode } = ofKind[field] ?? fields[field]!
    const encoded = encode(value as never, alone)
    if (field in ofKind) kindConditions.push(sql`${sql.literal(`ek.${column}`)} = ${encoded}`)
    else conditions.push(sql`${sql.literal(`e.${column}`)} = ${encoded}`)
  }
  if (kindConditions.length > 0) {
    conditions.push(sql`EXISTS (SELECT 1 FROM event_kinds ek WHERE ek.project_id = e.project_id
      AND ek.kind_number = e.kind_number AND ${sql.and(kindConditions)})`)
  }
  if (model !== undefined) conditions.push(sql`(e.model = ${model} OR e.response_model = ${model})`)
  if (isError !== undefined) conditions.push(sql`e.error_type IS ${sql.literal(isError ? "NOT NULL" : "NULL")}`)
  return conditions
}

/** By the names of the fields, with the checksums. */
export type EventRow = Readonly<
  Record<keyof EventSummary, Value> & { readonly rules: string | null } & Record<
      "summary_checksum" | "texts_checksum",
      Integer
    >
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

export const reader = (sql: SqlClient.SqlClient): Reader => {
  const fields = storedFields(sql)
  const ofKind = kindFields(sql)
  const selected = [
    ...Object.entries(fields).map(([field, { column }]) => `e.${column} AS "${field}"`),
    ...Object.entries(ofKind).map(([field, { column }]) => `ek.${column} AS "${field}"`),
    ...Object.entries(nameColumns).map(([field, column]) => `${column} AS "${field}"`),
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
    return summary as unknown as EventSummary
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

/** Undefined if it throws: damage can make any value of a row one that cannot be decoded. */
const orUndefined = <A>(decode: () => A): A | undefined => {
  try {
    return decode()
  } catch {
    return undefined
  }
}
