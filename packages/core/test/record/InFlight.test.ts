import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "vitest"
import { InFlight, InFlightSet } from "../../src/record/InFlight.ts"

describe("what is in flight", () => {
  it("is found by its key, and listed with the oldest first", () => {
    const inFlight = new InFlight<string, string>()
    for (const key of ["a", "b", "c"]) inFlight.set(key, key.toUpperCase())
    expect(inFlight.delete("b")).toBe(true)
    expect(inFlight.delete("b")).toBe(false)
    inFlight.set("d", "D")
    inFlight.set("a", "A2")
    expect(Array.from(inFlight.entries())).toEqual([
      ["a", "A2"],
      ["c", "C"],
      ["d", "D"]
    ])
    expect([inFlight.size, inFlight.has("b"), inFlight.get("b"), inFlight.get("d")]).toEqual([3, false, undefined, "D"])
  })

  it("keeps a value that is undefined apart from none", () => {
    const inFlight = new InFlight<string | undefined>()
    inFlight.set(1, undefined)
    expect([inFlight.has(1), inFlight.delete(1), inFlight.size]).toEqual([true, true, 0])
  })

  it("leaves out of a list what is taken out before it is reached", () => {
    const set = new InFlightSet<() => void>()
    const called: Array<string> = []
    set.add(() => {
      called.push("first")
      removeSecond()
      set.add(() => called.push("late"))
    })
    const removeSecond = set.add(() => called.push("second"))
    for (const call of set.values()) call()
    expect([called, set.size]).toEqual([["first", "late"], 2])
    removeSecond()
    expect(set.size).toBe(2)
  })

  it("keeps nothing of what has come and gone until the next full collection, as a Map does", () => {
    setFlagsFromString("--expose-gc")
    const collectGarbage = runInNewContext("gc") as () => void
    const oldBytes = () =>
      getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")!.space_used_size
    const body = Array.from({ length: 500 }, (_, number) => number + 0.5)
    /** How far the old generation grows (MB) while 20,000 requests of 4 KB come and go, 16 at a time. */
    const growth = (requests: Map<number, unknown> | InFlight<unknown>) => {
      collectGarbage()
      const before = oldBytes()
      let most = before
      for (let number = 0; number < 20_000; number++) {
        requests.set(number, [...body])
        requests.delete(number - 16)
        if (number % 500 === 0) most = Math.max(most, oldBytes())
      }
      return (most - before) / 1e6
    }
    // When this fails because V8 has learnt it, a Map is enough.
    expect(growth(new Map())).toBeGreaterThan(10)
    expect(growth(new InFlight())).toBeLessThan(3)
  })
})
