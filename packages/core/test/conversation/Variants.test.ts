import { describe, expect, it } from "vitest"
import * as Variants from "../../src/conversation/Variants.ts"

const allOf = (texts: ReadonlyArray<string>, keyOf: (text: string) => string = () => "") => {
  const variants = new Variants.VariantsOfAll<string>()
  for (const text of texts) variants.add(keyOf(text), text, Infinity, () => text)
  return variants
}

const groupsOf = (...texts: ReadonlyArray<string>) =>
  allOf(texts).all.map((group) => [
    group.rowsWith(0),
    group.place.character,
    group.items.map((_, index) => group.textAt(index))
  ])

const text = (content: string) => ({ type: "text", content }) as const

describe("variants", () => {
  it("are texts that differ in one short place, each with what it has there", () => {
    const times = ["10:00", "10:05", "11:40", "9:00"]
    expect(groupsOf(...times.map((time) => `The time is ${time}. Be short, and be kind.`))).toEqual([[1, 13, times]])
    const many = Array.from({ length: 400 }, (_, index) => `You help. Request ${index} of today.`)
    expect(allOf(many).rows).toBe(1)
  })

  it("are several rows where fewer than three differ, or a long place, or more than is the same", () => {
    expect(allOf(["You are careful.", "You are careful. Report ships only."]).rows).toBe(2)
    expect(allOf(["You are careful 1.", "You are careful 2."]).rows).toBe(2)
    expect(allOf(["a1", "b2", "c3"]).rows).toBe(3)
    const same = "The same. ".repeat(50)
    const of = (length: number) => allOf(["a", "b", "c"].map((letter) => same + letter.repeat(length))).rows
    expect([of(100), of(101)]).toEqual([1, 3])
  })

  it("are none where they differ in two places far from each other", () => {
    const of = (index: number) => `${index} ${"The same. ".repeat(50)} ${index}`
    expect(allOf([of(1), of(2), of(3)]).rows).toBe(3)
  })

  it("count overlapping beginnings and ends once", () => {
    expect(groupsOf("aaaa", "aaaaa", "aaaaaa")).toEqual([[1, 5, ["", "a", "aa"]]])
  })

  it("are cut between characters", () => {
    const faces = ["😀", "😁", "😂"]
    expect(groupsOf(...faces.map((face) => `One face 🙂 or another: ${face}.`))).toEqual([[1, 24, faces]])
  })

  it("have the rest in common", () => {
    const items = ["x 1", "y 1", "x 2", "y 2", "x 3"].map((name) => `Request ${name}`)
    const { all, rows } = allOf(items, (item) => item.at(-3)!)
    expect(rows).toBe(3)
    expect(all.map((group) => group.items.map((item) => item.slice(-3)))).toEqual([
      ["x 1", "x 2", "x 3"],
      ["y 1", "y 2"]
    ])
  })

  it("differ in one part, which is named", () => {
    const of = (...parts: ReadonlyArray<string>) => Variants.comparedOf(parts.map(text))
    const parts = ["1", "2", "3"].map((n) => of("Be short.", `It is ${n} pm. Be kind.`))
    const variants = new Variants.VariantsOfAll<string>()
    for (const each of parts) variants.add(each.rest, each.text, Infinity, () => each.text)
    expect(variants.all.map(({ place }) => place)).toEqual([{ part: 2, character: 7 }])
    const moved = [of("Be kind", "2 b"), of("Be kind 2", " b"), of("Be kind 2 b", "")]
    expect(allOf(moved.map((each) => each.text)).rows).toBe(3)
  })

  it("are equal in all that is no text", () => {
    const rests = [
      [text("a")],
      [text("a"), text("b")],
      [{ type: "uri", uri: "a" }],
      [{ ...text("a"), name: "b" }],
      [text("a\u0000"), text("b")],
      [text("a"), text("\u0000b")]
    ].map((parts) => Variants.comparedOf(parts).rest)
    expect(new Set(rests).size).toBe(6)
    expect(Variants.comparedOf([text("b")]).rest).toBe(rests[0])
  })

  it("are taken as long as there are no more rows than a page has", () => {
    const variants = new Variants.VariantsOfAll<string>()
    const add = (each: string) => variants.add("", each, 2, (isVariant) => `${each} ${isVariant}`)
    expect(["It is 1 pm.", "It is 2 pm.", "Be kind.", "It is 3 pm.", "Be kind.", "Be kind!"].map(add)).toEqual([
      "It is 1 pm. false",
      "It is 2 pm. false",
      undefined,
      "It is 3 pm. true",
      "Be kind. false",
      undefined
    ])
    expect(variants.rows).toBe(2)
  })

  it("are looked for until so many characters are compared", () => {
    const [before, after] = ["a".repeat(500_000), "b".repeat(500_000)]
    const { all } = allOf(Array.from({ length: 100 }, (_, n) => `${before}${n}${after}`))
    // The first is compared with none.
    expect(all.map(({ items }) => items.length)).toEqual([41, ...Array.from({ length: 59 }, () => 1)])
  })
})
