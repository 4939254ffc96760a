/** The headers that every answer has, and those that follow from its status. */
import type { Answer } from "../response/Answer.ts"

/** Seconds until a retry, with jitter so that clients do not all return at once. */
const retryAfter = (): string => String(1 + Math.floor(3 * Math.random()))

/** No cache may keep the answer. */
export const noStore = { "cache-control": "no-store" } as const

/** `isData` is true for the paths below `/api/`. */
export const addStandardHeaders = (answer: Answer, requestId: string, isData: boolean): Answer => {
  const headers: Record<string, string> = {
    ...answer.headers,
    "x-request-id": requestId,
    "x-content-type-options": "nosniff"
  }
  if (answer.status !== 204) headers["content-length"] = String(Buffer.byteLength(answer.body))
  if (isData) Object.assign(headers, noStore)
  if (answer.status === 401) headers["www-authenticate"] = "Bearer"
  if (answer.status === 503) headers["retry-after"] = retryAfter()
  return { ...answer, headers }
}
