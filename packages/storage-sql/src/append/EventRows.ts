/** The rows that are inserted for events, and their increments of the usage counters. */
import type { AppendEvent, EventSummary } from "@tachograph/core"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import type * as BulkValues from "../dialect/BulkValues.ts"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import type * as EventColumns from "../sql/EventColumns.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"

export const packTypes = {
  project_id: "integer",
  session_number: "integer",
  pack_number: "integer",
  agent_number: "integer",
  pack: "bytea"
} as const satisfies BulkValues.Types

/** Events of one project that are appended together. */
export interface Batch {
  readonly project_id: number
  readonly events: ReadonlyArray<AppendEvent>
  /** The number of each event's kind. */
  readonly kinds: ReadonlyArray<number>
}

/** Lookups of the other numbers that stand for an event's names. */
interface Numbers {
  readonly session: (summary: EventSummary) => number
  readonly versions: (summary: EventSummary) => AgentVersionNumbers.Numbers
  readonly person: (summary: EventSummary) => number | null
}

interface Rows {
  readonly packs: ReadonlyArray<BulkValues.Row<keyof typeof packTypes | "bucket">>
  readonly events: ReadonlyArray<EventColumns.NumberedEvent>
  readonly increments: SpaceCounters.Increments
}

export const rowsOf = (sql: SqlClient.SqlClient, { events, kinds, project_id }: Batch, numbers: Numbers): Rows => {
  const packs: Array<Rows["packs"][number]> = []
  const rows: Array<Rows["events"][number]> = []
  const increments = new SpaceCounters.Increments(sql)
  for (const [n, { checksums, metadata = null, pack, rules, summary }] of events.entries()) {
    const session_number = numbers.session(summary)
    const { agent_number, agent_version_number } = numbers.versions(summary)
    const person_number = numbers.person(summary)
    const pack_number = pack.number
    const bucket = Bucket.ofSession(summary.session)
    packs.push({ project_id, session_number, pack_number, agent_number, bucket, pack: pack.bytes })
    rows.push({
      project_id,
      session_number,
      agent_number,
      agent_version_number,
      person_number,
      kind_number: kinds[n]!,
      pack_number,
      summary_checksum: checksums.summary,
      texts_checksum: checksums.texts,
      bucket,
      metadata,
      summary
    })
    increments.add(
      { session_number, agent_number, bucket, rules },
      {
        entries: 1,
        sent_bytes: summary.inputsBytes + summary.outputBytes,
        new_bytes: pack.newBytes,
        stored_bytes: pack.bytes.length
      }
    )
  }
  return { packs, events: rows, increments }
}
