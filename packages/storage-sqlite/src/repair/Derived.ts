/** Tables that are derived from others: how they are filled anew. */
import { contentBytesOf, contentBytesPrefix } from "@tachograph/core"
import type { DatabaseSync } from "node:sqlite"

/** In the order in which they are filled. Events are added up again in the background. */
const refills: Readonly<Record<string, ReadonlyArray<string>>> = {
  rollups: [],
  storage_usage: [
    `INSERT INTO storage_usage (project_id, session_number, agent_number, entries, sent_bytes, new_bytes, stored_bytes)
      SELECT project_id, session_number, agent_number, sum(entries), sum(sent), sum(new), sum(stored) FROM (
        SELECT project_id, session_number, agent_number, 1 AS entries, inputs_bytes + output_bytes AS sent, 0 AS new, 0 AS stored
        FROM events
        UNION ALL SELECT project_id, session_number, agent_number, 0, 0,
          content_bytes(substr(pack, 1, ${contentBytesPrefix})), octet_length(pack) FROM packs
        UNION ALL SELECT project_id, 0, 0, 1, 0, size, octet_length(piece) FROM shared_pieces)
      GROUP BY 1, 2, 3`
  ],
  agent_usage: [
    `INSERT INTO agent_usage (project_id, agent_number, rules, stripe, entries, sent_bytes, new_bytes, stored_bytes)
      SELECT e.project_id, e.agent_number, coalesce(ek.rules, ''), 0, count(*), sum(e.inputs_bytes + e.output_bytes), 0, 0
      FROM events e LEFT JOIN event_kinds ek ON ek.project_id = e.project_id AND ek.kind_number = e.kind_number
      GROUP BY 1, 2, 3`,
    `INSERT INTO agent_usage (project_id, agent_number, rules, stripe, entries, sent_bytes, new_bytes, stored_bytes)
      SELECT project_id, agent_number, '', 0, 0, 0, sum(new_bytes), sum(stored_bytes) FROM storage_usage
      WHERE session_number <> 0 GROUP BY 1, 2
      ON CONFLICT (project_id, agent_number, rules, stripe) DO UPDATE SET new_bytes = excluded.new_bytes,
        stored_bytes = excluded.stored_bytes`
  ]
}

export const tables = Object.keys(refills)

/** Before any statement. */
export const define = (database: DatabaseSync): void =>
  database.function("content_bytes", { deterministic: true }, (beginning) =>
    beginning instanceof Uint8Array ? contentBytesOf(beginning) : 0
  )

/** Fills a table that is empty. */
export const fill = (database: DatabaseSync, table: string): void => {
  for (const statement of refills[table]!) database.exec(statement)
}

export const refillAll = (database: DatabaseSync): void => {
  for (const table of tables) {
    database.exec(`DELETE FROM ${table}`)
    fill(database, table)
  }
}
