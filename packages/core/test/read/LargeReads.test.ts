import { describe, expect, it, vi } from "vitest"
import { LargeReads } from "../../src/read/LargeReads.ts"

const MiB = 1024 * 1024

const reading = (...sizes: ReadonlyArray<number>) => {
  const collect = vi.fn()
  const reads = new LargeReads(collect)
  return sizes.map((bytes) => {
    reads.before(bytes)
    return collect.mock.calls.length
  })
}

describe("LargeReads", () => {
  it("collects before a large read that follows 16 MiB of others", () => {
    expect(reading(16 * MiB, MiB, MiB)).toEqual([0, 1, 1])
    expect(reading(16 * MiB - 1, MiB, MiB)).toEqual([0, 0, 1])
    expect(reading(30 * MiB, 30 * MiB, 30 * MiB)).toEqual([0, 1, 2])
  })

  it("does not count smaller reads, and does not collect before them", () => {
    expect(reading(...Array<number>(100).fill(MiB - 1))).toEqual(Array(100).fill(0))
    expect(reading(16 * MiB, MiB - 1, MiB)).toEqual([0, 0, 1])
  })
})
