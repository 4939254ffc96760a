/**
 * What helpers of tests have opened, and close after the test file that used them. They outlive a file, since its worker keeps
 * their modules for the next one, so that a hook of their own would run after the first file only.
 */

type Close = () => unknown

const closes: Array<Close> = []

/** Has a function called after the test file that runs now, the last one first. */
export const afterFile = (close: Close): void => void closes.push(close)

/** Calls each, also if one fails. */
export const closeAll = async (): Promise<void> => {
  const errors: Array<unknown> = []
  for (let close = closes.pop(); close !== undefined; close = closes.pop()) {
    try {
      await close()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "What the tests opened could not be closed")
}
