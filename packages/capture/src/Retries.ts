/**
 * When a recorder is asked again that has not recorded a call: one rule for the client and the proxy. Over HTTP, where other things than
 * the recorder may answer, the client goes by the status.
 */

/** Types of errors after which a call is tried until it is recorded: they say nothing against the call itself. */
const transientTypes: ReadonlySet<string> = new Set(["overloaded", "storage-unavailable"])

/** Whether an error of the recorder, by its `type`, will pass by itself. */
export const isTransient = (type: string): boolean => transientTypes.has(type)

/** The type of the error that says that another event has the idempotency key: of two of the same end of a call, the first is recorded. */
export const keyReused = "idempotency-key-reused"

/** How often a call is tried after an error `internal`, which may be the fault of this call alone. */
export const attemptsOfInternalErrors = 3

/** The pause after the first failure (ms). */
const firstMs = 250

/**
 * The pause after this number of failures in a row, from 1 on (ms): 250 doubled each time, at most `longestMs`, of which a random half
 * is left out. `random` is at least 0 and less than 1.
 */
export const backoffMs = (failures: number, longestMs: number, random: number = Math.random()): number => {
  const whole = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20))
  return whole / 2 + (random * whole) / 2
}
