import { describe, expect, it } from "vitest"
import * as ApiKeyText from "../../src/keys/ApiKeyText.ts"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

describe("ApiKeyText", () => {
  it("is tg_ and 33 base62 digits, with at least 160 random bits", () => {
    expect(ApiKeyText.generate()).toMatch(/^tg_[0-9A-Za-z]{33}$/)
    expect(Math.log2(62 ** 27)).toBeGreaterThan(160)
    const keys = Array.from({ length: 1_000 }, ApiKeyText.generate)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.every(ApiKeyText.isWellFormed)).toBe(true)
  })

  it("uses all digits equally often", () => {
    const counts = new Map<string, number>()
    for (const digit of ApiKeyText.randomBase62(62_000)) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    expect(counts.size).toBe(62)
    // 1,000 of each are expected. A deviation of more than eight standard deviations is not chance.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(8 * Math.sqrt(1_000))
  })

  it("detects every wrong digit and every swap of neighbours", () => {
    const key = ApiKeyText.generate()
    for (let i = 3; i < key.length; i++) {
      for (const digit of alphabet) {
        const wrong = key.slice(0, i) + digit + key.slice(i + 1)
        expect(ApiKeyText.isWellFormed(wrong)).toBe(wrong === key)
      }
      const swapped = key.slice(0, i) + key.charAt(i + 1) + key.charAt(i) + key.slice(i + 2)
      if (i + 1 < key.length) expect(ApiKeyText.isWellFormed(swapped)).toBe(swapped === key)
    }
  })

  it("rejects other formats", () => {
    const key = ApiKeyText.generate()
    for (const text of [
      "",
      "tg_",
      key.slice(3),
      `${key}0`,
      ` ${key}`,
      key.replace("tg", "TG"),
      `tg_${"é".repeat(33)}`
    ]) {
      expect(ApiKeyText.isWellFormed(text)).toBe(false)
    }
  })
})
