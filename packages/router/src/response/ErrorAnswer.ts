/**
 * The one encoder of errors. An expected error has its `type` and status on its class (core, `domain/Errors`; api, `Errors` and
 * `ValidationError`); anything else is logged, and answered 500 with nothing but the id of the request.
 */
import type { ErrorDetail } from "@tachograph/api"
import { Damage, Errors, UnfinishedErasure } from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Answer from "./Answer.ts"
import * as OutageLog from "./OutageLog.ts"

/** An instance of a class of `Schema.TaggedError` that carries its status. */
interface ExpectedError {
  readonly _tag: string
  /** Only in a validation error. */
  readonly detail?: ReadonlyArray<ErrorDetail>
  /** Only for a damaged event. */
  readonly eventId?: string
  /** Only for an unavailable storage. */
  readonly cause?: unknown
  readonly constructor: { readonly ast?: { readonly annotations?: { readonly httpApiStatus?: number } } }
}

/** What to do where trying again does not help. */
const damaged =
  "The database is damaged. Trying again does not help: `tachograph verify` says what is damaged and what to do"

const statusOf = (error: unknown): number | undefined =>
  (error as ExpectedError | null | undefined)?.constructor?.ast?.annotations?.httpApiStatus

/** The answer to an expected error; undefined for any other. */
export const of = (error: unknown): Answer.Answer | undefined => {
  const status = statusOf(error)
  if (status === undefined) return undefined
  const { _tag: type, cause, detail, eventId } = error as ExpectedError
  if (cause instanceof Damage) return Answer.refuse(status, type, {}, { message: damaged })
  if (cause instanceof UnfinishedErasure) return Answer.refuse(status, type, {}, { message: cause.message })
  if (eventId !== undefined) return Answer.refuse(status, type, {}, { event_id: eventId })
  if (detail === undefined) return Answer.refuse(status, type)
  return { ...Answer.json(JSON.stringify({ detail })), status, refusal: { type, detail } }
}

const internal = (requestId: string): Answer.Answer => Answer.refuse(500, "internal", {}, { id: requestId })

/** Where a text cannot be read because of damage, that is a defect to what is not about one event. */
const damageIn = (cause: Cause.Cause<unknown>): Errors.StorageUnavailable | undefined => {
  const damage = cause.reasons.find((reason) => reason._tag === "Die" && reason.defect instanceof Damage)
  return damage && new Errors.StorageUnavailable({ cause: (damage as Cause.Die).defect })
}

/** Answers every failure. An interruption stays one: the client has gone, or the server ends. */
export const make = (): (<A, E>(
  effect: Effect.Effect<A, E>,
  requestId: string
) => Effect.Effect<A | Answer.Answer>) => {
  const logOutage = OutageLog.make()
  return (effect, requestId) =>
    Effect.catchCause(effect, (cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
      const failure = cause.reasons.find((reason) => reason._tag === "Fail")?.error ?? damageIn(cause)
      const answer = of(failure)
      if (answer === undefined) {
        return Effect.as(Effect.logError("A request failed unexpectedly", cause), internal(requestId))
      }
      if (answer.refusal?.type !== "storage-unavailable") return Effect.succeed(answer)
      const why = (failure as { readonly cause?: unknown }).cause
      return Effect.as(logOutage(why instanceof UnfinishedErasure ? why.cause : why), answer)
    })
}
