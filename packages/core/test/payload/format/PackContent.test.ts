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
  it("locates the written templates", () => {
    const numbers = fc.record({ history: fc.maxSafeNat(), parts: fc.maxSafeNat() })
    fc.assert(
      fc.property(numbers, templates, templates, (before, history, parts) => {
        const added = { history: history.length, parts: parts.length }
        const texts = [template("inputs"), template("output", 3)]
        const content = PackContent.write({ before, added }, [...texts, ...history, ...parts])
        const contents = PackContent.read(content)
        expect(contents.before).toEqual(before)
        expect(contents.added).toEqual(added)
        expect([contents.inputs, contents.output].map(hexOf)).toEqual(texts.map(toHex))
        expect(contents.history.map(hexOf)).toEqual(history.map(toHex))
        expect(contents.parts.map(hexOf)).toEqual(parts.map(toHex))
        // The templates may be concatenated.
        const joined = Buffer.concat([...texts, ...history, ...parts])
        expect(toHex(PackContent.write({ before, added }, [joined]))).toBe(toHex(content))
      })
    )
  })

  it("recognises empty templates, which stand for erased texts and pieces", () => {
    const content = PackContent.write({ before: { history: 0, parts: 0 }, added: { history: 2, parts: 0 } }, [
      template("1"),
      Buffer.of(0),
      template("", 1),
      Buffer.of(0)
    ])
    const { history, inputs, output } = PackContent.read(content)
    expect([inputs, output, ...history].map(PackContent.isEmpty)).toEqual([false, true, false, true])
  })

  it("throws if a content is truncated", () => {
    const content = PackContent.write({ before: { history: 1, parts: 2 }, added: { history: 1, parts: 1 } }, [
      template("{}"),
      template("[", 1),
      template('"a"'),
      template('"b"')
    ])
    for (let length = 0; length < content.length; length++) {
      expect(() => PackContent.read(content.subarray(0, length))).toThrow("Unexpected end of data")
    }
  })
})
