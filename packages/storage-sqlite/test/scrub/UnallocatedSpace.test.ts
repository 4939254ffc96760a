import { describe, expect, it } from "vitest"
import * as UnallocatedSpace from "../../src/scrub/UnallocatedSpace.ts"

interface Header {
  readonly type: number
  readonly content: number
  readonly cells?: ReadonlyArray<number>
  readonly bytes?: number
}

/** A page of this type whose cells are at these positions. Everything else is `fill`. */
const page = ({ bytes = 4096, cells = [], content, type }: Header, fill = 0): Buffer => {
  const buffer = Buffer.alloc(bytes, fill)
  const header = type === 2 || type === 5 ? 12 : 8
  buffer.fill(0, 0, header)
  buffer[0] = type
  buffer.writeUInt16BE(cells.length, 3)
  buffer.writeUInt16BE(content % 0x1_0000, 5)
  for (const [index, cell] of cells.entries()) buffer.writeUInt16BE(cell, header + 2 * index)
  return buffer
}

describe("UnallocatedSpace", () => {
  it.each([
    [2, 12],
    [5, 12],
    [10, 8],
    [13, 8]
  ])("is between the pointers and the cells of a page of type %i", (type, header) => {
    const of = (fill: number) => UnallocatedSpace.find(page({ type, cells: [4000, 4050], content: 4000 }, fill))
    expect(of(1)).toEqual([header + 4, 4000])
    expect(of(0)).toBeUndefined()
  })

  it("counts if one byte at either end is not zero, but not the bytes before and after it", () => {
    for (const [at, expected] of [
      [9, undefined],
      [10, [10, 4000]],
      [3999, [10, 4000]],
      [4000, undefined]
    ] as const) {
      const bytes = page({ type: 13, cells: [4000], content: 4000 })
      bytes[at]! |= 1
      expect([at, UnallocatedSpace.find(bytes)]).toEqual([at, expected])
    }
  })

  it("is empty in a full page, and everything in a page without cells", () => {
    expect(UnallocatedSpace.find(page({ type: 13, cells: [10], content: 10 }, 1))).toBeUndefined()
    expect(UnallocatedSpace.find(page({ type: 13, content: 4096 }, 1))).toEqual([8, 4096])
    expect(UnallocatedSpace.find(page({ type: 13, content: 0x1_0000, bytes: 0x1_0000 }, 1))).toEqual([8, 0x1_0000])
  })

  // Overflow pages and trunks of the freelist begin with the number of a page below `maxPages`.
  it.each([0, 1, UnallocatedSpace.maxPages - 1])(
    "does not exist in a page that begins with the number %i",
    (number) => {
      const bytes = Buffer.alloc(4096, 1)
      bytes.writeUInt32BE(number, 0)
      expect(UnallocatedSpace.find(bytes)).toBeUndefined()
    }
  )

  it.each<[string, Header]>([
    ["begins after its end", { type: 13, cells: [4000, 4050], content: 11 }],
    ["ends after the page", { type: 13, cells: [4000], content: 4097 }],
    ["has a cell before its end", { type: 13, cells: [4000, 3999], content: 4000 }],
    ["has a cell at the end of the page", { type: 13, cells: [4093], content: 4000 }]
  ])("is not overwritten if it %s", (_, header) => {
    expect(() => UnallocatedSpace.find(page(header, 1))).toThrow(UnallocatedSpace.MalformedPage)
  })

  it("may have a cell of 4 bytes at the end of the page", () => {
    expect(UnallocatedSpace.find(page({ type: 13, cells: [4092], content: 4000 }, 1))).toEqual([10, 4000])
  })
})
