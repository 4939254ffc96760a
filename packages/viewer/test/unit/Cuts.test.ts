import { describe, expect, it } from "vitest"
import { cutAt, cutFrom } from "../../app/diff/cuts.ts"

describe("the words of a comparison", () => {
  it("are not cut where a long part that is the same is folded", () => {
    const text = `${"harbour ".repeat(40)}😀`
    const [end, start] = [cutAt(text, 100), cutFrom(text, 100)]
    expect([text.slice(0, end).endsWith("harbour"), text.slice(start).startsWith(" harbour")]).toEqual([true, true])
    expect([cutAt("😀".repeat(60), 99), cutFrom("😀".repeat(60), 99)]).toEqual([98, 22])
  })
})
