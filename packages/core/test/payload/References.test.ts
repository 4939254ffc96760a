import { describe, expect, it } from "vitest"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import * as References from "../../src/payload/References.ts"
import { template, text } from "./Templates.ts"

describe("References", () => {
  it("merges what the new pieces of a pack reference, and keeps runs as ranges", () => {
    const history = [
      template((writer) => {
        writer.history(7, 50_000, Buffer.from(","))
        writer.literal(Buffer.from("again"))
        writer.history(7, 50_000, Buffer.from(","))
        writer.part(3)
      }),
      template((writer) => writer.history(2)),
      template((writer) => writer.history(100, 60_000, Buffer.from(",")))
    ]
    const parts = [
      template((writer) => writer.part(2)),
      template((writer) => {
        writer.part(9)
        writer.history(6)
      })
    ]
    const counts = { before: { history: 70_000, parts: 10 }, added: { history: 3, parts: 2 } }
    const content = PackContent.write(counts, [
      template((writer) => writer.history(1)),
      template((writer) => writer.part(1)),
      ...history,
      ...parts
    ])
    expect(References.of(PackContent.read(content))).toEqual({
      history: [
        { from: 2, to: 2 },
        { from: 6, to: 60_099 }
      ],
      parts: [
        { from: 2, to: 3 },
        { from: 9, to: 9 }
      ]
    })
  })

  it("finds none in texts", () => {
    const counts = { before: { history: 0, parts: 0 }, added: { history: 1, parts: 0 } }
    const content = PackContent.write(counts, [text("{}"), text("{}"), text("a message")])
    expect(References.of(PackContent.read(content))).toEqual({ history: [], parts: [] })
  })
})
