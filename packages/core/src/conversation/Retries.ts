/** Finds the calls that are retries: of each, what it asked again is in the outline, and whether that had failed in the fields of the event. */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as EventReader from "../read/EventReader.ts"
import type { Storage } from "../Storage.ts"
import type { SessionOutline } from "./SessionOutline.ts"

/** Times of calls are known to the millisecond. */
const toleranceMs = 1

/** Whether a call that asked the same as one before it began when that had failed, as far as their times are known. */
const isRetry = (call: EventSummary, before: EventSummary): boolean => {
  // Some formats have the model beside the request.
  if (before.errorType === null || before.model !== call.model) return false
  if (before.occurredAt === null || call.occurredAt === null) return true
  const endedMs = before.occurredAt.epochMilliseconds + (before.durationMs ?? 0)
  return call.occurredAt.epochMilliseconds >= endedMs - toleranceMs
}

/** By the indexes of calls that are retries, the calls that failed before them. `summaries` are those of the calls that are asked for. */
export const of = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  { calls, outline }: SessionOutline,
  indexes: ReadonlyArray<number>,
  summaries: ReadonlyMap<EventId, EventSummary>
): Effect.fn.Return<ReadonlyMap<number, EventId>, StorageUnavailable> {
  const retried = new Map<number, EventId>()
  for (const index of indexes) {
    const { repeated } = outline.calls[index]!
    const summary = summaries.get(calls[index]!.id)
    if (repeated === undefined || summary === undefined) continue
    const { id } = calls[repeated]!
    const before = summaries.get(id) ?? (yield* summaryOf(storage, project, id))
    if (before !== undefined && isRetry(summary, before)) retried.set(index, id)
  }
  return retried
})

/** Of a call that is not asked for. What is damaged, or was erased meanwhile, says nothing. */
const summaryOf = (storage: Storage["Service"], project: ProjectId, id: EventId) =>
  storage.getEvent(project, id, 0).pipe(
    Effect.map((stored) => (EventReader.damageOfFields(project, stored) === undefined ? stored.summary : undefined)),
    Effect.catchTag("event-not-found", () => Effect.undefined)
  )
