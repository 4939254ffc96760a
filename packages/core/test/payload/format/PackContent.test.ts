import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as PackContent from "../../../src/payload/format/PackContent.ts"
import { TemplateWriter } from "../../../src/payload/format/Template.ts"

const template = (text: string, part?: number): Buffer => {
  const writer = new TemplateWriter()
  writer.literal(Buffer.from(text))
  if (part !== undefined) writer.part(part)
  writer.end()
  return Buffer.from(writer.out.view())
}

const toHex = (bytes: Buffer) => bytes.toString("hex")

const hexOf = ({ content, end, start }: PackContent.TemplateSpan) => content.toString("hex", start, end)

const templates = fc.array(
  fc.tuple(fc.string(), fc.option(fc.nat(1000), { nil: undefined })).map(([text, part]) => template(text, part)),
  { maxLength: 10 }
)

describe("PackContent", () => {
  it("finds the templates that were written", () => {
    const numbers = fc.record({ history: fc.maxSafeNat(), parts: fc.maxSafeNat() })
    fc.assert(
      fc.property(numbers, templates, templates, (before, history, parts) => {
        const added = { history: history.length, parts: parts.length }
        const texts = [template("inputs"), template("output", 3)]
        const content = PackContent.write({ before, added }, [...texts, ...history, ...parts])
        const found = PackContent.read(content)
        expect(found.before).toEqual(before)
        expect(found.added).toEqual(added)
        expect([found.inputs, found.output].map(hexOf)).toEqual(texts.map(toHex))
        expect(found.history.map(hexOf)).toEqual(history.map(toHex))
        expect(found.parts.map(hexOf)).toEqual(parts.map(toHex))
        // Nothing is lost by writing many as one.
        const joined = Buffer.concat([...texts, ...history, ...parts])
        expect(toHex(PackContent.write({ before, added }, [joined]))).toBe(toHex(content))
      })
    )
  })

  it("knows empty templates, which stand for what was erased", () => {
    const content = PackContent.write({ before: { history: 0, parts: 0 }, added: { history: 2, parts: 0 } }, [
      template("1"),
      Buffer.of(0),
      template("", 1),
      Buffer.of(0)
    ])
    const { history, inputs, output } = PackContent.read(content)
    expect([inputs, output, ...history].map(PackContent.isEmpty)).toEqual([false, true, false, true])
  })

  it("throws where a content ends early", () => {
    const content = PackContent.write({ before: { history: 1, parts: 2 }, added: { history: 1, parts: 1 } }, [
      template("{}"),
      template("[", 1),
      template('"a"'),
      template('"b"')
    ])
    for (let length = 0; length < content.length; length++) {
      expect(() => PackContent.read(content.subarray(0, length))).toThrow("end early")
    }
  })
})
