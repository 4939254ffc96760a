/** Why steps cannot be appended: there are some with their keys, or their sessions have no events. */
import { type AppendSteps, type SpanId, StepConflict, type StepKey, type TraceId, Uuid } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"

const keyOf = ({ spanId, traceId }: StepKey): string => `${traceId} ${spanId}`

export const make = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)

  /** Those of the keys that steps of the session have. */
  const findTaken = Effect.fnUntraced(function* (
    project_id: number,
    session: number,
    steps: ReadonlyArray<StepKey>
  ): Effect.fn.Return<ReadonlyArray<StepKey>, SqlError.SqlError> {
    const found = new Set<string>()
    for (const chunk of BulkValues.chunks(steps)) {
      const traces = Array.from(new Set(chunk.map(({ traceId }) => toStored(Uuid.fromHex(traceId)))))
      const spans = chunk.map(({ spanId }) => Uuid.hexToBytes(spanId))
      const rows = yield* sql<{
        trace_id: UuidColumn.StoredId
        span_id: Uint8Array
      }>`SELECT trace_id, span_id FROM steps
        WHERE ${Bucket.isOfSession(sql, project_id, session)} AND ${BulkValues.isAmong(sql, "trace_id", "uuid", traces)}
          AND ${BulkValues.isAmong(sql, "span_id", "bytea", spans)}`
      for (const { span_id, trace_id } of rows) {
        const traceId = UuidColumn.decode(trace_id).replaceAll("-", "") as TraceId
        found.add(keyOf({ traceId, spanId: Uuid.bytesToHex(span_id) as SpanId }))
      }
    }
    return steps.filter((step) => found.has(keyOf(step)))
  })

  /** In a transaction that has locked the sessions, so that nothing of this changes until it ends. */
  return Effect.fnUntraced(function* (
    project_id: number,
    groups: ReadonlyArray<AppendSteps>,
    sessions: ReadonlyMap<string, number>
  ) {
    const taken: Array<StepConflict["taken"][number]> = []
    const withoutEvents: Array<AppendSteps["session"]> = []
    for (const [session, ofSession] of Map.groupBy(groups, (group) => group.session)) {
      const number = sessions.get(session)!
      const events = yield* sql`SELECT 1 FROM events WHERE ${Bucket.isOfSession(sql, project_id, number)} LIMIT 1`
      if (events.length === 0) withoutEvents.push(session)
      const steps = ofSession.flatMap((group) => group.steps)
      for (const { spanId, traceId } of yield* findTaken(project_id, number, steps)) {
        taken.push({ session, traceId, spanId })
      }
    }
    if (taken.length + withoutEvents.length > 0) return yield* new StepConflict({ taken, withoutEvents })
  })
}
