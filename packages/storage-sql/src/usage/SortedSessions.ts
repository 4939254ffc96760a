/** Sessions sorted by what their calls add up to. */
import {
  figureOf,
  type Rank,
  Ranking,
  SessionFigures,
  SessionParts,
  type SessionRanking,
  valueOf
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import type * as RollupPosition from "../rollup/RollupPosition.ts"
import * as AllSessions from "./AllSessions.ts"

export const make = (sql: SqlClient.SqlClient) => {
  const sessions = AllSessions.make(sql)

  /** The ranks of a page's sessions. */
  const read = Effect.fnUntraced(function* (
    project_id: number,
    position: RollupPosition.RollupPosition,
    { after, fromMs = 0, limit, order, sort, toMs = Number.POSITIVE_INFINITY }: SessionRanking,
    filter: SessionParts.PartFilter
  ) {
    const ranking = new Ranking(order, limit, after)
    yield* sessions.forEach(project_id, position, (number, parts) => {
      let [firstMs, lastMs, figures] = [Number.POSITIVE_INFINITY, 0, SessionFigures.none]
      for (const part of parts) {
        firstMs = Math.min(firstMs, part.firstMs)
        lastMs = Math.max(lastMs, part.lastMs)
        figures = parts.length === 1 ? part : SessionFigures.sumOf(figures, part)
      }
      if (lastMs < fromMs || lastMs >= toMs || !SessionParts.isSessionMatch(filter, parts, ({ errors }) => errors))
        return
      ranking.add({ value: valueOf(figureOf(sort, figures, { firstMs, lastMs }), order), number } satisfies Rank)
    })
    return ranking.page
  })

  return { read }
}
