/** Pages of lists of events. */
import * as Clock from "effect/Clock"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import * as EventTime from "../domain/EventTime.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as Uuid from "../domain/Uuid.ts"
import type { Storage } from "../Storage.ts"
import type { EventQuery, FieldFilter, ListPage } from "../storage/Lists.ts"
import type { StoredSummary } from "../storage/Stored.ts"

/** Events that a list looks at for one page, where it is filtered by fields of which there is no index. */
const maxLookedEvents = 10_000

/** Events that are older, by their ids, are settled for a list (ms): it does not wait for a transaction that is held for longer. */
const maxHeldMs = 10_000

/** Events that are further ahead of this server's clock (ms) are not of servers that record now. */
const maxAheadMs = 10_000

/** How often a page is read again that would end above the watermark, which mostly reaches it within a second, and the pause (ms). */
const maxLooks = 30
const pauseMs = 50

/** At this time or later, and before this time. */
export interface Period {
  readonly from?: DateTime.Utc | undefined
  readonly to?: DateTime.Utc | undefined
}

/** Which events. The period is that of their calls. */
export interface EventFilterQuery extends Pick<EventQuery, "session" | "agent" | "agentVersion" | "person">, Period {
  readonly fields?: FieldFilter | undefined
  /** Received at this time or later, and received before this time: by the times in the ids. */
  readonly receivedFrom?: DateTime.Utc | undefined
  readonly receivedTo?: DateTime.Utc | undefined
}

export interface EventListQuery
  extends EventFilterQuery, Pick<EventQuery, "order" | "after" | "above" | "below" | "limit"> {}

/** What is visible of a page. Events that commit late may appear before its end afterwards. */
export const visible = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  { fields = {}, ...filter }: EventListQuery
): Effect.fn.Return<ListPage<StoredSummary, EventId>, StorageUnavailable> {
  const { after, limit, order } = filter
  const query = { ...within(filter), after, limit, order }
  const isFound = Object.values(fields).some((value) => value !== undefined)
  if (isFound) return yield* storage.findEvents(project, query, fields, maxLookedEvents)
  // One more event than a page has shows whether there is a next page.
  const found = yield* storage.listEvents(project, { ...query, limit: query.limit + 1 })
  const rows = found.slice(0, query.limit)
  return { rows, next: found.length > query.limit ? rows.at(-1)?.id : undefined }
})

/**
 * The same, but a page in ascending order that is not the last one ends at the watermark at the latest: what commits late is on the
 * pages after it. It waits for the watermark; while a transaction is held it has few events, or none.
 */
export const settled = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  query: EventListQuery
): Effect.fn.Return<ListPage<StoredSummary, EventId>, StorageUnavailable> {
  const page = yield* visible(storage, project, query)
  const now = yield* Clock.currentTimeMillis
  const earliest = EventTime.firstIdOf(Math.max(0, now - maxHeldMs))
  const isRecent = (id: EventId) => id > earliest && id < EventTime.firstIdOf(now + maxAheadMs)
  if (query.order === "desc" || page.next === undefined || !isRecent(page.next)) return page
  for (let looks = 1; ; looks++) {
    // Read before the page: everything up to it is visible to the page then.
    const watermark = yield* storage.watermark(project)
    const end = watermark > earliest ? watermark : earliest
    const { next, rows } = yield* visible(storage, project, query)
    if (next === undefined || next <= end) return { rows, next }
    if (looks === maxLooks) {
      const { after = EventTime.lowestId } = query
      return { rows: rows.filter(({ id }) => id <= end), next: end > after ? end : after }
    }
    yield* Effect.sleep(pauseMs)
  }
})

/** What a storage is asked for, but for the fields and the place. */
export const boundsOf = ({
  agent,
  agentVersion,
  from,
  person,
  receivedFrom,
  receivedTo,
  session,
  to
}: EventFilterQuery) => ({
  agent,
  agentVersion,
  person,
  session,
  ...callsBetween(from, to),
  ...idsBetween(receivedFrom, receivedTo)
})

/** The same with bounds of ids. */
export const within = ({ above, below, ...filter }: EventFilterQuery & Pick<EventQuery, "above" | "below">) => {
  const bounds = boundsOf(filter)
  return { ...bounds, above: highest(above, bounds.above), below: lowest(below, bounds.below) }
}

/** The calls of a time. */
export const callsBetween = (from: DateTime.Utc | undefined, to: DateTime.Utc | undefined) => ({
  fromMs: from?.epochMilliseconds,
  toMs: to?.epochMilliseconds
})

/** The ids of what was received at a time. */
export const idsBetween = (from: DateTime.Utc | undefined, to: DateTime.Utc | undefined) => ({
  ...(from && { above: lastIdBefore(from) }),
  ...(to && { below: firstIdOf(to) })
})

/** Of two bounds the one that leaves fewer ids. */
const highest = (one: EventId | undefined, other: EventId | undefined) =>
  one === undefined || (other !== undefined && other > one) ? other : one
const lowest = (one: EventId | undefined, other: EventId | undefined) =>
  one === undefined || (other !== undefined && other < one) ? other : one

const firstIdOf = (time: DateTime.Utc): EventId => EventTime.firstIdOf(Math.max(0, time.epochMilliseconds))

const lastIdBefore = (time: DateTime.Utc): EventId => Uuid.previous(firstIdOf(time))
