/**
 * The columns of an event: the only list of them besides the DDL of the migrations. Statements that insert or read events
 * derive their columns from it. A field of `EventSummary` without a column does not compile; nor does a column that no
 * migration creates.
 */
import {
  type AppendEvent,
  CallFacts,
  CallTime,
  type EventSummary,
  stopReasons,
  unpricedParts,
  unpricedReasons
} from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import type { SqlClient } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Bucket from "../dialect/Bucket.ts"
import type * as Initial from "../migrations/0001Initial.ts"
import type * as RecordedColumn from "../migrations/0002Recorded.ts"
import type * as StatedCost from "../migrations/0004StatedCost.ts"
import type * as CallTimes from "../migrations/0005CallTimes.ts"
import type * as Failures from "../migrations/0009Failures.ts"
import {
  answeringModel,
  boolean,
  type Codec,
  hex,
  json,
  knownWord,
  names,
  nullable,
  number,
  sinceId,
  text,
  time,
  traceId,
  uuid,
  wordOf,
  wordsOf
} from "./FieldCodec.ts"
import * as KnownWords from "./KnownWords.ts"
import { orUndefined } from "./RowDecoding.ts"

type Value = BulkValues.Value

/** Columns of the tables `events` and `event_kinds` that some migration creates. */
type CreatedColumn =
  | Initial.EventColumn
  | RecordedColumn.EventColumn
  | StatedCost.EventColumn
  | CallTimes.EventColumn
  | Failures.EventColumn
type KindColumn = Initial.KindColumn | StatedCost.KindColumn

interface FieldColumn<A, Column = CreatedColumn> extends Codec<A> {
  readonly column: Column
}

/** A column of any field. */
interface AnyColumn {
  readonly column: string
  readonly encode: (field: never, summary: never) => Value
  readonly decode: (stored: Value, row: never) => unknown
}

export type AnyColumns = Readonly<Record<string, AnyColumn>>

/** For fields that do not depend on others. */
export const alone = undefined as never

const stored = <A, Column>(column: Column, codec: Codec<A>): FieldColumn<A, Column> => ({ column, ...codec })

/** Fields that the row holds as numbers, which stand for the names in other tables. */
export const nameColumns = {
  session: "s.session_id",
  agent: "a.agent_name",
  agentVersion: "v.agent_version_name",
  person: "p.person_id"
} as const satisfies Partial<Record<keyof EventSummary, string>>

type NameField = keyof typeof nameColumns

/** Fields of the event's kind, whose number the row holds. None depends on other fields. */
export type EventKind = Pick<
  EventSummary,
  "fingerprintId" | "api" | "price" | "priceIsExact" | "unpricedParts" | "unpriced"
> &
  Pick<AppendEvent, "rules">
type KindFields = { readonly [Field in keyof EventKind]: FieldColumn<EventKind[Field], KindColumn> }

export const kindFields = (sql: SqlClient.SqlClient): KindFields => ({
  fingerprintId: stored("fingerprint_id", uuid(sql)),
  api: stored("api", wordOf(ProviderNames.apiCodes)),
  price: stored("price_name", nullable(text())),
  priceIsExact: stored("price_is_exact", nullable(boolean)),
  unpricedParts: stored("unpriced_parts", nullable(wordsOf(unpricedParts))),
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

export const storedFields = (sql: SqlClient.SqlClient): StoredFields => ({
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
  errorCode: stored("error_code", nullable(text())),
  errorStatus: stored("error_status", nullable(number("smallint"))),
  costUsd: stored("cost", nullable(number("bigint"))),
  statedCostUsd: stored("stated_cost", nullable(number("bigint"))),
  listCostUsd: stored("list_cost", nullable(number("bigint"))),
  inputsBytes: stored("inputs_bytes", number("integer")),
  outputBytes: stored("output_bytes", number("integer")),
  recorded: stored("recorded", nullable(json()))
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
    distant_at: { type: "bigint", value: ({ summary }) => CallTime.distantMs(summary) },
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
