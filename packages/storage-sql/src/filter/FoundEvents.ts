/** Events that were found: by their ids, or as the rows of streams that contain no others. */
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Dialects from "../dialect/Dialects.ts"
import type * as UuidColumn from "../dialect/UuidColumn.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as EventStreams from "./EventStreams.ts"
import * as Walks from "./Walks.ts"

/** Events that were found. */
export interface FoundEvents {
  /** A query for their rows of `events`, in no particular order. */
  readonly rows: Statement.Fragment
  /** How many there were, if that is known. If there are fewer rows, some were erased meanwhile. */
  readonly count: number | undefined
  /** The condition for the events `e` to take in order, if a distributed database looks for them itself. */
  readonly where?: Statement.Fragment
}

export const make = (sql: SqlClient.SqlClient) => {
  const withIds = (
    project_id: number,
    bucket: number | undefined,
    ids: ReadonlyArray<UuidColumn.StoredId>
  ): FoundEvents | undefined => {
    if (ids.length === 0) return undefined
    const selection = {
      table: "events",
      columns: sql`*`,
      isOfParent: sql`project_id = ${project_id}${bucket === undefined ? sql.literal("") : Bucket.and(sql, bucket)}`,
      name: "event_id",
      type: "uuid",
      lock: sql``
    } as const
    return { rows: Dialects.of(sql).rowsByName(selection, ids), count: ids.length }
  }

  /** Finds events by streams that contain no others. */
  const findIn = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    streams: EventStreams.Streams,
    range: EventStreams.Range,
    limit: number
  ) {
    const { begin, rows } = EventStreams.make(sql, project_id, bucket)
    let merge = yield* begin(streams, range)
    if (merge === undefined) return undefined
    if (!merge.isBounded) return { rows: rows(merge, limit), count: undefined }
    const ids: Array<UuidColumn.StoredId> = []
    const attempt = Attempts.make("A list of events")
    while (merge !== undefined) {
      const found: ReadonlyArray<{ event_id: UuidColumn.StoredId }> = yield* sql<{ event_id: UuidColumn.StoredId }>`
        SELECT e.event_id FROM (${rows(merge, limit - ids.length)}) AS e
        ORDER BY e.event_id ${sql.literal(range.order)}`
      const before = ids.at(-1) ?? range.after
      for (const { event_id } of found) ids.push(event_id)
      if (ids.length === limit || !merge.isBounded) break
      if (!Walks.isBeyond(ids.at(-1), before, range.order)) yield* attempt
      merge = yield* begin(streams, { ...range, after: ids.at(-1) ?? range.after })
    }
    return withIds(project_id, bucket, ids)
  })

  return { withIds, findIn }
}
