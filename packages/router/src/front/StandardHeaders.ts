/** The headers that every answer has, and those that follow from its status. */
import * as Answer from "../response/Answer.ts"

/** Seconds until a retry, with jitter so that clients do not all return at once. */
const retryAfter = (): string => String(1 + Math.floor(3 * Math.random()))

/** `path` is below the base path; undefined if the request's path is not below it. */
export const addStandardHeaders = <A extends Answer.Answer>(
  answer: A,
  requestId: string,
  path: string | undefined
): A => {
  const headers: Record<string, string> = {
    ...answer.headers,
    "x-request-id": requestId,
    "x-content-type-options": "nosniff"
  }
  // A 304 has the headers of the answer that it stands for, and no body (RFC 9110, section 15.4.5).
  if (answer.status !== 204 && answer.status !== 304 && answer.stream === undefined)
    headers["content-length"] = String(Answer.byteLength(answer.body))
  if (path?.startsWith("/api/")) headers["cache-control"] = "no-store"
  if (answer.status === 401) headers["www-authenticate"] = "Bearer"
  if (answer.status === 503) headers["retry-after"] = retryAfter()
  return { ...answer, headers }
}
