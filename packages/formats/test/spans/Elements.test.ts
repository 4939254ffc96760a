import { expect, it } from "vitest"
import { formats } from "@tachograph/formats"

const { element } = formats.aisdk

const call = { type: "tool_call", id: "c1", name: "look", arguments: { at: 1 } }
const asked = { role: "assistant", parts: [{ type: "text", content: "I look." }, call] }
const called = { id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } }

it.each<readonly [shape: string, message: unknown]>([
  ["the semantic conventions", { role: "assistant", parts: [{ type: "text", content: "I look." }, call] }],
  ["chat completions", { role: "assistant", content: "I look.", tool_calls: [called] }],
  [
    "early Traceloop",
    { role: "assistant", content: "I look.", tool_calls: [{ id: "c1", name: "look", arguments: '{"at":1}' }] }
  ],
  [
    "early Traceloop, with blocks",
    {
      role: "assistant",
      content: '[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"look","input":{"at":1}}]'
    }
  ],
  [
    "Anthropic",
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "c1", name: "look", input: { at: 1 } }
      ]
    }
  ],
  [
    "the AI SDK",
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: 1 } }
      ]
    }
  ],
  [
    "Genkit",
    {
      role: "model",
      content: [{ text: "I " }, { text: "look." }, { toolRequest: { ref: "c1", name: "look", input: { at: 1 } } }]
    }
  ],
  [
    "LangChain",
    {
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", "AIMessageChunk"],
      kwargs: {
        content: "I look.",
        name: "agent",
        id: "run-1",
        tool_calls: [{ id: "c1", name: "look", args: { at: 1 }, type: "tool_call" }]
      }
    }
  ],
  [
    "OpenInference",
    {
      "message.role": "assistant",
      "message.content": "I look.",
      "message.tool_calls": [
        { "tool_call.id": "c1", "tool_call.function.name": "look", "tool_call.function.arguments": '{"at":1}' },
        { "tool_call.id": null, "tool_call.function.name": null }
      ]
    }
  ],
  [
    "OpenInference, of Anthropic",
    {
      "message.role": "assistant",
      "message.contents": [
        { "message_content.type": "text", "message_content.text": "I look." },
        {
          "message_content.type": "tool_use",
          "tool_call.id": "c1",
          "tool_call.function.name": "look",
          "tool_call.function.arguments": '{"at":1}'
        }
      ],
      "message.tool_calls": [
        { "tool_call.id": "c1", "tool_call.function.name": "look", "tool_call.function.arguments": '{"at":1}' }
      ]
    }
  ],
  ["a choice in a log record", { index: 0, message: { content: "I look.", tool_calls: [called] } }]
])("a call of a tool is read in the shape of %s", (_, message) => {
  expect(element(message)).toEqual([asked])
})

it("a message of Gemini's is read by the reader of its format", () => {
  const message = {
    role: "model",
    parts: [{ text: "I " }, { text: "look." }, { functionCall: { name: "look", args: { at: 1 } } }]
  }
  expect(element(message)).toEqual([
    { role: "assistant", parts: [asked.parts[0], { type: "tool_call", name: "look", arguments: { at: 1 } }] }
  ])
})

const result = [{ role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "42" }] }]

it.each<readonly [shape: string, message: unknown]>([
  ["the semantic conventions", { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "42" }] }],
  ["an older version of them", { role: "tool", parts: [{ type: "tool_call_response", id: "c1", result: "42" }] }],
  ["chat completions", { role: "tool", tool_call_id: "c1", content: "42" }],
  ["log records", { role: "tool", id: "c1", content: "42" }],
  ["OpenInference", { "message.role": "tool", "message.tool_call_id": "c1", "message.content": "42" }],
  [
    "LangChain",
    {
      lc: 1,
      id: ["langchain", "schema", "messages", "ToolMessage"],
      kwargs: { content: "42", tool_call_id: "c1", name: "look" }
    }
  ],
  ["OpenAI's responses", { type: "function_call_output", call_id: "c1", output: "42" }]
])("a result of a tool is read in the shape of %s", (_, message) => {
  const read = element(message).map(({ parts, role }) => ({
    role,
    parts: parts.map(({ tool_type: _type, ...part }) => part)
  }))
  expect(read).toEqual(result)
})

it("pictures and thoughts are read in the shapes of emitters", () => {
  const picture = { type: "blob", mime_type: "image/png", modality: "image", content: "AA==" }
  expect(element({ role: "user", parts: [{ type: "blob", mime_type: "image/png", content: "AA==" }] })).toEqual([
    { role: "user", parts: [picture] }
  ])
  const url = "data:image/png;base64,AA=="
  const image = [{ "message_content.type": "image", "message_content.image.image.url": url }]
  expect(element({ "message.role": "user", "message.contents": image })).toEqual([{ role: "user", parts: [picture] }])
  expect(element({ role: "user", content: [{ media: { url, contentType: "image/png" } }] })).toEqual([
    { role: "user", parts: [picture] }
  ])
  const thought = [{ type: "reasoning", content: "Hm." }]
  expect(element({ role: "assistant", parts: [...thought, { type: "custom" }] })).toEqual([
    { role: "assistant", parts: thought }
  ])
})

it("a whole input in one text is the messages that it has", () => {
  const input = [
    { role: "user", content: "Hi" },
    { type: "function_call", call_id: "c1", name: "look", arguments: '{"at":1}' }
  ]
  const messages = element({ role: "user", parts: [{ type: "text", content: JSON.stringify(input) }] })
  expect(messages).toEqual([
    { role: "user", parts: [{ type: "text", content: "Hi" }] },
    { role: "assistant", parts: [call] }
  ])
  const said = { type: "text", content: '[{"a":1}]' }
  expect(element({ role: "user", parts: [said] })).toEqual([{ role: "user", parts: [said] }])
})
