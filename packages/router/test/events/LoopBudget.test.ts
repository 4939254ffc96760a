import { Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import { LoopBudget } from "../../src/events/LoopBudget.ts"

const busyFor = (milliseconds: number) => {
  const startedMs = performance.now()
  while (performance.now() - startedMs < milliseconds);
}

describe("LoopBudget", () => {
  it("runs work in order, over several turns of the event loop", async () => {
    const budget = new LoopBudget()
    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const done: Array<readonly [work: number, turn: number]> = []
    const works = Array.from({ length: 10 }, (_, n) =>
      budget.runInSlice(() => {
        busyFor(3)
        done.push([n, turns])
        return n
      })
    )
    expect(await Effect.runPromise(Effect.all(works, { concurrency: "unbounded" }))).toEqual([...works.keys()])
    isOver = true
    expect(done.map(([work]) => work)).toEqual([...works.keys()])
    // Each uses up the slice of its turn.
    expect(new Set(done.map(([, turn]) => turn)).size).toBe(works.length)
  })

  it("continues after work that throws", async () => {
    const budget = new LoopBudget()
    const failed = await Effect.runPromiseExit(
      budget.runInSlice(() => {
        throw new Error("planted by the test")
      })
    )
    expect(Exit.isFailure(failed)).toBe(true)
    expect(await Effect.runPromise(budget.runInSlice(() => 1))).toBe(1)
  })
})
