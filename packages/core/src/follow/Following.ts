/** Follows the events that a filter finds. */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Overloaded } from "../domain/Errors.ts"
import { CurrentProject } from "../domain/Project.ts"
import type * as DamageLog from "../read/DamageLog.ts"
import * as EventPages from "../read/EventPages.ts"
import type { EventFilterQuery } from "../read/EventPages.ts"
import * as EventReader from "../read/EventReader.ts"
import type { Storage } from "../Storage.ts"
import * as EventMatch from "../storage/EventMatch.ts"
import type { Result } from "../storage/Result.ts"
import * as Follower from "./Follower.ts"
import type { FollowPosition } from "./FollowPosition.ts"

export interface Following {
  /** Where to begin to follow the events that a filter finds, from now on. */
  readonly startFollowing: (query: EventFilterQuery) => Result<FollowPosition>
  /**
   * The events after a position that became visible, each once, whichever process recorded it. Waits until there are some, for
   * at most `maxWaitMs`. Fails with `Overloaded` if too many wait. Leaves out events whose fields are damaged.
   */
  readonly awaitEvents: (
    query: EventFilterQuery,
    from: FollowPosition,
    maxWaitMs: number
  ) => Result<Follower.FollowedEvents, Overloaded>
  /** The same for some minutes; no events now and then. While the storage is out of reach it waits. */
  readonly followEvents: (
    query: EventFilterQuery,
    from: FollowPosition
  ) => Effect.Effect<Stream.Stream<Follower.FollowedEvents>>
}

export const make = (storage: Storage["Service"], logDamage: DamageLog.OnDamage): Following => {
  const follower = Follower.make(storage)

  const followedBy = (filter: EventFilterQuery) =>
    Effect.map(CurrentProject, (project): Follower.Followed => ({
      project,
      list: (after, limit) => EventPages.visible(storage, project, { ...filter, order: "asc", after, limit }),
      isMatch: EventMatch.of(EventPages.boundsOf(filter), filter.fields ?? {}),
      undamaged: (stored) => Effect.catch(EventReader.summaryOf(project, stored, logDamage), () => Effect.undefined)
    }))

  return {
    startFollowing: (query) => Effect.flatMap(followedBy(query), follower.start),
    awaitEvents: (query, from, maxWaitMs) =>
      Effect.flatMap(followedBy(query), (followed) => follower.wait(followed, from, maxWaitMs)),
    followEvents: (query, from) => Effect.map(followedBy(query), (followed) => follower.stream(followed, from))
  }
}
