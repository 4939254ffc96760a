import { expect, it } from "vitest"
import { pauseAfter } from "../../app/server/Pace.ts"

it.each([
  ["an answer that took no time", 0, 5_000],
  ["one whose pause is the least", 250, 5_000],
  ["one that took longer", 251, 5_020],
  ["one whose pause is the longest", 3_000, 60_000],
  ["one that took longer still", 30_000, 60_000]
])("a pause after %s", (_, tookMs, pauseMs) => {
  expect(pauseAfter(tookMs, 5_000)).toBe(pauseMs)
})
