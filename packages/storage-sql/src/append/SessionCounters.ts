/** The counters in a session's row. They tell an append whether the session is still as its packs were written for. */
import type { NewPack } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as CommitOrder from "../dialect/CommitOrder.ts"
import * as Dialects from "../dialect/Dialects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as SessionSizes from "../space/SessionSizes.ts"

const incrementTypes = {
  project_id: "integer",
  session_number: "integer",
  session_id: "varchar",
  generation: "bigint",
  packs: "integer",
  added: "integer",
  history: "bigint",
  parts: "bigint",
  stored: "bigint"
} as const satisfies BulkValues.Types

/** A pack to append to a session. */
interface Appended {
  readonly pack: NewPack
  readonly summary: { readonly session: string }
}

/** `generation` and `packs` are what the row must hold; the others are added to its counters. */
type Increment = BulkValues.Row<keyof typeof incrementTypes> & {
  readonly packs: number
  readonly session_id: string
  readonly session_number: number
}

export const incrementColumns: BulkValues.Columns<Increment> = BulkValues.named(incrementTypes)

/** One increment per session, except for the sessions whose number differs from the expected one: these conflict. */
export const incrementsOf = (
  project_id: number,
  sessions: ReadonlyMap<string, number>,
  appended: ReadonlyArray<Appended>
) => {
  const conflicts: Array<string> = []
  const increments: Array<Increment> = []
  const bySession = Map.groupBy(appended, ({ summary }) => summary.session as string)
  for (const [session, session_number] of sessions) {
    const packs = bySession.get(session)!.map(({ pack }) => pack)
    const { number, session: expected = { number: session_number, generation: 0 } } = packs[0]!
    const sum = (of: (pack: NewPack) => number) => packs.reduce((total, pack) => total + of(pack), 0)
    if (expected.number !== session_number) {
      conflicts.push(session)
      continue
    }
    increments.push({
      project_id,
      session_number,
      session_id: session,
      generation: expected.generation,
      packs: number - 1,
      added: packs.length,
      history: sum(({ history }) => history),
      parts: sum(({ parts }) => parts),
      stored: sum(({ bytes }) => bytes.length)
    })
  }
  return { conflicts, increments }
}

/**
 * Joins `sessions` and `increment`. The last line is always true: it makes Postgres estimate few rows, and so read each
 * session by the index.
 */
export const isIncremented = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`sessions.project_id = increment.project_id AND sessions.session_number = increment.session_number
      AND sessions.session_id = increment.session_id
      AND increment.added > 0 AND increment.added < 2147483647`

/** The `SET` list of an update of `sessions` from `increment`. */
export const incremented = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`packs = sessions.packs + increment.added, history = sessions.history + increment.history,
        parts = sessions.parts + increment.parts, ${SessionSizes.grown(sql, sql`increment.stored`)}`

export interface Updated {
  readonly session_id: string
  readonly session_number: Integer
  readonly is_ranked: Integer | boolean
  readonly now?: number
}

/** Updates the sessions that are as expected. */
export const update = (
  sql: SqlClient.SqlClient,
  increment: Statement.Fragment,
  isOfBuckets: Statement.Fragment
): Statement.Statement<Updated> => sql`${increment}
  UPDATE sessions SET ${incremented(sql)}
  FROM increment WHERE ${isIncremented(sql)}${isOfBuckets}
    AND sessions.generation = increment.generation AND sessions.packs = increment.packs
  RETURNING sessions.session_id, sessions.session_number, ${SessionSizes.isRanked(sql)} AS is_ranked
    ${CommitOrder.andClock(sql)}`

export const make = (sql: SqlClient.SqlClient) => {
  const columns = BulkValues.make(sql, incrementColumns)
  const { rank } = SessionSizes.make(sql)

  /** Returns the sessions that were as expected, with the time. */
  const addTo = Effect.fnUntraced(function* (
    project_id: number,
    increments: ReadonlyArray<Increment>,
    isOfBuckets: Statement.Fragment
  ) {
    const increment = sql`WITH increment ${columns.names} AS (${columns.of(increments)})`
    // Locks the rows in the order of their numbers, to avoid deadlocks: the order of an update is the planner's choice.
    if (increments.length > 1 && !Dialects.of(sql).isSerial) {
      yield* sql`${increment} SELECT sessions.session_number FROM increment
        JOIN sessions ON ${isIncremented(sql)}${isOfBuckets} ORDER BY sessions.session_number FOR UPDATE OF sessions`
    }
    const rows = yield* update(sql, increment, isOfBuckets)
    yield* rank(
      project_id,
      rows.flatMap(({ is_ranked, session_number }) => (is_ranked ? [] : [Number(session_number)]))
    )
    return rows
  })

  /**
   * Counts the packs, and locks the sessions' rows until the transaction ends. Returns the sessions that conflict, and the
   * time by the database's clock (ms) if it has many writers.
   */
  const add = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlyMap<string, number>,
    appended: ReadonlyArray<Appended>
  ) {
    const { conflicts, increments } = incrementsOf(project_id, sessions, appended)
    const updated = new Set<string>()
    let now: number | undefined
    for (const { buckets, rows } of Bucket.split(sql, increments, (each) => Bucket.ofSession(each.session_id))) {
      for (const row of yield* addTo(project_id, rows, Bucket.and(sql, buckets, "sessions."))) {
        updated.add(row.session_id)
        now = row.now
      }
    }
    for (const { session_id } of increments) if (!updated.has(session_id)) conflicts.push(session_id)
    if (Bucket.isDistributed(sql)) {
      const [row] = yield* sql<{ now: number }>`SELECT ${CommitOrder.clock(sql)} AS now`
      now = row!.now
    }
    return { conflicts, now }
  })

  return { add }
}
