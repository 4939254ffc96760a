/** The rows that are inserted for groups of steps, and their increments of the usage counters. */
import { type AppendSteps, Uuid } from "@tachograph/core"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import type * as BulkValues from "../dialect/BulkValues.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import type * as EventNumbers from "./EventNumbers.ts"
import * as EventRows from "./EventRows.ts"

export const packTypes = { ...EventRows.packTypes, kept: "smallint" } as const satisfies BulkValues.Types

export const stepTypes = {
  occurred_at: "bigint",
  received_at: "bigint",
  project_id: "integer",
  session_number: "integer",
  agent_number: "integer",
  agent_version_number: "integer",
  person_number: "integer",
  pack_number: "integer",
  text_start: "integer",
  text_bytes: "integer",
  checksum: "integer",
  trace_id: "uuid",
  span_id: "bytea"
} as const satisfies BulkValues.Types

/** `packs.kept` of a pack of steps. */
const keptSteps = 2

interface Rows {
  readonly packs: ReadonlyArray<BulkValues.Row<keyof typeof packTypes | "bucket">>
  readonly steps: ReadonlyArray<BulkValues.Row<keyof typeof stepTypes | "bucket">>
  readonly increments: SpaceCounters.Increments
}

export const rowsOf = (
  sql: SqlClient.SqlClient,
  project_id: number,
  groups: ReadonlyArray<AppendSteps>,
  { people, sessions, versions }: Pick<EventNumbers.Numbers, "people" | "sessions" | "versions">
): Rows => {
  const toStored = UuidColumn.encoder(sql)
  const packs: Array<Rows["packs"][number]> = []
  const rows: Array<Rows["steps"][number]> = []
  const increments = new SpaceCounters.Increments(sql)
  for (const group of groups) {
    const { pack, person, receivedAt, session, steps } = group
    const { agent_number, agent_version_number } = versions(group)
    const person_number = person === null ? null : people.get(person)!
    const place = { session_number: sessions.get(session)!, agent_number, bucket: Bucket.ofSession(session) }
    const common = { ...place, project_id, pack_number: pack.number }
    packs.push({ ...common, kept: keptSteps, pack: pack.bytes })
    increments.add({ ...place, rules: "" }, { new_bytes: pack.newBytes, stored_bytes: pack.bytes.length })
    for (const { bytes, checksum, occurredAt, spanId, start, traceId } of steps) {
      rows.push({
        ...common,
        occurred_at: occurredAt.epochMilliseconds,
        received_at: receivedAt.epochMilliseconds,
        agent_version_number,
        person_number,
        text_start: start,
        text_bytes: bytes,
        checksum,
        trace_id: toStored(Uuid.fromHex(traceId)),
        span_id: Uuid.hexToBytes(spanId)
      })
    }
  }
  return { packs, steps: rows, increments }
}
