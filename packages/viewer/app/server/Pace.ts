/** How often a page asks again for what it shows, so that looking takes little from recording. */
import { sleep } from "./Retry.ts"

/** A pause is this many times as long as the answer before it took: a busy server is asked less often. */
const pausePerAnswer = 10

const longestMs = 30_000

/** How long to wait after an answer that took `tookMs`: at least `leastMs`. */
export const pauseAfter = (tookMs: number, leastMs: number): number =>
  Math.max(leastMs, Math.min(longestMs, pausePerAnswer * tookMs))

/**
 * Asks again and again, while the page is visible, with a pause before each time: the first after an answer that took `tookMs`. Ends
 * when `ask` answers false, or when `signal` is aborted. `ask` must not reject. `leastMs` is the least pause, or says it before each.
 */
export const askAgain = async (
  leastMs: number | (() => number),
  signal: AbortSignal,
  ask: () => Promise<unknown>,
  tookMs = 0
): Promise<void> => {
  const pauseFor = (tookMs: number) => pauseAfter(tookMs, typeof leastMs === "number" ? leastMs : leastMs())
  let pauseMs = pauseFor(tookMs)
  while (true) {
    await sleep(pauseMs, signal)
    if (signal.aborted) return
    if (document.hidden) continue
    const askedAt = performance.now()
    if ((await ask()) === false) return
    pauseMs = pauseFor(performance.now() - askedAt)
  }
}

/** As `askAgain`, and at once before it, whether the page is visible or not. */
export const askNowAndAgain = async (
  leastMs: number | (() => number),
  signal: AbortSignal,
  ask: () => Promise<unknown>
): Promise<void> => {
  const askedAt = performance.now()
  if ((await ask()) !== false) await askAgain(leastMs, signal, ask, performance.now() - askedAt)
}
