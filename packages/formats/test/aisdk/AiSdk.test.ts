import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Facts, JsonObject } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { AiSdk } from "../../src/spans/AiSdk.ts"
import { billing } from "../../src/aisdk/Facts.ts"
import { modelOutput, responseMessages, result6, result7 } from "../data/AiSdk.ts"
import { answersOf, areThere, longStrings, streamsOf } from "../Workloads.ts"

const unknown: Facts = {
  provider: null,
  model: null,
  response_model: null,
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  reasoning_tokens: null,
  stop_reason: null,
  provider_stop_reason: null,
  tool_calls: null,
  error_type: null,
  error_code: null,
  error_status: null
}

const model = { provider: "openai.responses", modelId: "gpt-5-mini" }

const usage = (counts: unknown, metadata: unknown = {}) =>
  AiSdk.facts({}, { text: "a", usage: counts, providerMetadata: metadata })

describe("a step of version 6 that stands alone", () => {
  const call = { type: "tool-call", toolCallId: "c1", toolName: "look", input: {} }
  const result = { type: "tool-result", toolCallId: "c1", toolName: "look", output: { type: "text", value: "18" } }
  const content = [{ type: "text", text: "18 °C" }]
  const before = [
    { role: "assistant", content: [call] },
    { role: "tool", content: [result] }
  ]
  const answered = [...before, { role: "assistant", content }]

  it("says what it answered, without what the steps before it did", () => {
    const { output } = AiSdk.messages({}, { stepNumber: 1, content, response: { messages: answered } })
    expect(output.map(({ parts }) => parts)).toEqual([[{ type: "text", content: "18 °C" }]])
    const first = { stepNumber: 0, content: [call, { ...result, output: "18" }], response: { messages: before } }
    expect(AiSdk.messages({}, first).output.map(({ role }) => role)).toEqual(["assistant", "tool"])
  })

  it("is asked with parameters that do not count the steps", () => {
    expect(AiSdk.messages({ stepNumber: 1, temperature: 0, messages: [] }, {}).parameters).toEqual({ temperature: 0 })
  })
})

describe("facts of the AI SDK", () => {
  it("are those of all steps of a result", () => {
    const expected: Facts = {
      provider: "openai",
      model: "gpt-5-mini",
      response_model: "gpt-5-mini-2025-08-07",
      input_tokens: 30,
      output_tokens: 12,
      cache_read_tokens: 4,
      cache_write_tokens: null,
      reasoning_tokens: 2,
      stop_reason: "end",
      provider_stop_reason: "completed",
      tool_calls: ["look", "fail"],
      error_type: null,
      error_code: null,
      error_status: null
    }
    for (const result of [result6, result7]) expect(AiSdk.facts({ model }, result)).toEqual(expected)
    // What `JSON.stringify` leaves of a result, whose fields are getters.
    expect(AiSdk.facts({ model }, { steps: result7["steps"] })).toEqual(expected)
    expect(billing({}, result7)).toMatchObject({
      service_tier: "default",
      cache_write_1h_tokens: null,
      input_audio_tokens: null,
      cache_audio_read_tokens: null,
      output_audio_tokens: null,
      output_image_tokens: null,
      web_searches: 2
    })
  })

  it("are those of a model's answer", () => {
    expect(AiSdk.facts({}, { ...modelOutput, request: { body: { model: "claude-sonnet-4-5" } } })).toEqual({
      ...unknown,
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      response_model: "gpt-5-mini-2025-08-07",
      input_tokens: 12,
      output_tokens: 9,
      cache_read_tokens: 5,
      cache_write_tokens: 3,
      reasoning_tokens: 2,
      stop_reason: "tool_calls",
      provider_stop_reason: "tool_use",
      tool_calls: ["look"]
    })
    expect(billing({}, modelOutput).service_tier).toBe("standard")
  })

  it("are those of telemetry of version 7", () => {
    const start = { callId: "c", provider: "anthropic.messages", modelId: "claude-sonnet-4-5", messages: [] }
    const end = {
      ...start,
      modelId: "claude-sonnet-4-5-20250929",
      content: [],
      finishReason: "stop",
      usage: { inputTokens: 1 }
    }
    expect(AiSdk.facts(start, end)).toMatchObject({
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      response_model: "claude-sonnet-4-5-20250929",
      input_tokens: 1,
      tool_calls: []
    })
  })

  it("are those of a span", () => {
    const inputs = {
      "ai.model.id": "gpt-5-mini",
      "ai.model.provider": "openai.responses",
      "ai.prompt": '{"prompt":"Hi"}'
    }
    const output = {
      "ai.response.model": "gpt-5-mini-2025-08-07",
      "ai.response.finishReason": "tool-calls",
      "ai.response.toolCalls": '[{"toolCallId":"c1","toolName":"look","input":"{}"}]',
      "ai.usage.inputTokens": 10,
      "ai.usage.inputTokenDetails.cacheReadTokens": 4,
      "ai.usage.outputTokens": 5,
      "ai.usage.outputTokenDetails.reasoningTokens": 2
    }
    expect(AiSdk.facts(inputs, output)).toEqual({
      ...unknown,
      provider: "openai",
      model: "gpt-5-mini",
      response_model: "gpt-5-mini-2025-08-07",
      input_tokens: 10,
      output_tokens: 5,
      cache_read_tokens: 4,
      reasoning_tokens: 2,
      stop_reason: "tool_calls",
      provider_stop_reason: "tool-calls",
      tool_calls: ["look"]
    })
    expect(
      AiSdk.facts({}, { "gen_ai.usage.input_tokens": 3, "gen_ai.response.finish_reasons": ["length"] })
    ).toMatchObject({
      input_tokens: 3,
      stop_reason: "length"
    })
  })

  it("of a span are read without its prompt, which is as long as the conversation", () => {
    const inputs = { "ai.model.id": "gpt-5-mini", "ai.model.provider": "openai.responses" }
    const prompts = ["ai.prompt", "ai.prompt.messages", "ai.prompt.tools", "ai.prompt.toolChoice"]
    for (const name of prompts) {
      const get = () => {
        throw new Error(`${name} is read`)
      }
      Object.defineProperty(inputs, name, { enumerable: true, get })
    }
    expect(AiSdk.facts(inputs, {})).toMatchObject({ provider: "openai", model: "gpt-5-mini" })
  })

  it("are null where nothing is known", () => {
    for (const output of [null, undefined, 0, "text", [], {}, true]) expect(AiSdk.facts({}, output)).toEqual(unknown)
    for (const inputs of [null, [], "a", { model: 4 }]) expect(AiSdk.facts(inputs, {})).toEqual(unknown)
  })

  it("have one meaning for tokens, whatever version counted them", () => {
    // Version 4.
    expect(usage({ promptTokens: 5, completionTokens: 7 })).toMatchObject({ input_tokens: 5, output_tokens: 7 })
    // Version 5: what Anthropic cached is beside its input, and what Gemini thought beside its output.
    const anthropic = { usage: { input_tokens: 5, cache_creation_input_tokens: 3 }, cacheCreationInputTokens: 3 }
    expect(usage({ inputTokens: 5, outputTokens: 7, cachedInputTokens: 20 }, { anthropic })).toMatchObject({
      input_tokens: 28,
      cache_read_tokens: 20,
      cache_write_tokens: 3
    })
    expect(usage({ inputTokens: 28, outputTokens: 7, cachedInputTokens: 20 }, { anthropic }).input_tokens).toBe(28)
    expect(usage({ inputTokens: 5, outputTokens: 7, reasoningTokens: 4, totalTokens: 16 })).toMatchObject({
      output_tokens: 11,
      reasoning_tokens: 4
    })
    expect(usage({ inputTokens: 5, outputTokens: 7, reasoningTokens: 4, totalTokens: 12 }).output_tokens).toBe(7)
    // Version 6 and 7: all of it is in its sums.
    const details = { inputTokenDetails: { cacheReadTokens: 20, cacheWriteTokens: 3 } }
    expect(usage({ inputTokens: 28, outputTokens: 7, ...details }, { anthropic }).input_tokens).toBe(28)
    expect(usage({ inputTokens: { noCache: 1, cacheRead: 2 }, outputTokens: { text: 3, reasoning: 4 } })).toMatchObject(
      {
        input_tokens: 3,
        output_tokens: 7
      }
    )
  })

  it("have no counts that are none, and take the total where steps have none", () => {
    for (const bad of [-1, 1.5, "3", 2 ** 53, null]) {
      expect(usage({ inputTokens: bad, outputTokens: { total: bad } })).toMatchObject({
        input_tokens: null,
        output_tokens: null
      })
    }
    const steps = [{ content: [] }, { content: [], usage: { inputTokens: 1 } }]
    expect(AiSdk.facts({}, { steps, totalUsage: { inputTokens: 9 } }).input_tokens).toBe(9)
  })

  it("translate every reason to stop", () => {
    const reasons = {
      stop: "end",
      length: "length",
      "content-filter": "content_filter",
      "tool-calls": "tool_calls",
      error: "error",
      other: "other",
      unknown: "other",
      interrupted: "other"
    }
    for (const [word, reason] of Object.entries(reasons)) {
      const read = [word, { unified: word }].map((finishReason) => AiSdk.facts({}, { finishReason }))
      for (const facts of read) expect(facts).toMatchObject({ stop_reason: reason, provider_stop_reason: word })
    }
  })

  it("name providers as price lists do", () => {
    const names = {
      "openai.responses": "openai",
      "azure.chat": "azure",
      "azure-openai.responses": "azure",
      "anthropic.messages": "anthropic",
      "google.generative-ai": "google",
      "google.vertex.chat": "google",
      "vertex.anthropic.messages": "google",
      "amazon-bedrock": "aws",
      "xai.chat": "x-ai",
      "togetherai.chat": "together",
      "groq.chat": "groq",
      openrouter: "openrouter"
    }
    for (const [provider, name] of Object.entries(names)) {
      expect(AiSdk.facts({ model: { provider, modelId: "a" } }, {}).provider).toBe(name)
    }
    expect(AiSdk.facts({ model: "openai/gpt-5" }, {})).toMatchObject({ provider: "openai", model: "openai/gpt-5" })
    expect(AiSdk.facts({ model: { provider: "gateway", modelId: "xai/grok-4" } }, {}).provider).toBe("x-ai")
    expect(AiSdk.facts({}, { providerMetadata: { google: {} } }).provider).toBe("google")
  })

  it("tell errors by what the provider said, else by status or name", () => {
    const error = { name: "AI_APICallError", message: "No", statusCode: 429 }
    expect(AiSdk.facts({ model }, { error })).toMatchObject({ error_type: "429", error_status: 429, tool_calls: null })
    // A stream that was cut: the status is that of its beginning.
    expect(AiSdk.facts({}, { error: { ...error, statusCode: 200 } })).toMatchObject({
      error_type: "AI_APICallError",
      error_code: null,
      error_status: null
    })
    const data = { error: { type: "rate_limit_error", code: "tokens_per_minute", message: "No" } }
    expect(AiSdk.facts({}, { error: { ...error, data } })).toMatchObject({
      error_type: "rate_limit_error",
      error_code: "tokens_per_minute",
      error_status: 429
    })
    expect(AiSdk.facts({}, { error: { name: "AI_NoSuchToolError", message: "No" } }).error_type).toBe(
      "AI_NoSuchToolError"
    )
    const retried = { name: "AI_RetryError", message: "Failed after 3 attempts", reason: "maxRetriesExceeded" }
    const last = AiSdk.facts({}, { error: { ...retried, errors: [error], lastError: { ...error, data } } })
    expect(last).toMatchObject({ error_type: "rate_limit_error", error_status: 429 })
    expect(AiSdk.facts({}, { error: { ...retried, lastError: null } }).error_type).toBe("AI_RetryError")
    expect(AiSdk.facts({}, { error: { message: "No" } }).error_type).toBe("unknown")
    expect(AiSdk.facts({}, { error: "No" }).error_type).toBe("unknown")
  })
})

const partsOf = (content: unknown) => AiSdk.messages({ messages: [{ role: "user", content }] }, null).input[0]?.parts

describe("messages of the AI SDK in normal form", () => {
  it("are those that are sent back, in every version", () => {
    const sent = AiSdk.messages({ messages: responseMessages }, null).input.map(identity)
    expect(sent).toHaveLength(3)
    const outputs = [
      result6,
      result7,
      { steps: result6["steps"] },
      { steps: result7["steps"] },
      { ...result7, steps: [] }
    ]
    for (const output of outputs) expect(AiSdk.messages({}, output).output.map(identity)).toEqual(sent)
    const { response: _, responseMessages: __, ...bare } = result7
    const steps = (bare["steps"] as ReadonlyArray<JsonObject>).map((step) => ({ ...step, response: {} }))
    expect(AiSdk.messages({}, { ...bare, steps }).output.map(identity)).toEqual(sent)
    expect(AiSdk.messages({}, { ...bare, steps }).output.map(({ role }) => role)).toEqual([
      "assistant",
      "tool",
      "assistant"
    ])
    expect(AiSdk.messages({}, result7).output.at(-1)).toEqual({
      role: "assistant",
      parts: [{ type: "text", content: "It is sunny." }],
      id: "r2",
      sources: [{ type: "source", sourceType: "url", id: "s1", url: "https://example.com/weather" }],
      finish_reason: "stop"
    })
  })

  it("are the same in what a model answers and in the prompt that has it back", () => {
    const [answered] = AiSdk.messages({}, modelOutput).output
    const prompt = [
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Weather needs a look." },
          {
            type: "tool-call",
            toolCallId: "c1",
            toolName: "look",
            input: { city: "Zürich" },
            dynamic: true,
            providerOptions: { a: { b: 1 } }
          },
          { type: "text", text: "It is sunny." }
        ]
      }
    ]
    const [sent] = AiSdk.messages({ prompt }, null).input
    expect(answered === undefined ? null : identity(answered)).toBe(sent === undefined ? undefined : identity(sent))
    expect(answered).toMatchObject({ finish_reason: "tool-calls", id: "r1" })
  })

  it("have the parts of the semantic conventions", () => {
    const cached = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
    expect(partsOf([{ type: "text", text: "a", ...cached }])).toEqual([{ type: "text", content: "a" }])
    expect(partsOf("a")).toEqual([{ type: "text", content: "a" }])
    expect(partsOf([{ type: "text", text: "" }])).toEqual([])
    expect(partsOf([{ type: "reasoning", text: "", providerMetadata: { google: { signature: "QQ==" } } }])).toEqual([
      { type: "reasoning", providerOptions: { google: { signature: "QQ==" } } }
    ])
    expect(partsOf([{ type: "tool-call", toolCallId: "c", toolName: "t", args: '{"a":1}' }])).toEqual([
      { type: "tool_call", id: "c", name: "t", arguments: { a: 1 } }
    ])
    expect(
      partsOf([
        { type: "custom", kind: "a.b" },
        { type: "image", image: 4 }
      ])
    ).toEqual([
      { type: "custom", kind: "a.b" },
      { type: "image", image: 4 }
    ])
  })

  it("tell bytes, addresses and references apart", () => {
    const png = { mime_type: "image/png", modality: "image" }
    const file = (data: unknown) => partsOf([{ type: "file", data, mediaType: "image/png" }])
    expect(file("QUJD")).toEqual([{ type: "blob", ...png, content: "QUJD" }])
    expect(file("https://example.com/a.png")).toEqual([{ type: "uri", ...png, uri: "https://example.com/a.png" }])
    expect(file("data:image/png;base64,QUJD")).toEqual([{ type: "blob", ...png, content: "QUJD" }])
    expect(file({ type: "data", data: "QUJD" })).toEqual([{ type: "blob", ...png, content: "QUJD" }])
    expect(file({ type: "url", url: "https://example.com/a.png" })).toEqual([
      { type: "uri", ...png, uri: "https://example.com/a.png" }
    ])
    const reference = { type: "reference", reference: { openai: "file_1" } }
    expect(file(reference)).toEqual([{ type: "file", data: reference, mediaType: "image/png" }])
    expect(partsOf([{ type: "file", file: { base64Data: "QUJD", mediaType: "image/png" } }])).toEqual([
      { type: "blob", ...png, content: "QUJD" }
    ])
    expect(partsOf([{ type: "image", image: "QUJD", mimeType: "image/png" }])).toEqual([
      { type: "blob", ...png, content: "QUJD" }
    ])
  })

  it("have results of tools", () => {
    const result = (more: JsonObject) => partsOf([{ type: "tool-result", toolCallId: "c", toolName: "t", ...more }])
    const expected = { type: "tool_call_response", id: "c", name: "t" }
    expect(result({ output: { type: "text", value: "a" } })).toEqual([{ ...expected, response: "a" }])
    expect(result({ output: { type: "json", value: [1] } })).toEqual([{ ...expected, response: [1] }])
    expect(result({ output: { type: "error-text", value: "a" } })).toEqual([
      { ...expected, response: "a", is_error: true }
    ])
    expect(result({ output: { type: "content", value: [{ type: "text", text: "a" }] } })).toEqual([
      { ...expected, response: [{ type: "text", content: "a" }] }
    ])
    const denied = { type: "execution-denied", reason: "No" }
    expect(result({ output: denied })).toEqual([{ ...expected, response: denied }])
    expect(result({ result: { sun: 1 } })).toEqual([{ ...expected, response: { sun: 1 } }])
  })

  it("stand beside instructions, tools and parameters", () => {
    const schema = { type: "object" }
    const expected = { name: "look", description: "Looks", parameters: schema }
    const inputs = {
      model,
      system: "Be brief.",
      prompt: "Hi",
      temperature: 0,
      stopSequences: [],
      tools: { look: { description: "Looks", inputSchema: schema } }
    }
    expect(AiSdk.messages(inputs, null)).toEqual({
      instructions: [{ type: "text", content: "Be brief." }],
      tools: [expected],
      parameters: { model, temperature: 0 },
      input: [{ role: "user", parts: [{ type: "text", content: "Hi" }] }],
      output: []
    })
    const listed = [{ type: "function", name: "look", description: "Looks", inputSchema: schema }, "note"]
    expect(AiSdk.messages({ tools: listed }, null).tools).toEqual([{ type: "function", ...expected }, { name: "note" }])
    const instructions = [{ role: "system", content: "Be brief." }]
    expect(AiSdk.messages({ instructions }, null).instructions).toEqual([{ type: "text", content: "Be brief." }])
    const both = AiSdk.messages({ messages: [{ role: "user", content: "a" }], prompt: "b" }, null)
    expect([both.input.length, both.parameters]).toEqual([1, { prompt: "b" }])
    const element = { role: "user", content: [{ type: "text", text: "a" }] }
    expect(AiSdk.messages({ prompt: [element] }, null).input).toEqual(AiSdk.element(element))
  })

  it("are read from spans", () => {
    const inputs = {
      "ai.prompt.messages": '[{"role":"user","content":[{"type":"text","text":"Hi"}]}]',
      "ai.prompt.tools": ['{"type":"function","name":"look","inputSchema":{"type":"object"}}'],
      "ai.settings.maxRetries": 2
    }
    const { input, tools, parameters } = AiSdk.messages(inputs, {})
    expect(input).toEqual([{ role: "user", parts: [{ type: "text", content: "Hi" }] }])
    expect(tools).toEqual([{ type: "function", name: "look", parameters: { type: "object" } }])
    expect(parameters).toEqual({ "ai.settings.maxRetries": 2 })
    expect(AiSdk.messages({}, { "ai.response.object": '{"a":1}', "ai.response.finishReason": "stop" }).output).toEqual([
      { role: "assistant", parts: [{ type: "object", object: { a: 1 } }], finish_reason: "stop" }
    ])
  })

  it("has what tools answered, and each step, where there is neither content nor messages", () => {
    const call = { toolCallId: "1", toolName: "look", input: { at: "it" } }
    const first = { text: "Let me see", toolCalls: [call], toolResults: [{ ...call, output: "seen" }] }
    const older = { toolCallId: "2", toolName: "look", args: { n: 2 } }
    const second = { text: "", toolCalls: [older], toolResults: [{ ...older, result: { n: 1 } }] }
    const called = (id: string, args: object) => ({ type: "tool_call", id, name: "look", arguments: args })
    const answered = (id: string, response: unknown) => ({
      role: "tool",
      parts: [{ type: "tool_call_response", id, name: "look", response }]
    })
    const said = { type: "text", content: "Let me see" }
    expect(AiSdk.messages({}, first).output).toEqual([
      { role: "assistant", parts: [said, called("1", { at: "it" })] },
      answered("1", "seen")
    ])
    const last = { text: "Done" }
    const output = { ...last, finishReason: "stop", steps: [first, second, last] }
    expect(AiSdk.messages({}, output).output).toEqual([
      { role: "assistant", parts: [said, called("1", { at: "it" })] },
      answered("1", "seen"),
      { role: "assistant", parts: [called("2", { n: 2 })] },
      answered("2", { n: 1 }),
      { role: "assistant", parts: [{ type: "text", content: "Done" }], finish_reason: "stop" }
    ])
    expect(AiSdk.facts({}, output).tool_calls).toEqual(["look", "look"])
    // Steps that say nothing of their own.
    expect(AiSdk.messages({}, { ...last, steps: [{ usage: {} }] }).output).toHaveLength(1)
  })

  it("take any value, nested however deep", () => {
    let deep: unknown = { type: "text", text: "a" }
    for (let depth = 0; depth < 100_000; depth++)
      deep = { type: "tool-result", output: { type: "content", value: [deep] } }
    expect(partsOf([deep])).toHaveLength(1)
    AiSdk.messages({}, { steps: [{ content: [deep], response: { messages: [deep] } }] })
    const keys = [
      "type",
      "content",
      "text",
      "toolCalls",
      "usage",
      "steps",
      "response",
      "messages",
      "output",
      "data",
      "object"
    ]
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom("text", "file", "tool-call", "tool-result", null, 3),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...keys, "providerMetadata", "__proto__", "ai.usage.x"), tie("value"), {
          maxKeys: 5
        })
      )
    }))
    fc.assert(
      fc.property(value, value, (inputs, output) => {
        AiSdk.facts(inputs, output)
        billing(inputs, output)
        const { input, output: answered } = AiSdk.messages({ messages: [inputs] }, output)
        for (const message of [...input, ...answered]) identity(message)
      })
    )
  })
})

/**
 * Facts of each recorded call in the order of the data, read by hand: provider, model asked and answered; tokens in, out, read,
 * written and of reasoning; why it stopped; and its tool calls.
 */
const read: ReadonlyArray<ReadonlyArray<string | number | null>> = [
  ["anthropic", "claude-sonnet-4-5", "claude-fable-5", 18, 5, 0, 0, null, "refusal", "refusal"],
  ["openai", "gpt-4o-mini", "gpt-4o-mini-2024-07-18", 14, 20, null, null, null, "end", "stop"],
  [
    "google",
    "gemini-2.5-flash",
    "gemini-2.5-flash",
    53,
    56,
    0,
    null,
    41,
    "tool_calls",
    "requires_action",
    "getWeather"
  ],
  ["openai", "gpt-4o-mini", null, 63, 156, null, null, null, "end", "stop"],
  ["openai", "gpt-4o-mini", null, 50, 9, null, null, null, "end", "stop"],
  ["openai", "gpt-4o-mini", "gpt-4o-mini-2024-07-18", 63, 156, null, null, null, "end", "stop"],
  // The one error: 429, without an answer.
  ["openai", "gpt-5-mini", null, null, null, null, null, null, null, null],
  ["openai", null, "gpt-4o-mini-2024-07-18", 18, 3, 0, 0, 0, "end", "stop"],
  ["google", "gemini-2.5-flash", "gemini-2.5-flash", 9, 285, 0, null, 256, "end", "STOP"],
  ["openai", "gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18", 45, 6, 0, 0, 0, "end", "stop"],
  [
    "openai",
    "gpt-5-mini",
    "gpt-5.1-codex-max",
    299,
    12,
    0,
    null,
    0,
    "tool_calls",
    "tool-calls",
    "calculator",
    "calculator",
    "calculator"
  ],
  // Four steps, whose tokens are 94 + 133 + 172 + 211 and 4 × 8.
  [
    "openai",
    "gpt-4o-mini-2024-07-18",
    "gpt-4o-mini-2024-07-18",
    610,
    32,
    0,
    0,
    0,
    "tool_calls",
    "tool-calls",
    "get_weather",
    "get_weather",
    "get_weather",
    "get_weather"
  ],
  [null, null, null, 38, 6, 0, null, 0, "end", "stop"],
  ["openai", "gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18", 3617, 3, 3456, 0, 0, "end", "stop"],
  ["anthropic", "claude-sonnet-4-5", "claude-fable-5", 18, 5, 0, 0, null, "refusal", "refusal"],
  ["openai", "gpt-4o-mini", "gpt-4o-mini-2024-07-18", 15, 112, 0, null, 0, "end", "stop"],
  ["google", null, "gemini-3-pro-preview", 9, 311, 0, null, 282, "end", "STOP"],
  ["openai", "gpt-5-mini", "gpt-5-mini-2025-08-07", 865, 163, 0, null, 128, "end", "stop"],
  ["anthropic", "claude-haiku-4-5", "claude-haiku-4-5-20251001", 4519, 7, 4516, 0, null, "end", "end_turn"],
  ["openai", "gpt-4o-mini", "gpt-4o-mini-2024-07-18", 50, 9, null, null, null, "end", "stop"],
  [
    "google",
    "gemini-2.5-flash",
    "gemini-2.5-flash",
    53,
    80,
    0,
    null,
    65,
    "tool_calls",
    "requires_action",
    "getWeather"
  ],
  ["openai", "gpt-4o-mini", "gpt-4.1-nano-2025-04-14", 16, 363, 0, null, 0, "end", "stop"],
  ["openai", null, "gpt-4o-mini-2024-07-18", 38, 6, 0, null, 0, "end", "stop"],
  ["openai", "gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18", 38, 6, 0, null, 0, "end", "stop"],
  ["openai", "gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18", 18, 2, null, null, 0, "end", "stop"],
  ["openai", "gpt-4o-mini-2024-07-18", "gpt-4o-mini-2024-07-18", 45, 6, 0, null, 0, "end", "stop"],
  ["openai", "gpt-4o-mini", null, 14, 20, null, null, null, "end", "stop"],
  ["openai", "gpt-4o-mini", null, 15, 112, 0, null, 0, "end", "stop"],
  [
    "openai",
    "gpt-4o-mini-2024-07-18",
    "gpt-4o-mini-2024-07-18",
    610,
    32,
    0,
    0,
    0,
    "tool_calls",
    "tool-calls",
    "get_weather",
    "get_weather",
    "get_weather",
    "get_weather"
  ],
  ["google", "gemini-2.5-flash", "gemini-2.5-flash", 9, 311, 0, null, 282, "end", "STOP"],
  [null, null, null, 22, 7, 0, 0, 0, "end", "stop"],
  ["anthropic", "claude-sonnet-4-5", "claude-sonnet-4-20250514", 4234, 462, 0, 0, null, "end", "end_turn", "web_fetch"],
  ["openai", null, "gpt-4o-mini-2024-07-18", 26, 3, 0, 0, 0, "end", "stop"]
]

const answers = answersOf("aisdk")

/** Each long text; one that is JSON counts as what it says. */
const texts = (value: unknown): ReadonlyArray<string> =>
  longStrings(value).flatMap((text) => {
    if (!/^[[{]/.test(text)) return [text]
    try {
      return longStrings(JSON.parse(text))
    } catch {
      return [text]
    }
  })

describe.runIf(areThere)("recorded calls of the AI SDK", () => {
  it("have the facts that were read by hand", () => {
    const facts = answers.map(({ inputs, output }) => {
      const {
        tool_calls: calls,
        error_type: type,
        error_code: code,
        error_status: status,
        ...others
      } = AiSdk.facts(inputs, output)
      expect([type, code, status, calls === null]).toEqual(
        others.input_tokens === null ? ["429", null, 429, true] : [null, null, null, false]
      )
      return [...Object.values(others), ...(calls ?? [])]
    })
    expect(facts).toEqual(read)
  })

  it("lack facts for known reasons only", () => {
    const missing = (column: number) => read.filter((row) => row[column] === null).length
    // Provider and model: what instrumentations of models and agents left out. Answered: those, outer spans, and the error.
    expect([0, 1, 2].map(missing)).toEqual([2, 6, 7])
    // Input, output, reason to stop: the error.
    expect([3, 4, 8, 9].map(missing)).toEqual([1, 1, 1, 1])
    // Cached: older spans and version 4. Written to a cache, and reasoning: providers that do not tell.
    expect([5, 6, 7].map(missing)).toEqual([8, 22, 11])
  })

  it("have the same facts in telemetry of version 7", () => {
    const replays = streamsOf("aisdk").filter(({ events }) => events?.some(({ event }) => event === "onStart") === true)
    expect(replays.length).toBeGreaterThan(0)
    for (const { source, request, response, events } of replays) {
      const dataOf = (name: string) => events?.find(({ event }) => event === name)?.data
      const expected = AiSdk.facts(request, response)
      expect(AiSdk.facts(dataOf("onStart"), dataOf("onEnd")), source).toEqual(expected)
      const { provider_stop_reason: _raw, ...call } = AiSdk.facts(
        dataOf("onLanguageModelCallStart"),
        dataOf("onLanguageModelCallEnd")
      )
      // Of one call of the model it has the SDK's word only, which does not say that the model refused.
      const isRefusal = expected.stop_reason === "refusal"
      expect({ ...expected, ...(isRefusal && { stop_reason: "content_filter" }) }, source).toMatchObject(call)
    }
  })

  it("lose no text in normal form", () => {
    for (const { source, inputs, output } of answers) {
      const { input, output: answered, ...apart } = AiSdk.messages(inputs, output)
      const kept = JSON.stringify(texts([input, answered, apart]))
      const content = [
        "content",
        "text",
        "object",
        "reasoning",
        "toolCalls",
        "toolResults",
        "sources",
        "providerMetadata"
      ]
      const said = content.map((key) => (output as JsonObject)[key])
      const spans = Object.entries(output as JsonObject).filter(([key]) =>
        /^ai.response.(?:text|object|toolCalls)$/.test(key)
      )
      // Of a span, what tells of the call is no parameter of it.
      const asked = Object.entries(inputs as JsonObject).filter(
        ([key]) => !/^(?:operation\.name|resource\.name|ai\.operationId|ai\.telemetry\..*)$/.test(key)
      )
      const lost = texts([asked.map(([, value]) => value), said, spans]).filter(
        (text) => !kept.includes(JSON.stringify(text).slice(1, -1))
      )
      expect(lost, source).toEqual([])
    }
  })
})

it("names files of an answer that nobody counted", () => {
  const made = (mediaType: string, raw: object | null = null, ...before: ReadonlyArray<object>) =>
    billing({}, { usage: { raw }, content: [...before, { type: "file", file: { mediaType } }] }).uncounted
  expect(made("image/png")).toEqual(["images"])
  expect(made("audio/wav")).toEqual(["audio"])
  expect(made("text/csv")).toEqual([])
  expect(made("image/png", { candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1290 }] })).toEqual([])
  const code = { type: "tool-call", toolName: "code_execution", providerExecuted: true }
  expect(made("image/png", null, code)).toEqual([])
})
