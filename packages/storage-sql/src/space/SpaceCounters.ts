/** Counters of the space that payloads take, updated with every append, erasure and sweep. */
import type { AgentName, ProjectId, SessionId, StorageUsage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as SessionSizes from "./SessionSizes.ts"

const amountTypes = {
  entries: "bigint",
  sent_bytes: "bigint",
  new_bytes: "bigint",
  stored_bytes: "bigint"
} as const satisfies BulkValues.Types

/** Increments of counters; may be negative. */
type Amounts = { readonly [Column in keyof typeof amountTypes]: number }

const usageTypes = {
  project_id: "integer",
  session_number: "integer",
  agent_number: "integer",
  ...amountTypes
} as const satisfies BulkValues.Types

export const agentTypes = {
  project_id: "integer",
  agent_number: "integer",
  rules: "varchar",
  ...amountTypes
} as const satisfies BulkValues.Types

const stripedTypes = { ...agentTypes, stripe: "smallint" } as const satisfies BulkValues.Types

const none: Amounts = { entries: 0, sent_bytes: 0, new_bytes: 0, stored_bytes: 0 }

const plus = (a: Amounts, b: Partial<Amounts>): Amounts => ({
  entries: a.entries + (b.entries ?? 0),
  sent_bytes: a.sent_bytes + (b.sent_bytes ?? 0),
  new_bytes: a.new_bytes + (b.new_bytes ?? 0),
  stored_bytes: a.stored_bytes + (b.stored_bytes ?? 0)
})

interface Counted {
  readonly session_number: number
  readonly agent_number: number
  /** The column of the session's rows. Ignored where they have none. */
  readonly bucket: number
  /** The rules of the events that are counted; empty for packs without their events. */
  readonly rules: string
}

type OfSession = Omit<Counted, "rules"> & Amounts
type UsageRows = ReadonlyArray<BulkValues.Row<keyof typeof usageTypes | "bucket">>
type OfAgent = Pick<Counted, "agent_number" | "rules"> & { readonly stripe: number } & Amounts

/** Amounts by session and agent, and by agent and rules. */
export class Increments {
  readonly #sql: SqlClient.SqlClient
  readonly #rows = new Map<string, OfSession>()
  readonly #agents = new Map<string, OfAgent>()

  constructor(sql: SqlClient.SqlClient) {
    this.#sql = sql
  }

  add(counted: Counted, amounts: Partial<Amounts>): void {
    const { agent_number, bucket, session_number } = counted
    const key = `${session_number} ${agent_number} ${bucket}`
    const row = this.#rows.get(key) ?? none
    this.#rows.set(key, { session_number, agent_number, bucket, ...plus(row, amounts) })
    if (session_number !== ofProject.session_number) this.addToAgent(counted, amounts)
  }

  /** The same for the agent alone. */
  addToAgent({ agent_number, bucket, rules }: Omit<Counted, "session_number">, amounts: Partial<Amounts>): void {
    // In a distributed database, a bucket is its agents' stripe.
    const stripe = Bucket.isDistributed(this.#sql) ? bucket : 0
    const key = `${agent_number} ${stripe} ${rules}`
    const row = this.#agents.get(key) ?? none
    this.#agents.set(key, { agent_number, rules, stripe, ...plus(row, amounts) })
  }

  /** The rows of sessions, in the order in which every transaction locks them. */
  rowsOf(project_id: number): UsageRows {
    return this.#sorted(project_id, (row) => row.session_number !== ofProject.session_number)
  }

  /** The rows of the project's shared pieces, likewise. */
  projectRowsOf(project_id: number): UsageRows {
    return this.#sorted(project_id, (row) => row.session_number === ofProject.session_number)
  }

  #sorted(project_id: number, isWanted: (row: OfSession) => boolean): UsageRows {
    const sorted = Array.from(this.#rows.values())
      .filter(isWanted)
      .sort((a, b) => a.session_number - b.session_number || a.agent_number - b.agent_number || a.bucket - b.bucket)
    return sorted.map((row) => ({ project_id, ...row }))
  }

  /** The sums by agent, likewise. */
  agentRowsOf(project_id: number): ReadonlyArray<BulkValues.Row<keyof typeof agentTypes | "stripe">> {
    return Array.from(this.#agents.values(), (row) => ({ project_id, ...row })).sort(
      (a, b) => a.agent_number - b.agent_number || a.stripe - b.stripe || (a.rules < b.rules ? -1 : 1)
    )
  }
}

/** The row under which a project's shared pieces are counted. */
export const ofProject = { session_number: 0, agent_number: 0, rules: "" }

/** The same for shared pieces of a bucket: a distributed database has such a row for each. */
export const ofPieces = (sql: SqlClient.SqlClient, bucket: number): Counted => ({
  ...ofProject,
  bucket: Bucket.isDistributed(sql) ? bucket : 0
})

type Row = { readonly [Column in keyof Amounts]: number | string }

/** The largest figure that is exact. Only damage makes one larger. */
const clamped = (value: number | string): number =>
  Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Math.round(Number(value)), Number.MAX_SAFE_INTEGER))

const toCounters = (row: Row) => ({
  events: clamped(row.entries),
  sentBytes: clamped(row.sent_bytes),
  newBytes: clamped(row.new_bytes),
  storedBytes: clamped(row.stored_bytes)
})

const addingTo = (sql: SqlClient.SqlClient, table: string, key: Statement.Fragment): Statement.Fragment =>
  sql`ON CONFLICT (${key}) ${sql.literal(`DO UPDATE SET entries = ${table}.entries + excluded.entries,
    sent_bytes = ${table}.sent_bytes + excluded.sent_bytes, new_bytes = ${table}.new_bytes + excluded.new_bytes,
    stored_bytes = ${table}.stored_bytes + excluded.stored_bytes`)}`

const endings = (sql: SqlClient.SqlClient) => ({
  addingToSessions: addingTo(
    sql,
    "storage_usage",
    sql`project_id, session_number, agent_number${Bucket.andColumn(sql)}`
  ),
  addingToAgents: addingTo(sql, "agent_usage", sql.literal("project_id, agent_number, rules, stripe"))
})

/**
 * Statements that add rows to counters, where `isWanted`. The row of an agent is that of the transaction's stripe, or of the bucket
 * in a distributed database.
 */
export const statements = (sql: SqlClient.SqlClient) => {
  const columns = BulkValues.make(sql, BulkValues.named({ ...usageTypes, ...Bucket.types(sql) }))
  const agentColumns = BulkValues.make(sql, BulkValues.named(agentTypes))
  const stripe = sql.literal(Dialects.of(sql).stripe)
  const always: Statement.Fragment = sql.literal("true")
  const amounts = sql.literal(Object.keys(amountTypes).join(", "))
  const names = sql.literal(`(${Object.keys(agentTypes).join(", ")}, stripe)`)
  const { addingToAgents, addingToSessions } = endings(sql)
  if (Bucket.isDistributed(sql)) {
    const striped = BulkValues.make(sql, BulkValues.named(stripedTypes))
    return {
      ofSessions: (rows: UsageRows) =>
        sql`INSERT INTO storage_usage ${columns.names} ${columns.toInsert(rows)} ${addingToSessions}`,
      ofAgents: (rows: ReturnType<Increments["agentRowsOf"]>) =>
        sql`INSERT INTO agent_usage ${striped.names} ${striped.toInsert(rows)} ${addingToAgents}`
    }
  }
  return {
    /** `session_number` makes the numbers of sessions of those of the rows, in Postgres. */
    ofSessions: (rows: UsageRows, isWanted = always, session_number?: Statement.Fragment) => {
      const added =
        session_number === undefined
          ? sql`SELECT * FROM (${columns.of(rows)}) AS added`
          : sql`SELECT project_id, ${session_number}, agent_number, ${amounts}
              FROM (${columns.of(rows)}) AS added ${columns.names}`
      return sql`INSERT INTO storage_usage ${columns.names} ${added} WHERE ${isWanted} ${addingToSessions}`
    },
    ofAgents: (rows: ReturnType<Increments["agentRowsOf"]>, isWanted = always) =>
      sql`INSERT INTO agent_usage ${names} SELECT added.*, ${stripe} FROM (${agentColumns.of(rows)}) AS added
        WHERE ${isWanted} ${addingToAgents}`
  }
}

/** The same for one row each, where there is one stripe. */
export const ofOneRow = (sql: SqlClient.SqlClient) => {
  const { addingToAgents, addingToSessions } = endings(sql)
  return {
    ofSessions: BulkValues.ofOneRow(
      sql,
      BulkValues.named(usageTypes),
      (row, names) => sql`INSERT INTO storage_usage ${names} ${row} ${addingToSessions}`
    ),
    ofAgents: BulkValues.ofOneRow(
      sql,
      BulkValues.named(stripedTypes),
      (row, names) => sql`INSERT INTO agent_usage ${names} ${row} ${addingToAgents}`
    )
  }
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const { ofAgents, ofSessions } = statements(sql)
  const sizes = SessionSizes.make(sql)

  /**
   * Statements that add to the counters of sessions and agents, in any order: the sessions are locked, so the agents' rows are the
   * only ones that transactions wait for here. Each statement locks its rows in the order of the values.
   */
  const additions = (project_id: number, increments: Increments) => [
    ...BulkValues.chunks(increments.rowsOf(project_id)).map((rows) => ofSessions(rows)),
    ...BulkValues.chunks(increments.agentRowsOf(project_id)).map((rows) => ofAgents(rows))
  ]

  /** Adds to the project's own counters. After `additions`, because all transactions share these rows. */
  const addToProject = (project_id: number, increments: Increments) =>
    Effect.forEach(BulkValues.chunks(increments.projectRowsOf(project_id)), (rows) => ofSessions(rows), {
      discard: true
    })

  /** Call it once, at the end of a transaction that has locked the sessions: it locks rows in an order. */
  const add = (project_id: number, increments: Increments) =>
    Effect.andThen(
      Effect.all(additions(project_id, increments), { discard: true }),
      addToProject(project_id, increments)
    )

  /** Deletes the counters of a session. Returns what to add to those of its agents. */
  const remove = Effect.fnUntraced(function* (project_id: number, session: number, bucket: number) {
    const rows = yield* sql<Row & { agent_number: Integer }>`DELETE FROM storage_usage
      WHERE project_id = ${project_id} AND session_number = ${session}${Bucket.and(sql, bucket)}
      RETURNING agent_number, entries, sent_bytes, new_bytes, stored_bytes`
    const increments = new Increments(sql)
    for (const row of rows) {
      increments.addToAgent(
        { agent_number: Number(row.agent_number), bucket, rules: "" },
        {
          entries: -Number(row.entries),
          sent_bytes: -Number(row.sent_bytes),
          new_bytes: -Number(row.new_bytes),
          stored_bytes: -Number(row.stored_bytes)
        }
      )
    }
    return increments
  })

  const sums = sql.literal(`sum(entries) AS entries, sum(sent_bytes) AS sent_bytes, sum(new_bytes) AS new_bytes,
    sum(stored_bytes) AS stored_bytes`)

  const usage = Effect.fn("SqlStorage.usage")(function* (project: ProjectId, sessions: number) {
    const number = yield* projects.find(project)
    const agents = yield* sql<Row & { agent_name: AgentName }>`SELECT agent_name, ${sums} FROM agent_usage
      JOIN agents USING (project_id, agent_number) WHERE project_id = ${number} GROUP BY agent_name
      HAVING sum(entries) > 0 OR sum(stored_bytes) > 0 ORDER BY sum(stored_bytes) DESC, agent_name`
    const isOfSession = sql`project_id = ${number} AND session_number = s.number`
    const largest =
      sessions === 0
        ? []
        : yield* sql<Row & { id: SessionId }>`SELECT s.id, ${sums} FROM (${sizes.largest(number, sessions)}) AS s
            JOIN storage_usage ON ${isOfSession} GROUP BY s.id, s.number, s.size ORDER BY s.size DESC, s.number`
    const [ofShared = none] = yield* sql<Row>`SELECT ${sums} FROM storage_usage
      WHERE project_id = ${number} AND session_number = ${ofProject.session_number} AND agent_number = ${ofProject.agent_number}`

    const { events: pieces, newBytes, storedBytes } = toCounters(ofShared)
    const ofAgents = agents.map((row) => ({ agent: row.agent_name, ...toCounters(row) }))
    const total = (of: keyof ReturnType<typeof toCounters>) =>
      clamped(ofAgents.reduce((sum, each) => sum + each[of], 0))
    return {
      events: total("events"),
      sentBytes: total("sentBytes"),
      newBytes: clamped(total("newBytes") + newBytes),
      storedBytes: clamped(total("storedBytes") + storedBytes),
      shared: { pieces, newBytes, storedBytes },
      agents: ofAgents,
      sessions: largest.map((row) => ({ session: row.id, ...toCounters(row) }))
    } satisfies StorageUsage
  })

  const rulesInUse = Effect.fn("SqlStorage.rulesInUse")(function* (project: ProjectId) {
    const number = yield* projects.find(project)
    const rows = yield* sql<{ rules: string; entries: Integer }>`SELECT rules, sum(entries) AS entries FROM agent_usage
      WHERE project_id = ${number} GROUP BY rules HAVING sum(entries) > 0 ORDER BY rules`
    return rows.map(({ entries, rules }) => ({ rules, events: clamped(entries) }))
  })

  return { add, additions, addToProject, remove, usage, rulesInUse }
}
