import { describe, expect, it } from "vitest"
import { Tally } from "../../src/rollup/Tally.ts"

/** An event that counts in every sum, each by a number of its own. */
const event = {
  errorType: null,
  inputTokens: 10,
  outputTokens: 11,
  cacheReadTokens: 12,
  cacheWriteTokens: 13,
  reasoningTokens: 14,
  costUsd: 2_000_000_005n as never,
  statedCostUsd: null,
  unpricedParts: ["audio"] as never,
  durationMs: 1
}

describe("what events add up to", () => {
  it("is kept in the bytes that it has always had", () => {
    const tally = new Tally()
    for (let count = 0; count < 4; count++) tally.add(event)
    tally.add({ ...event, unpricedParts: [] as never })
    tally.add({ ...event, costUsd: null, unpricedParts: null, errorType: "overloaded" as never })
    for (const durationMs of [0, 0.01, 1e9]) tally.add({ ...event, durationMs })
    const bytes = tally.toBytes()
    expect(Buffer.from(bytes).toString("hex")).toBe("090101075a636c757e102801010101f50106cd0801")
    expect(Tally.fromBytes(bytes, false).tally.sums).toEqual(tally.sums)
  })
})
