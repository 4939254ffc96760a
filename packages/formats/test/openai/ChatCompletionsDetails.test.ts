/** Where an element of a list begins whose elements come in pieces. */
import { expect, it } from "vitest"
import { makeIndexed } from "../../src/openai/ChatCompletionsDetails.ts"

const join = (...items: ReadonlyArray<object>) => {
  const indexed = makeIndexed()
  for (const item of items) indexed.take(JSON.parse(JSON.stringify(item)))
  return indexed.items
}

const text = (said: string, fields: object = {}) => ({ type: "reasoning.text", text: said, index: 0, ...fields })
const summary = (said: string) => ({ type: "reasoning.summary", summary: said, index: 0 })
const secret = (data: string, fields: object = {}) => ({ type: "reasoning.encrypted", data, index: 0, ...fields })

it.each<[string, ReadonlyArray<object>, ReadonlyArray<object>]>([
  [
    "of another id",
    [secret("AB", { id: "a" }), secret("CD", { id: "b" })],
    [secret("AB", { id: "a" }), secret("CD", { id: "b" })]
  ],
  ["behind base64 that is padded", [secret("QQ=="), secret("Qg==")], [secret("QQ=="), secret("Qg==")]],
  [
    "of the type of one before the last",
    [summary("a"), summary("b"), secret("AB", { id: "a" }), summary("c"), secret("CD", { id: "b" })],
    [summary("ab"), secret("AB", { id: "a" }), summary("c"), secret("CD", { id: "b" })]
  ],
  [
    "behind a signature",
    [text("a"), text("", { signature: "s" }), text("b"), text("c", { signature: "t" })],
    [text("a", { signature: "s" }), text("bc", { signature: "t" })]
  ],
  ["of another index", [text("a"), text("b", { index: 1 }), text("c")], [text("ac"), text("b", { index: 1 })]]
])("an element %s is another", (_, items, expected) => {
  expect(join(...items)).toEqual(expected)
})

it.each<[string, ReadonlyArray<object>, object]>([
  ["whose id is told late", [text("a"), text("b", { id: "x" }), text("c")], text("abc", { id: "x" })],
  ["whose type is told once", [text("a"), { index: 0, text: "b" }], text("ab")],
  [
    "without an index",
    [
      { type: "reasoning.text", text: "a" },
      { type: "reasoning.text", text: "b" }
    ],
    { type: "reasoning.text", text: "ab" }
  ],
  ["that comes in pieces of base64", [secret("QUJD"), secret("REVG")], secret("QUJDREVG")],
  [
    "whose null id says nothing",
    [text("a", { id: "x" }), text("b", { id: null, signature: null })],
    text("ab", { id: "x", signature: null })
  ]
])("an element %s is one", (_, items, expected) => {
  expect(join(...items)).toEqual([expected])
})

it.each([0, 1])("keeps 10,000 elements, and not the %s after them", (more) => {
  const items = Array.from({ length: 10_000 + more }, (_, index) => ({ index }))
  expect(join(...items)).toEqual(items.slice(0, 10_000))
})
