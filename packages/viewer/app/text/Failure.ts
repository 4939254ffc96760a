/** How a call failed, as people read it. */
import type { EventSummary } from "../server/Types.ts"

type Failed = Pick<EventSummary, "error_code" | "error_status" | "error_type" | "http_status">

/** From here on a status of HTTP is an error's. */
const firstErrorStatus = 400

const meanings: Readonly<Record<number, string>> = {
  400: "the request is not as the provider wants it",
  401: "the key was not accepted",
  402: "not paid for",
  403: "not allowed",
  404: "not found",
  408: "it took too long",
  413: "the request is too large",
  422: "the request is not as the provider wants it",
  429: "too many requests, or too much used",
  499: "the application ended the call",
  500: "the provider failed",
  502: "the provider could not be reached",
  503: "the provider is not available",
  504: "the provider took too long",
  529: "the provider is overloaded"
}

/** What a status of HTTP says of a failure; empty where it says nothing more. */
export const meaningOf = (status: number | null): string => (status === null ? "" : (meanings[status] ?? ""))

/** What the error names, else that of the response. */
export const statusOf = ({ error_status, http_status }: Failed): number | null =>
  error_status ?? (http_status !== null && http_status >= firstErrorStatus ? http_status : null)

/** `404 invalid_request_error, model_not_found`: what the type says is not said again. */
export const kindOf = (status: number | null, type: string, code: string | null): string => {
  const isSaid = status === null || type === String(status) || type === `http_${status}`
  return `${isSaid ? "" : `${status} `}${type}${code === null || code === type ? "" : `, ${code}`}`
}

export const ofCall = (call: Failed): string => kindOf(statusOf(call), call.error_type ?? "", call.error_code)
