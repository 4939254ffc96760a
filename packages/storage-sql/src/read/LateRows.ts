/**
 * Rows that are not found although another row names them: in a distributed database the nodes of a transaction commit one after the
 * other, so one may show its rows before another does.
 */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as CommitOrder from "../dialect/CommitOrder.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"

/** How often it is looked whether the transactions have ended that are under way, and the pause in between (ms). */
const maxLooks = 20
const pauseMs = 5

/**
 * Waits for the transactions that are under way, and returns whether to look for the rows again. Fails, as if the database were
 * unreachable, while a node has not committed its part of one.
 */
export const wait = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
): Effect.fn.Return<boolean, SqlError.SqlError> {
  if (!Bucket.isDistributed(sql)) return false
  const writers = Effect.map(CommitOrder.writers(sql), ({ transactions }) => new Set(transactions))
  const underWay = yield* writers
  for (let looks = 0; underWay.size > 0 && looks < maxLooks; looks++) {
    yield* Effect.sleep(pauseMs)
    const current = yield* writers
    for (const writer of underWay) if (!CommitOrder.isUnderWay(writer, current)) underWay.delete(writer)
  }
  yield* TwoPhaseCommit.refuseInDoubt(sql)
  return true
})
