/** What the providers send over the wire, made by hand: each answer streamed and not streamed. */

const sse = (events: ReadonlyArray<object | string>, named: boolean): ReadonlyArray<string> =>
  events.map((event) => {
    const data = typeof event === "string" ? event : JSON.stringify(event)
    const name = named && typeof event === "object" ? `event: ${(event as { type: string }).type}\n` : ""
    return `${name}data: ${data}\n\n`
  })

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "gpt-x",
  choices: [{ index: 0, delta, finish_reason }]
})

export const chat = {
  request: { model: "gpt-x", messages: [{ role: "user" as const, content: "Weather in Köln?" }] },
  answer: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-x",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Grüße ☀",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Köln"}' } }]
        },
        finish_reason: "tool_calls"
      }
    ],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
  },
  chunks: sse(
    [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "Grüße" }),
      chunk({ content: " ☀" }),
      chunk({
        tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: "" } }]
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"Köln"}' } }] }),
      chunk({}, "tool_calls"),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 } },
      "[DONE]"
    ],
    false
  )
}

export const messages = {
  request: { model: "claude-x", max_tokens: 10, messages: [{ role: "user" as const, content: "Weather in Köln?" }] },
  answer: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [
      { type: "text", text: "Grüße ☀" },
      { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Köln" } }
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 5 }
  },
  chunks: sse(
    [
      {
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "claude-x",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 3, output_tokens: 1 }
        }
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "ping" },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: " ☀" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "content_block_start",
        index: 1,
        content_block: { type: "tool_use", id: "toolu_1", name: "weather", input: {} }
      },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"city":' } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '"Köln"}' } },
      { type: "content_block_stop", index: 1 },
      {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: { output_tokens: 5 }
      },
      { type: "message_stop" }
    ],
    true
  )
}

const response = (status: string, output: ReadonlyArray<object>, usage: object | null) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status,
  model: "gpt-x",
  output,
  usage
})
const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
const part = (text: string) => ({ type: "output_text", text, annotations: [] })
const item = (status: string, ...content: ReadonlyArray<object>) => ({
  id: "item_1",
  type: "message",
  role: "assistant",
  status,
  content
})
const at = { item_id: "item_1", output_index: 0, content_index: 0 }

export const responses = {
  request: { model: "gpt-x", input: "Weather in Köln?" },
  answer: response("completed", [item("completed", part("Grüße ☀"))], usage),
  chunks: sse(
    [
      { type: "response.created", response: response("in_progress", [], null) },
      { type: "response.output_item.added", output_index: 0, item: item("in_progress") },
      { type: "response.content_part.added", ...at, part: part("") },
      { type: "response.output_text.delta", ...at, delta: "Grüße" },
      { type: "response.output_text.delta", ...at, delta: " ☀" },
      { type: "response.output_text.done", ...at, text: "Grüße ☀" },
      { type: "response.content_part.done", ...at, part: part("Grüße ☀") },
      { type: "response.output_item.done", output_index: 0, item: item("completed", part("Grüße ☀")) },
      { type: "response.completed", response: response("completed", [item("completed", part("Grüße ☀"))], usage) }
    ].map((event, sequence_number) => ({ ...event, sequence_number })),
    true
  )
}

const candidates = (text: string, rest: object = {}) => ({
  candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0, ...rest }]
})
const geminiUsage = {
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 },
  modelVersion: "gemini-x",
  responseId: "g1"
}

export const gemini = {
  request: { model: "gemini-x", contents: "Weather in Köln?" },
  answer: { ...candidates("Grüße ☀", { finishReason: "STOP" }), ...geminiUsage },
  chunks: [
    { ...candidates("Grüße"), ...geminiUsage },
    { ...candidates(" ☀", { finishReason: "STOP" }), ...geminiUsage }
  ].map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
}

/** The bytes of chunks, cut where a character of several bytes is, and joined in threes. */
export const cut = (chunks: ReadonlyArray<string>, size = 37): ReadonlyArray<Uint8Array> => {
  const bytes = new TextEncoder().encode(chunks.join(""))
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size)
  )
}
