/** Functions of the application. */

/** What one throws, or its promise rejects with, goes to `onError` alone: recording goes on, and so does the application. */
export const run = (callback: () => unknown, onError: (cause: unknown) => void = () => {}): void => {
  try {
    const answer = callback()
    if (answer instanceof Promise) answer.catch(onError)
  } catch (cause) {
    onError(cause)
  }
}
