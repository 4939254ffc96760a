/** What a session has: counted on its row, which says to whoever appends whether the session is as they believed. */
import type { AppendEvent } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Locks from "../sql/Locks.ts"
import * as BulkValues from "../sql/BulkValues.ts"

export const moveTypes = {
  project_id: "integer",
  session_number: "integer",
  session_id: "varchar",
  generation: "bigint",
  packs: "integer",
  added: "integer",
  history: "bigint",
  parts: "bigint"
} as const

type Move = BulkValues.Row<keyof typeof moveTypes> & { readonly session_id: string }

/** What is to be added to sessions, and those of which it is clear already that they are not as expected. */
export const movesOf = (
  project_id: number,
  sessions: ReadonlyMap<string, number>,
  events: ReadonlyArray<AppendEvent>
) => {
  const moved: Array<string> = []
  const moves: Array<Move> = []
  const bySession = Map.groupBy(events, ({ summary }) => summary.session as string)
  for (const [session, session_number] of sessions) {
    const packs = bySession.get(session)!.map(({ pack }) => pack)
    const { number, session: expected = { number: session_number, generation: 0 } } = packs[0]!
    const sum = (of: "history" | "parts") => packs.reduce((total, pack) => total + pack[of], 0)
    if (expected.number !== session_number) {
      moved.push(session)
      continue
    }
    moves.push({
      project_id,
      session_number,
      session_id: session,
      generation: expected.generation,
      packs: number - 1,
      added: packs.length,
      history: sum("history"),
      parts: sum("parts")
    })
  }
  return { moved, moves }
}

/** Of `sessions` and `move`. The last line is always so: Postgres takes it for a reason to expect few rows, and looks each of them up. */
export const isTheirs = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`sessions.project_id = move.project_id AND sessions.session_number = move.session_number
      AND sessions.session_id = move.session_id
      AND move.added > 0 AND move.added < 2147483647`

/** What an update of `sessions` by `move` sets. */
export const added = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`packs = sessions.packs + move.added, history = sessions.history + move.history,
        parts = sessions.parts + move.parts`

export const make = (sql: SqlClient.SqlClient) => {
  const columns = BulkValues.make(sql, moveTypes)

  /** Counts the packs of events, and holds the sessions' rows until the end. Answers sessions that are not as expected. */
  const add = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlyMap<string, number>,
    events: ReadonlyArray<AppendEvent>
  ) {
    const { moved, moves } = movesOf(project_id, sessions, events)
    if (moves.length === 0) return moved

    const move = sql`WITH move ${columns.names} AS (${columns.of(moves)})`
    // The other statement would take its rows in an order of its own.
    if (moves.length > 1 && Locks.areNeeded(sql)) {
      yield* sql`${move} SELECT sessions.session_number FROM move JOIN sessions ON ${isTheirs(sql)}
        ORDER BY sessions.session_number FOR UPDATE OF sessions`
    }
    const rows = yield* sql<{ session_id: string }>`${move}
      UPDATE sessions SET ${added(sql)}
      FROM move WHERE ${isTheirs(sql)} AND sessions.generation = move.generation AND sessions.packs = move.packs
      RETURNING sessions.session_id`
    const found = new Set(rows.map(({ session_id }) => session_id))
    for (const { session_id } of moves) if (!found.has(session_id)) moved.push(session_id)
    return moved
  })

  return { add }
}
