/**
 * Lists calls that failed and were tried again, of all sessions. Nothing of it is stored: of each call that failed the session is read, so that a
 * page costs the sessions that it looks at.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { EventDamaged, StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as EventPages from "../read/EventPages.ts"
import * as EventReader from "../read/EventReader.ts"
import * as Retries from "./Retries.ts"
import type { Source } from "./SessionCalls.ts"
import type { SessionReader } from "./SessionReader.ts"

/** A call that failed. */
interface RetriedCall extends EventSummary {
  /** The call that tried it again. */
  readonly retriedBy: EventId
}

export interface RetriedPage {
  readonly events: ReadonlyArray<RetriedCall>
  /** The call that was looked at last, which may be none of this page; undefined on the last page. */
  readonly next: EventId | undefined
}

/** After this time a page ends (ms). */
const maxMs = 500

/** `limit` counts the failed calls that are looked at: a page may have fewer. */
export const list = Effect.fnUntraced(function* (
  source: Source,
  reader: SessionReader,
  project: ProjectId,
  query: EventPages.EventListQuery
): Effect.fn.Return<RetriedPage, EventDamaged | StorageUnavailable> {
  const startedMs = yield* Clock.currentTimeMillis
  const failed = { ...query, fields: { ...query.fields, isError: true } }
  const { next, rows } = yield* EventPages.settled(source.storage, project, failed)
  const events: Array<RetriedCall> = []
  for (const stored of rows) {
    const summary = yield* EventReader.summaryOf(project, stored, source.onDamage)
    const retriedBy = yield* retryOf(reader, project, summary)
    if (retriedBy !== undefined) events.push({ ...summary, retriedBy })
    const isLast = stored.id === rows.at(-1)!.id
    if (!isLast && (yield* Clock.currentTimeMillis) - startedMs >= maxMs) return { events, next: stored.id }
  }
  return { events, next }
})

/** Undefined also where the session is erased meanwhile, or a call after this one is damaged. */
const retryOf = (reader: SessionReader, project: ProjectId, { id, session }: EventSummary) =>
  reader
    .listCalls(project, session, { after: undefined, afterEvent: id, order: "asc", limit: Retries.maxBetween })
    .pipe(
      Effect.map(({ rows }) => rows.find(({ retryOf }) => retryOf === id)?.id),
      Effect.catchTag(["session-not-found", "event-not-found", "event-damaged"], () => Effect.undefined)
    )
