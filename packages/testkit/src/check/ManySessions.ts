/** Many sessions of one project of a SQL storage, of which no two have the same size, and the counters of their two agents. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"

/** Into an empty storage. The sizes are 1,000 bytes to 1,000 times `sessions`, and far apart at the upper end. */
export const fill = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  sessions: number
): Effect.fn.Return<void, SqlError.SqlError> {
  const numbers = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sessions})`
  yield* sql`INSERT INTO projects (project_id, project_name, agents, sessions) VALUES (1, 'default', 2, ${sessions})`
  yield* sql`INSERT INTO agents (project_id, agent_number, agent_name, created_at, description)
    VALUES (1, 1, 'a', 0, ''), (1, 2, 'b', 0, '')`
  yield* sql`INSERT INTO sessions (project_id, session_number, session_id, stored_bytes, ranked_bytes)
    ${numbers} SELECT 1, i, 's' || i, 2000 * i, 2000 * i - 100 * i FROM n`
  for (const agent of [1, 2]) {
    yield* sql`INSERT INTO storage_usage ${numbers} SELECT 1, i, ${sql.literal(String(agent))}, 1, 1, 1, 1000 * i FROM n`
  }
  yield* sql`INSERT INTO agent_usage SELECT project_id, agent_number, '', 0, sum(entries), sum(sent_bytes), sum(new_bytes),
    sum(stored_bytes) FROM storage_usage GROUP BY project_id, agent_number`
})
