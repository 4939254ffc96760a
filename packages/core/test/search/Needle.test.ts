import { describe, expect, it } from "vitest"
import * as CaseFolding from "../../src/search/CaseFolding.ts"
import { Needle } from "../../src/search/Needle.ts"

const isCased = /\p{Changes_When_Casemapped}|\p{Changes_When_Casefolded}/u

const cased = Array.from({ length: 0x110000 }, (_, codePoint) =>
  codePoint >= 0xd800 && codePoint < 0xe000 ? "" : String.fromCodePoint(codePoint)
).filter((character) => isCased.test(character))

describe("CaseFolding", () => {
  it("takes as alike what a regular expression takes as alike", () => {
    const all = cased.join("")
    for (const character of cased) {
      const matched = all.match(new RegExp(character, "giu"))!
      expect([...CaseFolding.alike(character)].sort()).toEqual(matched.sort())
    }
    expect(cased.length).toBeGreaterThan(2_800)
  })

  it("keeps the length of a text", () => {
    for (const character of cased) expect(CaseFolding.fold(character).length).toBe(character.length)
    expect(CaseFolding.fold("ΑΣ Ὀδυσσεύς İı ŉ ẞ")).toBe("ασ ὀδυσσεύσ İı ŉ ß")
  })
})

describe("Needle", () => {
  const raw = (text: string) => Buffer.from(text).toString("latin1")
  const ascii = (json: string) =>
    json.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

  it.each(["refund 4711", 'say "hi"\n', "é😀", "a\\b/c", "ks", "<b>", "\u0001", "K", "ſ", "\u2028"])(
    "finds %j in JSON, and not in other JSON",
    (text) => {
      for (const isCaseSensitive of [false, true]) {
        const needle = new Needle(text, isCaseSensitive)
        for (const around of ["", "\\", "\n", "é"]) {
          const once = JSON.stringify({ text: `${around}${text}${around}` })
          for (const json of [once, ascii(once), JSON.stringify(once), JSON.stringify(ascii(once))]) {
            expect([json, needle.findRaw(raw(json)) > 0]).toEqual([json, true])
          }
        }
        expect(needle.findRaw(raw(JSON.stringify({ other: "nothing of it" })))).toBe(-1)
      }
    }
  )

  it("looks at texts with needless escapes", () => {
    const needle = new Needle("word", false)
    expect(needle.findRaw('{"a":"\\u0077ord"}')).toBeGreaterThan(0)
    expect(needle.findRaw('{"a":"\\u00e4"}')).toBe(-1)
  })

  it("goes on from a position", () => {
    const needle = new Needle("b", false)
    expect([needle.findRaw("abcb"), needle.findRaw("abcb", 2), needle.findRaw("abcb", 4)]).toEqual([1, 3, -1])
  })

  it("comes to an end where a text repeats what a needle begins with", () => {
    const text = "a".repeat(4_000_000)
    const needle = new Needle(`${"a".repeat(998)}b`, false)
    expect(needle.find(text)).toBeUndefined()
    // It looks for the first characters only.
    expect(needle.findRaw(text)).toBe(0)
    const backslashes = "\\".repeat(1_000_000)
    for (const other of ['"'.repeat(100), "\\".repeat(101) + "x", `${"\\".repeat(50)}"`]) {
      expect(new Needle(other, false).findRaw(backslashes)).toEqual(expect.any(Number))
    }
  })
})
