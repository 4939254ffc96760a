/** An interaction made by hand, with every kind of step, streamed and not. */
import type { JsonObject } from "@tachograph/formats"

const start = (index: number, step: JsonObject): JsonObject => ({ index, step, event_type: "step.start" })
const delta = (index: number, fields: JsonObject): JsonObject => ({ index, delta: fields, event_type: "step.delta" })
const stop = (index: number): JsonObject => ({ index, event_type: "step.stop" })
const text = (said: string): JsonObject => ({ text: said, type: "text" })

/** Builders of events. */
export const make = { start, delta, stop, text }

const citation = (url: string) => ({ start_index: 0, end_index: 5, url, title: "A", type: "url_citation" })

const usage = {
  total_tokens: 300,
  total_input_tokens: 100,
  input_tokens_by_modality: [
    { modality: "text", tokens: 90 },
    { modality: "audio", tokens: 10 }
  ],
  total_cached_tokens: 40,
  cached_tokens_by_modality: [{ modality: "audio", tokens: 4 }],
  total_output_tokens: 80,
  output_tokens_by_modality: [
    { modality: "image", tokens: 20 },
    { modality: "audio", tokens: 6 }
  ],
  total_tool_use_tokens: 50,
  tool_use_tokens_by_modality: [{ modality: "audio", tokens: 1 }],
  total_thought_tokens: 70
}

const begun = { id: "v1_interaction", status: "in_progress", object: "interaction", model: "gemini-3-pro" }

const ended = {
  id: "v1_interaction",
  status: "requires_action",
  usage,
  created: "2026-05-15T18:52:00Z",
  updated: "2026-05-15T18:52:03Z",
  service_tier: "standard",
  object: "interaction",
  model: "gemini-3-pro"
}

const events: ReadonlyArray<JsonObject> = [
  {
    interaction: begun,
    event_type: "interaction.created",
    metadata: { usage: { total_input_tokens: 100, total_output_tokens: 0 } }
  },
  { interaction_id: "v1_interaction", status: "in_progress", event_type: "interaction.status_update" },
  start(0, { type: "thought" }),
  delta(0, { content: text("**Zürich**\n"), type: "thought_summary" }),
  delta(0, { signature: "", type: "thought_signature" }),
  delta(0, { content: text("is in Switzerland."), type: "thought_summary" }),
  delta(0, { signature: "QUFBQQ==", type: "thought_signature" }),
  stop(0),
  start(1, { id: "abcd1234", signature: "", type: "google_search_call" }),
  delta(1, { type: "google_search_call", arguments: { queries: ["Zürich", ""] } }),
  stop(1),
  start(2, { call_id: "abcd1234", signature: "", type: "google_search_result" }),
  delta(2, { type: "google_search_result", result: [{ search_suggestions: "<b>Zürich</b>" }], is_error: false }),
  delta(2, { type: "google_search_result", result: [{ search_suggestions: "<b>weather</b>" }] }),
  stop(2),
  start(3, { id: "code1234", type: "code_execution_call" }),
  delta(3, { type: "code_execution_call", arguments: { code: "print(1)", language: "python" } }),
  start(4, { call_id: "code1234", type: "code_execution_result" }),
  delta(4, { type: "code_execution_result", result: "1\n" }),
  delta(4, { type: "code_execution_result", result: "2\n", is_error: false }),
  start(5, { type: "model_output" }),
  delta(5, { text: "It is warm\u2028", type: "text" }),
  delta(5, { text: "— 晴れ 🏔️.", type: "text" }),
  delta(5, { annotations: [citation("https://example.com/a")], type: "text_annotation_delta" }),
  delta(5, { annotations: [citation("https://example.com/b")], type: "text_annotation_delta" }),
  delta(5, { data: "iVBORw==", mime_type: "image/png", type: "image" }),
  delta(5, { data: "AQ==", mime_type: "audio/l16", type: "audio" }),
  delta(5, { data: "AgMEBQ==", type: "audio" }),
  stop(5),
  start(6, { id: "efgh5678", signature: "", type: "function_call", name: "note", arguments: {} }),
  delta(6, { arguments: '{"text":"Su', type: "arguments_delta" }),
  delta(6, { arguments: 'nny","at":[1]}', type: "arguments_delta" }),
  stop(6),
  start(7, { id: "ijkl9012", type: "function_call", name: "now", arguments: {} }),
  stop(7),
  { interaction: ended, event_type: "interaction.completed" }
]

export const everyStep = {
  inputs: {
    model: "gemini-3-pro",
    input: [
      {
        type: "user_input",
        content: [
          text("How is Zürich?"),
          { type: "image", data: "iVBORw==", mime_type: "image/png", resolution: "low" }
        ]
      },
      { type: "thought", signature: "QkJCQg==" },
      { type: "function_call", id: "call1234", name: "look", arguments: { at: "Zürich" } },
      {
        type: "function_result",
        call_id: "call1234",
        name: "look",
        result: [text("sun"), { type: "image", uri: "https://example.com/a.png", mime_type: "image/png" }]
      },
      { type: "model_output", content: [text("Warm.")] },
      { role: "user", content: "And now?" }
    ],
    system_instruction: "Be brief.",
    tools: [
      { type: "function", name: "look", description: "Looks", parameters: { type: "object" } },
      { type: "google_search" }
    ],
    generation_config: { temperature: 0 },
    stream: true
  },
  events,
  output: {
    id: "v1_interaction",
    status: "requires_action",
    usage,
    created: "2026-05-15T18:52:00Z",
    updated: "2026-05-15T18:52:03Z",
    service_tier: "standard",
    steps: [
      { signature: "QUFBQQ==", summary: [text("**Zürich**\nis in Switzerland.")], type: "thought" },
      { id: "abcd1234", type: "google_search_call", arguments: { queries: ["Zürich", ""] } },
      {
        call_id: "abcd1234",
        type: "google_search_result",
        result: [{ search_suggestions: "<b>Zürich</b>" }, { search_suggestions: "<b>weather</b>" }],
        is_error: false
      },
      { id: "code1234", type: "code_execution_call", arguments: { code: "print(1)", language: "python" } },
      { call_id: "code1234", type: "code_execution_result", result: "1\n2\n", is_error: false },
      {
        content: [
          {
            text: "It is warm\u2028— 晴れ 🏔️.",
            annotations: [citation("https://example.com/a"), citation("https://example.com/b")],
            type: "text"
          },
          { data: "iVBORw==", mime_type: "image/png", type: "image" },
          { data: "AQIDBAU=", mime_type: "audio/l16", type: "audio" }
        ],
        type: "model_output"
      },
      { id: "efgh5678", type: "function_call", name: "note", arguments: { text: "Sunny", at: [1] } },
      { id: "ijkl9012", type: "function_call", name: "now", arguments: {} }
    ],
    object: "interaction",
    model: "gemini-3-pro"
  } satisfies JsonObject
}

/** The body as it comes over the wire. */
export const toText = (
  payloads: ReadonlyArray<JsonObject>,
  end = "\n",
  done = `event: done${end}data: [DONE]${end}${end}`
): string =>
  payloads
    .map((payload) => `event: ${String(payload["event_type"])}${end}data: ${JSON.stringify(payload)}${end}${end}`)
    .join("") + done
