/**
 * The one encoder of errors. An expected error has its `type` and status on its class (core, `domain/Errors`; api,
 * `Errors`); anything else is logged, and answered 500 with nothing but the id of the request.
 */
import type { ErrorDetail, ValidationFailure } from "@tachograph/api"
import { Cause, Effect } from "effect"
import * as Answer from "./Answer.ts"
import * as OutageLog from "./OutageLog.ts"

/** An instance of a class of `Schema.TaggedError` that carries its status. */
interface ExpectedError {
  readonly _tag: string
  readonly constructor: { readonly ast?: { readonly annotations?: { readonly httpApiStatus?: number } } }
}

const statusOf = (error: unknown): number | undefined =>
  (error as ExpectedError | null | undefined)?.constructor?.ast?.annotations?.httpApiStatus

const isValidationFailure = (error: unknown): error is ValidationFailure =>
  (error as ExpectedError | null | undefined)?._tag === "validation-error"

const validation = (detail: ReadonlyArray<ErrorDetail>): Answer.Answer => ({
  ...Answer.json(JSON.stringify({ detail })),
  status: 422,
  refusal: { type: "validation-error", detail }
})

/** The answer to an expected error; undefined for any other. */
export const of = (error: unknown): Answer.Answer | undefined => {
  if (isValidationFailure(error)) return validation(error.detail)
  const status = statusOf(error)
  return status === undefined ? undefined : Answer.refuse(status, (error as ExpectedError)._tag)
}

const internal = (requestId: string): Answer.Answer => Answer.refuse(500, "internal", {}, { id: requestId })

/** Answers every failure. An interruption stays one: the client has gone, or the server ends. */
export const make = (): (<E>(
  effect: Effect.Effect<Answer.Answer, E>,
  requestId: string
) => Effect.Effect<Answer.Answer>) => {
  const logOutage = OutageLog.make()
  return (effect, requestId) =>
    Effect.catchCause(effect, (cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
      const failure = cause.reasons.find((reason) => reason._tag === "Fail")?.error
      const answer = of(failure)
      if (answer === undefined) {
        return Effect.as(Effect.logError("A request failed unexpectedly", cause), internal(requestId))
      }
      return answer.refusal?.type === "storage-unavailable"
        ? Effect.as(logOutage((failure as { readonly cause?: unknown }).cause), answer)
        : Effect.succeed(answer)
    })
}
