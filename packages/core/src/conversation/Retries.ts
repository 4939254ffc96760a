/** Finds the calls that are retries: of each, what it asked again is in the outline, and whether that had failed in the fields of the event. */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as EventReader from "../read/EventReader.ts"
import type { Storage } from "../Storage.ts"
import type { SessionOutline } from "./SessionOutline.ts"

/** Of the calls that come after one that failed, those among which its retry is looked for: mostly it is the next one. */
export const maxBetween = 16

/** Times of calls are known to the millisecond. */
const toleranceMs = 1

/** Of the pause before a retry. Limits of a rate ask for an hour at most; what comes later is work that is done anew. */
const maxPauseMs = 3_600_000

/**
 * The time from the failure of a call to the beginning of another one (ms), at least, as far as it is proven: by the clock of their client,
 * or else by that of the server, which records a call when it has ended.
 */
const pauseMs = (before: EventSummary, call: EventSummary): number | undefined => {
  if (before.occurredAt !== null && call.occurredAt !== null) {
    if (before.durationMs === null) return undefined
    return call.occurredAt.epochMilliseconds - before.occurredAt.epochMilliseconds - before.durationMs
  }
  if (call.durationMs === null) return undefined
  return call.receivedAt.epochMilliseconds - call.durationMs - before.receivedAt.epochMilliseconds
}

/** Whether a call that asked the same as one before it began when that had failed. */
const isRetry = (call: EventSummary, before: EventSummary): boolean => {
  // Some formats have the model beside the request.
  if (before.errorType === null || before.model !== call.model) return false
  if (before.agent !== call.agent || before.agentVersion !== call.agentVersion) return false
  if (before.person !== call.person) return false
  const pause = pauseMs(before, call)
  return pause !== undefined && pause >= -toleranceMs && pause <= maxPauseMs
}

interface Retries {
  /** By the indexes of calls that are retries, the calls that failed before them. */
  readonly of: ReadonlyMap<number, EventId>
  /** By the indexes of calls that failed, the calls that tried them again. */
  readonly by: ReadonlyMap<number, EventId>
}

/** `indexes` are those of the calls that are asked for, and `summaries` theirs. */
export const find = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  { calls, outline }: SessionOutline,
  indexes: ReadonlyArray<number>,
  summaries: ReadonlyMap<EventId, EventSummary>
): Effect.fn.Return<Retries, StorageUnavailable> {
  const [of, by] = [new Map<number, EventId>(), new Map<number, EventId>()]
  const summaryAt = (index: number) => {
    const { id } = calls[index]!
    const known = summaries.get(id)
    return known === undefined ? summaryOf(storage, project, id) : Effect.succeed(known)
  }
  for (const index of indexes) {
    const summary = summaries.get(calls[index]!.id)
    if (summary === undefined) continue
    const { repeated } = outline.calls[index]!
    const before = repeated === undefined ? undefined : yield* summaryAt(repeated)
    if (before !== undefined && isRetry(summary, before)) of.set(index, before.id)
    if (summary.errorType === null) continue
    for (let later = index + 1; later < calls.length && later <= index + maxBetween; later++) {
      const retry = outline.calls[later]!.repeated === index ? yield* summaryAt(later) : undefined
      if (retry === undefined || !isRetry(retry, summary)) continue
      by.set(index, retry.id)
      break
    }
  }
  return { of, by }
})

/** Of a call that is not asked for. What is damaged, or was erased meanwhile, says nothing. */
const summaryOf = (storage: Storage["Service"], project: ProjectId, id: EventId) =>
  storage.getEvent(project, id, 0).pipe(
    Effect.map((stored) => (EventReader.damageOfFields(project, stored) === undefined ? stored.summary : undefined)),
    Effect.catchTag("event-not-found", () => Effect.undefined)
  )
