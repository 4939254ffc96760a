import { describe, expect, it } from "vitest"
import * as Policy from "../../../src/payload/scan/PiecePolicy.ts"

describe("Policy", () => {
  it("shares long strings, and settings before other strings", () => {
    expect(Policy.isShared(Policy.sharedBytes, false)).toBe(true)
    expect(Policy.isShared(Policy.sharedBytes - 1, false)).toBe(false)
    expect(Policy.isShared(Policy.sharedBytes - 1, true)).toBe(true)
    expect(Policy.isShared(Policy.partBytes, true)).toBe(false)
  })
})
