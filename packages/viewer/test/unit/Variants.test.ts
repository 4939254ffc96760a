import { describe, expect, it } from "vitest"
import * as Variants from "../../app/pages/agents/Variants.ts"

const groupsOf = (...texts: ReadonlyArray<string>) =>
  Variants.group(
    texts,
    (text) => text,
    () => ""
  ).map((group) => [group.items.length, group.before, group.items.map((text) => Variants.placeOf(group, text))])

describe("variants", () => {
  it("are texts that differ in one short place, each with what it has there", () => {
    const times = ["10:00", "10:05", "11:40", "9:00"]
    expect(groupsOf(...times.map((time) => `The time is ${time}. Be short, and be kind.`))).toEqual([[4, 12, times]])
    const many = Array.from({ length: 400 }, (_, index) => `You help. Request ${index} of today.`)
    expect(groupsOf(...many)).toHaveLength(1)
  })

  it("are none where fewer than three differ, or a long place, or more than is the same", () => {
    expect(groupsOf("You are careful.", "You are careful. Report ships only.")).toHaveLength(2)
    expect(groupsOf("a1", "b2", "c3")).toHaveLength(3)
    const same = "The same. ".repeat(50)
    const of = (length: number) => groupsOf(...["a", "b", "c"].map((letter) => same + letter.repeat(length)))
    expect([of(100), of(101)].map(({ length }) => length)).toEqual([1, 3])
  })

  it("are none where they differ in two places far from each other", () => {
    const text = (index: number) => `${index} ${"The same. ".repeat(50)} ${index}`
    expect(groupsOf(text(1), text(2), text(3))).toHaveLength(3)
  })

  it("count overlapping beginnings and ends once", () => {
    expect(groupsOf("aaaa", "aaaaa", "aaaaaa")).toEqual([[3, 4, ["", "a", "aa"]]])
  })

  it("are cut between characters", () => {
    const texts = ["😀", "😁", "😂"].map((face) => `One face 🙂 or another: ${face}.`)
    const [group] = Variants.group(
      texts,
      (text) => text,
      () => ""
    )
    expect(texts.map((text) => Variants.placeOf(group!, text))).toEqual(["😀", "😁", "😂"])
    expect(Variants.characterOf(group!, texts[0]!)).toBe(24)
  })

  it("have the rest in common, and the order of the first of each", () => {
    const items = ["x 1", "y 1", "x 2", "y 2", "x 3"].map((name) => ({ key: name[0]!, text: `Request ${name[2]}` }))
    const groups = Variants.group(
      items,
      ({ text }) => text,
      ({ key }) => key
    )
    expect(groups.map((group) => group.items.map(({ key, text }) => `${key} ${text.at(-1)}`))).toEqual([
      ["x 1", "x 2", "x 3"],
      ["y 1"],
      ["y 2"]
    ])
  })

  it("are looked for until so many characters are compared", () => {
    const [before, after] = ["a".repeat(500_000), "b".repeat(500_000)]
    const items = Array.from({ length: 200 }, (_, n) => ({ text: `${before}${n}${after}` }))
    const [first, ...others] = Variants.group(
      items,
      ({ text }) => text,
      () => ""
    )
    // The first is compared with none.
    expect(first!.items.length).toBe(101)
    expect(others.map((group) => group.items.length)).toEqual(Array.from({ length: 99 }, () => 1))
  })
})
