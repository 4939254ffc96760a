/** Checks the tables of a SQL storage for problems that the storage port does not show. */
import { rankStepBytes } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Format from "./Format.ts"
import { templatesOf } from "./SessionCheck.ts"

const amounts = ["entries", "sent_bytes", "new_bytes", "stored_bytes"]
const sums = amounts.map((amount) => `sum(${amount})`).join(", ")

/** Queries for rows that must not exist, by their problem. */
const strayRows: Readonly<Record<string, string>> = {
  "a shared piece without an owner": `SELECT project_id, sha256 FROM shared_pieces s WHERE NOT EXISTS (
    SELECT 1 FROM shared_piece_owners o WHERE o.project_id = s.project_id AND o.sha256 = s.sha256)`,
  "an owner of a missing piece": `SELECT project_id, session_number FROM shared_piece_owners o WHERE NOT EXISTS (
    SELECT 1 FROM shared_pieces s WHERE s.project_id = o.project_id AND s.sha256 = o.sha256)`,
  "an owner that does not exist": `SELECT project_id, session_number FROM shared_piece_owners o WHERE NOT EXISTS (
    SELECT 1 FROM sessions s WHERE s.project_id = o.project_id AND s.session_number = o.session_number)`,
  "a pack without a session": `SELECT project_id, session_number, pack_number FROM packs p WHERE NOT EXISTS (
    SELECT 1 FROM sessions s WHERE s.project_id = p.project_id AND s.session_number = p.session_number)`,
  "an event without a session": `SELECT project_id, session_number, pack_number FROM events e WHERE NOT EXISTS (
    SELECT 1 FROM sessions s WHERE s.project_id = e.project_id AND s.session_number = e.session_number)`,
  "an event without a person": `SELECT project_id, person_number FROM events e WHERE person_number IS NOT NULL
    AND NOT EXISTS (
    SELECT 1 FROM people p WHERE p.project_id = e.project_id AND p.person_number = e.person_number)`,
  "a kept pack without an event, or another pack with one": `SELECT project_id, session_number, pack_number, kept
    FROM packs p WHERE CASE kept WHEN 2 THEN 0 ELSE kept END <> (SELECT count(*) FROM events e WHERE e.project_id = p.project_id
      AND e.session_number = p.session_number AND e.pack_number = p.pack_number)`,
  "a kept pack without steps, or another pack with some": `SELECT project_id, session_number, pack_number, kept
    FROM packs p WHERE (kept = 2) <> EXISTS (SELECT 1 FROM steps t WHERE t.project_id = p.project_id
      AND t.session_number = p.session_number AND t.pack_number = p.pack_number)`,
  "a step without a pack": `SELECT project_id, session_number, pack_number FROM steps t WHERE NOT EXISTS (
    SELECT 1 FROM packs p WHERE p.project_id = t.project_id AND p.session_number = t.session_number
      AND p.pack_number = t.pack_number)`,
  "a step without a person": `SELECT project_id, person_number FROM steps t WHERE person_number IS NOT NULL
    AND NOT EXISTS (
    SELECT 1 FROM people p WHERE p.project_id = t.project_id AND p.person_number = t.person_number)`,
  "an event without a pack": `SELECT project_id, session_number, pack_number FROM events e WHERE NOT EXISTS (
    SELECT 1 FROM packs p WHERE p.project_id = e.project_id AND p.session_number = e.session_number
      AND p.pack_number = e.pack_number)`,
  "an idempotency key without an event": `SELECT project_id, key_hash FROM idempotency_keys k WHERE NOT EXISTS (
    SELECT 1 FROM events e WHERE e.project_id = k.project_id AND e.event_id = k.event_id)`,
  "a swept session without events": `SELECT project_id, session_number FROM sessions s WHERE pending_sweep <= 0 AND NOT EXISTS (
    SELECT 1 FROM events e WHERE e.project_id = s.project_id AND e.session_number = s.session_number)`,
  "a counter of a missing session": `SELECT project_id, session_number FROM storage_usage u
    WHERE session_number <> 0 AND NOT EXISTS (
    SELECT 1 FROM sessions s WHERE s.project_id = u.project_id AND s.session_number = u.session_number)`,
  "a wrong counter of stored bytes": `SELECT project_id, session_number, agent_number, stored_bytes
    FROM storage_usage u WHERE session_number <> 0 AND stored_bytes <> (
    SELECT coalesce(sum(length(pack)), 0) FROM packs p WHERE p.project_id = u.project_id
      AND p.session_number = u.session_number AND p.agent_number = u.agent_number)`,
  "a wrong size of a session": `SELECT project_id, session_number, stored_bytes, ranked_bytes FROM sessions s
    WHERE stored_bytes NOT BETWEEN ranked_bytes AND ranked_bytes + ranked_bytes / 8 + ${rankStepBytes} OR stored_bytes <> (
    SELECT coalesce(sum(u.stored_bytes), 0) FROM storage_usage u WHERE u.project_id = s.project_id
      AND u.session_number = s.session_number)`,
  "a counter of an agent that is not the sum of its sessions": `SELECT * FROM (
      SELECT project_id, agent_number, ${sums} FROM agent_usage GROUP BY project_id, agent_number
      HAVING ${amounts.map((amount) => `sum(${amount}) <> 0`).join(" OR ")}
      EXCEPT SELECT project_id, agent_number, ${sums} FROM storage_usage WHERE session_number <> 0
      GROUP BY project_id, agent_number) t`,
  "counters of sessions that are not in those of their agent": `SELECT * FROM (
      SELECT project_id, agent_number, ${sums} FROM storage_usage WHERE session_number <> 0
      GROUP BY project_id, agent_number
      HAVING ${amounts.map((amount) => `sum(${amount}) <> 0`).join(" OR ")}
      EXCEPT SELECT project_id, agent_number, ${sums} FROM agent_usage GROUP BY project_id, agent_number) t`
}

/** A swept session must own exactly the shared pieces that its packs refer to. */
const checkOwners = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const problems: Array<string> = []
  const sessions = yield* sql<{ project_id: number; session_number: number | string }>`
    SELECT project_id, session_number FROM sessions WHERE pending_sweep <= 0`
  for (const { project_id, session_number } of sessions) {
    const isOfSession = sql`project_id = ${project_id} AND session_number = ${session_number}`
    const packs = yield* sql<{ pack_number: number | string; pack: Uint8Array }>`
      SELECT pack_number, pack FROM packs WHERE ${isOfSession} ORDER BY pack_number`
    const opened = Format.open(packs.map(({ pack, pack_number }) => ({ number: Number(pack_number), bytes: pack })))
    const names = new Set(opened.flatMap((pack) => templatesOf(pack).flatMap(Format.sharedNamed)))
    const owned = yield* sql<{ sha256: Uint8Array }>`SELECT sha256 FROM shared_piece_owners WHERE ${isOfSession}`
    const owns = new Set(owned.map(({ sha256 }) => Buffer.from(sha256).toString("hex")))
    for (const name of Array.from(names).filter((each) => !owns.has(each)))
      problems.push(`session ${session_number} refers to ${name}, but does not own it`)
    for (const name of Array.from(owns).filter((each) => !names.has(each)))
      problems.push(`session ${session_number} owns ${name}, but does not refer to it`)
  }
  return problems
})

/** Returns the problems; none if the tables are consistent. */
export const look = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
): Effect.fn.Return<ReadonlyArray<string>, SqlError.SqlError> {
  const problems: Array<string> = []
  for (const [problem, query] of Object.entries(strayRows)) {
    for (const row of yield* sql.unsafe<Record<string, unknown>>(query)) {
      problems.push(`${problem}: ${Object.values(row).map(shown).join(" ")}`)
    }
  }
  return [...problems, ...(yield* checkOwners(sql))]
})

const shown = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value))
