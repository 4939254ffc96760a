/** An event with the columns by which it is added up. Names are numbers. */
import { CallTime, type Countable, type EventId, EventTime, SessionParts } from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import type { SqlClient, Statement } from "effect/sql"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as EventColumns from "../sql/EventColumns.ts"
import type { Integer } from "../sql/RowDecoding.ts"

/** Columns of a table or a deleted row of `events`. */
export const columns = [
  "event_id",
  "received_after",
  "occurred_at",
  "distant_at",
  "session_number",
  "agent_number",
  "agent_version_number",
  "person_number",
  "kind_number",
  "model",
  "response_model",
  "error_type",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost",
  "stated_cost",
  "duration_ms"
] as const

export type Row = {
  readonly [Column in (typeof columns)[number]]: Column extends "event_id"
    ? UuidColumn.StoredId
    : Column extends "received_after" | "session_number" | "agent_number" | "agent_version_number" | "kind_number"
      ? Integer
      : Column extends "model" | "response_model" | "error_type"
        ? string | null
        : Integer | null
}

/** What is counted of an event's kind. */
export interface CountedKind extends Pick<Countable, "unpricedParts"> {
  /** As it is stored. */
  readonly api: number
}

/** By what events are added up, beside their time. */
export interface CountedBy {
  readonly session: number
  readonly agent: number
  readonly agentVersion: number
  /** 0 for none. */
  readonly person: number
  /** As it is stored. */
  readonly api: number
  readonly model: string
  readonly responseModel: string
}

export interface CountedEvent extends Countable, CountedBy {
  readonly id: EventId
  /** When the call took place (epoch ms). */
  readonly atMs: number
  /** What the index by time says. */
  readonly distantMs: number | null
}

export const selected = (sql: SqlClient.SqlClient): Statement.Fragment => sql.literal(columns.join(", "))

/** Only damage makes it none. */
const numberOf = (value: Integer | null): number | null => {
  if (value === null) return null
  const number = Number(value)
  return Number.isFinite(number) && number >= 0 ? Math.min(number, Number.MAX_SAFE_INTEGER) : null
}

export const of = (row: Row, { api, unpricedParts }: CountedKind): CountedEvent => {
  const id = UuidColumn.decode(row.event_id) as EventId
  const { model, response_model: responseModel } = row
  return {
    id,
    atMs: CallTime.ofMs(numberOf(row.occurred_at), EventTime.of(id) + (Number(row.received_after) || 0)),
    distantMs: numberOf(row.distant_at),
    session: Number(row.session_number),
    agent: Number(row.agent_number),
    agentVersion: Number(row.agent_version_number),
    person: Number(row.person_number ?? 0),
    api,
    // A model that answered is empty where it is the one that was asked for.
    ...SessionParts.modelsOf({ model, responseModel: responseModel === "" ? model : responseModel }),
    errorType: row.error_type,
    inputTokens: numberOf(row.input_tokens),
    outputTokens: numberOf(row.output_tokens),
    cacheReadTokens: numberOf(row.cache_read_tokens),
    cacheWriteTokens: numberOf(row.cache_write_tokens),
    reasoningTokens: numberOf(row.reasoning_tokens),
    costUsd: numberOf(row.cost),
    statedCostUsd: numberOf(row.stated_cost),
    unpricedParts,
    durationMs: numberOf(row.duration_ms)
  }
}

/** What is counted of an event that is being inserted. */
export const ofNumbered = (event: EventColumns.NumberedEvent): CountedEvent => ({
  id: event.summary.id,
  atMs: CallTime.of(event.summary),
  distantMs: CallTime.distantMs(event.summary),
  session: event.session_number,
  agent: event.agent_number,
  agentVersion: event.agent_version_number,
  person: event.person_number ?? 0,
  api: ProviderNames.apiCodes[event.summary.api],
  ...SessionParts.modelsOf(event.summary),
  errorType: event.summary.errorType,
  inputTokens: event.summary.inputTokens,
  outputTokens: event.summary.outputTokens,
  cacheReadTokens: event.summary.cacheReadTokens,
  cacheWriteTokens: event.summary.cacheWriteTokens,
  reasoningTokens: event.summary.reasoningTokens,
  costUsd: event.summary.costUsd,
  statedCostUsd: event.summary.statedCostUsd,
  unpricedParts: event.summary.unpricedParts,
  durationMs: event.summary.durationMs
})
