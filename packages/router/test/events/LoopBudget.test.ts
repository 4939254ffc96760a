import type { Steps } from "@tachograph/core"
import { Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import { LoopBudget } from "../../src/events/LoopBudget.ts"

const busyFor = (milliseconds: number) => {
  const startedMs = performance.now()
  while (performance.now() - startedMs < milliseconds);
}

/** Work of two steps, of which the first does nothing. */
function* step<A>(work: () => A): Steps.Steps<A> {
  yield
  return work()
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
      budget.runSteps(
        step(() => {
          busyFor(3)
          done.push([n, turns])
          return n
        })
      )
    )
    expect(await Effect.runPromise(Effect.all(works, { concurrency: "unbounded" }))).toEqual([...works.keys()])
    isOver = true
    expect(done.map(([work]) => work)).toEqual([...works.keys()])
    // Each uses up the slice of its turn.
    expect(new Set(done.map(([, turn]) => turn)).size).toBe(works.length)
  })

  it("does one step of each long work in turn", async () => {
    const budget = new LoopBudget()
    const done: Array<string> = []
    function* work(name: string): Steps.Steps<string> {
      for (let n = 0; n < 3; n++) {
        busyFor(9)
        done.push(`${name}${n}`)
        if (n < 2) yield
      }
      return name
    }
    const works = ["a", "b"].map((name) => budget.runSteps(work(name)))
    expect(await Effect.runPromise(Effect.all(works, { concurrency: "unbounded" }))).toEqual(["a", "b"])
    // The second is added after the first step of the first.
    expect(done).toEqual(["a0", "a1", "b0", "a2", "b1", "b2"])
  })

  it("continues after work that throws", async () => {
    const budget = new LoopBudget()
    const failed = await Effect.runPromiseExit(
      budget.runSteps(
        step(() => {
          throw new Error("planted by the test")
        })
      )
    )
    expect(Exit.isFailure(failed)).toBe(true)
    expect(await Effect.runPromise(budget.runSteps(step(() => 1)))).toBe(1)
  })
})
