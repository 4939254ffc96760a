/**
 * A session's counters, beside what they count. The account is one statement: a statement has one snapshot, and locks nothing. Its
 * parts are the branches of a `UNION ALL`, which have the same columns.
 */
import {
  type AgentName,
  type EventId,
  maxListed,
  type ProjectId,
  type SessionAccount,
  type SessionId,
  type UsageAccount
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as StoredBytes from "../dialect/StoredBytes.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import { noTotals, totalsOf } from "./UsageTotals.ts"

/** What a row of a session's account says. The comments name its columns a, b, … */
type SessionPart =
  /** generation, packs, history, parts, erased_pieces, pending_sweep, stored and ranked bytes; `name` is the session's. */
  | "session"
  /** agent, events, bytes as sent; `name` is the agent's, if there is one. */
  | "events"
  /** agent, packs, stored bytes, highest number; likewise. */
  | "packs"
  /** agent, entries, sent, new and stored bytes; likewise. */
  | "usage"
  /** whether the piece exists; `bytes` is its name. */
  | "owned"
  /** number of the pack */
  | "pack"
  /** `bytes` is the event's id, or `name` where ids are not bytes. */
  | "event"
  /** steps */
  | "steps"
  /** number of the pack that steps name */
  | "stepsPack"

interface SessionRow {
  readonly part: SessionPart
  readonly name: string | null
  readonly bytes: Uint8Array | null
  readonly a: Integer
  readonly b: Integer
  readonly c: Integer
  readonly d: Integer
  readonly e: Integer
  readonly f: Integer
  readonly g: Integer
  readonly h: Integer
}

const noUsage: Omit<UsageAccount, "agent" | "agentName"> = {
  kept: noTotals,
  counted: { events: 0, sentBytes: 0, packs: 0, storedBytes: 0 }
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const bySession = EventIndex.hint(sql, "events_by_session")
  const { canHoldText, types } = Dialects.of(sql)
  const noBytes = sql.literal(`CAST(NULL AS ${types.bytes})`)
  const eventId = sql.literal(canHoldText ? "NULL, CAST(event_id AS BLOB)" : "CAST(event_id AS text), NULL")

  const ownedRows = (project_id: number, session: number) =>
    sql<SessionRow>`SELECT 'owned' AS part, NULL AS name, ${StoredBytes.value(sql, "sha256")} AS bytes, CASE WHEN EXISTS (
        SELECT 1 FROM shared_pieces s WHERE s.project_id = o.project_id AND s.sha256 = o.sha256
          ${Bucket.andSame(sql, "s", "o")}) THEN 1 ELSE 0 END AS a,
      0 AS b, 0 AS c, 0 AS d, 0 AS e, 0 AS f, 0 AS g, 0 AS h
      FROM shared_piece_owners o WHERE project_id = ${project_id} AND session_number = ${session}`

  const sessionRows = (project_id: number, session: number) => {
    const isOfSession = Bucket.isOfSession(sql, project_id, session)
    const agentName = sql`(SELECT agent_name FROM agents
      WHERE agents.project_id = ${project_id} AND agents.agent_number = t.agent_number)`
    // The statement ends with the branches that return many rows.
    return sql<SessionRow>`
      SELECT 'session' AS part, session_id AS name, ${noBytes} AS bytes, generation AS a, packs AS b, history AS c,
        parts AS d, erased_pieces AS e, pending_sweep AS f, stored_bytes AS g, ranked_bytes AS h
      FROM sessions WHERE ${isOfSession}
      UNION ALL SELECT 'events', ${agentName}, NULL, agent_number, events, sent, 0, 0, 0, 0, 0 FROM (
        SELECT agent_number, count(*) AS events, sum(CAST(inputs_bytes AS bigint) + output_bytes) AS sent
        FROM events ${bySession} WHERE ${isOfSession} GROUP BY agent_number) t
      UNION ALL SELECT 'packs', ${agentName}, NULL, agent_number, packs, stored, highest, 0, 0, 0, 0 FROM (
        SELECT agent_number, count(*) AS packs, sum(CAST(octet_length(pack) AS bigint)) AS stored, max(pack_number) AS highest
        FROM packs WHERE ${isOfSession} GROUP BY agent_number) t
      UNION ALL SELECT 'usage', ${agentName}, NULL, agent_number, entries, sent_bytes, new_bytes, stored_bytes, 0, 0, 0
        FROM storage_usage t WHERE ${isOfSession}
      UNION ALL SELECT 'steps', NULL, NULL, count(*), 0, 0, 0, 0, 0, 0, 0 FROM steps WHERE ${isOfSession}
      UNION ALL SELECT 'pack', NULL, NULL, pack_number, 0, 0, 0, 0, 0, 0, 0 FROM (
        SELECT pack_number FROM packs WHERE ${isOfSession} AND kept NOT IN (0, 1)
        EXCEPT SELECT pack_number FROM steps WHERE ${isOfSession}
        ORDER BY pack_number LIMIT ${maxListed}) t
      UNION ALL SELECT 'stepsPack', NULL, NULL, pack_number, 0, 0, 0, 0, 0, 0, 0 FROM (
        SELECT pack_number FROM steps WHERE ${isOfSession}
        EXCEPT SELECT pack_number FROM packs WHERE ${isOfSession} AND kept = 2
        ORDER BY pack_number LIMIT ${maxListed}) t
      UNION ALL SELECT 'pack', NULL, NULL, pack_number, 0, 0, 0, 0, 0, 0, 0 FROM (
        SELECT pack_number FROM packs WHERE ${isOfSession} AND kept = 1
        EXCEPT SELECT pack_number FROM events ${bySession} WHERE ${isOfSession}
        ORDER BY pack_number LIMIT ${maxListed}) t
      UNION ALL SELECT 'event', ${eventId}, 0, 0, 0, 0, 0, 0, 0, 0 FROM (
        SELECT event_id FROM events e ${bySession} WHERE ${isOfSession} AND NOT EXISTS (
          SELECT 1 FROM packs p WHERE p.project_id = e.project_id AND p.session_number = e.session_number
            AND p.pack_number = e.pack_number AND p.kept = 1${Bucket.and(sql, Bucket.ofNumber(session), "p.")})
        LIMIT ${maxListed}) t
      ${Bucket.isDistributed(sql) ? sql.literal("") : sql`UNION ALL ${ownedRows(project_id, session)}`}`
  }

  return Effect.fn("SqlStorage.sessionAccount")(function* (project: ProjectId, session: number) {
    const project_id = yield* projects.find(project)
    const rows = [...(yield* sessionRows(project_id, session))]
    // The owners of pieces are with the pieces, not with the session.
    if (Bucket.isDistributed(sql)) rows.push(...(yield* ownedRows(project_id, session)))
    return accountOf(rows)
  })
}

const accountOf = (rows: ReadonlyArray<SessionRow>): SessionAccount => {
  const usage = new Map<number, UsageAccount>()
  const addUsage = ({ a, name }: SessionRow, update: (found: UsageAccount) => Partial<UsageAccount>) => {
    const agent = Number(a)
    const found = usage.get(agent) ?? { agent, agentName: (name ?? undefined) as AgentName | undefined, ...noUsage }
    usage.set(agent, { ...found, ...update(found) })
  }
  let counted: SessionAccount["session"]
  let lastPack = 0
  const packsWithoutEvent: Array<number> = []
  const eventsWithoutPack: Array<EventId> = []
  let steps = 0
  const stepsWithoutPack: Array<number> = []
  const owned: Array<SessionAccount["owned"][number]> = []
  for (const row of rows) {
    switch (row.part) {
      case "session":
        counted = {
          id: row.name as SessionId,
          generation: Number(row.a),
          packs: Number(row.b),
          history: Number(row.c),
          parts: Number(row.d),
          erasedPieces: Number(row.e),
          pendingSweep: Number(row.f),
          storedBytes: Number(row.g),
          rankedBytes: Number(row.h)
        }
        break
      case "events":
        addUsage(row, ({ counted }) => ({ counted: { ...counted, events: Number(row.b), sentBytes: Number(row.c) } }))
        break
      case "packs":
        addUsage(row, ({ counted }) => ({
          counted: { ...counted, packs: Number(row.b), storedBytes: Number(row.c) }
        }))
        lastPack = Math.max(lastPack, Number(row.d))
        break
      case "usage":
        addUsage(row, () => ({ kept: totalsOf(row) }))
        break
      case "pack":
        packsWithoutEvent.push(Number(row.a))
        break
      case "event":
        eventsWithoutPack.push(UuidColumn.decode(row.bytes ?? row.name!) as EventId)
        break
      case "steps":
        steps = Number(row.a)
        break
      case "stepsPack":
        stepsWithoutPack.push(Number(row.a))
        break
      case "owned":
        owned.push({ sha256: row.bytes!, exists: Number(row.a) === 1 })
    }
  }
  return {
    session: counted,
    usage: Array.from(usage.values()),
    lastPack,
    packsWithoutEvent,
    eventsWithoutPack,
    steps,
    stepsWithoutPack,
    owned
  }
}
