/** From rows to the domain. */
import {
  Agent,
  AgentVersion,
  ApiKey,
  type FingerprintId,
  type JsonText,
  Person,
  type SessionState,
  type StoredFingerprint
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as UuidColumn from "../dialect/UuidColumn.ts"

/** Postgres returns a `bigint` as text. */
export type Integer = number | string

/** The range of a date (ms). Only damage leads out of it. The row can be read nevertheless, and its person erased. */
const maxTime = 8.64e15

export const timeMs = (value: Integer): number => Math.max(-maxTime, Math.min(Number(value), maxTime))
export const time = (value: Integer): DateTime.Utc => DateTime.makeUnsafe(timeMs(value))
const timeOrNull = (value: Integer | null): DateTime.Utc | null => (value === null ? null : time(value))

/** Skips validation: values were validated before they were stored. */
export const trusted = { disableChecks: true } as const

/** Undefined if it throws: damage can make any value of a row one that cannot be decoded. */
export const orUndefined = <A>(decode: () => A): A | undefined => {
  try {
    return decode()
  } catch {
    return undefined
  }
}

/** Free text is stored as JSON text. Only damage makes it none: then it is returned as it is, so that its row can be read. */
const isNamedOnly = (text: string | null) => (text === null ? { isNamedOnly: true } : {})

const freeText = (stored: string): string => {
  try {
    return String(JSON.parse(stored))
  } catch {
    return stored
  }
}

/** Whether a text can be a part of an answer as it is. Only damage makes it something else than what was sent. */
export const isJsonObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

export const fingerprintColumns = "fingerprint_id, fields, created_at"

export interface FingerprintRow {
  readonly fingerprint_id: UuidColumn.StoredId
  readonly fields: string
  readonly created_at: Integer
}

export const toFingerprint = (row: FingerprintRow): StoredFingerprint => ({
  id: UuidColumn.decode(row.fingerprint_id) as FingerprintId,
  fields: row.fields as JsonText.JsonText,
  createdAt: time(row.created_at)
})

export const agentColumns = "agent_name, agent_number, created_at, description"

export interface AgentRow {
  readonly agent_name: string
  readonly agent_number: Integer
  readonly created_at: Integer
  readonly description: string | null
}

export const toAgent = (row: AgentRow): Agent =>
  new Agent(
    {
      name: row.agent_name as Agent["name"],
      number: Number(row.agent_number),
      createdAt: time(row.created_at),
      description: row.description === null ? "" : freeText(row.description),
      ...isNamedOnly(row.description)
    },
    trusted
  )

export const agentVersionColumns = "agent_version_name, agent_version_number, created_at, deprecated_at, description"

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
      description: row.description === null || row.description === "null" ? null : freeText(row.description),
      number: Number(row.agent_version_number),
      createdAt: time(row.created_at),
      deprecatedAt: timeOrNull(row.deprecated_at),
      ...isNamedOnly(row.description)
    },
    trusted
  )

export const personColumns = "person_id, properties, created_at"

export interface PersonRow {
  readonly person_id: string
  readonly properties: string | null
  readonly created_at: Integer
}

export const toPerson = (row: PersonRow): Person =>
  new Person(
    {
      id: row.person_id as Person["id"],
      properties: (row.properties ?? "{}") as JsonText.JsonText,
      createdAt: time(row.created_at),
      ...isNamedOnly(row.properties)
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

export interface SessionRow {
  readonly session_number: Integer
  readonly generation: Integer
  readonly packs: Integer
  readonly history: Integer
  readonly parts: Integer
}

export const toSessionState = (row: SessionRow): SessionState => ({
  number: Number(row.session_number),
  generation: Number(row.generation),
  packs: Number(row.packs),
  history: Number(row.history),
  parts: Number(row.parts)
})
