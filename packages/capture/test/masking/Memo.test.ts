import { expect, it } from "vitest"
import { remembering } from "../../src/masking/Memo.ts"

it("computes once for a text, as long as few others and no long ones are asked for", () => {
  const computed: Array<number> = []
  const lengthOf = remembering((text) => {
    computed.push(text.length)
    return text.length
  })
  const ask = (...lengths: ReadonlyArray<number>) => {
    computed.length = 0
    for (const length of lengths) expect(lengthOf("a".repeat(length))).toBe(length)
    return computed
  }
  expect(ask(0, 1, 0, 1)).toEqual([0, 1])
  expect(ask(1024, 1024, 1025, 1025)).toEqual([1024, 1025, 1025])
  const others = Array.from({ length: 61 }, (_, n) => n + 2)
  expect(ask(...others)).toEqual(others)
  expect(ask(0, 62, 1024)).toEqual([])
  // One more than are remembered.
  expect(ask(63, 0, 2, 1)).toEqual([63, 0, 1])
})
