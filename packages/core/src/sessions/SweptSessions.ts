/**
 * Tells the session caches of this process which sessions were swept, so that they drop what they hold of erased texts.
 * Caches of other processes keep it until they evict it. They do not use it: a sweep raises the session's generation.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import type { ProjectId } from "../domain/Project.ts"

type Listener = (project: ProjectId, session: number) => void

export class SweptSessions extends Context.Service<
  SweptSessions,
  {
    /** `session` is the session's number. */
    readonly announce: Listener
    /** Calls the listener until the scope closes. */
    readonly listen: (listener: Listener) => Effect.Effect<void, never, Scope.Scope>
  }
>()("tachograph/core/SweptSessions") {
  static readonly layer: Layer.Layer<SweptSessions> = Layer.sync(SweptSessions, () => {
    const listeners = new Set<Listener>()
    return SweptSessions.of({
      announce: (project, session) => {
        for (const listener of listeners) listener(project, session)
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
