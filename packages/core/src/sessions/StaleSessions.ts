/**
 * Tells the session caches of this process which sessions have changed, so that they drop them.
 *
 * After a sweep the caches hold erased texts. Those of other processes keep them until they evict them, but do not use them: a
 * sweep raises the session's generation.
 *
 * After a read that found damage, an event that is recorded on top of the damaged packs could not be read either. Loaded again,
 * the session is without them. Another process learns of it when it reads the damaged event, or loads the session.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ProjectId } from "../domain/Project.ts"

/** Why a session is stale: texts were erased from it, or some of it cannot be read. */
type Staleness = "erased" | "damaged"

/** `session` is the session's number. */
export type StaleSession = readonly [project: ProjectId, session: number, why: Staleness]

type Listener = (...stale: StaleSession) => void

export class StaleSessions extends Context.Service<
  StaleSessions,
  {
    readonly announce: Listener
    /** Calls the listener until the scope closes. */
    readonly listen: (listener: Listener) => Effect.Effect<void, never, Scope.Scope>
  }
>()("tachograph/core/StaleSessions") {
  static readonly layer: Layer.Layer<StaleSessions> = Layer.sync(StaleSessions, () => {
    const listeners = new Set<Listener>()
    return StaleSessions.of({
      announce: (...stale) => {
        for (const listener of listeners) listener(...stale)
      },
      listen: (listener) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => listeners.add(listener)),
            () => Effect.sync(() => listeners.delete(listener))
          )
        )
    })
  })
}
