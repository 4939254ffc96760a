/** How long to wait before the next attempt. */

const firstMs = 250
const longestMs = 30_000

/** Of `failures` in a row: 250 ms doubled each time, at most 30 s, of which a random half is left out. */
export const backoffMs = (failures: number): number => {
  const whole = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20))
  return whole / 2 + (Math.random() * whole) / 2
}

/** The wait in ms that a `Retry-After` header asks for: seconds, or a date. Undefined where it says neither. */
export const retryAfterMs = (header: string | null, now: number): number | undefined => {
  if (header === null || header.trim() === "") return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
