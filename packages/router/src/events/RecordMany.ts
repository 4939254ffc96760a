/** Records many events of one request: some at a time, each with an outcome of its own. One that is refused keeps none from the others. */
import { Errors } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"

/** Events that are recorded at a time. */
const concurrency = 64

/** How often an event that does not fit into the queue is tried again, and how many times. */
const retryEvery = "50 millis"
const maxTries = 1_200

/** What it was recorded as, or the JSON text of the error. */
export type Outcome<A> = { readonly result: A } | { readonly error: string }

/** Waits where the queue is full: the client is not read then. */
export const whenThereIsRoom = <A, E>(
  record: Effect.Effect<A, E | Errors.Overloaded>,
  triesLeft = maxTries
): Effect.Effect<A, E | Errors.Overloaded> =>
  Effect.catchIf(
    record,
    (error) => error instanceof Errors.Overloaded && triesLeft > 0,
    () => Effect.andThen(Effect.sleep(retryEvery), whenThereIsRoom(record, triesLeft - 1))
  )

/** Fails where the storage does, which ends the request. */
export const outcomeOf = <A>(
  recorded: Effect.Effect<A, unknown>
): Effect.Effect<Outcome<A>, Errors.StorageUnavailable> =>
  Effect.matchEffect(recorded, {
    onSuccess: (result) => Effect.succeed({ result }),
    onFailure: (error) => {
      if (error instanceof Errors.StorageUnavailable) return Effect.fail(error)
      const refusal = ErrorAnswer.of(error)
      return refusal === undefined ? Effect.die(error) : Effect.succeed({ error: String(refusal.body) })
    }
  })

/** In the order of the events. */
export const recordMany = <Event, A, E>(
  events: ReadonlyArray<Event>,
  record: (event: Event) => Effect.Effect<A, E>
): Effect.Effect<ReadonlyArray<A>, E> => Effect.forEach(events, record, { concurrency })
