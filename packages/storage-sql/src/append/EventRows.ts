/** The rows that are inserted for events, and their increments of the usage counters. */
import type { AppendEvent, EventSummary } from "@tachograph/core"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import type * as BulkValues from "../dialect/BulkValues.ts"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import type * as EventColumns from "../sql/EventColumns.ts"
import * as Usage from "../usage/Usage.ts"

export const packTypes = {
  project_id: "integer",
  session_number: "integer",
  pack_number: "integer",
  agent_number: "integer",
  pack: "bytea"
} as const satisfies BulkValues.Types

/** Lookups of the numbers that stand for an event's names. */
interface Numbers {
  readonly session: (summary: EventSummary) => number
  readonly versions: (summary: EventSummary) => AgentVersionNumbers.Numbers
  readonly person: (summary: EventSummary) => number | null
  readonly price: (name: string) => number
}

interface Rows {
  readonly packs: ReadonlyArray<BulkValues.Row<keyof typeof packTypes | "bucket">>
  readonly events: ReadonlyArray<EventColumns.NumberedEvent>
  readonly tally: Usage.Tally
}

export const rowsOf = (
  sql: SqlClient.SqlClient,
  project_id: number,
  events: ReadonlyArray<AppendEvent>,
  numbers: Numbers
): Rows => {
  const packs: Array<Rows["packs"][number]> = []
  const rows: Array<Rows["events"][number]> = []
  const tally = new Usage.Tally(sql)
  for (const { checksums, metadata = null, pack, summary } of events) {
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
      price_number: summary.price === null ? null : numbers.price(summary.price),
      pack_number,
      summary_checksum: checksums.summary,
      texts_checksum: checksums.texts,
      bucket,
      metadata,
      summary
    })
    tally.add(
      { session_number, agent_number, bucket },
      {
        entries: 1,
        sent_bytes: summary.inputsBytes + summary.outputBytes,
        new_bytes: pack.newBytes,
        stored_bytes: pack.bytes.length
      }
    )
  }
  return { packs, events: rows, tally }
}
