/**
 * The numbers of sessions in a distributed database. Each bucket of a project has a counter on the bucket's node, so that no
 * node is asked for another one's sessions. A number contains its bucket. `NumberedNames` numbers them in other databases.
 */
import * as Effect from "effect/Effect"
import { type SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"

const counterTypes = {
  project_id: "integer",
  bucket: "smallint",
  last_session: "integer"
} as const satisfies BulkValues.Types

/** A greater number is taken for damage: a counter that followed it would soon be at its end. */
const maxNumber = 2 ** 30

/** The numbers of sessions; creates those that do not exist. Call it in a transaction. Locks the counters of their buckets. */
export const ensure = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  project_id: number,
  sessions: ReadonlyArray<string>
) {
  const counters = BulkValues.make(sql, BulkValues.named(counterTypes))
  const numbers = new Map<string, number>()
  for (const { buckets, rows: names } of Bucket.split(sql, sessions, Bucket.ofSession)) {
    const ofBuckets = Bucket.and(sql, buckets)
    const first = new Map(names.map((name) => [Bucket.ofSession(name), Bucket.firstNumber(name)]))
    const unused = buckets.map((bucket) => ({ project_id, bucket, last_session: first.get(bucket)! }))
    // The insertion locks the counters. The lookup after it sees sessions that other transactions committed before.
    const counted = yield* sql<{ bucket: number; last_session: number }>`INSERT INTO session_counters
      ${counters.names} ${counters.toInsert(unused)} ON CONFLICT (project_id, bucket)
      DO UPDATE SET last_session = session_counters.last_session RETURNING bucket, last_session`
    const last = new Map(counted.map(({ bucket, last_session }) => [bucket, last_session]))
    // Only damage makes it one of another bucket, which gives the numbers that follow. It is repaired as if one were taken.
    if (counted.some(({ bucket, last_session }) => Bucket.ofNumber(last_session) !== bucket)) {
      const message = "The counter of a bucket has the number of another one"
      return yield* new SqlError.SqlError({
        reason: new SqlError.UniqueViolation({
          cause: new Error(message),
          constraint: "session_counters_pkey",
          message,
          operation: "append"
        })
      })
    }
    const found = yield* sql<{ session_id: string; session_number: number }>`SELECT session_id, session_number
      FROM sessions WHERE project_id = ${project_id}${ofBuckets}
        AND ${BulkValues.isAmong(sql, "session_id", "varchar", names)}`
    for (const { session_id, session_number } of found) numbers.set(session_id, session_number)
    const created = names.filter((name) => !numbers.has(name)).sort()
    if (created.length === 0) continue
    const rows = created.map((session_id) => {
      const bucket = Bucket.ofSession(session_id)
      const session_number = Bucket.nextNumber(last.get(bucket)!)
      last.set(bucket, session_number)
      numbers.set(session_id, session_number)
      return { project_id, session_number, session_id, bucket }
    })
    for (const [row, ...others] of BulkValues.chunks(rows)) {
      yield* sql`INSERT INTO sessions ${sql.insert([row!, ...others])}`
    }
    const changed = Array.from(last, ([bucket, last_session]) => ({ project_id, bucket, last_session }))
    yield* sql`WITH counted ${counters.names} AS (${counters.of(changed)}) UPDATE session_counters
      SET last_session = counted.last_session FROM counted WHERE session_counters.project_id = counted.project_id
        AND session_counters.bucket = counted.bucket${Bucket.and(sql, buckets, "session_counters.")}`
  }
  return numbers
})

/**
 * Raises counters of the buckets of these sessions that are below a number in use, and replaces those that have numbers of another
 * bucket, which only damage can cause. Returns how many.
 */
export const repair = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  project_id: number,
  sessions: ReadonlyArray<string>
) {
  const first = new Map(sessions.map((session) => [Bucket.ofSession(session), Bucket.firstNumber(session)]))
  let repaired = 0
  const step = sql.literal(String(Bucket.numberStep))
  for (const [bucket, number] of first) {
    // Rows whose own number is damaged do not count.
    const rows = yield* sql`UPDATE session_counters SET last_session = used.highest
      FROM (SELECT coalesce(max(session_number), CAST(${number} AS integer)) AS highest FROM sessions
        WHERE project_id = ${project_id}${Bucket.and(sql, bucket)}
          AND session_number % ${step} = ${number} AND session_number < ${sql.literal(String(maxNumber))}) AS used
      WHERE session_counters.project_id = ${project_id}${Bucket.and(sql, bucket, "session_counters.")}
        AND (last_session < used.highest OR last_session % ${step} <> ${number})
      RETURNING 1 AS repaired`
    repaired += rows.length
  }
  return repaired
})
