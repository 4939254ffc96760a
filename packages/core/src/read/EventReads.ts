/** Reads events, whole and in lists, the long texts that they share, and steps. */
import * as Effect from "effect/Effect"
import {
  type EventDamaged,
  type EventNotFound,
  Overloaded,
  type SharedTextDamaged,
  type SharedTextNotFound
} from "../domain/Errors.ts"
import type { Event, EventId, EventSummary } from "../domain/Event.ts"
import { CurrentProject } from "../domain/Project.ts"
import type { Sha256 } from "../domain/Sha256.ts"
import type { Damage } from "../payload/format/Damage.ts"
import { StaleSessions } from "../sessions/StaleSessions.ts"
import type { Storage } from "../Storage.ts"
import type { Result } from "../storage/Result.ts"
import type * as DamageLog from "./DamageLog.ts"
import * as EventPages from "./EventPages.ts"
import * as EventReader from "./EventReader.ts"
import { CollectGarbage, LargeReads } from "./LargeReads.ts"
import * as SharedTextReader from "./SharedTextReader.ts"
import * as StepReads from "./StepReads.ts"
import { UnpackedCache } from "./UnpackedCache.ts"

export interface EventPage {
  readonly events: ReadonlyArray<EventSummary>
  /** The event after which the next page starts, which may be none of this page; undefined on the last page. */
  readonly next: EventId | undefined
}

export interface EventReads extends StepReads.StepReads {
  /**
   * `reserve` is called with the size of the payload (bytes) before it is read. If it succeeds with false, the read fails with
   * `Overloaded`.
   */
  readonly getEvent: (
    id: EventId,
    reserve?: (payloadBytes: number) => Effect.Effect<boolean>
  ) => Result<Event, EventNotFound | EventDamaged | Overloaded>
  /** A long text that events of the project share, as it was sent. `reserve` as of `getEvent`. */
  readonly getSharedText: (
    name: Sha256,
    reserve?: (bytes: number) => Effect.Effect<boolean>
  ) => Result<Buffer, SharedTextNotFound | SharedTextDamaged | Overloaded>
  /** Fails with `EventDamaged` if the fields of an event are damaged. The page after it can be read. */
  readonly listEvents: (query: EventPages.EventListQuery) => Result<EventPage, EventDamaged>
}

export const make = Effect.fnUntraced(function* (storage: Storage["Service"], logDamage: DamageLog.OnDamage) {
  const staleSessions = yield* StaleSessions
  const largeReads = new LargeReads(yield* CollectGarbage)
  const unpacked = new UnpackedCache()
  yield* staleSessions.listen((_project, _session, why) => {
    // A client may ask for a damaged event all the time.
    if (why !== "damaged") unpacked.clear()
  })

  const getEvent = Effect.fn("Recorder.getEvent")(function* (
    id: EventId,
    reserve?: (payloadBytes: number) => Effect.Effect<boolean>
  ) {
    const project = yield* CurrentProject
    const admit = Effect.fnUntraced(function* ({ inputsBytes, outputBytes }: EventSummary) {
      const bytes = inputsBytes + outputBytes
      if (reserve !== undefined && !(yield* reserve(bytes))) return yield* new Overloaded()
      largeReads.before(bytes)
    })
    const onDamage = (damage: Damage, session: number) => {
      staleSessions.announce(project, session, "damaged")
      return logDamage(id, damage)
    }
    return yield* EventReader.read(storage, project, id, { admit, cache: unpacked, onDamage })
  })

  const getSharedText = Effect.fn("Recorder.getSharedText")(function* (
    name: Sha256,
    reserve?: (bytes: number) => Effect.Effect<boolean>
  ) {
    const admit = Effect.fnUntraced(function* (bytes: number) {
      if (reserve !== undefined && !(yield* reserve(bytes))) return yield* new Overloaded()
      largeReads.before(bytes)
    })
    return yield* SharedTextReader.read(storage, yield* CurrentProject, name, admit)
  })

  const listEvents = Effect.fn("Recorder.listEvents")(function* (query: EventPages.EventListQuery) {
    const project = yield* CurrentProject
    const { next, rows } = yield* EventPages.settled(storage, project, query)
    return { events: yield* Effect.forEach(rows, (stored) => EventReader.summaryOf(project, stored, logDamage)), next }
  })

  const reads: EventReads = { getEvent, getSharedText, listEvents, ...StepReads.make(storage, unpacked) }
  return reads
})
