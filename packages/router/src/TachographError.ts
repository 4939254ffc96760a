/** The error with which the promises and effects of this package fail. Its `type` tells errors apart. */
import type { ErrorDetail, ValidationFailure } from "@tachograph/api"
import * as Cause from "effect/Cause"
import type { Answer } from "./response/Answer.ts"

/** The types on the wire, which `docs/errors.md` explains; `validation-error` is the one that has a `detail` there. */
export type TachographErrorType =
  | "agent-not-found"
  | "agent-version-not-found"
  | "event-damaged"
  | "event-not-found"
  | "fingerprint-not-found"
  | "idempotency-key-reused"
  | "internal"
  | "overloaded"
  | "payload-too-large"
  | "person-not-found"
  | "session-id-empty"
  | "storage-unavailable"
  | "validation-error"

interface Options {
  readonly detail?: ReadonlyArray<ErrorDetail> | undefined
  readonly requestId?: string | undefined
  readonly cause?: unknown
}

export class TachographError extends Error {
  override readonly name = "TachographError"
  readonly _tag = "TachographError"
  readonly type: TachographErrorType
  /** Everything that is wrong with the input; empty for every other `type`. */
  readonly detail: ReadonlyArray<ErrorDetail>
  /** The `request_id` of the log lines that say more; undefined for a call that did not get that far. */
  readonly requestId: string | undefined

  constructor(type: TachographErrorType, options: Options = {}) {
    const detail = options.detail ?? []
    super([type, ...detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`)].join("\n"), options)
    this.type = type
    this.detail = detail
    this.requestId = options.requestId
  }
}

/** The error that an answer is; undefined for a success. */
export const fromAnswer = ({ headers, refusal }: Answer): TachographError | undefined => {
  if (refusal === undefined) return undefined
  const type = refusal.type as TachographErrorType
  return new TachographError(type, { detail: refusal.detail, requestId: headers["x-request-id"] })
}

export const fromValidation = ({ detail }: ValidationFailure): TachographError =>
  new TachographError("validation-error", { detail })

/** Why the storage did not open. A defect is a bug or a wrong option, and stays what it is. */
export const ofOpening = (cause: Cause.Cause<unknown>): unknown => {
  const failure = cause.reasons.find((reason) => reason._tag === "Fail")
  if (failure === undefined) return Cause.squash(cause)
  const error = new TachographError("storage-unavailable", { cause: failure.error })
  error.message += `: ${failure.error instanceof Error ? failure.error.message : String(failure.error)}`
  return error
}
