/** What the AI SDK hands out, made by hand after its versions 5 to 7: one run of two steps, whole and as a stream. */
import type { JsonObject } from "@tachograph/formats"

const thought = { type: "reasoning", text: "Weather needs a look." }
const call = { type: "tool-call", toolCallId: "c1", toolName: "look", input: { city: "Zürich" } }
const failing = { type: "tool-call", toolCallId: "c2", toolName: "fail", input: {} }
const result = {
  type: "tool-result",
  toolCallId: "c1",
  toolName: "look",
  input: { city: "Zürich" },
  output: { sun: 1 }
}
const failure = { type: "tool-error", toolCallId: "c2", toolName: "fail", input: {}, error: "boom" }
const source = { type: "source", sourceType: "url", id: "s1", url: "https://example.com/weather" }
const said = { type: "text", text: "It is sunny." }

const usage = (input: number, output: number) => ({
  inputTokens: input,
  inputTokenDetails: { noCacheTokens: input - 2, cacheReadTokens: 2 },
  outputTokens: output,
  outputTokenDetails: { textTokens: output - 1, reasoningTokens: 1 },
  totalTokens: input + output,
  raw: { service_tier: "default", server_tool_use: { web_search_requests: 1 } }
})

/** What the application sends back with its next call. */
export const responseMessages: ReadonlyArray<JsonObject> = [
  { role: "assistant", content: [thought, call, failing] },
  {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "c1", toolName: "look", output: { type: "json", value: { sun: 1 } } },
      { type: "tool-result", toolCallId: "c2", toolName: "fail", output: { type: "error-text", value: "boom" } }
    ]
  },
  { role: "assistant", content: [said] }
]

const response = (id: string) => ({ id, timestamp: "2026-01-01T00:00:00.000Z", modelId: "gpt-5-mini-2025-08-07" })

const steps: ReadonlyArray<
  JsonObject & { readonly content: ReadonlyArray<JsonObject>; readonly response: JsonObject }
> = [
  {
    content: [thought, call, failing, result, failure],
    finishReason: "tool-calls",
    rawFinishReason: "tool_calls",
    usage: usage(10, 5),
    warnings: [],
    request: {},
    response: response("r1")
  },
  {
    content: [source, said],
    finishReason: "stop",
    rawFinishReason: "completed",
    usage: usage(20, 7),
    warnings: [],
    request: {},
    response: response("r2")
  }
]

const totalUsage = { inputTokens: 30, outputTokens: 12, totalTokens: 42 }

const withMessages = (lists: ReadonlyArray<ReadonlyArray<JsonObject>>) =>
  steps.map((step, index) => ({ ...step, response: { ...step.response, messages: lists[index] ?? [] } }))

/** Version 7: messages of each step, and those of all at the result. */
export const result7: JsonObject = {
  content: steps.flatMap(({ content }) => content),
  text: said.text,
  finishReason: "stop",
  rawFinishReason: "completed",
  usage: totalUsage,
  totalUsage,
  responseMessages,
  response: { ...response("r2"), messages: responseMessages.slice(2) },
  steps: withMessages([responseMessages.slice(0, 2), responseMessages.slice(2)])
}

/** Version 6: the messages of a step repeat the earlier ones. */
export const result6: JsonObject = {
  content: steps[1]?.content ?? [],
  text: said.text,
  finishReason: "stop",
  usage: usage(20, 7),
  totalUsage,
  response: { ...response("r2"), messages: responseMessages },
  steps: withMessages([responseMessages.slice(0, 2), responseMessages])
}

const written = ({ text, type }: { readonly text: string; readonly type: string }, key: "delta" | "text") => [
  { type: `${type}-start`, id: "1" },
  ...text.split(/(?<= )/).map((piece) => ({ type: `${type}-delta`, id: "1", [key]: piece })),
  { type: `${type}-end`, id: "1" }
]

const input = (id: string, toolName: string, ...pieces: ReadonlyArray<string>) => [
  { type: "tool-input-start", id, toolName },
  ...pieces.map((delta) => ({ type: "tool-input-delta", id, delta })),
  { type: "tool-input-end", id }
]

const { warnings: _warnings, request: _request, content: _content, ...firstEnd } = steps[0] as JsonObject
const { warnings: _noWarnings, request: _noRequest, content: _noContent, ...lastEnd } = steps[1] as JsonObject

/** The parts of `fullStream`, as of version 6. */
export const callParts: ReadonlyArray<JsonObject> = [
  { type: "start" },
  { type: "start-step", request: {}, warnings: [] },
  ...written(thought, "text"),
  ...input("c1", "look", '{"city":', '"Zürich"}'),
  call,
  ...input("c2", "fail", "{}"),
  failing,
  { ...result, output: { sun: 0 }, preliminary: true },
  result,
  failure,
  { type: "finish-step", ...firstEnd },
  { type: "start-step", request: {}, warnings: [] },
  source,
  ...written(said, "text"),
  { type: "finish-step", ...lastEnd },
  { type: "finish", finishReason: "stop", rawFinishReason: "completed", totalUsage }
]

/** The result of the same call without streaming, as of version 6. */
export const callOutput: JsonObject = {
  text: said.text,
  content: [source, said],
  reasoning: [],
  files: [],
  sources: [source],
  toolCalls: [],
  toolResults: [],
  finishReason: "stop",
  rawFinishReason: "completed",
  usage: usage(20, 7),
  totalUsage,
  warnings: [],
  request: {},
  response: response("r2"),
  steps
}

const nested = {
  inputTokens: { total: 12, noCache: 4, cacheRead: 5, cacheWrite: 3 },
  outputTokens: { total: 9, text: 7, reasoning: 2 }
}

/** The parts of a model's `doStream`, as of version 6. */
export const modelParts: ReadonlyArray<JsonObject> = [
  { type: "stream-start", warnings: [] },
  { type: "response-metadata", ...response("r1") },
  { type: "custom", kind: "anthropic.message_start", providerMetadata: { anthropic: { id: "r1" } } },
  ...written(thought, "delta"),
  ...input("c1", "look", '{"city":', '"Zürich"}'),
  { ...call, input: '{"city":"Zürich"}' },
  ...written(said, "delta"),
  {
    type: "finish",
    finishReason: { unified: "tool-calls", raw: "tool_use" },
    usage: nested,
    providerMetadata: { anthropic: { serviceTier: "standard" } }
  }
]

/** What `doGenerate` answers instead. */
export const modelOutput: JsonObject = {
  content: [thought, { ...call, input: '{"city":"Zürich"}' }, said],
  finishReason: { unified: "tool-calls", raw: "tool_use" },
  usage: nested,
  response: response("r1"),
  warnings: [],
  providerMetadata: { anthropic: { serviceTier: "standard" } }
}
