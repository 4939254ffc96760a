/** The client learns that the storage is out of reach; why it is, only the log does. */
import { Cause, Clock, Effect } from "effect"

const isStorageUnavailable = (error: unknown): error is { readonly cause: unknown } =>
  (error as { readonly _tag?: unknown } | null)?._tag === "storage-unavailable"

/** While the storage is away every request fails for the same reason: it is said so often at most, in milliseconds. */
const sayEvery = 1_000

let saidAt = Number.NEGATIVE_INFINITY
let unsaid = 0

const say = (cause: unknown) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (now >= saidAt && now - saidAt < sayEvery) {
      unsaid++
      return Effect.void
    }
    const before = unsaid
    saidAt = now
    unsaid = 0
    return Effect.logWarning("The storage is out of reach", Cause.fail(cause)).pipe(
      Effect.annotateLogs("failures_not_logged", before)
    )
  })

export const log = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.tapError(effect, (error) => (isStorageUnavailable(error) ? say(error.cause) : Effect.void))
