import { EventTime } from "@tachograph/core"
import { expect, it } from "vitest"
import { SettledTime } from "../../src/read/Watermark.ts"

/** The time that a watermark says is settled (ms), without the allowance. */
const settledMs = (settled: SettledTime) => EventTime.of(settled.watermark) + 1_000

it("is settled when all transactions have ended that were under way", () => {
  const settled = new SettledTime()
  expect(settled.observe({ atMs: 10_000, transactions: [] })).toBe(true)
  expect(settled.observe({ atMs: 20_000, transactions: ["7/203", "8/5"] })).toBe(false)
  expect(settled.observe({ atMs: 21_000, transactions: ["8/5", "7/204"] })).toBe(false)
  expect(settledMs(settled)).toBe(10_000)
  settled.observe({ atMs: 22_000, transactions: ["7/204"] })
  expect(settledMs(settled)).toBe(20_000)
})

it("waits for a transaction that Citus commits on the other nodes", () => {
  const settled = new SettledTime()
  settled.observe({ atMs: 10_000, transactions: [] })
  settled.observe({ atMs: 20_000, transactions: ["7/203"] })
  settled.observe({ atMs: 21_000, transactions: ["7/0"] })
  expect(settledMs(settled)).toBe(10_000)
  settled.observe({ atMs: 22_000, transactions: ["7/204"] })
  expect(settledMs(settled)).toBe(21_000)
})
