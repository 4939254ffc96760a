/** Rows ↔ the domain. Postgres answers big integers as text, so every number passes through `Number`. */
import { Agent, AgentVersion, ApiKey, EventSummary, type JsonText, Person } from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import { DateTime } from "effect"
import * as UuidColumn from "./UuidColumn.ts"

type Integer = number | string

const time = (value: Integer): DateTime.Utc => DateTime.makeUnsafe(Number(value))
const timeOrNull = (value: Integer | null): DateTime.Utc | null => (value === null ? null : time(value))
const numberOrNull = (value: Integer | null): number | null => (value === null ? null : Number(value))

/** What is in a row is of its type: it was checked on its way in. */
const trusted = { disableChecks: true } as const

export interface AgentRow {
  readonly agent_name: string
  readonly agent_number: Integer
  readonly created_at: Integer
  readonly description: string
}

export const toAgent = (row: AgentRow): Agent =>
  new Agent(
    {
      name: row.agent_name as Agent["name"],
      number: Number(row.agent_number),
      createdAt: time(row.created_at),
      description: JSON.parse(row.description) as string
    },
    trusted
  )

export interface AgentVersionRow {
  readonly agent_version_name: string
  readonly agent_version_number: Integer
  readonly created_at: Integer
  readonly deprecated_at: Integer | null
  readonly description: string | null
}

export const toAgentVersion = (row: AgentVersionRow): AgentVersion =>
  new AgentVersion(
    {
      name: row.agent_version_name as AgentVersion["name"],
      description: row.description === null ? null : (JSON.parse(row.description) as string),
      number: Number(row.agent_version_number),
      createdAt: time(row.created_at),
      deprecatedAt: timeOrNull(row.deprecated_at)
    },
    trusted
  )

export interface PersonRow {
  readonly person_id: string
  readonly properties: string
  readonly created_at: Integer
}

export const toPerson = (row: PersonRow): Person =>
  new Person(
    {
      id: row.person_id as Person["id"],
      properties: row.properties as JsonText.JsonText,
      createdAt: time(row.created_at)
    },
    trusted
  )

export interface ApiKeyRow {
  readonly key_id: string
  readonly project_name: string
  readonly key_name: string
  readonly scopes: string
  readonly created_at: Integer
  readonly expires_at: Integer | null
  readonly revoked_at: Integer | null
}

export const toApiKey = (row: ApiKeyRow): ApiKey =>
  new ApiKey(
    {
      id: row.key_id,
      project: row.project_name as ApiKey["project"],
      name: row.key_name,
      scopes: row.scopes.split(",") as ReadonlyArray<ApiKey["scopes"][number]>,
      createdAt: time(row.created_at),
      expiresAt: timeOrNull(row.expires_at),
      revokedAt: timeOrNull(row.revoked_at)
    },
    trusted
  )

/** The column `api` holds a place in this list, which therefore only ever grows at its end. */
export const apiNumber = (api: EventSummary["api"]): number => ProviderNames.apis.indexOf(api)

export interface EventRow {
  readonly event_id: UuidColumn.StoredId
  readonly received_at: Integer
  readonly session_id: string
  readonly agent_name: string
  readonly agent_version_name: string
  readonly person_id: string | null
  readonly fingerprint_id: UuidColumn.StoredId
  readonly api: Integer
  readonly model: string | null
  readonly input_tokens: Integer | null
  readonly output_tokens: Integer | null
  readonly stop_reason: string | null
  readonly inputs_bytes: Integer
  readonly output_bytes: Integer
  readonly occurred_at: Integer | null
  readonly duration_ms: number | null
}

export const toEventSummary = (row: EventRow): EventSummary =>
  new EventSummary(
    {
      id: UuidColumn.decode(row.event_id) as EventSummary["id"],
      receivedAt: time(row.received_at),
      api: ProviderNames.apis[Number(row.api)]!,
      fingerprintId: UuidColumn.decode(row.fingerprint_id) as EventSummary["fingerprintId"],
      agent: row.agent_name as EventSummary["agent"],
      agentVersion: row.agent_version_name as EventSummary["agentVersion"],
      person: row.person_id as EventSummary["person"],
      session: row.session_id as EventSummary["session"],
      occurredAt: timeOrNull(row.occurred_at),
      durationMs: row.duration_ms,
      model: row.model,
      inputTokens: numberOrNull(row.input_tokens),
      outputTokens: numberOrNull(row.output_tokens),
      stopReason: row.stop_reason,
      inputsBytes: Number(row.inputs_bytes),
      outputBytes: Number(row.output_bytes)
    },
    trusted
  )
