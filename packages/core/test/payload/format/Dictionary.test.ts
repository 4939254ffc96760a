import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { dictionary } from "../../../src/payload/format/Dictionary.ts"

describe("Dictionary", () => {
  it("is the one of format 1", () => {
    expect(dictionary.length).toBe(3_009)
    expect(createHash("sha256").update(dictionary).digest("hex")).toBe(
      "07525f694bcfda731723904bb8d1a6a1f3dc14b27c1ad0b013d93f5ac0d420bc"
    )
  })
})
