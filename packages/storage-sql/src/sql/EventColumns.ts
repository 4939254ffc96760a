/**
 * The columns of an event: the only list of them besides the DDL of the migrations. Statements that insert or read events
 * derive their columns from it. A field of `EventSummary` without a column does not compile; nor does a column that no
 * migration creates.
 */
import {
  type EventId,
  EventSummary,
  type FieldFilter,
  type StoredSummary,
  stopReasons,
  type TraceId,
  unpricedReasons,
  Uuid
} from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import { DateTime } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Initial from "../migrations/0001Initial.ts"
import * as KnownWords from "./KnownWords.ts"
import { type Integer, trusted } from "./RowDecoding.ts"

type Value = BulkValues.Value

/** Columns of the table `events` that some migration creates. */
type CreatedColumn = Initial.EventColumn

/** How a field is stored. */
interface Codec<A> {
  readonly type: BulkValues.Type
  readonly encode: (field: A, summary: EventSummary) => Value
  readonly decode: (stored: Value, row: EventRow) => A
}

interface FieldColumn<A> extends Codec<A> {
  readonly column: CreatedColumn
}

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

const stored = <A>(column: CreatedColumn, codec: Codec<A>): FieldColumn<A> => ({ column, ...codec })

/** Fields that the row holds as numbers, which stand for the names in other tables. */
const nameColumns = {
  session: "s.session_id",
  agent: "a.agent_name",
  agentVersion: "v.agent_version_name",
  person: "p.person_id",
  price: "pr.price_name"
} as const satisfies Partial<Record<keyof EventSummary, string>>

type NameField = keyof typeof nameColumns

const namedFields = Object.keys(nameColumns) as ReadonlyArray<NameField>

/** Fields that the row holds itself. */
type StoredFields = { readonly [Field in Exclude<keyof EventSummary, NameField>]: FieldColumn<EventSummary[Field]> }

const storedFields = (sql: SqlClient.SqlClient): StoredFields => ({
  id: stored("event_id", uuid(sql)),
  receivedAt: stored("received_at", time),
  api: stored("api", wordOf(ProviderNames.apis)),
  fingerprintId: stored("fingerprint_id", uuid(sql)),
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
  priceIsExact: stored("price_is_exact", nullable(boolean)),
  unpriced: stored("unpriced", nullable(wordOf(unpricedReasons))),
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
  readonly price_number: number | null
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
  price_number: "smallint",
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

/** The conditions that events `e` match a filter. */
export const conditionsOf = (
  sql: SqlClient.SqlClient,
  { isError, model, ...equal }: FieldFilter
): ReadonlyArray<Statement.Fragment> => {
  const fields: Readonly<Record<string, Pick<FieldColumn<never>, "column" | "encode">>> = storedFields(sql)
  const conditions = Object.entries(equal).flatMap(([field, value]) => {
    const { column, encode } = fields[field]!
    // None of these columns depends on another.
    return value === undefined
      ? []
      : [sql`${sql.literal(`e.${column}`)} = ${encode(value as never, undefined as never)}`]
  })
  if (model !== undefined) conditions.push(sql`(e.model = ${model} OR e.response_model = ${model})`)
  if (isError !== undefined) conditions.push(sql`e.error_type IS ${sql.literal(isError ? "NOT NULL" : "NULL")}`)
  return conditions
}

/** By the names of the fields, with the checksums. */
export type EventRow = Readonly<
  Record<keyof EventSummary, Value> & Record<"summary_checksum" | "texts_checksum", Integer>
>

export interface Reader {
  /** The fields of a summary, for a `SELECT` from the table `events e` with `joins`. */
  readonly fields: Statement.Fragment
  /** `bucket` is that of all events, if they have the same. */
  readonly joins: (bucket?: number) => Statement.Fragment
  readonly toStored: (row: EventRow) => StoredSummary
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
    LEFT JOIN prices pr ON pr.price_number = e.price_number`

export const reader = (sql: SqlClient.SqlClient): Reader => {
  const fields = storedFields(sql)
  const selected = [
    ...Object.entries(fields).map(([field, { column }]) => `e.${column} AS "${field}"`),
    ...Object.entries(nameColumns).map(([field, column]) => `${column} AS "${field}"`),
    "e.summary_checksum",
    "e.texts_checksum"
  ]
  const decoders = Object.entries<Pick<Codec<unknown>, "decode">>(fields).map(
    ([field, { decode }]) => [field, decode] as const
  )
  const toSummary = (row: EventRow): EventSummary => {
    const summary: Record<string, unknown> = {}
    for (const field of namedFields) summary[field] = row[field]
    for (const [field, decode] of decoders) summary[field] = decode(row[field as keyof EventSummary], row)
    return new EventSummary(summary as unknown as EventSummary, trusted)
  }
  return {
    fields: sql.literal(selected.join(", ")),
    joins: (bucket) => joins(sql, bucket),
    toStored: (row) => ({
      id: UuidColumn.decode(row.id as UuidColumn.StoredId) as EventId,
      summary: orUndefined(() => toSummary(row)),
      checksums: { summary: Number(row.summary_checksum), texts: Number(row.texts_checksum) }
    })
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
