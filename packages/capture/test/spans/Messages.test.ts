import { formats } from "@tachograph/formats"
import { expect, it } from "vitest"
import { messagesOf } from "../../src/spans/Messages.ts"
import { payloadOf } from "../../src/spans/Payload.ts"
import type { Value } from "../../src/spans/Span.ts"

const record = (name: string, body: Value, attributes: Readonly<Record<string, Value>> = {}) => ({
  name,
  body,
  attributes: new Map(Object.entries(attributes))
})

const told = (...records: ReadonlyArray<ReturnType<typeof record>>) => {
  const span = { scope: { name: "x", version: "" }, attributes: new Map<string, Value>() }
  const { inputs, output } = payloadOf(span, null, messagesOf(records))
  const { input, output: answered } = formats.aisdk.messages(JSON.parse(inputs), JSON.parse(output))
  return [...input, ...answered].map(({ parts, role }) => [role, ...parts.map(({ content }) => content)])
}

const said = [
  ["user", "Hi"],
  ["assistant", "Hello"]
]

it("records of messages and choices are the conversation", () => {
  const choice = { index: 0, finish_reason: "stop", message: { content: "Hello" } }
  expect(told(record("gen_ai.user.message", { content: "Hi" }), record("gen_ai.choice", choice))).toEqual(said)
})

it("events of a span have attributes in the place of a body", () => {
  const json = (value: object) => ({ "gen_ai.system": "openai", "gen_ai.event.content": JSON.stringify(value) })
  expect(
    told(
      record("gen_ai.user.message", null, json({ content: "Hi" })),
      record("exception", null, { "exception.message": "no" }),
      record("gen_ai.choice", null, json({ message: { role: "assistant", content: "Hello" } }))
    )
  ).toEqual(said)
  expect(
    told(
      record("gen_ai.user.message", null, { content: "Hi" }),
      record("gen_ai.choice", null, { index: 0, message: '{"content":"Hello"}' })
    )
  ).toEqual(said)
})

it("events with all messages of a side are these", () => {
  expect(
    told(
      record("gen_ai.content.prompt", null, { "gen_ai.prompt": '[{"role":"user","content":"Hi"}]' }),
      record("gen_ai.content.completion", null, { "gen_ai.completion": '[{"role":"assistant","content":"Hello"}]' })
    )
  ).toEqual(said)
})
