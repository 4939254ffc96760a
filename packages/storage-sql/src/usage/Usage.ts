/** Counters of the space that payloads take, updated with every append, erasure and sweep. */
import type { AgentName, ProjectId, SessionId, StorageUsage } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import type * as Projects from "../names/Projects.ts"

/** Increments for the counters of one agent in one session; may be negative. */
interface Amounts {
  readonly entries: number
  readonly sent_bytes: number
  readonly new_bytes: number
  readonly stored_bytes: number
}

export const usageTypes = {
  project_id: "integer",
  session_number: "integer",
  agent_number: "integer",
  entries: "bigint",
  sent_bytes: "bigint",
  new_bytes: "bigint",
  stored_bytes: "bigint"
} as const satisfies BulkValues.Types

const none: Amounts = { entries: 0, sent_bytes: 0, new_bytes: 0, stored_bytes: 0 }

/** Amounts by session and agent. */
export class Tally {
  readonly #rows = new Map<string, { readonly session_number: number; readonly agent_number: number } & Amounts>()

  add(session_number: number, agent_number: number, amounts: Partial<Amounts>): void {
    const key = `${session_number} ${agent_number}`
    const { entries = 0, new_bytes = 0, sent_bytes = 0, stored_bytes = 0 } = amounts
    const row = this.#rows.get(key) ?? { session_number, agent_number, ...none }
    this.#rows.set(key, {
      session_number,
      agent_number,
      entries: row.entries + entries,
      sent_bytes: row.sent_bytes + sent_bytes,
      new_bytes: row.new_bytes + new_bytes,
      stored_bytes: row.stored_bytes + stored_bytes
    })
  }

  /** In the order in which every transaction locks them. The project's own row is last, because all transactions share it. */
  rowsOf(project_id: number): ReadonlyArray<BulkValues.Row<keyof typeof usageTypes>> {
    const sorted = Array.from(this.#rows.values()).sort(
      (a, b) =>
        Number(a.session_number === 0) - Number(b.session_number === 0) ||
        a.session_number - b.session_number ||
        a.agent_number - b.agent_number
    )
    return sorted.map((row) => ({ project_id, ...row }))
  }
}

/** The number of session and agent under which a project's shared pieces are counted. */
export const ofProject = 0

type Row = { readonly [Column in keyof Amounts]: number | string }

const toCounters = (row: Row) => ({
  events: Number(row.entries),
  sentBytes: Number(row.sent_bytes),
  newBytes: Number(row.new_bytes),
  storedBytes: Number(row.stored_bytes)
})

/** Adds to counters that exist. */
export const onConflict = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`ON CONFLICT (project_id, session_number, agent_number) DO UPDATE SET
          entries = storage_usage.entries + excluded.entries,
          sent_bytes = storage_usage.sent_bytes + excluded.sent_bytes,
          new_bytes = storage_usage.new_bytes + excluded.new_bytes,
          stored_bytes = storage_usage.stored_bytes + excluded.stored_bytes`

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const columns = BulkValues.make(sql, BulkValues.named(usageTypes))

  const additions = (project_id: number, tally: Tally) =>
    // Each statement locks its rows in the order of the values.
    BulkValues.chunks(tally.rowsOf(project_id)).map(
      (rows) => sql`INSERT INTO storage_usage ${columns.names} ${columns.of(rows)} ${onConflict(sql)}`
    )

  /** Call it at the end of a transaction that has locked the sessions. */
  const add = (project_id: number, tally: Tally) => Effect.all(additions(project_id, tally), { discard: true })

  const sums = sql.literal(`sum(u.entries) AS entries, sum(u.sent_bytes) AS sent_bytes, sum(u.new_bytes) AS new_bytes,
    sum(u.stored_bytes) AS stored_bytes`)

  const usage = Effect.fn("SqlStorage.usage")(function* (project: ProjectId, sessions: number) {
    const number = (yield* projects.find(project)) ?? -1
    const agents = yield* sql<Row & { agent_name: AgentName }>`SELECT a.agent_name, ${sums} FROM storage_usage u
      JOIN agents a ON a.project_id = u.project_id AND a.agent_number = u.agent_number
      WHERE u.project_id = ${number} GROUP BY a.agent_name
      HAVING sum(u.entries) > 0 OR sum(u.stored_bytes) > 0 ORDER BY sum(u.stored_bytes) DESC, a.agent_name`
    const largest = yield* sql<Row & { session_id: SessionId }>`SELECT s.session_id, t.* FROM (
        SELECT u.project_id, u.session_number, ${sums} FROM storage_usage u
        WHERE u.project_id = ${number} AND u.session_number <> ${ofProject}
        GROUP BY u.project_id, u.session_number ORDER BY sum(u.stored_bytes) DESC, u.session_number LIMIT ${sessions}
      ) t JOIN sessions s ON s.project_id = t.project_id AND s.session_number = t.session_number
      ORDER BY t.stored_bytes DESC, t.session_number`
    const [ofShared = none] = yield* sql<Row>`SELECT entries, sent_bytes, new_bytes, stored_bytes FROM storage_usage
      WHERE project_id = ${number} AND session_number = ${ofProject} AND agent_number = ${ofProject}`

    const { events: pieces, newBytes, storedBytes } = toCounters(ofShared)
    const ofAgents = agents.map((row) => ({ agent: row.agent_name, ...toCounters(row) }))
    const total = (of: keyof ReturnType<typeof toCounters>) => ofAgents.reduce((sum, each) => sum + each[of], 0)
    return {
      events: total("events"),
      sentBytes: total("sentBytes"),
      newBytes: total("newBytes") + newBytes,
      storedBytes: total("storedBytes") + storedBytes,
      shared: { pieces, newBytes, storedBytes },
      agents: ofAgents,
      sessions: largest.map((row) => ({ session: row.session_id, ...toCounters(row) }))
    } satisfies StorageUsage
  })

  return { add, additions, usage }
}
