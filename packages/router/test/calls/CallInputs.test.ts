import { Steps } from "@tachograph/core"
import { recognise } from "@tachograph/capture"
import { expect, it } from "vitest"
import * as CallInputs from "../../src/calls/CallInputs.ts"

const judged = (path: string, body: object) => {
  const text = Buffer.from(JSON.stringify(body))
  return recognise(path, Steps.run(CallInputs.parse(text, false)))
}

const messages = [{ role: "user", content: "Hello" }]

it.each<[string, object, string | null]>([
  ["/v1/messages", { model: "m", messages }, "provider2-messages"],
  ["/v1/messages", { messages: [{ content: "first" }, ...messages] }, "provider2-messages"],
  ["/v1/messages", { messages: [] }, "provider2-messages"],
  ["/v1/messages", { messages, anthropic_beta: ["b"] }, "provider2-beta-messages"],
  ["/v1/messages", { messages, anthropic_beta: [] }, "provider2-messages"],
  ["/v1/messages", { messages: [{ to: "someone", text: "Hello" }] }, null],
  ["/v1/responses", { input: "Hello" }, "provider1-responses"],
  ["/v1/responses", { input: messages }, "provider1-responses"],
  ["/v1/responses", { input: { q: "Hello" } }, null],
  ["/v1/responses", { prompt: { id: "p" } }, "provider1-responses"],
  ["/v1/responses", { conversation: { id: "c" } }, "provider1-responses"],
  ["/v1/responses", { previous_response_id: "r" }, "provider1-responses"],
  ["/v1beta/models/m:generateContent", { contents: [{ parts: [] }] }, "provider3-models"],
  ["/v1beta/models/m:generateContent", { contents: [] }, null],
  ["/v1beta/interactions", { agent: "a" }, "provider3-interactions"],
  ["/v1beta/interactions", { input: messages }, "provider3-interactions"],
  ["/v1beta/interactions", {}, null]
])("a long request is what a short one is: %s %j", (path, body, api) => {
  const pad = "a".repeat(Steps.longFromBytes)
  expect([judged(path, body), judged(path, { pad, ...body }), judged(path, { ...body, pad })]).toEqual([api, api, api])
})

it.each(["", "[]", "1", '{"a":', '{"messages":[]} x'])("a text that is no object is none: %j", (text) => {
  const long = `${" ".repeat(Steps.longFromBytes)}${text}`
  for (const each of [text, long])
    for (const isNeeded of [false, true])
      expect(Steps.run(CallInputs.parse(Buffer.from(each), isNeeded))).toBeUndefined()
})
