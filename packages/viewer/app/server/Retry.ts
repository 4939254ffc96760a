/** When to ask again after an answer that is an error. */
import type { ServerError } from "./Client.ts"

/** The first pause and the longest (ms). */
const firstMs = 1_000
const longestMs = 30_000

/** How long to wait before the try after `failures` failures in a row (ms): twice as long each time, and not before the server wants it. */
export const pauseAfter = (failures: number, error: ServerError): number =>
  Math.max(Math.min(longestMs, firstMs * 2 ** (failures - 1)), (error.notBefore ?? 0) - Date.now())

/** Resolves after this time, or when `signal` is aborted. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener("abort", done)
  })
