/**
 * Rows that are not found although another row names them: in a distributed database the nodes of a transaction commit one after the
 * other, so one may show its rows before another does.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type SqlClient, SqlError } from "effect/sql"
import * as SqlFailure from "../SqlFailure.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as CommitOrder from "../dialect/CommitOrder.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"

/** How long transactions that are under way are waited for, and how often it is looked whether they have ended (ms). */
const maxWaitMs = 3_000
const pauseMs = 5

const unavailable = Effect.suspend(() =>
  Effect.fail(
    SqlFailure.make(SqlError.ConnectionError, "read", "Nodes are still committing what may have the missing rows")
  )
)

/**
 * Waits for the transactions that are under way, and returns whether to look for the rows again. Fails, as if the database were
 * unreachable, while one has not ended on all nodes.
 */
export const wait = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
): Effect.fn.Return<boolean, SqlError.SqlError> {
  if (!Bucket.isDistributed(sql)) return false
  const writers = Effect.map(CommitOrder.writers(sql), ({ transactions }) => new Set(transactions))
  const underWay = yield* writers
  const endMs = (yield* Clock.currentTimeMillis) + maxWaitMs
  while (underWay.size > 0) {
    if ((yield* Clock.currentTimeMillis) > endMs) return yield* unavailable
    yield* Effect.sleep(pauseMs)
    const current = yield* writers
    for (const writer of underWay) if (!CommitOrder.isUnderWay(writer, current)) underWay.delete(writer)
  }
  yield* TwoPhaseCommit.refuseInDoubt(sql)
  return true
})
