import { hash } from "node:crypto"
import { describe, expect, it } from "vitest"
import * as PackContent from "../../src/payload/format/PackContent.ts"
import { ReachedPieces } from "../../src/payload/ReachedPieces.ts"
import { template, text } from "./Templates.ts"

/** Small buffers share their memory with others, unlike those of a decompressor. */
const outsidePool = (bytes: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

const contents = (
  inputs: Buffer,
  before: PackContent.Counts,
  history: ReadonlyArray<Buffer>,
  parts: ReadonlyArray<Buffer> = []
) =>
  PackContent.read(
    outsidePool(
      PackContent.write({ before, added: { history: history.length, parts: parts.length } }, [
        inputs,
        text("{}"),
        ...history,
        ...parts
      ])
    )
  )

const names = ["1", "2"].map((each) => hash("sha256", each, "buffer"))

// The newer pack's inputs reach history 3, which reaches part 2, which reaches history 1 and a shared piece.
const older = contents(
  template((writer) => writer.history(2)),
  { history: 0, parts: 0 },
  [text("h1"), template((writer) => writer.shared(names[1]!))],
  [text("p1")]
)
const newer = contents(
  template((writer) => writer.history(3)),
  { history: 2, parts: 1 },
  [template((writer) => writer.part(2))],
  [
    template((writer) => {
      writer.history(1)
      writer.shared(names[0]!)
    })
  ]
)

const numbers = (reached: ReadonlyMap<number, unknown>) => Array.from(reached.keys()).sort((a, b) => a - b)

describe("ReachedPieces", () => {
  it("finds what texts reach directly and through pieces, from the newest pack to the oldest", () => {
    const reach = new ReachedPieces()
    expect(numbers(reach.visit([newer], [newer.inputs, newer.output]))).toEqual([-2, 3])
    expect(reach.shared).toEqual([names[0]])
    expect(numbers(reach.visit([older], []))).toEqual([1])
    expect(reach.shared).toEqual([names[0]])
  })

  it("finds the same in packs that are visited together", () => {
    const reach = new ReachedPieces()
    expect(numbers(reach.visit([older, newer], [newer.inputs, newer.output]))).toEqual([-2, 1, 3])
    expect(reach.shared).toEqual([names[0]])
  })

  it("adds the texts of older packs", () => {
    const reach = new ReachedPieces()
    reach.visit([newer], [newer.inputs])
    expect(numbers(reach.visit([older], [older.inputs]))).toEqual([1, 2])
    expect(reach.shared).toEqual(names)
  })

  it("changes no copy", () => {
    const reach = new ReachedPieces()
    reach.visit([newer], [newer.inputs])
    const copy = new ReachedPieces(reach)
    expect(numbers(copy.visit([older], []))).toEqual([1])
    expect(numbers(reach.visit([older], []))).toEqual([1])
  })

  it("retains no content of a pack in the names of shared pieces", () => {
    const reach = new ReachedPieces()
    reach.visit([newer], [newer.inputs])
    for (const name of reach.shared) expect(name.buffer).not.toBe(newer.inputs.content.buffer)
  })
})
