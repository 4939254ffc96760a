/** Answers of four providers of the AI SDK, streamed: a call of a tool, and a text. */
import { chat, messages } from "../sdk/Wire.ts"

type Chunks = ReadonlyArray<string>

interface Wire {
  readonly call: Chunks
  readonly said: (text: string) => Chunks
}

const sse = (events: ReadonlyArray<object>): Chunks =>
  events.map((event) => {
    const { type } = event as { readonly type?: string }
    return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`
  })

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({
    id: "chatcmpl-2",
    object: "chat.completion.chunk",
    created: 1,
    model: "gpt-x",
    choices: [{ index: 0, delta, finish_reason }],
    ...(finish_reason === null ? {} : { usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 } })
  })}\n\n`

const openAiChat: Wire = {
  call: chat.chunks,
  said: (content) => [chunk({ role: "assistant", content }), chunk({}, "stop"), "data: [DONE]\n\n"]
}

const response = (status: string, output: ReadonlyArray<object>) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status,
  model: "gpt-x",
  output,
  usage: status === "completed" ? { input_tokens: 3, output_tokens: 5, total_tokens: 8 } : null
})

/** An item of OpenAI's responses, as it grows by one delta. */
const grown = (begun: object, delta: object, item: object) => [
  { type: "response.created", response: response("in_progress", []) },
  { type: "response.output_item.added", output_index: 0, item: begun },
  { output_index: 0, item_id: "item_1", ...delta },
  { type: "response.output_item.done", output_index: 0, item },
  { type: "response.completed", response: response("completed", [item]) }
]

const openAiResponses: Wire = {
  call: (() => {
    const call = { type: "function_call", id: "item_1", call_id: "call_1", name: "weather" }
    return sse(
      grown(
        { ...call, arguments: "", status: "in_progress" },
        { type: "response.function_call_arguments.delta", delta: '{"city":"Köln"}' },
        { ...call, arguments: '{"city":"Köln"}', status: "completed" }
      )
    )
  })(),
  said: (text) => {
    const message = { type: "message", id: "item_1", role: "assistant" }
    return sse(
      grown(
        { ...message, status: "in_progress", content: [] },
        { type: "response.output_text.delta", content_index: 0, delta: text },
        { ...message, status: "completed", content: [{ type: "output_text", text, annotations: [] }] }
      )
    )
  }
}

const anthropic: Wire = {
  call: messages.chunks,
  said: (text) => [
    messages.chunks[0]!,
    messages.chunks[1]!,
    ...sse([
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: "message_stop" }
    ])
  ]
}

const candidate = (part: object) =>
  sse([
    {
      candidates: [{ content: { parts: [part], role: "model" }, index: 0, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 },
      modelVersion: "gemini-x",
      responseId: "g1"
    }
  ])

const google: Wire = {
  call: candidate({ functionCall: { name: "weather", args: { city: "Köln" } } }),
  said: (text) => candidate({ text })
}

export const wires = { openAiChat, openAiResponses, anthropic, google }
