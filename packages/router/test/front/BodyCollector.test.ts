import { AdmissionControl, defaultCommitLimits } from "@tachograph/core"
import { describe, expect, it } from "vitest"
import { BodyCollector } from "../../src/front/BodyCollector.ts"

const admission = (bodyBudgetBytes = Number.POSITIVE_INFINITY) =>
  new AdmissionControl({ ...defaultCommitLimits, bodyBudgetBytes }, () => Infinity)

const bytes = (length: number) => new Uint8Array(length).fill(7)

describe("BodyCollector", () => {
  it.each([
    ["one chunk", [10]],
    ["several chunks", [4, 0, 6]]
  ])("keeps %s up to the limit, and refuses one byte more", (_, lengths) => {
    const collector = new BodyCollector(10, admission().permit())
    expect(lengths.map((length) => collector.add(bytes(length)))).toEqual(lengths.map(() => undefined))
    expect(collector.bytes).toEqual(Buffer.from(bytes(10)))
    expect(collector.add(bytes(1))).toMatchObject({ _tag: "payload-too-large" })
  })

  it("refuses a chunk that exceeds the limit alone", () => {
    expect(new BodyCollector(10, admission().permit()).add(bytes(11))).toMatchObject({ _tag: "payload-too-large" })
  })

  it("judges an announced length by the same limit", () => {
    const collector = new BodyCollector(10, admission().permit())
    expect([10, 11].map((length) => collector.exceedsMaxBody(length))).toEqual([false, true])
  })

  it("refuses a chunk that exceeds the budget of all bodies", () => {
    const control = admission(10)
    expect(new BodyCollector(100, control.permit()).add(bytes(4))).toBeUndefined()
    const collector = new BodyCollector(100, control.permit())
    expect(collector.add(bytes(6))).toBeUndefined()
    expect(collector.add(bytes(1))).toMatchObject({ _tag: "overloaded" })
  })

  it("reserves no bytes of a body that is too large", () => {
    const control = admission(10)
    const permit = control.permit()
    expect(new BodyCollector(5, permit).add(bytes(10))).toMatchObject({ _tag: "payload-too-large" })
    expect(control.canAdmit(10)).toBe(true)
    expect(control.permit().reserve(10)).toBe(true)
  })

  it("holds small chunks together, between large ones too", () => {
    const lengths = [1, 2_000, ...Array.from({ length: 100_000 }, () => 1), 1_024, 1_023, 5, 1_023]
    const collector = new BodyCollector(Number.POSITIVE_INFINITY, admission().permit())
    const sent = lengths.map((length, n) => new Uint8Array(length).fill(n % 251))
    for (const chunk of sent) expect(collector.add(chunk)).toBeUndefined()
    expect(collector.bytes.equals(Buffer.concat(sent))).toBe(true)
    expect(collector.count).toBeLessThan(20)
  })

  it("is empty without a chunk, and a view of a single chunk", () => {
    expect(new BodyCollector(10, admission().permit()).bytes).toHaveLength(0)
    const collector = new BodyCollector(10, admission().permit())
    const chunk = bytes(10).subarray(2, 5)
    collector.add(chunk)
    expect([collector.bytes.buffer, collector.bytes.length]).toEqual([chunk.buffer, 3])
  })

  it("owns its bytes only where it has put several chunks together", () => {
    const collector = new BodyCollector(10, admission().permit())
    const chunk = bytes(3)
    collector.add(chunk)
    expect([collector.isOwned, collector.bytes.buffer === chunk.buffer]).toEqual([false, true])
    collector.add(bytes(2))
    expect([collector.isOwned, collector.bytes.buffer === chunk.buffer]).toEqual([true, false])
  })
})
