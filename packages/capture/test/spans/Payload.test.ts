import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { payloadOf } from "../../src/spans/Payload.ts"
import { withoutCredentials } from "../../src/spans/WithoutCredentials.ts"
import type { Value } from "../../src/spans/Span.ts"

const payload = (
  attributes: Readonly<Record<string, Value>>,
  ...others: [Parameters<typeof payloadOf>[1]?, Parameters<typeof payloadOf>[2]?]
) => payloadOf({ scope: { name: "test", version: "1" }, attributes: new Map(Object.entries(attributes)) }, ...others)

const payloadIn = (scope: string, attributes: Readonly<Record<string, Value>>) =>
  payloadOf({ scope: { name: scope, version: "1" }, attributes: new Map(Object.entries(attributes)) })

describe("the attributes of a call", () => {
  it("are parted into request and answer, and begin with the scope", () => {
    const { inputs, output, ...about } = payload(
      {
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m-1",
        "gen_ai.usage.input_tokens": 3,
        "app.id": 9007199254740993n
      },
      { type: "timeout", message: "too late" }
    )
    expect(inputs).toBe('{"otel.scope.name":"test","gen_ai.request.model":"m","app.id":9007199254740993}')
    expect(output).toBe(
      '{"otel.scope.name":"test","gen_ai.response.model":"m-1","gen_ai.usage.input_tokens":3,"error":{"type":"timeout","message":"too late"}}'
    )
    expect(about).toEqual({ api: "aisdk", rebuilt: true, verbatim: [] })
  })

  it("hold JSON byte for byte where it is known to stand, and texts elsewhere", () => {
    const messages = '[ {"role":"user", "role":"a", "n":1.0e5, "x":"\\u00e4"} ]'
    const { inputs } = payload({
      "gen_ai.input.messages": messages,
      other: "[1]",
      "ai.prompt.messages": '[{"role"',
      "input.value": "[2]"
    })
    expect(inputs).toBe(
      `{"otel.scope.name":"test","gen_ai.input.messages":${messages},"other":"[1]","ai.prompt.messages":"[{\\"role\\"","input.value":"[2]"}`
    )
    const deep = "[".repeat(20_000) + "]".repeat(20_000)
    expect(JSON.parse(payload({ "gen_ai.input.messages": deep }).inputs)).toHaveProperty(
      ["gen_ai.input.messages"],
      deep
    )
  })

  it("are taken from other spans and logs where the span has none", () => {
    const { inputs } = payload(
      { a: 1 },
      null,
      new Map([
        ["a", 2],
        ["b", 3]
      ])
    )
    expect(JSON.parse(inputs)).toEqual({ "otel.scope.name": "test", a: 1, b: 3 })
  })

  it("never throw", () => {
    let deep: Value = []
    for (let level = 0; level < 50_000; level++) deep = level % 2 === 0 ? [deep] : { deep }
    expect(() => JSON.parse(payload({ deep }).inputs)).not.toThrow()
    const { value } = fc.letrec<{ value: Value }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: "binary" }),
        fc.double(),
        fc.bigInt(),
        fc.boolean(),
        fc.constant(null),
        fc.json(),
        fc.array(tie("value")),
        fc.dictionary(fc.string(), tie("value"))
      )
    }))
    const key = fc.oneof(
      fc.constantFrom(
        "input.value",
        "input.mime_type",
        "output.value",
        "openinference.span.kind",
        "gen_ai.prompt",
        "gen_ai.prompt.0",
        "llm.output_messages.0.message.contents",
        "__proto__",
        "otel.scope.name",
        "url.full",
        "http.request.header.x-api-key"
      ),
      fc.string({ unit: "binary" })
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value)), fc.string({ unit: "binary" }), (attributes, message) => {
        const made = payloadOf(
          { scope: { name: "x", version: "" }, attributes: new Map(attributes) },
          { type: "t", message }
        )
        JSON.parse(made.inputs)
        JSON.parse(made.output)
      }),
      { seed: 1 }
    )
  })
})

describe("credentials", () => {
  const key = "q7Zk29fLwX0aTb83q7Zk29fLwX0aTb83"

  it("are masked by the names of attributes, and wherever else they stand", () => {
    const attributes: Readonly<Record<string, Value>> = {
      "ai.request.headers.authorization": `Bearer ${key}`,
      "http.request.header.x-goog-api-key": [key],
      "url.full": `https://example.com/v1?key=${key}&a=1`,
      "gen_ai.input.messages": `[{"role":"user","content":"my key is ${key}"}]`,
      "gen_ai.tool.definitions": `[{"type":"mcp","authorization":"other-${key}"}]`,
      "gen_ai.response.text": `It is ${key}`,
      "llm.invocation_parameters": '{"api_key":"short-key"}',
      body: '{"model":"m","mcp_servers":[{"authorization_token":"a-third-key"}]}'
    }
    const status = { code: 2, message: `Not allowed: ${key}` }
    const told = withoutCredentials({ attributes: new Map(Object.entries(attributes)), status, events: [] })
    const { inputs, output } = payload(Object.fromEntries(told.attributes))
    expect(JSON.stringify([inputs, output, told.status])).not.toContain(key)
    expect(inputs).not.toMatch(/short-key|a-third-key/)
    expect(JSON.parse(inputs)["gen_ai.input.messages"]).toEqual([{ role: "user", content: "my key is [redacted]" }])
  })

  it("are no counts and no times", () => {
    const { output } = payload({ "gen_ai.usage.input_tokens": 1, "gen_ai.server.time_to_first_token": 0.5 })
    expect(JSON.parse(output)).toMatchObject({
      "gen_ai.usage.input_tokens": 1,
      "gen_ai.server.time_to_first_token": 0.5
    })
  })
})

describe("a call with its provider's request", () => {
  const chat = '{"model":"gpt-5", "messages":[{"role":"user","content":"Hi"}]}'
  const kind = { "openinference.span.kind": "LLM", "output.mime_type": "application/json" }
  const exact = "@arizeai/openinference-instrumentation-openai"

  it("is one of the provider's format", () => {
    const answer = '{"id":"1", "choices":[]}'
    const attributes = { ...kind, "input.value": chat, "output.value": answer }
    const texts = { api: "provider1-chat-completions", inputs: chat, output: answer }
    const both = ["inputs", "output"]
    expect(payloadIn(exact, attributes)).toEqual({ ...texts, rebuilt: false, verbatim: both })
    // Other languages write the bodies anew.
    expect(payload(attributes)).toEqual({ ...texts, rebuilt: true, verbatim: [] })
    const messages = '{"model":"claude","max_tokens":1,"messages":[]}'
    expect(payload({ ...kind, "llm.system": "anthropic", "input.value": messages }).api).toBe("provider2-messages")
    expect(payload({ ...kind, "input.value": '{"model":"gpt-5","input":"Hi"}' }).api).toBe("provider1-responses")
    expect(payload({ ...kind, "input.value": '{"messages":[]}' }).api).toBe("aisdk")
  })

  it("has an answer in the provider's shape where that stands on the span in parts", () => {
    const parts = {
      ...kind,
      "output.value": "",
      "output.mime_type": "text/plain",
      "llm.output_messages.0.message.role": "assistant",
      "llm.output_messages.0.message.content": "",
      "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
      "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
      "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"n":1.0}',
      "llm.token_count.prompt": 10,
      "llm.token_count.completion": 5n,
      "llm.token_count.prompt_details.cache_read": 4
    }
    const made = payloadIn(exact, { ...parts, "llm.finish_reason": "tool_calls", "input.value": chat })
    expect(made).toMatchObject({ rebuilt: true, verbatim: ["inputs"], inputs: chat })
    expect(JSON.parse(made.output)).toEqual({
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"n":1.0}' } }]
          },
          finish_reason: "tool_calls"
        }
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } }
    })
    const { output } = payload({ ...parts, "llm.system": "anthropic", "input.value": chat })
    expect(output).toBe(
      '{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"n":1.0}}],"usage":{"input_tokens":6,"cache_read_input_tokens":4,"output_tokens":5}}'
    )
  })

  it("has an error where it failed", () => {
    const { output } = payload({ ...kind, "input.value": chat }, { type: "RateLimitError", message: "429" })
    expect(output).toBe('{"error":{"type":"RateLimitError","message":"429"}}')
  })
})
