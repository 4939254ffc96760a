import { expect, it } from "vitest"
import { Budget } from "../src/delivery/Budget.ts"
import { Turns } from "../src/Turns.ts"

/** Works that end when they are told to. */
const works = (limit: number, budget?: Budget) => {
  const turns = new Turns(limit, budget)
  const running = new Map<number, () => void>()
  const add = (n: number) => turns.add(() => new Promise((resolve) => void running.set(n, resolve)))
  const end = async (n: number) => {
    running.get(n)!()
    running.delete(n)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { add, end, running: () => [...running.keys()], turns }
}

it("runs so many at once, and the others in their order", async () => {
  const budget = new Budget(10_000)
  const { add, end, running, turns } = works(2, budget)
  for (const n of [1, 2, 3, 4]) expect(add(n)).toBe(undefined)
  expect([running(), turns.size]).toEqual([[1, 2], 4])
  await end(2)
  expect(add(5)).toBe(undefined)
  expect([running(), turns.size]).toEqual([[1, 3], 4])
  for (const n of [1, 3]) await end(n)
  expect([running(), turns.size, budget.held]).toEqual([[4, 5], 2, 0])
})

it("lets no more wait than memory has room for, and none without any", () => {
  const budget = new Budget(1_500)
  const { add, turns } = works(1, budget)
  expect([1, 2, 3, 4].map(add)).toEqual([undefined, undefined, undefined, "memory"])
  expect([turns.size, budget.held]).toEqual([3, 1_280])
  const bare = works(1)
  expect([1, 2].map(bare.add)).toEqual([undefined, "queue-full"])
})

it("says when those are done that were there, though others keep coming", async () => {
  const { add, end, turns } = works(1, new Budget(10_000))
  for (const n of [1, 2]) add(n)
  let isDone = false
  const done = turns.done().then(() => (isDone = true))
  add(3)
  expect(turns.size).toBe(3)
  await end(1)
  expect(isDone).toBe(false)
  await end(2)
  await done
  expect(turns.size).toBe(1)
})
