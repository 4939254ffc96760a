/** What a session has: counted on its row, which says to whoever appends whether the session is as they believed. */
import type { AppendEvent } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Locks from "./Locks.ts"
import * as ManyRows from "./ManyRows.ts"

const types = {
  session_number: "integer",
  generation: "bigint",
  packs: "integer",
  added: "integer",
  history: "bigint",
  parts: "bigint"
} as const

export const make = (sql: SqlClient.SqlClient) => {
  const columns = ManyRows.make(sql, types)

  /** Counts the packs of events, and holds the sessions' rows until the end. Answers sessions that are not as expected. */
  const add = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlyMap<string, number>,
    events: ReadonlyArray<AppendEvent>
  ) {
    const moved: Array<string> = []
    const moves: Array<Record<keyof typeof types, number>> = []
    const bySession = Map.groupBy(events, ({ summary }) => summary.session as string)
    for (const [session, session_number] of sessions) {
      const packs = bySession.get(session)!.map(({ pack }) => pack)
      const { number, session: expected = { number: session_number, generation: 0 } } = packs[0]!
      const sum = (of: "history" | "parts") => packs.reduce((total, pack) => total + pack[of], 0)
      if (expected.number !== session_number) {
        moved.push(session)
        continue
      }
      const { generation } = expected
      const before = number - 1
      moves.push({
        session_number,
        generation,
        packs: before,
        added: packs.length,
        history: sum("history"),
        parts: sum("parts")
      })
    }
    if (moves.length === 0) return moved

    const numbers = moves.map(({ session_number }) => session_number)
    // One statement takes its rows in an order of its own.
    const lock =
      moves.length > 1 && Locks.areNeeded(sql)
        ? sql`SELECT session_number FROM sessions
            WHERE project_id = ${project_id} AND ${ManyRows.isAmong(sql, "session_number", "integer", numbers)}
            ORDER BY session_number ${Locks.update(sql)}`
        : Effect.void
    const [, rows] = yield* Effect.all(
      [
        lock,
        sql<{ session_number: number | string }>`
          WITH move ${columns.names} AS (${columns.of(moves)})
          UPDATE sessions SET packs = sessions.packs + move.added, history = sessions.history + move.history,
            parts = sessions.parts + move.parts
          FROM move WHERE sessions.project_id = ${project_id} AND sessions.session_number = move.session_number
            AND sessions.generation = move.generation AND sessions.packs = move.packs
          RETURNING sessions.session_number`
      ],
      // To Postgres they go in one write.
      { concurrency: "unbounded" }
    )
    const found = new Set(rows.map(({ session_number }) => Number(session_number)))
    const believed = new Set(numbers)
    for (const [session, session_number] of sessions) {
      if (believed.has(session_number) && !found.has(session_number)) moved.push(session)
    }
    return moved
  })

  return { add }
}
