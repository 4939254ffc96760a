/**
 * The newest events of a project, as they become visible. All who follow the project share it, so the storage is asked the same
 * number of times for one of them and for a hundred. It is asked only while somebody asks the tail.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { Storage } from "../Storage.ts"
import type { StoredSummary } from "../storage/Stored.ts"

/** How often the storage is asked at most (ms): about as late an event is seen. */
const minPauseMs = 50

/** How late an event is seen at most where a look takes long (ms). */
const maxPauseMs = 1_000

/** A pause is this many times as long as the look before it took: so looking takes a twentieth of a processor, however much comes. */
const pausePerLook = 20

/** The pause after a look that took this long (ms). */
export const pauseAfter = (tookMs: number): number => Math.min(maxPauseMs, Math.max(minPauseMs, pausePerLook * tookMs))

/** After a pause of so long nothing is known of what came meanwhile (ms). */
const forgetsAfterMs = 5_000

/** Events that one look takes. With more, it is not known which there were. */
const maxEvents = 1_000

/** Looks whose events are kept, for those who have not asked since. */
const maxLooks = 64

/** What a look found: the events, or undefined if that is not known. */
type EventsOfLook = ReadonlyArray<StoredSummary> | undefined

export interface Look {
  readonly watermark: EventId
  /** The number of the last look that found something. */
  readonly number: number
}

export class Tail {
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #semaphore = Semaphore.makeUnsafe(1)
  #lookedMs = Number.NEGATIVE_INFINITY
  #pauseMs = minPauseMs
  #last: Look | undefined
  /** By the numbers of the looks, of which the last one has `#last.number`. */
  readonly #found: Array<EventsOfLook> = []
  /** The events above the watermark that were found. */
  #seen: ReadonlySet<EventId> = new Set()

  constructor(storage: Storage["Service"], project: ProjectId) {
    this.#storage = storage
    this.#project = project
  }

  /** The time from one look to the next (ms). */
  get pauseMs(): number {
    return this.#pauseMs
  }

  /** The newest look, which is of less than `pauseMs` ago. */
  readonly look: Effect.Effect<Look, StorageUnavailable> = Effect.suspend(() =>
    this.#semaphore.withPermits(1)(
      Effect.suspend(() => {
        const { last, sinceMs } = { last: this.#last, sinceMs: performance.now() - this.#lookedMs }
        return last !== undefined && sinceMs < this.#pauseMs
          ? Effect.succeed(last)
          : this.#lookAgain(sinceMs > forgetsAfterMs)
      })
    )
  )

  /** Whether one of the events that were found after a look may match. */
  hasFound(after: number, isMatch: (summary: EventSummary) => boolean): boolean {
    const looks = (this.#last?.number ?? 0) - after
    if (looks > this.#found.length) return true
    return this.#found
      .slice(this.#found.length - looks)
      .some((found) => found === undefined || found.some(({ summary }) => summary === undefined || isMatch(summary)))
  }

  #lookAgain(isForgotten: boolean): Effect.Effect<Look, StorageUnavailable> {
    const storage = this.#storage
    const project = this.#project
    const list = (after: EventId) => storage.listEvents(project, { order: "asc", after, limit: maxEvents })
    return Effect.gen({ self: this }, function* () {
      const before = this.#last
      const startedMs = performance.now()
      // Before the list: what is visible below it then is all there is.
      const watermark = yield* storage.watermark(project)
      const rows = before === undefined || isForgotten ? undefined : yield* list(before.watermark)
      const isKnown = rows !== undefined && rows.length < maxEvents
      const above = (isKnown ? rows : yield* list(watermark)).filter(({ id }) => id > watermark)
      const found = isKnown ? rows.filter(({ id }) => !this.#seen.has(id)) : undefined
      this.#seen = new Set(above.map(({ id }) => id))
      this.#lookedMs = performance.now()
      this.#pauseMs = pauseAfter(this.#lookedMs - startedMs)
      const isNew = found === undefined || found.length > 0
      if (isNew) this.#found.push(found)
      if (this.#found.length > maxLooks) this.#found.shift()
      return (this.#last = { watermark, number: (before?.number ?? 0) + Number(isNew) })
    })
  }
}
