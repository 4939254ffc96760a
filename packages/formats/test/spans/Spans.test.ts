import { describe, expect, it } from "vitest"
import { type Conversation, formats } from "@tachograph/formats"

const { billing, facts, messages } = formats.aisdk

const scope = (name: string, attributes: object) => ({ "otel.scope.name": name, ...attributes })

describe("the tokens of a span", () => {
  const usage = { "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 9 }
  const cached = {
    ...usage,
    "gen_ai.usage.cache_read.input_tokens": 60,
    "gen_ai.usage.cache_creation.input_tokens": 30
  }

  it.each<readonly [string, object, object]>([
    ["gen_ai", cached, { input_tokens: 100, cache_read_tokens: 60, cache_write_tokens: 30 }],
    [
      "@traceloop/instrumentation-anthropic",
      cached,
      { input_tokens: 190, cache_read_tokens: 60, cache_write_tokens: 30 }
    ],
    [
      "com.anthropic.claude_code.events",
      { input_tokens: 1, cache_read_tokens: 2, cache_creation_tokens: 3, output_tokens: 9 },
      { input_tokens: 6, cache_read_tokens: 2, cache_write_tokens: 3 }
    ],
    [
      "com.anthropic.sdk.typescript",
      { ...usage, "gen_ai.usage.cache_write.input_tokens": 30 },
      { input_tokens: 100, cache_write_tokens: 30 }
    ],
    // What is more than the whole stands beside it.
    [
      "unknown",
      { ...cached, "gen_ai.usage.cache_read.input_tokens": 300 },
      { input_tokens: 430, cache_read_tokens: 300 }
    ],
    ["early", { "gen_ai.usage.prompt_tokens": 5, "gen_ai.usage.completion_tokens": 9 }, { input_tokens: 5 }],
    [
      "openinference",
      { "llm.token_count.prompt": 10, "llm.token_count.completion": 9, "llm.token_count.prompt_details.cache_read": 4 },
      { input_tokens: 10, cache_read_tokens: 4 }
    ],
    [
      "langfuse-sdk",
      {
        "langfuse.observation.usage_details":
          '{"input":30,"input_cached_tokens":12,"output":4,"output_reasoning_tokens":5,"total":51}'
      },
      { input_tokens: 42, cache_read_tokens: 12, reasoning_tokens: 5 }
    ],
    [
      "gemini-cli",
      { ...usage, "gen_ai.usage.output_tokens": 5, thoughts_token_count: 4 },
      { input_tokens: 100, reasoning_tokens: 4 }
    ],
    [
      "codex_otel.log_only",
      { input_token_count: "10", output_token_count: "9", cached_token_count: 4 },
      { input_tokens: 10, cache_read_tokens: 4 }
    ]
  ])("of the scope %s", (name, output, expected) => {
    expect(facts({}, scope(name, output))).toMatchObject({ output_tokens: 9, ...expected })
  })

  it("are those of the provider's answer where that is an attribute", () => {
    const body = {
      object: "response",
      output: [],
      usage: { input_tokens: 7, output_tokens: 2, input_tokens_details: { cached_tokens: 3 } },
      service_tier: "flex"
    }
    const output = scope("@mastra/otel-exporter", { ...usage, "mastra.metadata.body": body })
    expect(facts({}, output)).toMatchObject({ input_tokens: 7, output_tokens: 2, cache_read_tokens: 3 })
    expect(billing({}, output).service_tier).toBe("flex")
  })

  it("have their tier, and what is kept for an hour", () => {
    const output = scope("com.anthropic.sdk.typescript", {
      "anthropic.response.service_tier": "priority",
      "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 5
    })
    expect(billing({}, output)).toMatchObject({ service_tier: "priority", cache_write_1h_tokens: 5, stated_cost: null })
  })
})

describe("what a span says of a call", () => {
  it.each([
    [{ "gen_ai.provider.name": "aws.bedrock" }, "aws"],
    [{ "gen_ai.provider.name": "azure.ai.openai" }, "azure"],
    [{ "gen_ai.provider.name": "gcp.vertex_ai" }, "google"],
    [{ "gen_ai.system": "OpenAI" }, "openai"],
    [{ "gen_ai.system": "x_ai" }, "x-ai"],
    [{ "llm.system": "anthropic" }, "anthropic"],
    [{ "genkit:name": "googleai/gemini-2.5-flash" }, "google"],
    [{ "langfuse.observation.model.name": "claude-opus-5" }, "anthropic"],
    [{ metadata: '{"ls_provider":"mistralai"}' }, "mistralai"],
    [{}, null]
  ])("has the provider of %j", (inputs, provider) => {
    expect(facts(scope("x", inputs), scope("x", {})).provider).toBe(provider)
  })

  it.each([
    [["tool_call"], "tool_calls"],
    ['["tool-calls"]', "tool_calls"],
    [["MAX_TOKENS"], "length"],
    [["end_turn"], "end"],
    [["content_filter"], "content_filter"],
    ["stop", "end"],
    [["new"], "other"],
    [[""], null]
  ])("has the reason to stop %j", (reasons, expected) => {
    expect(facts({}, scope("x", { "gen_ai.response.finish_reasons": reasons })).stop_reason).toBe(expected)
  })

  it("is an error where it failed", () => {
    const failed = scope("x", { error: { type: "RateLimitError", message: "429" } })
    expect(facts({}, failed)).toMatchObject({ error_type: "RateLimitError", tool_calls: null, stop_reason: null })
  })
})

const said = ({ input, output }: Conversation) =>
  [...input, ...output].map(({ parts, role }) => [role, ...parts.map(({ content }) => content)])

describe("the conversation of a span", () => {
  const sent = [{ role: "user", content: "Hi" }]
  const answer = "Hello"

  it.each<readonly [string, object, object]>([
    [
      "early Traceloop",
      { "gen_ai.prompt": sent },
      { "gen_ai.completion": [{ role: "assistant", content: answer, finish_reason: "stop" }] }
    ],
    [
      "log records",
      { "gen_ai.input.messages": sent },
      { "gen_ai.output.messages": [{ index: 0, finish_reason: "stop", message: { content: answer } }] }
    ],
    ["Sentry", { "gen_ai.input.messages": sent }, { "gen_ai.response.text": '["Hello"]' }],
    ["Sentry, streamed", { "gen_ai.input.messages": sent }, { "gen_ai.response.text": answer }],
    [
      "Gemini CLI, streamed",
      { "gen_ai.input.messages": [{ role: "user", parts: [{ text: "Hi" }] }] },
      {
        "gen_ai.output.messages": [
          { role: "model", parts: [{ text: "Hel" }] },
          { role: "model", parts: [{ text: "lo" }] }
        ]
      }
    ],
    [
      "Langfuse, chat",
      { "langfuse.observation.input": { messages: sent } },
      { "langfuse.observation.output": { role: "assistant", content: answer } }
    ],
    [
      "Langfuse, responses",
      { "langfuse.observation.input": sent },
      {
        "langfuse.observation.output": {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: answer }]
        }
      }
    ],
    ["Langfuse, by hand", { "langfuse.observation.input": "Hi" }, { "langfuse.observation.output": answer }],
    ["OpenInference, of texts", { "input.value": "Hi" }, { "output.value": answer }],
    [
      "OpenInference",
      { "llm.input_messages": [{ "message.role": "user", "message.content": "Hi" }] },
      { "llm.output_messages": [{ "message.role": "assistant", "message.content": answer }] }
    ],
    [
      "LangChain",
      { "input.value": { messages: [[{ lc: 1, id: ["HumanMessage"], kwargs: { content: "Hi" } }]] } },
      {
        "output.value": {
          generations: [[{ text: answer, message: { lc: 1, id: ["AIMessage"], kwargs: { content: answer } } }]]
        }
      }
    ],
    [
      "Genkit",
      { "genkit:input": { messages: [{ role: "user", content: [{ text: "Hi" }] }] } },
      { "genkit:output": { message: { role: "model", content: [{ text: answer }] } } }
    ],
    ["Mastra", { "mastra.model_step.input": sent }, { "mastra.model_step.output": { text: answer, toolCalls: [] } }],
    [
      "AI SDK 5",
      { "ai.prompt.messages": [{ role: "user", content: [{ type: "text", text: "Hi" }] }] },
      { "ai.response.text": answer, "ai.response.finishReason": "stop" }
    ]
  ])("of %s", (_, inputs, output) => {
    expect(said(messages(scope("x", inputs), scope("x", output)))).toEqual([
      ["user", "Hi"],
      ["assistant", answer]
    ])
  })

  it("has the place of a message that is an element", () => {
    const output = scope("x", {
      "gen_ai.output.messages": [{ role: "assistant", parts: [{ type: "text", content: answer }] }]
    })
    expect(formats.aisdk.outputPath(output, 0)).toEqual(["gen_ai.output.messages", 0])
    expect(formats.aisdk.outputPath(scope("x", { "gen_ai.response.text": answer }), 0)).toBeNull()
  })

  it("has instructions in any form, and not twice", () => {
    const instructions = (value: unknown, name = "x") =>
      messages(scope(name, { "gen_ai.system_instructions": value }), null).instructions
    const expected = [{ type: "text", content: "Be brief." }]
    for (const value of [
      "Be brief.",
      '"Be brief."',
      expected,
      ["Be brief."],
      { parts: [{ type: "text", content: "Be brief." }] }
    ])
      expect(instructions(value)).toEqual(expected)
    expect(instructions(expected, "@openlit/instrumentation-openai")).toEqual([])
  })

  it("has tools in the shape of any provider", () => {
    const parameters = { type: "object", properties: {} }
    const tool = { name: "look", description: "Looks." }
    const shapes: ReadonlyArray<object> = [
      { "gen_ai.tool.definitions": [{ ...tool, parameters }] },
      { "gen_ai.tool.definitions": [{ ...tool, inputSchema: parameters }] },
      { "gen_ai.tool.definitions": [{ ...tool, input_schema: parameters }] },
      { "gen_ai.tool.definitions": [{ type: "function", function: { ...tool, parameters } }] },
      { "gen_ai.tool.definitions": [{ functionDeclarations: [{ ...tool, parametersJsonSchema: parameters }] }] },
      {
        "llm.tools": [{ "tool.json_schema": JSON.stringify({ type: "function", function: { ...tool, parameters } }) }]
      },
      { "llm.request.functions": [{ ...tool, parameters: JSON.stringify(parameters) }] },
      { "ai.prompt.tools": [JSON.stringify({ ...tool, inputSchema: parameters })] }
    ]
    for (const inputs of shapes)
      expect(messages(scope("x", inputs), null).tools).toMatchObject([{ ...tool, parameters }])
  })

  it("has as parameters what was asked for, and nothing that names the call", () => {
    const inputs = scope("x", {
      "gen_ai.request.model": "m",
      "gen_ai.request.max_tokens": 5,
      "gen_ai.conversation.id": "c1",
      "ai.settings.maxRetries": 0,
      "ai.settings.context.sessionId": "s1",
      "ai.prompt.toolChoice": '{"type":"auto"}',
      "llm.invocation_parameters": { model: "m", temperature: 0.5, tools: [] },
      "session.id": "s1"
    })
    expect(messages(inputs, null).parameters).toEqual({
      temperature: 0.5,
      "gen_ai.request.max_tokens": 5,
      "ai.settings.maxRetries": 0,
      "ai.prompt.toolChoice": { type: "auto" }
    })
  })
})

it("a call is read whatever its attributes hold, however deep", () => {
  const names = [
    ...["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.tool.definitions"],
    ...["gen_ai.response.text", "gen_ai.response.tool_calls", "gen_ai.completion", "llm.invocation_parameters"],
    ...["input.value", "output.value", "llm.output_messages", "mastra.metadata.body", "mastra.model_step.output"],
    ...[
      "genkit:input",
      "genkit:output",
      "langfuse.observation.output",
      "langfuse.observation.usage_details",
      "response_text"
    ]
  ]
  const keys = [
    "message",
    "content",
    "parts",
    "kwargs",
    "gen_ai.event.content",
    "candidates",
    "generations",
    "messages"
  ]
  for (const key of keys) {
    let deep: unknown = "Hi"
    for (let level = 0; level < 9_000; level++)
      deep = level % 3 === 0 ? [deep] : { role: "user", id: ["AIMessage"], [key]: deep }
    for (const name of names) {
      const attributes = scope("x", { [name]: deep })
      const both = [
        () => messages(attributes, attributes),
        () => facts(attributes, attributes),
        () => billing(attributes, attributes)
      ]
      for (const read of both) expect(read, `${name} ${key}`).not.toThrow()
    }
  }
})
