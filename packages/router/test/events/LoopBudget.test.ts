import { Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import * as LoopBudget from "../../src/events/LoopBudget.ts"

const busyFor = (milliseconds: number) => {
  const began = performance.now()
  while (performance.now() - began < milliseconds);
}

describe("Turns", () => {
  it("does work in order, and lets the event loop turn between", async () => {
    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const done: Array<readonly [work: number, turn: number]> = []
    const works = Array.from({ length: 10 }, (_, n) =>
      LoopBudget.runInSlice(() => {
        busyFor(3)
        done.push([n, turns])
        return n
      })
    )
    expect(await Effect.runPromise(Effect.all(works, { concurrency: "unbounded" }))).toEqual([...works.keys()])
    isOver = true
    expect(done.map(([work]) => work)).toEqual([...works.keys()])
    // Each takes all of a turn.
    expect(new Set(done.map(([, turn]) => turn)).size).toBe(works.length)
  })

  it("goes on after work that throws", async () => {
    const failed = await Effect.runPromiseExit(
      LoopBudget.runInSlice(() => {
        throw new Error("as the test wants it")
      })
    )
    expect(Exit.isFailure(failed)).toBe(true)
    expect(await Effect.runPromise(LoopBudget.runInSlice(() => 1))).toBe(1)
  })
})
