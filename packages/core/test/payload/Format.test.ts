import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as Join from "../../src/payload/Join.ts"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import * as PieceScanner from "../../src/payload/scan/PieceScanner.ts"
import * as Pack from "../../src/payload/format/Pack.ts"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import * as PackHead from "../../src/payload/format/PackHead.ts"
import * as SharedPiece from "../../src/payload/format/SharedPiece.ts"
import * as Split from "../../src/payload/Split.ts"
import { dictionary } from "../../src/payload/format/Dictionary.ts"

const document = readFileSync(new URL("../../../../docs/format.md", import.meta.url), "utf8")

/** The lines of each code block of the document with this language. */
const blocks = (kind: string): ReadonlyArray<ReadonlyArray<string>> =>
  Array.from(document.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)\\n\`\`\`$`, "gms")), ([, lines]) =>
    lines!.split("\n")
  )

const bytesOf = (lines: ReadonlyArray<string>) => Buffer.from(lines.join("").replaceAll(" ", ""), "hex")

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const [pack1, content1, pack2, content2, erased1, deflated, zstd] = blocks("hex").map(bytesOf) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer
]
const [first, second] = blocks("json") as [ReadonlyArray<string>, ReadonlyArray<string>]
const packs = [
  { number: 1, bytes: pack1 },
  { number: 2, bytes: pack2 }
]

/** The inputs and the output of the last content, joined from all of them. */
const textsOf = (contents: ReadonlyArray<Buffer>): ReadonlyArray<string> => {
  const read = contents.map(PackContent.read)
  const pieces = Join.piecesOf(read)
  const { inputs, output } = read.at(-1)!
  return [inputs, output].map((span) => Join.join(span, pieces, new Map()).toString())
}

/** The documented format is the format of existing stores, so none of the examples may change. */
describe("docs/format.md", () => {
  it("contains packs that open to its contents", () => {
    expect(Pack.open(packs).map(({ content }) => hex(content))).toEqual([content1, content2].map(hex))
    expect(packs.map(({ bytes, number }) => PackHead.read(number, bytes))).toMatchObject([
      { kind: "starts", contentLength: content1.length, needs: [], end: 4 },
      { kind: "continues", contentLength: content2.length, needs: [{ from: 1, to: 1 }], end: 6 }
    ])
  })

  it("contains contents that join to its texts", () => {
    expect(textsOf([content1])).toEqual(first)
    expect(textsOf([content1, content2])).toEqual(second)
  })

  it("contains contents that are still written in the same bytes", () => {
    const index = new SessionIndex()
    const written = [first, second].map(([inputs, output]) => {
      const { learned, number, pack } = Split.split(PieceScanner.ofTexts(inputs!, output!), index)
      index.learn(learned)
      return { bytes: pack.bytes(), number }
    })
    expect(Pack.open(written).map(({ content }) => hex(content))).toEqual([content1, content2].map(hex))
    // The compressed bytes depend on the version of zlib; the heads do not.
    for (const [index, length] of [4, 6].entries()) {
      expect(hex(written[index]!.bytes.subarray(0, length))).toBe(hex(packs[index]!.bytes.subarray(0, length)))
    }
  })

  it("has one line for each template", () => {
    for (const lines of [1, 3, 4].map((index) => blocks("hex")[index]!)) {
      const content = bytesOf(lines)
      const { history, inputs, output, parts } = PackContent.read(content)
      const templates = [inputs, output, ...history, ...parts].map(({ end, start }) =>
        hex(content.subarray(start, end))
      )
      expect(lines.map((line) => hex(bytesOf([line])))).toEqual([hex(content.subarray(0, inputs.start)), ...templates])
    }
  })

  it("contains an erased event, and the other event still joins to its texts", () => {
    const { history, inputs, output } = PackContent.read(erased1)
    expect([inputs, output, ...history].map(PackContent.isEmpty)).toEqual([true, true, false])
    expect(textsOf([erased1, content2])).toEqual(second)
  })

  it("contains a shared piece in both compressions", () => {
    const text = '"You are a helpful assistant."'
    for (const stored of [deflated, zstd]) expect(SharedPiece.textOf(stored).toString()).toBe(text)
    expect(document).toContain(hash("sha256", text).slice(0, 8))
  })

  it("contains the dictionary", () => {
    expect(blocks("text")[0]!.join("")).toBe(dictionary.toString())
    expect(document).toContain(`The ${dictionary.length.toLocaleString("en")} bytes`)
  })

  it("describes ranges as they are read", () => {
    expect(document).toContain("In pack 10, the ranges `00 03` and `01 02` are packs 7 to 9, and 4 to 5.")
    expect(PackHead.read(10, bytesOf(["01 02 00 02", "00 03", "01 02"])).needs).toEqual([
      { from: 4, to: 5 },
      { from: 7, to: 9 }
    ])
  })
})
