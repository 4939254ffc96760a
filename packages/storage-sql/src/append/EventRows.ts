/** What is inserted for events: their rows, their packs, and what both add to the counters. */
import type { AppendEvent, EventSummary } from "@tachograph/core"
import type { SqlClient } from "effect/sql"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as UuidColumn from "../sql/UuidColumn.ts"
import type * as BulkValues from "../sql/BulkValues.ts"
import { apiNumber } from "../sql/RowDecoding.ts"
import * as Usage from "../usage/Usage.ts"

export const packTypes = {
  project_id: "integer",
  session_number: "integer",
  pack_number: "integer",
  agent_number: "integer",
  pack: "bytea"
} as const satisfies BulkValues.Types

export const eventTypes = {
  project_id: "integer",
  event_id: "uuid",
  received_at: "bigint",
  session_number: "integer",
  agent_number: "integer",
  agent_version_number: "integer",
  person_number: "integer",
  fingerprint_id: "uuid",
  api: "smallint",
  model: "varchar",
  input_tokens: "integer",
  output_tokens: "integer",
  stop_reason: "varchar",
  inputs_bytes: "integer",
  output_bytes: "integer",
  occurred_at: "bigint",
  duration_ms: "double precision",
  pack_number: "integer"
} as const satisfies BulkValues.Types

/** What stands in rows for names. */
interface Numbers {
  readonly session: (summary: EventSummary) => number
  readonly versions: (summary: EventSummary) => AgentVersionNumbers.Numbers
  readonly person: (summary: EventSummary) => number | null
}

interface Rows {
  readonly packs: ReadonlyArray<BulkValues.Row<keyof typeof packTypes>>
  /** With the person's name beside the number. */
  readonly events: ReadonlyArray<BulkValues.Row<keyof typeof eventTypes | "person_id">>
  readonly tally: Usage.Tally
}

export type RowsOf = (project_id: number, events: ReadonlyArray<AppendEvent>, numbers: Numbers) => Rows

export const make = (sql: SqlClient.SqlClient): RowsOf => {
  const toStored = UuidColumn.encoder(sql)
  return (project_id, events, numbers) => {
    const packs: Array<Rows["packs"][number]> = []
    const rows: Array<Rows["events"][number]> = []
    const tally = new Usage.Tally()
    for (const { pack, summary } of events) {
      const session_number = numbers.session(summary)
      const { agent_number, agent_version_number } = numbers.versions(summary)
      packs.push({ project_id, session_number, pack_number: pack.number, agent_number, pack: pack.bytes })
      tally.add(session_number, agent_number, {
        entries: 1,
        sent_bytes: summary.inputsBytes + summary.outputBytes,
        new_bytes: pack.newBytes,
        stored_bytes: pack.bytes.length
      })
      rows.push({
        project_id,
        event_id: toStored(summary.id),
        received_at: summary.receivedAt.epochMilliseconds,
        session_number,
        agent_number,
        agent_version_number,
        person_number: numbers.person(summary),
        person_id: summary.person,
        fingerprint_id: toStored(summary.fingerprintId),
        api: apiNumber(summary.api),
        model: summary.model,
        input_tokens: summary.inputTokens,
        output_tokens: summary.outputTokens,
        stop_reason: summary.stopReason,
        inputs_bytes: summary.inputsBytes,
        output_bytes: summary.outputBytes,
        occurred_at: summary.occurredAt?.epochMilliseconds ?? null,
        duration_ms: summary.durationMs,
        pack_number: pack.number
      })
    }
    return { packs, events: rows, tally }
  }
}
