/** Functions of the application. */

/** What one throws, or its promise rejects with, is dropped: recording goes on, and so does the application. */
export const run = (callback: () => unknown): void => {
  try {
    const answer = callback()
    if (answer instanceof Promise) answer.catch(() => {})
  } catch {}
}
