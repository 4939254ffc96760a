/** Why something failed, as a text. */

/** With the cause of a cause: `fetch` says only that it failed. */
export const inWords = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  const words = cause.message || cause.name
  return cause.cause instanceof Error ? `${words}: ${inWords(cause.cause)}` : words
}
