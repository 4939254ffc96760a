import { formats } from "@tachograph/formats"
import { chunkFrame, eventFrame, exceptionFrame } from "../../../scripts/vitest/BedrockFrames.ts"
import { accumulatorOf, rebuiltOf } from "@tachograph/capture/Wire"
import { describe, expect, it } from "vitest"

const [claude, nova] = ["/model/us.anthropic.claude-sonnet-4-5-v1%3A0", "/model/amazon.nova-pro-v1%3A0"]
const framed = "application/vnd.amazon.eventstream"
const [messages, chat] = ["provider2-messages", "provider1-chat-completions"] as const

const request = {
  system: [{ text: "Be brief." }, { cachePoint: { type: "default", ttl: "1h" } }],
  messages: [
    {
      role: "user",
      content: [
        { text: "Look" },
        { image: { format: "png", source: { bytes: "AAAA" } } },
        { document: { format: "pdf", name: "d", source: { bytes: "BBBB" } } },
        { video: { format: "mp4", source: { s3Location: { uri: "s3://b/v" } } } },
        { cachePoint: { type: "default" } }
      ]
    },
    {
      role: "assistant",
      content: [
        { reasoningContent: { reasoningText: { text: "Hm", signature: "S" } } },
        { reasoningContent: { redactedContent: "R" } },
        { toolUse: { toolUseId: "t1", name: "look", input: { at: 7 } } }
      ]
    },
    { role: "user", content: [{ toolResult: { toolUseId: "t1", content: [{ json: { n: 1 } }], status: "error" } }] }
  ],
  inferenceConfig: { maxTokens: 10, temperature: 0, topP: 0.5, stopSequences: ["x"] },
  toolConfig: {
    tools: [
      { toolSpec: { name: "look", description: "Looks", inputSchema: { json: { type: "object" } } } },
      { cachePoint: { type: "default" } }
    ],
    toolChoice: { tool: { name: "look" } }
  },
  additionalModelRequestFields: { top_k: 5 },
  requestMetadata: { team: "a" }
}

const usage = {
  ...{ inputTokens: 10, outputTokens: 5, totalTokens: 135 },
  ...{ cacheReadInputTokens: 100, cacheWriteInputTokens: 20 },
  cacheDetails: [
    { ttl: "5m", inputTokens: 12 },
    { ttl: "1h", inputTokens: 8 }
  ]
}
const content = [
  { reasoningContent: { reasoningText: { text: "Hm", signature: "S" } } },
  { text: "Grüße" },
  { toolUse: { toolUseId: "t2", name: "look", input: { a: [1] } } }
]
const answer = {
  output: { message: { role: "assistant", content } },
  stopReason: "tool_use",
  usage,
  metrics: { latencyMs: 7 },
  serviceTier: { type: "priority" }
}

const rebuilt = (api: typeof messages | typeof chat, path: string, inputs: object, output: object) => {
  const { inputs: inputsOf, output: outputOf } = rebuiltOf(api, `${path}/converse`)!
  return [JSON.parse(inputsOf(JSON.stringify(inputs))), JSON.parse(outputOf(JSON.stringify(output)))]
}

const stream = [
  eventFrame("messageStart", { role: "assistant" }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "H" } } }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "m" } } }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { signature: "S" } } }),
  eventFrame("contentBlockStop", { contentBlockIndex: 0 }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 1, delta: { text: "Grü" } }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 1, delta: { text: "ße" } }),
  eventFrame("contentBlockStart", { contentBlockIndex: 2, start: { toolUse: { toolUseId: "t2", name: "look" } } }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 2, delta: { toolUse: { input: '{"a":' } } }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 2, delta: { toolUse: { input: "[1]}" } } }),
  eventFrame("contentBlockStop", { contentBlockIndex: 2 }),
  eventFrame("messageStop", { stopReason: "tool_use" }),
  eventFrame("metadata", { usage, metrics: { latencyMs: 7 }, serviceTier: { type: "priority" } })
]

const accumulated = (
  api: typeof messages | typeof chat,
  url: string,
  frames: ReadonlyArray<Uint8Array>,
  bytes = 100
) => {
  const accumulator = accumulatorOf(api, url, framed)
  const body = Buffer.concat(frames)
  for (let at = 0; at < body.length; at += bytes) accumulator.push(body.subarray(at, at + bytes))
  expect(accumulator.size()).toBeGreaterThan(0)
  return accumulator.end()
}

describe("a call of Converse", () => {
  it("keeps the digits of a tool's input, whether it is streamed or not", () => {
    const input = '{"at":9007199254740993}'
    const toolUse = { toolUseId: "t", name: "look" }
    const frames = [
      eventFrame("contentBlockStart", { contentBlockIndex: 0, start: { toolUse } }),
      eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input } } }),
      eventFrame("messageStop", { stopReason: "tool_use" })
    ]
    expect(accumulated(messages, `${claude}/converse-stream`, frames).text).toContain(`"input":${input}`)
    const whole = JSON.stringify({ output: { message: { content: [{ toolUse }] } } }).replace(
      "}}]",
      `,"input":${input}}}]`
    )
    expect(rebuiltOf(messages, `${claude}/converse`)!.output(whole)).toContain(`"input":${input}`)
  })

  it.each([
    [messages, claude, "optimized", "optimized"],
    [chat, nova, "optimized", "optimized"],
    [messages, claude, "standard", "priority"]
  ] as const)("of %s that is served faster costs other than the tier says", (api, path, latency, tier) => {
    const [, output] = rebuilt(api, path, request, { ...answer, performanceConfig: { latency } })
    expect(formats[api].billing(null, output).service_tier).toBe(tier)
  })

  it("is one of messages where its model is Anthropic's", () => {
    const [inputs, output] = rebuilt(messages, claude, request, answer)
    expect(inputs).toEqual({
      ...{ model: "us.anthropic.claude-sonnet-4-5-v1:0", anthropic_version: "bedrock-2023-05-31" },
      ...{
        max_tokens: 10,
        temperature: 0,
        top_p: 0.5,
        top_k: 5,
        stop_sequences: ["x"],
        requestMetadata: { team: "a" }
      },
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
            { type: "document", source: { type: "base64", media_type: "application/pdf", data: "BBBB" }, title: "d" },
            {
              ...{ type: "video", format: "mp4", source: { s3Location: { uri: "s3://b/v" } } },
              cache_control: { type: "ephemeral" }
            }
          ]
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm", signature: "S" },
            { type: "redacted_thinking", data: "R" },
            { type: "tool_use", id: "t1", name: "look", input: { at: 7 } }
          ]
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: '{"n":1}' }], is_error: true }
          ]
        }
      ],
      tools: [
        {
          ...{ name: "look", description: "Looks", input_schema: { type: "object" } },
          cache_control: { type: "ephemeral" }
        }
      ],
      tool_choice: { type: "tool", name: "look" }
    })
    expect(formats[messages].facts(inputs, output)).toMatchObject({
      ...{ provider: "aws", model: "us.anthropic.claude-sonnet-4-5-v1:0", stop_reason: "tool_calls" },
      ...{ input_tokens: 130, output_tokens: 5, cache_read_tokens: 100, cache_write_tokens: 20, tool_calls: ["look"] }
    })
    expect(output.usage).toMatchObject({
      cache_creation: { ephemeral_5m_input_tokens: 12, ephemeral_1h_input_tokens: 8 },
      service_tier: "priority"
    })
    expect(formats[messages].messages(inputs, output).output[0]!.parts.map(({ type }) => type)).toEqual([
      "reasoning",
      "text",
      "tool_call"
    ])
  })

  it("keeps numbers that JavaScript cannot hold", () => {
    const text = '{"messages":[{"role":"assistant","content":[{"toolUse":{"input":{"at":9007199254740993}}}]}]}'
    expect(rebuiltOf(messages, `${claude}/converse`)!.inputs(text)).toContain('"at":9007199254740993')
  })

  it("is one of chat completions where its model is another one", () => {
    const [inputs, output] = rebuilt(chat, nova, request, answer)
    expect(inputs).toMatchObject({
      ...{ model: "amazon.nova-pro-v1:0", max_tokens: 10, stop: ["x"], top_k: 5 },
      messages: [
        { role: "system" },
        { role: "user", content: [{ type: "text" }, { type: "image_url" }, { type: "file" }, { type: "video" }] },
        {
          role: "assistant",
          content: null,
          reasoning_content: "Hm",
          tool_calls: [{ id: "t1", function: { name: "look" } }]
        },
        { role: "tool", tool_call_id: "t1", content: '{"n":1}' }
      ],
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "look" } }
    })
    expect(formats[chat].facts(inputs, output)).toMatchObject({
      ...{ model: "amazon.nova-pro-v1:0", stop_reason: "tool_calls", tool_calls: ["look"] },
      ...{ input_tokens: 130, output_tokens: 5, cache_read_tokens: 100, cache_write_tokens: 20 }
    })
    expect(output.choices[0].message).toMatchObject({ content: "Grüße", reasoning_content: "Hm" })
  })

  it("leaves an error and what is no call as they are", () => {
    const { inputs, output } = rebuiltOf(chat, `${nova}/converse`)!
    const error = '{"message":"The provided model identifier is invalid."}'
    expect([output(error), inputs("[1]")]).toEqual([error, "[1]"])
    expect(rebuiltOf(chat, "/v1/chat/completions")).toBeUndefined()
  })

  it("says which model a router of prompts has asked", () => {
    const trace = { promptRouter: { invokedModelId: "arn:aws:bedrock:r::foundation-model/anthropic.claude" } }
    const [, output] = rebuilt(messages, claude, request, { ...answer, trace })
    expect(output.model).toBe(trace.promptRouter.invokedModelId)
  })

  it.each([
    [messages, claude],
    [chat, nova]
  ])("says the same in a stream, as %s", (api, path) => {
    const { ended, output } = accumulated(api, `${path}/converse-stream`, stream)
    const [, whole] = rebuilt(api, path, request, answer)
    expect([ended, output]).toEqual(["done", whole])
  })

  it("says in a stream that is cut or damaged what came before", () => {
    const damaged = Buffer.from(stream[6]!)
    damaged[20]! ^= 1
    for (const frames of [stream.slice(0, 6), [...stream.slice(0, 6), damaged, ...stream.slice(7)]]) {
      const { ended, output } = accumulated(messages, `${claude}/converse-stream`, frames)
      expect(ended).toBe("cut")
      expect(output["content"]).toEqual([
        { type: "thinking", thinking: "Hm", signature: "S" },
        { type: "text", text: "Grü" }
      ])
    }
  })

  it("has the input of a tool as text where it was cut", () => {
    const { output } = accumulated(messages, `${claude}/converse-stream`, stream.slice(0, 9))
    expect(output["content"]).toMatchObject([{}, {}, { type: "tool_use", input: '{"a":' }])
  })

  it("ends with an exception", () => {
    const frames = [...stream.slice(0, 2), exceptionFrame("throttlingException", "Slow down")]
    const { ended, output } = accumulated(chat, `${nova}/converse-stream`, frames)
    expect(ended).toBe("error")
    expect(formats[chat].facts({}, output)).toMatchObject({ error_type: "throttlingException" })
  })
})

describe("a model's own stream in frames", () => {
  const events = [
    {
      type: "message_start",
      message: {
        ...{ id: "msg_bdrk_1", type: "message", role: "assistant", model: "claude-x", content: [], stop_reason: null },
        usage: { input_tokens: 3, output_tokens: 1 }
      }
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße 😀" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
    { type: "message_stop", "amazon-bedrock-invocationMetrics": { inputTokenCount: 3, outputTokenCount: 2 } }
  ]
  const url = `${claude}/invoke-with-response-stream`

  it("is that of its format", () => {
    for (const bytes of [1, 100, 100_000]) {
      const { ended, output } = accumulated(messages, url, events.map(chunkFrame), bytes)
      expect(ended).toBe("done")
      expect(formats[messages].facts({}, output)).toMatchObject({
        input_tokens: 3,
        output_tokens: 2,
        stop_reason: "end"
      })
      expect(output["content"]).toEqual([{ type: "text", text: "Grüße 😀" }])
    }
  })

  it("is that of Converse where it is Nova's", () => {
    const own = [
      { messageStart: { role: "assistant" } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "ok" } } },
      { messageStop: { stopReason: "end_turn" } },
      { metadata: { usage: { inputTokens: 3, outputTokens: 4 } }, "amazon-bedrock-invocationMetrics": {} }
    ]
    const { ended, output } = accumulated(chat, `${nova}/invoke-with-response-stream`, own.map(chunkFrame))
    expect(ended).toBe("done")
    expect(formats[chat].facts({}, output)).toMatchObject({ input_tokens: 3, output_tokens: 4, stop_reason: "end" })
    expect(output["choices"]).toMatchObject([{ message: { content: "ok" } }])
  })

  it("is that of chat completions too, and skips what it cannot read", () => {
    const chunk = {
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }]
    }
    const odd = [eventFrame("chunk", { bytes: "***" }), eventFrame("chunk", {}), eventFrame("other", { a: 1 })]
    const { output } = accumulated(chat, "/model/openai.gpt-oss/invoke-with-response-stream", [
      ...odd,
      chunkFrame(chunk)
    ])
    expect(output["choices"]).toMatchObject([{ message: { content: "ok" }, finish_reason: "stop" }])
  })

  it("ends with an exception", () => {
    const frames = [...events.slice(0, 3).map(chunkFrame), exceptionFrame("modelStreamErrorException", "Broken")]
    const { ended, output } = accumulated(messages, url, frames)
    expect([ended, output["error"]]).toEqual(["error", { type: "modelStreamErrorException", message: "Broken" }])
  })
})
