/** How long to wait before the next attempt. */
import * as Retries from "@tachograph/capture/Retries"

/** The longest wait after failures, where it is not said otherwise (ms). */
const longestMs = 30_000

/** A `Retry-After` that asks for a longer wait is taken for a mistake, which must not end the recording (ms). */
const longestRetryAfterMs = 60 * 60 * 1000

/** The wait in ms after `failures` in a row, up to `atMostMs`. Clients that failed together come back at different times. */
export const backoffMs = (failures: number, atMostMs = longestMs): number => Retries.backoffMs(failures, atMostMs)

/** The wait in ms that a `Retry-After` header asks for: seconds, or a date; at most an hour. Undefined where it says neither. */
export const retryAfterMs = (header: string | null, now: number): number | undefined => {
  if (header === null || header.trim() === "") return undefined
  const seconds = Number(header)
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000
  return Number.isNaN(ms) ? undefined : Math.min(longestRetryAfterMs, Math.max(0, ms))
}
