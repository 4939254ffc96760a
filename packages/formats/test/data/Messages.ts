/** Streams of Anthropic's messages, made by hand, and the answers that they stand for. */
import type { JsonObject } from "@tachograph/formats"

export interface Sample {
  readonly events: ReadonlyArray<JsonObject>
  readonly output: JsonObject
}

/** The text of a stream. `pad` is the spaces that the provider writes behind some events. */
export const toText = (events: ReadonlyArray<JsonObject>, end = "\n", pad = ""): string =>
  events.map((event) => `event: ${event["type"]}${end}data: ${JSON.stringify(event)}${pad}${end}${end}`).join("")

const messageStart = (more: JsonObject = {}): JsonObject => ({
  type: "message_start",
  message: {
    model: "claude-sonnet-4-6",
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 3,
      cache_read_input_tokens: 20,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 2 },
      output_tokens: 1,
      service_tier: "standard",
      inference_geo: "global"
    },
    ...more
  }
})

const blockStart = (index: number, block: JsonObject): JsonObject => ({
  type: "content_block_start",
  index,
  content_block: block
})
const delta = (index: number, change: JsonObject): JsonObject => ({ type: "content_block_delta", index, delta: change })
const textDelta = (index: number, text: string) => delta(index, { type: "text_delta", text })
const inputDelta = (index: number, json: string) => delta(index, { type: "input_json_delta", partial_json: json })
const blockStop = (index: number): JsonObject => ({ type: "content_block_stop", index })
const ping: JsonObject = { type: "ping" }
const messageStop: JsonObject = { type: "message_stop" }
const messageDelta = (change: JsonObject, usage: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "message_delta",
  delta: change,
  usage,
  ...more
})

export const make = {
  messageStart,
  blockStart,
  delta,
  textDelta,
  inputDelta,
  blockStop,
  ping,
  messageStop,
  messageDelta
}

const citation = (url: string): JsonObject => ({ type: "web_search_result_location", url, cited_text: "warm and dry" })

/** Each kind of block that a plain answer has, with characters of one to four bytes. */
export const everyBlock: Sample = {
  events: [
    messageStart(),
    blockStart(0, { type: "thinking", thinking: "", signature: "" }),
    ping,
    delta(0, { type: "thinking_delta", thinking: "The user is in Zür" }),
    delta(0, { type: "thinking_delta", thinking: "ich 🏔️." }),
    delta(0, { type: "signature_delta", signature: "c2lnbmF0dXJl" }),
    blockStop(0),
    blockStart(1, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
    inputDelta(1, ""),
    inputDelta(1, '{"que'),
    inputDelta(1, 'ry":"weather Z\\u00fcrich"}'),
    blockStop(1),
    blockStart(2, {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [{ type: "web_search_result", title: "Weather", url: "https://example.com", encrypted_content: "QUJD" }]
    }),
    blockStop(2),
    blockStart(3, { citations: [], type: "text", text: "" }),
    delta(3, { type: "citations_delta", citation: citation("https://example.com/a") }),
    textDelta(3, "It is warm\u2028"),
    textDelta(3, "and dry: 21 °C — 晴れ."),
    delta(3, { type: "citations_delta", citation: citation("https://example.com/b") }),
    blockStop(3),
    blockStart(4, { type: "tool_use", id: "toolu_1", name: "note", input: {}, caller: { type: "direct" } }),
    inputDelta(4, '{"text": "'),
    inputDelta(4, '😀", "at": 90071992547409'),
    inputDelta(4, "93}"),
    blockStop(4),
    blockStart(5, { type: "tool_use", id: "toolu_2", name: "now", input: {} }),
    inputDelta(5, ""),
    blockStop(5),
    messageDelta(
      {
        stop_reason: "tool_use",
        stop_sequence: null,
        stop_details: null,
        container: { id: "container_1", expires_at: "2026-01-01T00:00:00Z" }
      },
      {
        input_tokens: 40,
        cache_creation_input_tokens: null,
        output_tokens: 90,
        server_tool_use: { web_search_requests: 1 },
        output_tokens_details: { thinking_tokens: 12 }
      },
      { context_management: { applied_edits: [] } }
    ),
    messageStop
  ],
  output: {
    model: "claude-sonnet-4-6",
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [
      { type: "thinking", thinking: "The user is in Zürich 🏔️.", signature: "c2lnbmF0dXJl" },
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "weather Zürich" } },
      {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_1",
        content: [
          { type: "web_search_result", title: "Weather", url: "https://example.com", encrypted_content: "QUJD" }
        ]
      },
      {
        citations: [citation("https://example.com/a"), citation("https://example.com/b")],
        type: "text",
        text: "It is warm\u2028and dry: 21 °C — 晴れ."
      },
      {
        type: "tool_use",
        id: "toolu_1",
        name: "note",
        // JavaScript's nearest; the exact digits are in `text`.
        input: { text: "😀", at: 9_007_199_254_740_992 },
        caller: { type: "direct" }
      },
      { type: "tool_use", id: "toolu_2", name: "now", input: {} }
    ],
    container: { id: "container_1", expires_at: "2026-01-01T00:00:00Z" },
    stop_reason: "tool_use",
    stop_sequence: null,
    stop_details: null,
    usage: {
      input_tokens: 40,
      cache_creation_input_tokens: 3,
      cache_read_input_tokens: 20,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 2 },
      output_tokens: 90,
      output_tokens_details: { thinking_tokens: 12 },
      service_tier: "standard",
      inference_geo: "global",
      server_tool_use: { web_search_requests: 1 }
    },
    context_management: { applied_edits: [] }
  }
}

/** A message whose provider fails after content has begun. */
export const errorInTheMiddle: Sample = {
  events: [
    messageStart(),
    blockStart(0, { type: "text", text: "" }),
    textDelta(0, "It is "),
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" }, request_id: "req_1" }
  ],
  output: {
    model: "claude-sonnet-4-6",
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: "It is " }],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 3,
      cache_read_input_tokens: 20,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 2 },
      output_tokens: 1,
      service_tier: "standard",
      inference_geo: "global"
    },
    error: { type: "overloaded_error", message: "Overloaded" },
    request_id: "req_1"
  }
}
