import { hash } from "node:crypto"
import { describe, expect, it } from "vitest"
import * as Join from "../../src/payload/Join.ts"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import type { TemplateWriter } from "../../src/payload/format/Template.ts"
import { template, text } from "./Templates.ts"

/** The contents of a pack with these inputs and a fixed output. */
const contents = (
  inputs: Buffer,
  history: ReadonlyArray<Buffer> = [],
  parts: ReadonlyArray<Buffer> = [],
  before: PackContent.Counts = { history: 0, parts: 0 }
) =>
  PackContent.read(
    PackContent.write({ before, added: { history: history.length, parts: parts.length } }, [
      inputs,
      text("1"),
      ...history,
      ...parts
    ])
  )

const piecesIn = (...all: ReadonlyArray<PackContent.Contents>) => Join.piecesOf(all)

const sha256 = hash("sha256", '"shared"', "buffer")
const shared = new Map([[Join.keyOf(sha256), Buffer.from('"shared"')]])

describe("Join", () => {
  it("expands parts, runs and shared pieces", () => {
    const inputs = template((writer) => {
      writer.literal(Buffer.from("["))
      writer.history(1, 3, Buffer.from(", "))
      writer.literal(Buffer.from(" ,"))
      writer.part(1)
      writer.literal(Buffer.from("]"))
    })
    const first = contents(
      inputs,
      [text("1"), text("2"), template((writer) => writer.part(1))],
      [
        template((writer) => {
          writer.literal(Buffer.from("{"))
          writer.shared(sha256)
          writer.literal(Buffer.from(":0}"))
        })
      ]
    )
    const pieces = piecesIn(first)
    expect(Join.join(first.inputs, pieces, shared).toString()).toBe('[1, 2, {"shared":0} ,{"shared":0}]')
    const limits = { expectedBytes: 1, maxBytes: 34 }
    expect(Join.join(first.inputs, pieces, shared, limits).toString()).toBe('[1, 2, {"shared":0} ,{"shared":0}]')
    expect(() => Join.join(first.inputs, pieces, shared, { maxBytes: 33 })).toThrow("A text has more than 33 bytes")
    expect(() => Join.join(first.inputs, pieces, new Map())).toThrow(
      `Shared piece ${sha256.toString("hex")} is missing`
    )
  })

  it("numbers the history and the parts separately, continuing from older packs", () => {
    const older = contents(text("1"), [text('"h1"')], [text('"p1"')])
    const newer = contents(
      template((writer) => {
        writer.literal(Buffer.from("["))
        writer.history(1, 2, Buffer.from(","))
        writer.literal(Buffer.from(","))
        writer.part(1)
        writer.literal(Buffer.from(","))
        writer.part(2)
        writer.literal(Buffer.from("]"))
      }),
      [text('"h2"')],
      [text('"p2"')],
      { history: 1, parts: 1 }
    )
    const joined = Join.join(newer.inputs, piecesIn(older, newer), new Map())
    expect(joined.toString()).toBe('["h1","h2","p1","p2"]')
  })

  it("throws an error that names the missing piece", () => {
    for (const [piece, make] of [
      [-7, (writer: TemplateWriter) => writer.part(7)],
      [2, (writer: TemplateWriter) => writer.history(1, 2, Buffer.from(","))]
    ] as const) {
      const own = contents(template(make), [text("1")])
      const pieces = piecesIn(own)
      expect(() => Join.join(own.inputs, pieces, new Map())).toThrow(new Join.PieceMissing(piece))
    }
  })

  it("expands pieces nested 100,000 deep", () => {
    const depth = 100_000
    const parts = Array.from({ length: depth }, (_, index) =>
      index === 0
        ? text("[]")
        : template((writer) => {
            writer.literal(Buffer.from("["))
            writer.part(index)
            writer.literal(Buffer.from("]"))
          })
    )
    const own = contents(
      template((writer) => writer.part(depth)),
      [],
      parts
    )
    const joined = Join.join(own.inputs, piecesIn(own), new Map()).toString()
    expect(joined).toBe("[".repeat(depth) + "]".repeat(depth))
  })
})
