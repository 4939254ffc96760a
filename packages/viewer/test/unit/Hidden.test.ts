import { describe, expect, it } from "vitest"
import { piecesOf, plain } from "../../app/text/Hidden.ts"

const from = (first: number, last = first) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index))

describe("characters that would not be seen", () => {
  it("are shown by name between letters", () => {
    const characters = [
      ...from(0x00, 0x08),
      ...from(0x7f, 0x9f),
      ...[0x00ad, 0x034f, 0x061c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xfeff, 0xffa0].flatMap((at) =>
        from(at)
      ),
      ...from(0x180b, 0x180f),
      ...from(0x200b, 0x200f),
      ...from(0x2028, 0x202e),
      ...from(0x2060, 0x206f),
      ...from(0xfe00, 0xfe0f),
      ...from(0xfff9, 0xfffb),
      ...from(0x1d173, 0x1d17a),
      ...from(0xe0000, 0xe007f),
      ...from(0xe0100, 0xe01ef)
    ]
    for (const character of characters) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")
      expect(plain(`a${character}b`)).toBe(`a[U+${code}]b`)
    }
  })

  it("are named in one piece where they stand in a row, and counted where there are many", () => {
    expect(piecesOf("a\u{e0041}\u{e0042}b")).toEqual([
      { text: "a", isNamed: false },
      { text: "U+E0041 U+E0042", isNamed: true },
      { text: "b", isNamed: false }
    ])
    expect(plain(`a${"\u200b".repeat(100_000)}`)).toMatch(/^a\[(?:U\+200B ){24}and 99976 more\]$/)
  })

  it("are shown after an emoji where more follow than belong to it", () => {
    expect(plain("😀\u{fe0f}\u{e0101}\u{e0102}")).toBe("😀\u{fe0f}[U+E0101 U+E0102]")
    expect(plain("🏴\u{e0068}\u{e0069}\u{e007f}")).toBe("🏴[U+E0068 U+E0069 U+E007F]")
    expect(plain("1\u{fe0f}")).toBe("1[U+FE0F]")
  })

  it.each([
    ["emoji", "❤️ ☎︎ 👍🏽 1️⃣ 🇫🇷 👩‍👩‍👧 🏳️‍🌈 👩🏽‍⚕️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🧑‍🦰 ⛓️‍💥"],
    ["Persian", "می‌خواهم"],
    ["Devanagari and Sinhala", "क्‍ष र्‍य ශ්‍රී"],
    ["Mongolian", "ᠠᠨᠳ᠎ᠠ ᠨ᠋ᠠ"],
    ["ideographs", "葛\u{e0100}城 辻\u{fe00}"],
    ["line breaks and tabs", "a\tb\r\nc"]
  ])("belong to %s", (_, text) => expect(plain(text)).toBe(text))

  it("do not hide within the sequences of terminals; colours are taken out", () => {
    expect(plain("\u001b[1;31mred\u001b[0m\u001b[K")).toBe("red")
    expect(plain("\u001b]8;;http://elsewhere.invalid\u0007link\u001b]0;obey\u001b\\")).toBe(
      "[U+001B]]8;;http://elsewhere.invalid[U+0007]link[U+001B]]0;obey[U+001B]\\"
    )
    expect(plain("\u001bPsecret\u001b\\")).toBe("[U+001B]Psecret[U+001B]\\")
  })
})
