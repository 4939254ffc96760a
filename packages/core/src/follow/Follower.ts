/**
 * Follows the events of a project as they become visible, each once, from every process over one database. What was given is in the
 * position, and nowhere else, so it can be continued by any process.
 *
 * An event above the watermark is given at once, if few are, and named in the position until the watermark has passed it. So no event
 * is missed that commits late, and none is given twice.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Overloaded, type StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import * as EventTime from "../domain/EventTime.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { Storage } from "../Storage.ts"
import type { ListPage } from "../storage/Lists.ts"
import type { StoredSummary } from "../storage/Stored.ts"
import * as FollowPosition from "./FollowPosition.ts"
import { Tail } from "./Tail.ts"

export interface FollowedEvent {
  readonly summary: EventSummary
  /** Where to go on after it. */
  readonly position: FollowPosition.FollowPosition
}

export interface FollowedEvents {
  readonly events: ReadonlyArray<FollowedEvent>
  /** Where to go on. */
  readonly next: FollowPosition.FollowPosition
}

/** What is followed. */
export interface Followed {
  readonly project: ProjectId
  /** A page of the events in ascending order, from those after an id. */
  readonly list: (after: EventId, limit: number) => Effect.Effect<ListPage<StoredSummary, EventId>, StorageUnavailable>
  /** The same events. */
  readonly isMatch: (summary: EventSummary) => boolean
  /** The event; undefined if it is damaged, which is logged. */
  readonly undamaged: (stored: StoredSummary) => Effect.Effect<EventSummary | undefined>
}

/** Events of one answer. */
const maxEvents = 100

/** How many may wait in one process, beside those who are streamed to. */
const maxWaiting = 512

/** How many of them may be of one project, so that others can wait too. */
const maxWaitingOfProject = 256

/** Without a position one follows from the watermark on, but not from longer ago than this (ms) while a transaction is held. */
const maxBackMs = 60_000

/** The pause after the storage was out of reach (ms). */
const pauseMs = 500

/** What is streamed begins with nothing after this time, to show that the connection is alive (ms). */
const heartbeatMs = 15_000

/** A stream ends after this time (ms): a client that goes on with it shows its key again, which may have been revoked. */
const maxStreamMs = 5 * 60_000

interface Step extends FollowedEvents {
  /** Whether there is more to look at, below the watermark or above. */
  readonly isMore: boolean
  /** Whether an event waits for the watermark. */
  readonly isWaiting: boolean
}

/** Goes on after a position, up to a watermark that was read before, and beyond it where an event is visible already. */
const step = Effect.fnUntraced(function* (
  from: FollowPosition.FollowPosition,
  watermark: EventId,
  { list, undamaged }: Followed
): Effect.fn.Return<Step, StorageUnavailable> {
  const { next, rows } = yield* list(from.settled, maxEvents + from.given.length)
  const events: Array<FollowedEvent> = []
  const given = new Set(from.given)
  let position = from
  for (const stored of rows) {
    const { id } = stored
    const isSettled = id <= watermark
    position = FollowPosition.settle(position, isSettled ? id : watermark)
    if (given.has(id)) continue
    if (!isSettled) {
      const after = FollowPosition.give(position, id)
      if (after === undefined) return { events, next: position, isMore: false, isWaiting: true }
      position = after
    }
    const summary = yield* undamaged(stored)
    if (summary !== undefined) events.push({ summary, position })
  }
  const reached = next === undefined || next > watermark ? watermark : next
  return { events, next: FollowPosition.settle(position, reached), isMore: next !== undefined, isWaiting: false }
})

export interface Follower {
  /** Where one begins who has no position: from now on. */
  readonly start: (followed: Followed) => Effect.Effect<FollowPosition.FollowPosition, StorageUnavailable>
  /** The events after a position. Waits until there are some, for at most `maxWaitMs`. */
  readonly wait: (
    followed: Followed,
    from: FollowPosition.FollowPosition,
    maxWaitMs: number
  ) => Effect.Effect<FollowedEvents, StorageUnavailable | Overloaded>
  /** The events after a position, for some minutes. None after `heartbeatMs` without any. While the storage is out of reach it waits. */
  readonly stream: (followed: Followed, from: FollowPosition.FollowPosition) => Stream.Stream<FollowedEvents>
}

export const make = (storage: Storage["Service"]): Follower => {
  const tails = new Map<ProjectId, Tail>()
  const waiting = new Map<ProjectId, number>()
  let allWaiting = 0

  /** Adds to those who wait. */
  const count = (project: ProjectId, added: 1 | -1) => {
    const ofProject = (waiting.get(project) ?? 0) + added
    if (ofProject === 0) waiting.delete(project)
    else waiting.set(project, ofProject)
    allWaiting += added
  }

  const tailOf = (project: ProjectId): Tail => {
    let tail = tails.get(project)
    if (tail === undefined) tails.set(project, (tail = new Tail(storage, project)))
    return tail
  }

  const start = Effect.fn("Follower.start")(function* ({ list, project }: Followed) {
    const { watermark } = yield* tailOf(project).look
    const earliest = EventTime.firstIdOf(Math.max(0, (yield* Clock.currentTimeMillis) - maxBackMs))
    const settled = watermark > earliest ? watermark : earliest
    const { rows } = yield* list(settled, FollowPosition.maxGiven)
    return { settled, given: rows.map(({ id }) => id) }
  })

  const next = Effect.fnUntraced(function* (
    followed: Followed,
    from: FollowPosition.FollowPosition,
    maxWaitMs: number
  ) {
    const tail = tailOf(followed.project)
    const endMs = performance.now() + maxWaitMs
    let look = yield* tail.look
    let position = from
    let isDue = true
    let isWaiting = false
    for (;;) {
      let isMore = false
      if (isDue) {
        const found = yield* step(position, look.watermark, followed)
        position = found.next
        if (found.events.length > 0) return { events: found.events, next: position }
        isMore = found.isMore
        isWaiting = found.isWaiting
      } else {
        // The tail has found everything up to the watermark, and nothing that matches.
        position = FollowPosition.settle(position, look.watermark)
      }
      const leftMs = endMs - performance.now()
      if (leftMs <= 0) return { events: [], next: position }
      if (isMore) continue
      yield* Effect.sleep(Math.min(tail.pauseMs, leftMs))
      const { number } = look
      look = yield* tail.look
      isDue = isWaiting || tail.hasFound(number, followed.isMatch)
    }
  })

  const wait = Effect.fn("Follower.wait")(function* (
    followed: Followed,
    from: FollowPosition.FollowPosition,
    maxWaitMs: number
  ) {
    const { project } = followed
    if (allWaiting >= maxWaiting || (waiting.get(project) ?? 0) >= maxWaitingOfProject) return yield* new Overloaded()
    count(project, 1)
    return yield* Effect.ensuring(
      next(followed, from, maxWaitMs),
      Effect.sync(() => count(project, -1))
    )
  })

  const stream = (followed: Followed, from: FollowPosition.FollowPosition) => {
    const endMs = performance.now() + maxStreamMs
    const advance = Effect.fnUntraced(function* (position: FollowPosition.FollowPosition) {
      const heartbeatAtMs = performance.now() + heartbeatMs
      for (;;) {
        const leftMs = Math.max(0, heartbeatAtMs - performance.now())
        const found = yield* Effect.catch(next(followed, position, leftMs), () =>
          Effect.as(Effect.sleep(pauseMs), undefined)
        )
        if (found !== undefined) return found
        if (leftMs === 0) return { events: [], next: position }
      }
    })
    return Stream.unfold(from, (position) =>
      performance.now() >= endMs
        ? Effect.undefined
        : Effect.map(advance(position), (found) => [found, found.next] as const)
    )
  }

  return { start, wait, stream }
}
