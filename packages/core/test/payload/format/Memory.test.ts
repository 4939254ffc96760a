import { expect, it } from "vitest"
import * as Memory from "../../../src/payload/format/Memory.ts"

it("frees the memory of large buffers, with all views of it", () => {
  const buffer = Buffer.allocUnsafe(128 * 1024)
  const view = buffer.subarray(10, 20)
  expect([buffer, view].map(Memory.isFreeable)).toEqual([true, true])
  expect([buffer, view].map(Memory.isLarge)).toEqual([true, false])
  Memory.free(view)
  expect([buffer.length, view.length, buffer.buffer.byteLength]).toEqual([0, 0, 0])
  Memory.free(buffer)
})

it("leaves small ones and those of the pool alone", () => {
  const small = Buffer.alloc(128 * 1024 - 1, 1)
  const pooled = Buffer.from("in the pool")
  for (const each of [small, pooled]) {
    expect(Memory.isFreeable(each)).toBe(false)
    Memory.free(each)
  }
  expect([small.length, pooled.toString()]).toEqual([128 * 1024 - 1, "in the pool"])
})
