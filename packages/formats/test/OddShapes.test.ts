/** Shapes of calls that are odd, but are sent: each is read as what it is, and nothing of it is left out. */
import { describe, expect, it } from "vitest"
import { formats, type Json } from "@tachograph/formats"
import { part } from "../src/normal/Parts.ts"

const {
  "provider1-chat-completions": chat,
  "provider1-responses": responses,
  "provider2-messages": anthropic,
  "provider3-models": gemini,
  "provider3-interactions": interactions
} = formats

const user = (content: string) => ({ role: "user", parts: [{ type: "text", content }] })

describe("one value in place of a list", () => {
  it("is the one message", () => {
    expect(chat.messages({ messages: "Hello" }, null).input).toEqual([user("Hello")])
    expect(chat.messages({ messages: { role: "user", content: "Hello" } }, null).input).toEqual([user("Hello")])
    expect(responses.messages({ input: { role: "user", content: "Hello" } }, null).input).toEqual([user("Hello")])
    expect(chat.messages({ messages: "" }, null).input).toEqual([])
  })

  it("is the one tool", () => {
    const tool = { type: "function", name: "look" }
    expect(chat.messages({ tools: { type: "function", function: { name: "look" } } }, null).tools).toEqual([tool])
    expect(chat.messages({ functions: { name: "look" } }, null).tools).toEqual([tool])
    expect(responses.messages({ tools: tool }, null).tools).toEqual([tool])
    expect(interactions.messages({ tools: tool }, null).tools).toEqual([tool])
    expect(gemini.messages({ tools: { functionDeclarations: { name: "look" } } }, null).tools).toEqual([tool])
    expect(gemini.messages({ tools: { googleSearch: { a: 1 } } }, null).tools).toEqual([{ googleSearch: { a: 1 } }])
  })

  it("is the one choice, item, candidate or step of an answer", () => {
    const said = { role: "assistant", parts: [{ type: "text", content: "Hi" }] }
    expect(chat.messages(null, { choices: { message: { content: "Hi" } } }).output).toEqual([said])
    expect(responses.messages(null, { output: { role: "assistant", content: "Hi" } }).output).toEqual([said])
    expect(gemini.messages(null, { candidates: { content: { parts: { text: "Hi" } } } }).output).toEqual([said])
    expect(interactions.messages(null, { steps: { type: "model_output", content: "Hi" } }).output).toEqual([said])
  })
})

describe("a message of chat completions", () => {
  const messageOf = (message: Json) => chat.messages({ messages: [message] }, null).input[0]

  it.each<readonly [string, Json, Json]>([
    ["a call without a name", { function_call: { arguments: '{"a":1}' } }, { type: "tool_call", arguments: { a: 1 } }],
    ["a call that is a text", { function_call: "look" }, { type: "unknown", function: "look" }],
    [
      "one call that is no list",
      { tool_calls: { id: "c1", type: "function", function: { name: "look", arguments: "{}" } } },
      { type: "tool_call", id: "c1", name: "look" }
    ],
    ["a refusal that is a list", { refusal: [{ text: "No." }] }, { type: "refusal", refusal: [{ text: "No." }] }],
    ["sound that is a text", { audio: "UklGRg==" }, { type: "audio", content: "UklGRg==" }]
  ])("has %s", (_, fields, said) => {
    expect(messageOf({ role: "assistant", ...(fields as object) })).toEqual({ role: "assistant", parts: [said] })
  })

  it("has no call where the old field says nothing", () => {
    const parts = [{ type: "text", content: "Hi" }]
    const message = { role: "assistant", content: "Hi", function_call: { name: null, arguments: "" } }
    expect(messageOf(message)).toEqual({ role: "assistant", parts })
  })

  it("keeps the id of a call whoever says it", () => {
    expect(messageOf({ role: "user", content: "Hello", tool_call_id: "c1" })).toEqual({
      ...user("Hello"),
      tool_call_id: "c1"
    })
  })
})

describe("a response", () => {
  const itemOf = (item: Json) => responses.messages({ input: [item] }, null).input[0]

  it("keeps what stands beside the texts of its reasoning", () => {
    const summary = [{ type: "summary_text", text: "Short", signature: "c2ln" }]
    const content = [{ type: "reasoning_text", text: "Long", at: 1 }]
    expect(itemOf({ type: "reasoning", summary })).toEqual({
      role: "assistant",
      parts: [{ type: "reasoning", content: "Short", summary }]
    })
    expect(itemOf({ type: "reasoning", summary, content })?.parts).toEqual([
      { type: "reasoning", content: "Long", summary: "Short", provider_content: content, provider_summary: summary }
    ])
  })

  it("keeps the fields of a message without content", () => {
    const item = { type: "message", id: "msg_1", role: "assistant", status: "incomplete", content: [] }
    expect(itemOf(item)).toEqual({ role: "assistant", parts: [], id: "msg_1", status: "incomplete" })
  })

  const error = { code: "server_error", message: "It broke." }

  it.each([
    ["response", responses, "output", { type: "message", role: "assistant", content: "Hm" }],
    ["interaction", interactions, "steps", { type: "model_output", content: "Hm" }]
  ] as const)("or an interaction that failed keeps its error: %s", (_, format, key, said) => {
    const failed = { status: "failed", error, [key]: [] }
    expect(format.messages(null, failed).output).toMatchObject([
      { role: "assistant", parts: [], finish_reason: "failed", error }
    ])
    expect(format.messages(null, { ...failed, [key]: [said, said] }).output).toMatchObject([
      { error },
      { finish_reason: "failed" }
    ])
    // A body that is an error only is no answer.
    expect(format.messages(null, { error }).output).toEqual([])
  })
})

describe("a key with the name of a field of the normal form", () => {
  it("gets a name that is free", () => {
    expect(part("text", { content: "a" }, { content: "b", type: "c", provider_content: "d" })).toEqual({
      type: "text",
      content: "a",
      provider_provider_content: "b",
      provider_type: "c",
      provider_content: "d"
    })
  })

  it.each<readonly [Json, Json]>([
    [
      { type: "text", text: "Hi", content: "more" },
      { type: "text", content: "Hi", provider_content: "more" }
    ],
    [
      { type: "tool_use", id: "t1", name: "look", input: { a: 1 }, arguments: "more" },
      { type: "tool_call", id: "t1", name: "look", arguments: { a: 1 }, provider_arguments: "more" }
    ],
    [
      { type: "tool_result", tool_use_id: "t1", content: "sun", id: "more" },
      { type: "tool_call_response", id: "t1", response: "sun", provider_id: "more" }
    ],
    [
      { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: ["odd"] }] },
      { type: "tool_call_response", id: "t1", response: [{ type: "text", text: ["odd"] }] }
    ]
  ])("is kept of a block: %j", (block, said) => {
    expect(anthropic.messages({ messages: [{ role: "user", content: [block] }] }, null).input[0]?.parts).toEqual([said])
  })

  it("is kept of a message", () => {
    const message = { role: "user", content: "Hi", parts: ["more"], finish_reason: "odd" }
    const said = { ...user("Hi"), provider_parts: ["more"], provider_finish_reason: "odd" }
    expect(anthropic.messages({ messages: [message] }, null).input).toEqual([said])
    expect(chat.messages({ messages: [message] }, null).input).toEqual([said])
  })
})

it("keeps what instructions of Gemini hold beside their parts", () => {
  const of = (systemInstruction: Json) => gemini.messages({ systemInstruction }, null).instructions
  const parts = [{ text: "Be brief." }, { text: "Be kind." }]
  const said = [
    { type: "text", content: "Be brief." },
    { type: "text", content: "Be kind." }
  ]
  expect(of({ role: "user", parts })).toEqual(said)
  expect(of({ role: "developer", parts, note: "x" })).toEqual([{ ...said[0], role: "developer", note: "x" }, said[1]])
  expect(of({ parts: [], note: "x" })).toEqual([{ type: "unknown", note: "x" }])
})
