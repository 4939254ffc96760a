import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as Join from "../../src/payload/Join.ts"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import * as PieceScanner from "../../src/payload/scan/PieceScanner.ts"
import * as Pack from "../../src/payload/format/Pack.ts"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import * as SharedPiece from "../../src/payload/format/SharedPiece.ts"
import * as Split from "../../src/payload/Split.ts"
import { dictionary } from "../../src/payload/format/Dictionary.ts"

const document = readFileSync(new URL("../../../../docs/format.md", import.meta.url), "utf8")

/** The blocks of code in the document that are marked so, each with its lines. */
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

/** The inputs and the output of the last of some contents. */
const textsOf = (contents: ReadonlyArray<Buffer>): ReadonlyArray<string> => {
  const read = contents.map(PackContent.read)
  const pieces = new Join.Pieces()
  for (const each of read) pieces.add(each)
  const { inputs, output } = read.at(-1)!
  return [inputs, output].map((place) => Join.join(place, pieces, new Map()).toString())
}

/** What stands in docs/format.md, and in stores: none of it may ever change. */
describe("docs/format.md", () => {
  it("has packs that open to its contents", () => {
    expect(Pack.open(packs).map(({ content }) => hex(content))).toEqual([content1, content2].map(hex))
    expect(packs.map(({ bytes, number }) => Pack.readHead(number, bytes))).toMatchObject([
      { kind: "starts", contentLength: content1.length, needs: [], at: 4 },
      { kind: "continues", contentLength: content2.length, needs: [{ from: 1, to: 1 }], at: 6 }
    ])
  })

  it("has contents that join to its texts", () => {
    expect(textsOf([content1])).toEqual(first)
    expect(textsOf([content1, content2])).toEqual(second)
  })

  it("has contents that are written in the same bytes today", () => {
    const sessionIndex = new SessionIndex()
    const written = [first, second].map(([inputs, output]) => {
      const { learned, number, pack } = Split.split(PieceScanner.ofTexts(inputs!, output!), sessionIndex)
      sessionIndex.learn(learned)
      return { bytes: pack.bytes(), number }
    })
    expect(Pack.open(written).map(({ content }) => hex(content))).toEqual([content1, content2].map(hex))
    // How well zlib compresses may change; the heads may not.
    for (const [index, length] of [4, 6].entries()) {
      expect(hex(written[index]!.bytes.subarray(0, length))).toBe(hex(packs[index]!.bytes.subarray(0, length)))
    }
  })

  it("has a line for each template", () => {
    for (const lines of [1, 3, 4].map((index) => blocks("hex")[index]!)) {
      const content = bytesOf(lines)
      const { history, inputs, output, parts } = PackContent.read(content)
      const templates = [inputs, output, ...history, ...parts].map(({ end, start }) =>
        hex(content.subarray(start, end))
      )
      expect(lines.map((line) => hex(bytesOf([line])))).toEqual([hex(content.subarray(0, inputs.start)), ...templates])
    }
  })

  it("has an erased event, without which the other reads on", () => {
    const { history, inputs, output } = PackContent.read(erased1)
    expect([inputs, output, ...history].map(PackContent.isEmpty)).toEqual([true, true, false])
    expect(textsOf([erased1, content2])).toEqual(second)
  })

  it("has a shared piece, compressed in both ways", () => {
    const text = '"You are a helpful assistant."'
    for (const stored of [deflated, zstd]) expect(SharedPiece.textOf(stored).toString()).toBe(text)
    expect(document).toContain(hash("sha256", text).slice(0, 8))
  })

  it("has the vocabulary", () => {
    expect(blocks("text")[0]!.join("")).toBe(dictionary.toString())
    expect(document).toContain(`The ${dictionary.length.toLocaleString("en")} bytes`)
  })

  it("has ranges as they are read", () => {
    expect(document).toContain("For pack 10, the ranges `00 03` and `01 02` are packs 7 to 9, and 4 to 5.")
    expect(Pack.readHead(10, bytesOf(["01 02 00 02", "00 03", "01 02"])).needs).toEqual([
      { from: 4, to: 5 },
      { from: 7, to: 9 }
    ])
  })
})
