import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { Backlog, gatherMs } from "../../src/proxy/Backlog.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Call {
  readonly name: number
  readonly bytes: number
  attempts: number
  isAlone: boolean
}

/** A backlog of 4 at once, whose attempts end as the test says. */
const backlogOf = (count: number) => {
  const started: Array<number> = []
  const underWay = new Map<number, (isSettled: boolean) => void>()
  const backlog = new Backlog<Call>(4, 1000, ({ name }, done) => {
    started.push(name)
    underWay.set(name, done)
  })
  for (let name = 0; name < count; name++) backlog.add({ name, bytes: 1, attempts: 0, isAlone: false })
  const end = (isSettled: boolean) => {
    for (const [name, done] of Array.from(underWay)) {
      underWay.delete(name)
      done(isSettled)
    }
  }
  return { backlog, end, started, underWay }
}

describe("the backlog", () => {
  it("attempts several at once, the oldest first, after a moment for others to come", async () => {
    const { backlog, end, started } = backlogOf(3)
    expect(started).toEqual([])
    await vi.advanceTimersByTimeAsync(gatherMs)
    expect(started).toEqual([0, 1, 2])
    for (let name = 3; name < 6; name++) backlog.add({ name, bytes: 1, attempts: 0, isAlone: false })
    end(true)
    expect([started, backlog.size]).toEqual([[0, 1, 2, 3, 4, 5], 3])
    end(true)
    expect(backlog.size).toBe(0)
  })

  it("waits for no others once there are as many as can be recorded at once, or large ones", async () => {
    const { backlog, end, started } = backlogOf(3)
    expect(started).toEqual([])
    backlog.add({ name: 3, bytes: 1, attempts: 0, isAlone: false })
    expect(started).toEqual([0, 1, 2, 3])
    end(true)
    backlog.add({ name: 4, bytes: 998, attempts: 0, isAlone: false })
    backlog.add({ name: 5, bytes: 1, attempts: 0, isAlone: false })
    expect(started).toHaveLength(4)
    backlog.add({ name: 6, bytes: 1, attempts: 0, isAlone: false })
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  it("attempts a call alone that is to be, and goes on with the others after it", () => {
    const { backlog, end, started } = backlogOf(0)
    for (let name = 0; name < 4; name++)
      backlog.add({ name, bytes: name === 3 ? 997 : 1, attempts: 0, isAlone: name === 1 })
    expect(started).toEqual([0])
    end(true)
    expect(started).toEqual([0, 1])
    end(true)
    expect(started).toEqual([0, 1, 2, 3])
    end(true)
    expect(backlog.size).toBe(0)
  })

  it("finds out with one call, after growing pauses, whether the others can go on", async () => {
    const { end, started, underWay } = backlogOf(6)
    await vi.advanceTimersByTimeAsync(gatherMs)
    end(false)
    for (let failures = 1; failures < 6; failures++) {
      expect(underWay.size).toBe(0)
      const wholeMs = Math.min(5_000, 250 * 2 ** (failures - 1))
      await vi.advanceTimersByTimeAsync(wholeMs / 2 - 1)
      expect(underWay.size).toBe(0)
      await vi.advanceTimersByTimeAsync(wholeMs / 2 + 2)
      expect(underWay.size).toBe(1)
      end(false)
    }
    await vi.advanceTimersByTimeAsync(5_000)
    started.length = 0
    end(true)
    expect(started).toHaveLength(4)
  })

  it("lets others go first when a call has failed often", async () => {
    const { end, started, underWay } = backlogOf(5)
    await vi.advanceTimersByTimeAsync(gatherMs)
    const poison = underWay.get(0)!
    underWay.delete(0)
    end(true)
    end(true)
    poison(false)
    for (let n = 0; n < 6; n++) {
      await vi.advanceTimersByTimeAsync(5_000)
      end(false)
    }
    expect(started.filter((name) => name === 0)).toHaveLength(7)
  })

  it("hurries when it closes, and says what it leaves", async () => {
    const { backlog, end, underWay } = backlogOf(3)
    await vi.advanceTimersByTimeAsync(gatherMs)
    for (let failures = 0; failures < 4; failures++) {
      end(false)
      await vi.advanceTimersByTimeAsync(5_000)
    }
    end(false)
    let isClosed = false
    const closed = backlog.close().then(() => (isClosed = true))
    expect(underWay.size).toBe(1)
    end(false)
    await vi.advanceTimersByTimeAsync(100)
    end(true)
    await vi.advanceTimersByTimeAsync(100)
    expect(isClosed).toBe(false)
    end(true)
    await closed
    const other = backlogOf(3)
    await vi.advanceTimersByTimeAsync(gatherMs)
    expect(other.backlog.stop()).toEqual({ left: 3, underWay: 3 })
    other.end(false)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(other.underWay.size).toBe(0)
    expect(other.backlog.add({ name: 3, bytes: 1, attempts: 0, isAlone: false })).toBe(false)
    await vi.advanceTimersByTimeAsync(gatherMs)
    expect([other.underWay.size, other.backlog.size]).toEqual([0, 0])
  })
})
