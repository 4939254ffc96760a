import { describe, expect, it } from "vitest"
import * as PiecePolicy from "../../../src/payload/scan/PiecePolicy.ts"

describe("PiecePolicy", () => {
  it("shares long strings, and settings from a smaller size on", () => {
    expect(PiecePolicy.isShared(PiecePolicy.minSharedBytes, false)).toBe(true)
    expect(PiecePolicy.isShared(PiecePolicy.minSharedBytes - 1, false)).toBe(false)
    expect(PiecePolicy.isShared(PiecePolicy.minSharedBytes - 1, true)).toBe(true)
    expect(PiecePolicy.isShared(PiecePolicy.minPartBytes, true)).toBe(false)
  })
})
