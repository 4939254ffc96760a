import { afterEach, expect, it, vi } from "vitest"
import { askAgain, askNowAndAgain, pauseAfter } from "../../app/server/Pace.ts"

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it.each([
  ["an answer that took no time", 0, 5_000],
  ["one whose pause is the least", 500, 5_000],
  ["one that took longer", 501, 5_010],
  ["one whose pause is the longest", 3_000, 30_000],
  ["one that took longer still", 30_000, 30_000]
])("a pause after %s", (_, tookMs, pauseMs) => {
  expect(pauseAfter(tookMs, 5_000)).toBe(pauseMs)
})

it("follows the first answer as every other", async () => {
  vi.useFakeTimers()
  vi.stubGlobal("document", { hidden: false })
  const askedAt: Array<number> = []
  const startedAt = performance.now()
  const ask = async () => {
    askedAt.push(performance.now() - startedAt)
    await new Promise((resolve) => setTimeout(resolve, 700))
  }
  const aborter = new AbortController()
  void askNowAndAgain(5_000, aborter.signal, ask)
  await vi.advanceTimersByTimeAsync(30_000)
  aborter.abort()
  expect(askedAt).toEqual([0, 7_700, 15_400, 23_100])
})

it("does not ask while the page is hidden, after an answer that is false, or once it is aborted", async () => {
  vi.useFakeTimers()
  const page = { hidden: true }
  vi.stubGlobal("document", page)
  let asked = 0
  const ask = async () => ++asked < 2
  const aborter = new AbortController()
  void askAgain(5_000, aborter.signal, ask)
  await vi.advanceTimersByTimeAsync(12_000)
  expect(asked).toBe(0)
  page.hidden = false
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toBe(2)
  void askAgain(5_000, aborter.signal, ask)
  await vi.advanceTimersByTimeAsync(4_000)
  aborter.abort()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toBe(2)
})
