import { describe, expect, it } from "vitest"
import { QueueWait } from "../../src/record/QueueWait.ts"

const waitMs = 800

/** A wait budget of 8 ticks of 100 ms, and a clock that moves by hand. */
const start = () => {
  let nowMs = 0
  const wait = new QueueWait(waitMs, () => nowMs)
  return {
    wait,
    advanceMs: (ms: number) => (nowMs += ms),
    ticks: (n: number) => Array.from({ length: n }).forEach(() => wait.advance())
  }
}

describe("QueueWait", () => {
  it("expires an event after 8 ticks, and calls it overdue after 6", () => {
    const { ticks, wait } = start()
    const tick = wait.tickOf()
    ticks(5)
    expect([wait.isOverdue(tick), wait.isExpired(tick)]).toEqual([false, false])
    ticks(1)
    expect([wait.isOverdue(tick), wait.isExpired(tick)]).toEqual([true, false])
    ticks(1)
    expect(wait.isExpired(tick)).toBe(false)
    ticks(1)
    expect(wait.isExpired(tick)).toBe(true)
  })

  it("counts the time from the arrival of the body to the queue", () => {
    const { advanceMs, ticks, wait } = start()
    advanceMs(500)
    const tick = wait.tickOf(100)
    ticks(3)
    expect(wait.isExpired(tick)).toBe(false)
    ticks(1)
    expect(wait.isExpired(tick)).toBe(true)
  })

  it("does not expire events while no tick passes, however late the clock is", () => {
    const { advanceMs, wait } = start()
    const tick = wait.tickOf()
    advanceMs(3_600_000)
    expect(wait.isExpired(tick)).toBe(false)
  })

  it("knows no budget before the first sample of 32 events", () => {
    const { wait } = start()
    expect(wait.eventsInBudget).toBe(Infinity)
    wait.sampleThroughput(31, 1, 1)
    expect(wait.eventsInBudget).toBe(Infinity)
    wait.sampleThroughput(32, 1, 1)
    expect(wait.eventsInBudget).toBeLessThan(32)
  })

  it("knows how many events are committed in three quarters of the wait budget", () => {
    const { wait } = start()
    // 200 events a second in each of 2 batches: 240 in 0.6 s.
    wait.sampleThroughput(200, 1, 2)
    expect(wait.eventsInBudget).toBeCloseTo(240)
  })

  it("gives a new sample a fifth of the weight, and forgets samples after 5 s", () => {
    const { advanceMs, wait } = start()
    wait.sampleThroughput(100, 1, 1)
    wait.sampleThroughput(600, 1, 1)
    // 0.8 × 100 + 0.2 × 600 = 200 a second: 120 in 0.6 s.
    expect(wait.eventsInBudget).toBeCloseTo(120)
    advanceMs(5_000)
    expect(wait.eventsInBudget).toBe(Infinity)
    wait.sampleThroughput(1_000, 1, 1)
    expect(wait.eventsInBudget).toBeCloseTo(600)
  })
})
