import { describe, expect, it } from "vitest"
import { CommitQueue } from "../../src/record/CommitQueue.ts"

interface Job {
  readonly key: string
  readonly event: { readonly project: string }
  readonly bytes: number
  readonly lane: number
  readonly node: number
  readonly n: number
}

const event = { project: "default" }

/** Jobs of these sessions, 10 bytes each, numbered in order. */
const queueOf = (sessions: string, maxBatch = { events: 100, bytes: 1_000 }) => {
  const queue = new CommitQueue<Job>(maxBatch)
  for (const [n, key] of Array.from(sessions).entries()) queue.push({ event, key, lane: 0, node: 0, bytes: 10, n })
  return queue
}

const numbers = (jobs: ReadonlyArray<Job>) => jobs.map(({ n }) => n)

describe("CommitQueue", () => {
  it("puts a session into one batch at a time, and keeps the order of its events", () => {
    const queue = queueOf("aba")
    const first = queue.takeBatch()
    expect(numbers(first)).toEqual([0, 1, 2])
    for (const [n, key] of ["a", "c", "a"].entries()) queue.push({ event, key, lane: 0, node: 0, bytes: 10, n: 3 + n })
    expect(numbers(queue.takeBatch())).toEqual([4])
    expect(queue.takeBatch()).toEqual([])
    queue.release(first)
    expect(numbers(queue.takeBatch())).toEqual([3, 5])
    expect(queue.size).toBe(0)
  })

  it("bounds a batch in events", () => {
    const queue = queueOf("abc", { events: 2, bytes: 1_000 })
    expect(numbers(queue.takeBatch())).toEqual([0, 1])
    expect(numbers(queue.takeBatch())).toEqual([2])
  })

  it("bounds a batch in bytes, and takes no later event of a session past one that did not fit", () => {
    const queue = new CommitQueue<Job>({ events: 100, bytes: 25 })
    queue.push({ event, key: "a", lane: 0, node: 0, bytes: 10, n: 0 })
    queue.push({ event, key: "b", lane: 0, node: 0, bytes: 20, n: 1 })
    queue.push({ event, key: "b", lane: 0, node: 0, bytes: 1, n: 2 })
    queue.push({ event, key: "c", lane: 0, node: 0, bytes: 10, n: 3 })
    expect(numbers(queue.takeBatch())).toEqual([0, 3])
    expect(numbers(queue.takeBatch())).toEqual([1, 2])
  })

  it("bounds a batch in projects", () => {
    const queue = new CommitQueue<Job>({ events: 100, bytes: 1_000 })
    for (let n = 0; n < 40; n++) {
      const project = `p${n % 17}`
      queue.push({ key: `${project} ${n}`, event: { project }, lane: 0, node: 0, bytes: 1, n })
    }
    const of = (project: number) => [project, project + 17, project + 34].filter((n) => n < 40)
    const batch = queue.takeBatch()
    expect(new Set(batch.map((job) => job.event.project)).size).toBe(16)
    expect(numbers(queue.takeBatch())).toEqual(of(16))
    expect(queue.size).toBe(0)
  })

  it("takes no more batches of a node than it may have, and goes on with those of others", () => {
    const queue = new CommitQueue<Job>({ events: 1, bytes: 1_000 }, 2)
    for (const [n, key] of ["a", "b", "c", "x", "d"].entries()) {
      queue.push({ event, key, lane: key === "x" ? 1 : 0, node: key === "x" ? 1 : 0, bytes: 10, n })
    }
    const first = queue.takeBatch()
    expect([first, queue.takeBatch(), queue.takeBatch()].map(numbers)).toEqual([[0], [1], [3]])
    expect(queue.takeBatch()).toEqual([])
    // It would be taken if its node were not full.
    expect(queue.hasReady(({ n }) => n === 2)).toBe(false)
    queue.release(first)
    expect(queue.hasReady(({ n }) => n === 2)).toBe(true)
    expect(numbers(queue.takeBatch())).toEqual([2])
    expect(queue.takeBatch()).toEqual([])
  })

  it("takes one event alone, whatever its size", () => {
    expect(numbers(queueOf("ab", { events: 100, bytes: 1 }).takeBatch())).toEqual([0])
  })

  it("removes jobs, and leaves the others in order", () => {
    const queue = queueOf("abcd")
    expect(numbers(queue.remove(({ n }) => n % 2 === 0))).toEqual([0, 2])
    expect(numbers(queue.takeBatch())).toEqual([1, 3])
  })

  it("does not count a job as ready while its session is in a batch", () => {
    const queue = queueOf("a")
    const batch = queue.takeBatch()
    queue.push({ event, key: "a", lane: 0, node: 0, bytes: 10, n: 1 })
    expect(queue.hasReady(() => true)).toBe(false)
    queue.release(batch)
    expect(queue.hasReady(() => true)).toBe(true)
    expect(queue.hasReady(({ n }) => n > 1)).toBe(false)
  })
})
