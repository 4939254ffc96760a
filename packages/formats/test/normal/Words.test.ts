import { wordsOf } from "@tachograph/formats/normal/Words"
import { describe, expect, it } from "vitest"

describe("the words of a comparison", () => {
  it.each([
    ["claude-sonnet-4-5 costs $3.", ["claude-sonnet-4-5", " ", "costs", " ", "$", "3", "."]],
    ["1.4.2\n\n1.5.0", ["1.4.2", "\n\n", "1.5.0"]],
    ['"max_tokens": 1024', ['"', "max_tokens", '"', ":", " ", "1024"]],
    ["don’t 漢字a", ["don’t", " ", "漢", "字", "a"]],
    ["a😀é", ["a", "😀", "é"]],
    ["", []]
  ])("%j are %j", (text, words) => expect(wordsOf(text)).toEqual(words))

  it("are together the text, whatever it is", () => {
    const text = Array.from({ length: 3_000 }, (_, index) => String.fromCharCode((index * 7_919) % 0x1_0000)).join("")
    expect(wordsOf(text).join("")).toBe(text)
  })
})
