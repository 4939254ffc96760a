import * as fc from "fast-check"
import { expect, it } from "vitest"
import { fold, unfold } from "../../src/spans/Lists.ts"
import type { Value } from "../../src/spans/Span.ts"

const folded = (attributes: Readonly<Record<string, Value>>) =>
  Object.fromEntries(fold(new Map(Object.entries(attributes))))

it("folds lists within lists", () => {
  const attributes = {
    "llm.input_messages.0.message.role": "assistant",
    "llm.model_name": "m",
    "llm.input_messages.0.message.tool_calls.0.tool_call.id": "1",
    "llm.input_messages.0.message.tool_calls.1.tool_call.id": "2",
    "llm.input_messages.1.message.role": "tool",
    "llm.prompts.0": "a",
    "llm.prompts.1": 2n
  }
  expect(folded(attributes)).toEqual({
    "llm.input_messages": [
      { "message.role": "assistant", "message.tool_calls": [{ "tool_call.id": "1" }, { "tool_call.id": "2" }] },
      { "message.role": "tool" }
    ],
    "llm.model_name": "m",
    "llm.prompts": ["a", 2n]
  })
})

it.each([
  ["a gap", { "gen_ai.prompt.0.role": "user", "gen_ai.prompt.2.role": "user" }],
  ["a gap within", { "gen_ai.prompt.0.calls.1.id": "a" }],
  ["an element that is two things", { "gen_ai.prompt.0": "a", "gen_ai.prompt.0.role": "user" }],
  ["a list that is there as well", { "gen_ai.prompt": "a", "gen_ai.prompt.0.role": "user" }],
  ["a value that is a list itself", { "gen_ai.prompt.0.role": ["a"] }],
  ["too many levels", { [`gen_ai.prompt${".0".repeat(100)}`]: "a" }],
  ["a list of another name", { "app.list.0": "a" }]
])("leaves as it came what has %s", (_, attributes) => {
  expect(folded(attributes as Readonly<Record<string, Value>>)).toEqual(attributes)
})

const name = fc.constantFrom("role", "message.role", "a", "", "01", "__proto__", "tool_calls", "length")
const place = fc.oneof(fc.nat(2).map(String), name)
const key = fc.oneof(
  fc
    .tuple(fc.constantFrom("gen_ai.prompt", "llm.tools", "other"), fc.array(place, { maxLength: 4 }))
    .map(([head, path]) => [head, ...path].join(".")),
  fc.string()
)
const scalar = fc.oneof(fc.string(), fc.integer(), fc.bigInt(), fc.boolean(), fc.constant(null))

/** Lists that are complete, and attributes of any other names among them. */
const lists = fc
  .array(fc.array(fc.tuple(name, scalar), { minLength: 1, maxLength: 3 }), { maxLength: 4 })
  .map((elements) =>
    elements.flatMap((fields, at) => fields.map(([tail, value]) => [`gen_ai.completion.${at}.${tail}`, value] as const))
  )

it("unfolds to what came", () => {
  fc.assert(
    fc.property(lists, fc.array(fc.tuple(key, scalar)), (complete, others) => {
      const attributes = new Map<string, Value>([...complete, ...others])
      expect(unfold(fold(attributes))).toEqual(attributes)
    }),
    { seed: 1 }
  )
})
