/** The client learns that the storage is out of reach; why it is, only the log does. */
import { Cause, Effect } from "effect"

const isStorageUnavailable = (error: unknown): error is { readonly cause: unknown } =>
  (error as { readonly _tag?: unknown } | null)?._tag === "storage-unavailable"

export const log = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.tapError(effect, (error) =>
    isStorageUnavailable(error)
      ? Effect.logWarning("The storage is out of reach", Cause.fail(error.cause))
      : Effect.void
  )
