import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { sha256 } from "../../app/text/Sha256.ts"

describe("sha256", () => {
  it("is what others compute, whatever is left of the last block", () => {
    for (let length = 0; length < 140; length++) {
      const text = `é${"x".repeat(length)}`
      expect(sha256(text)).toBe(createHash("sha256").update(text).digest("hex"))
    }
  })
})
