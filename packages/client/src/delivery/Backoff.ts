/** How long to wait before the next attempt. */

const firstMs = 250
const longestMs = 30_000

/** A `Retry-After` that asks for a longer wait is taken for a mistake, which must not end the recording (ms). */
const longestRetryAfterMs = 60 * 60 * 1000

/**
 * The wait in ms after `failures` in a row: 250 ms, doubled with each of them, up to `atMostMs`. A random part of up to a half is
 * taken off, so that clients which failed together come back at different times.
 */
export const backoffMs = (failures: number, atMostMs = longestMs): number => {
  const whole = Math.min(atMostMs, firstMs * 2 ** Math.min(failures - 1, 20))
  return whole / 2 + (Math.random() * whole) / 2
}

/** The wait in ms that a `Retry-After` header asks for: seconds, or a date; at most an hour. Undefined where it says neither. */
export const retryAfterMs = (header: string | null, now: number): number | undefined => {
  if (header === null || header.trim() === "") return undefined
  const seconds = Number(header)
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000
  return Number.isNaN(ms) ? undefined : Math.min(longestRetryAfterMs, Math.max(0, ms))
}
