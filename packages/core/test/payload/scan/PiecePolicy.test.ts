import { describe, expect, it } from "vitest"
import * as PiecePolicy from "../../../src/payload/scan/PiecePolicy.ts"

describe("Policy", () => {
  it("shares long strings, and settings before other strings", () => {
    expect(PiecePolicy.isShared(PiecePolicy.sharedBytes, false)).toBe(true)
    expect(PiecePolicy.isShared(PiecePolicy.sharedBytes - 1, false)).toBe(false)
    expect(PiecePolicy.isShared(PiecePolicy.sharedBytes - 1, true)).toBe(true)
    expect(PiecePolicy.isShared(PiecePolicy.partBytes, true)).toBe(false)
  })
})
