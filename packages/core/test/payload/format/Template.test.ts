import { RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ByteReader, ByteWriter } from "../../../src/payload/format/Bytes.ts"
import * as Template from "../../../src/payload/format/Template.ts"

type Item =
  | { readonly kind: "part"; readonly number: number }
  | { readonly kind: "history"; readonly first: number; readonly count: number; readonly separator: string }
  | { readonly kind: "shared"; readonly seed: number }

interface Step {
  readonly literal: string
  readonly item: Item
}

const sha256 = (seed: number) => Buffer.alloc(32, seed)

const separator = fc.constantFrom(",", ", ", "", "x".repeat(64), "x".repeat(65))
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.record({ kind: fc.constant("part" as const), number: fc.maxSafeNat() }),
  {
    arbitrary: fc.record({
      kind: fc.constant("history" as const),
      first: fc.integer({ min: 1, max: 6 }),
      count: fc.integer({ min: 1, max: 3 }),
      separator
    }),
    weight: 5
  },
  fc.record({ kind: fc.constant("shared" as const), seed: fc.nat(255) })
)
const literal = fc.oneof({ arbitrary: separator, weight: 3 }, fc.string())
const steps = fc.array(fc.record({ literal, item }), { maxLength: 20 })

const written = (steps: ReadonlyArray<Step>, ending: string): Buffer => {
  const writer = new Template.TemplateWriter()
  for (const { item, literal } of steps) {
    writer.literal(Buffer.from(literal))
    if (item.kind === "part") writer.part(item.number)
    else if (item.kind === "shared") writer.shared(sha256(item.seed))
    else writer.history(item.first, item.count, Buffer.from(item.separator))
  }
  writer.literal(Buffer.from(ending))
  writer.end()
  return Buffer.from(writer.out.view())
}

/** What a template means: its text, with each piece of a run written out. */
const meaning = (steps: ReadonlyArray<Step>, ending: string): string => {
  const texts = steps.map(({ item, literal }) => {
    if (item.kind === "part") return `${literal}<part ${item.number}>`
    if (item.kind === "shared") return `${literal}<shared ${sha256(item.seed).toString("hex")}>`
    return (
      literal + Array.from({ length: item.count }, (_, index) => `<history ${item.first + index}>`).join(item.separator)
    )
  })
  return texts.join("") + ending
}

const readMeaning = (bytes: Buffer): string => {
  let text = ""
  const reader = new ByteReader(bytes)
  Template.read(reader, {
    literal: (source, start, end) => void (text += source.toString("utf8", start, end)),
    part: (number) => void (text += `<part ${number}>`),
    shared: (name) => void (text += `<shared ${name.toString("hex")}>`),
    history: (first, count, separator) =>
      void (text += Array.from({ length: count }, (_, index) => `<history ${first + index}>`).join(
        separator.toString()
      ))
  })
  expect(reader.at).toBe(bytes.length)
  const skipping = new ByteReader(bytes)
  Template.skip(skipping)
  expect(skipping.at).toBe(bytes.length)
  return text
}

describe("Template", () => {
  it("reads what was written", () => {
    fc.assert(
      fc.property(steps, literal, (steps, ending) => {
        expect(readMeaning(written(steps, ending))).toBe(meaning(steps, ending))
      }),
      { numRuns: RandomJson.runs(100) }
    )
  })

  it("writes consecutive pieces as one run", () => {
    const one = (first: number, count = 1): Step => ({
      literal: first === 1 ? "[" : ", ",
      item: { kind: "history", first, count, separator: count > 1 ? ", " : "" }
    })
    const whole = written([{ literal: "[", item: { kind: "history", first: 1, count: 6, separator: ", " } }], "]")
    expect(whole.toString("hex")).toBe("065b" + "0106" + "022c20" + "045d")
    expect(
      written(
        [1, 2, 3, 4, 5, 6].map((first) => one(first)),
        "]"
      )
    ).toEqual(whole)
    expect(written([one(1, 3), one(4), one(5, 2)], "]")).toEqual(whole)
  })

  it("has the documented byte format", () => {
    const template = written(
      [
        { literal: "ab", item: { kind: "part", number: 300 } },
        { literal: "", item: { kind: "history", first: 7, count: 1, separator: "" } },
        { literal: ",", item: { kind: "shared", seed: 0xee } }
      ],
      ""
    )
    expect(template.toString("hex")).toBe(`096162ac02${"020701"}072c${"ee".repeat(32)}00`)
    expect(written([], "").toString("hex")).toBe("00")
    expect(written([], "x".repeat(32)).toString("hex")).toBe(`8001${"78".repeat(32)}`)
  })

  it("writes the same bytes for a literal as for a template without pieces", () => {
    const out = new ByteWriter()
    Template.writeLiteral(out, Buffer.from("[text]"), 1, 5)
    expect(out.view()).toEqual(written([], "text"))
  })

  it("throws if a template is truncated", () => {
    fc.assert(
      fc.property(steps, literal, (steps, ending) => {
        const bytes = written(steps, ending)
        for (let length = 0; length < bytes.length; length++) {
          expect(() => readMeaning(bytes.subarray(0, length))).toThrow("Unexpected end of data")
          expect(() => Template.skip(new ByteReader(bytes.subarray(0, length)))).toThrow("Unexpected end of data")
        }
      }),
      { numRuns: RandomJson.runs(20) }
    )
  })
})
