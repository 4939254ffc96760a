/** What an event says of its call beside the payload. */
import type { Envelope } from "./Event.ts"

const rounded = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.round(ms * 10) / 10

const timeOf = (occurredAt: Date): string => {
  // Another realm, such as that of a test, has a class of its own.
  if (typeof occurredAt?.getTime !== "function" || Number.isNaN(occurredAt.getTime())) {
    throw new TypeError("occurredAt: expected a Date")
  }
  return occurredAt.toISOString()
}

/** The times of a call in ms, and its status. Throws where `occurredAt` is no time. */
export const envelopeOf = (
  occurredAt: Date,
  durationMs: number | undefined,
  firstTokenMs: number | undefined,
  httpStatus: number | undefined
): Partial<Envelope> => ({
  occurred_at: timeOf(occurredAt),
  duration_ms: rounded(durationMs),
  first_token_ms: rounded(firstTokenMs),
  http_status: httpStatus
})
