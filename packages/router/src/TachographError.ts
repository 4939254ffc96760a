/** What the promises of the router reject with, to be told apart by `type`. */
import type { ErrorDetail } from "@tachograph/api"
import { Cause } from "effect"

/** As on the wire, where `docs/errors.md` says when each comes; `validation-error` is the one that has a `detail` there. */
export type TachographErrorType =
  | "agent-not-found"
  | "agent-version-not-found"
  | "event-not-found"
  | "fingerprint-not-found"
  | "idempotency-key-reused"
  | "internal"
  | "overloaded"
  | "person-not-found"
  | "session-id-empty"
  | "storage-unavailable"
  | "validation-error"

export class TachographError extends Error {
  override readonly name = "TachographError"
  readonly type: TachographErrorType
  /** All that is wrong with what was given; empty for every other `type`. */
  readonly detail: ReadonlyArray<ErrorDetail>

  constructor(type: TachographErrorType, options?: { readonly detail?: ReadonlyArray<ErrorDetail>; cause?: unknown }) {
    const detail = options?.detail ?? []
    super([type, ...detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`)].join("\n"), options)
    this.type = type
    this.detail = detail
  }
}

/** A failure that was expected. */
export interface Failure {
  readonly _tag: TachographErrorType
  readonly detail?: ReadonlyArray<ErrorDetail>
  readonly cause?: unknown
}

/** What was expected goes by its own name; whatever else happened is `internal`. */
export const fromCause = <E>(cause: Cause.Cause<E | Failure>): TachographError => {
  const failed = cause.reasons.find((reason) => reason._tag === "Fail")
  if (failed === undefined) return new TachographError("internal", { cause: Cause.squash(cause) })
  const { _tag: type, ...options } = failed.error as Failure
  return new TachographError(type, options)
}

/** What kept the storage from opening. What was thrown is somebody's fault, and stays what it is. */
export const ofOpening = (cause: Cause.Cause<unknown>): unknown => {
  const failed = cause.reasons.find((reason) => reason._tag === "Fail")
  if (failed === undefined) return Cause.squash(cause)
  const error = new TachographError("storage-unavailable", { cause: failed.error })
  error.message += `: ${failed.error instanceof Error ? failed.error.message : String(failed.error)}`
  return error
}

/** From the body of an answer that is an error. */
export const fromBody = (body: unknown): TachographError => {
  const { detail, type } = body as { readonly type?: TachographErrorType; readonly detail?: ReadonlyArray<ErrorDetail> }
  return detail === undefined
    ? new TachographError(type ?? "internal")
    : new TachographError("validation-error", { detail })
}
