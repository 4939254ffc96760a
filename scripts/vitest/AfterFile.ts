/**
 * Closes what test helpers opened, after the file that used it. A worker keeps the modules of the helpers for its next files, so a
 * hook at the top of such a module would run after the first file only.
 */

type Close = () => unknown

/** A close that takes longer has failed (ms). */
const patienceMs = 20_000

let closes: Array<Close> = []

/** Has a function called after the test file that runs now, in reverse order. */
export const afterFile = (close: Close): void => void closes.push(close)

const inTime = async (close: Close): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Closing took longer than ${patienceMs} ms: ${String(close)}`)),
      patienceMs
    )
  })
  try {
    await Promise.race([close(), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Calls all of them, even if some fail, and then fails with all errors. */
export const closeAll = async (): Promise<void> => {
  // What the next file registers is not this one's.
  const own = closes.reverse()
  closes = []
  const errors: Array<unknown> = []
  for (const close of own) await inTime(close).catch((error) => errors.push(error))
  if (errors.length > 0) throw new AggregateError(errors, "What the tests opened could not be closed")
}
