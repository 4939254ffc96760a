/** Responses made by hand. */

const base = {
  id: "resp_1",
  object: "response",
  created_at: 1700000000,
  status: "in_progress",
  error: null,
  incomplete_details: null,
  model: "gpt-5-2025-08-07",
  output: [] as ReadonlyArray<object>,
  usage: null as object | null
}

const usage = {
  input_tokens: 50,
  input_tokens_details: { cached_tokens: 20, cache_write_tokens: 5 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 80
}

const text = {
  type: "output_text",
  annotations: [{ type: "url_citation", url: "https://a.example" }],
  text: "Grüße 👋"
}

const reasoning = {
  id: "rs_1",
  type: "reasoning",
  status: "in_progress",
  summary: [
    { type: "summary_text", text: "First." },
    { type: "summary_text", text: "Then." }
  ]
}
const message = {
  id: "msg_1",
  type: "message",
  status: "in_progress",
  role: "assistant",
  content: [text, { type: "refusal", refusal: "Not that." }]
}
const call = {
  id: "fc_1",
  type: "function_call",
  status: "in_progress",
  arguments: '{"at":"🏔️"}',
  call_id: "call_1",
  name: "look"
}

const at = (output_index: number, rest: { readonly type: string; readonly [key: string]: unknown }) => ({
  output_index,
  ...rest
})

/** Item by item, with pieces of each kind. The events that would repeat a whole item or block are left out. */
const pieces = [
  { type: "response.created", response: base },
  { type: "response.in_progress", response: base },
  at(0, { type: "response.output_item.added", item: { ...reasoning, summary: [] } }),
  at(0, { type: "response.reasoning_summary_part.added", summary_index: 0, part: { type: "summary_text", text: "" } }),
  at(0, { type: "response.reasoning_summary_text.delta", summary_index: 0, delta: "First." }),
  at(0, { type: "response.reasoning_summary_part.added", summary_index: 1, part: { type: "summary_text", text: "" } }),
  at(0, { type: "response.reasoning_summary_text.delta", summary_index: 1, delta: "The" }),
  at(0, { type: "response.reasoning_summary_text.delta", summary_index: 1, delta: "n." }),
  at(1, { type: "response.output_item.added", item: { ...message, content: [] } }),
  at(1, { type: "response.content_part.added", content_index: 0, part: { ...text, annotations: [], text: "" } }),
  at(1, { type: "response.output_text.delta", content_index: 0, delta: "Grüße " }),
  // Ids that change say nothing: the place counts.
  at(1, { type: "response.output_text.delta", item_id: "msg_other", content_index: 0, delta: "👋" }),
  at(1, { type: "response.output_text.annotation.added", content_index: 0, annotation: text.annotations[0] }),
  at(1, { type: "response.content_part.added", content_index: 1, part: { type: "refusal", refusal: "" } }),
  at(1, { type: "response.refusal.delta", content_index: 1, delta: "Not that." }),
  // A place is left out.
  at(3, { type: "response.output_item.added", item: { ...call, arguments: "" } }),
  at(3, { type: "response.function_call_arguments.delta", delta: '{"at":' }),
  at(3, { type: "response.function_call_arguments.delta", delta: '"🏔️"}' }),
  at(3, { type: "response.function_call_arguments.done", arguments: '{"at":"🏔️"}' })
]

const output = [reasoning, message, call]

export const openAi = {
  pieces,
  /** What the pieces stand for. */
  unfinished: { ...base, output },
  payloads: [
    ...pieces,
    {
      type: "response.completed",
      response: {
        ...base,
        status: "completed",
        output: output.map((item) => ({ ...item, status: "completed" })),
        usage
      }
    }
  ],
  output: { ...base, status: "completed", output: output.map((item) => ({ ...item, status: "completed" })), usage },
  base,
  usage
}

/** A conversation with each kind of item that a request can hold. */
export const conversation = {
  inputs: {
    model: "gpt-5",
    store: false,
    previous_response_id: null,
    instructions: "Be brief.",
    tools: [{ type: "function", name: "look", description: "Looks.", parameters: { type: "object" }, strict: true }],
    input: [
      { role: "developer", content: "Answer in German, please." },
      {
        role: "user",
        content: [
          { type: "input_text", text: "What are these?" },
          { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "auto" },
          { type: "input_image", file_id: "file-1" },
          { type: "input_file", file_url: "https://files.example/a.pdf", filename: "a.pdf" }
        ]
      },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Look first." }],
        content: [],
        encrypted_content: "gAAAAA"
      },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        phase: "commentary",
        content: [{ type: "output_text", text: "I look.", annotations: [], logprobs: [] }]
      },
      {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: "look",
        arguments: '{"at": 1}',
        status: "completed"
      },
      { type: "custom_tool_call", id: "ctc_1", call_id: "call_2", name: "shell", input: "ls -l" },
      { type: "function_call_output", call_id: "call_1", output: "A picture" },
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "pictures" } },
      { type: "tool_search_output", execution: "server", tools: [{ name: "x" }] },
      { type: "shell_call_output", call_id: "call_3", output: [] },
      { type: "item_reference", id: "msg_0" }
    ]
  },
  normal: {
    instructions: [{ type: "text", content: "Be brief." }],
    tools: [{ type: "function", name: "look", description: "Looks.", parameters: { type: "object" }, strict: true }],
    parameters: { model: "gpt-5", store: false },
    input: [
      { role: "developer", parts: [{ type: "text", content: "Answer in German, please." }] },
      {
        role: "user",
        parts: [
          { type: "text", content: "What are these?" },
          { type: "blob", mime_type: "image/png", modality: "image", content: "iVBORw0KGgo=", detail: "auto" },
          { type: "file", modality: "image", file_id: "file-1" },
          { type: "uri", uri: "https://files.example/a.pdf", filename: "a.pdf" }
        ]
      },
      {
        role: "assistant",
        parts: [{ type: "reasoning", content: "Look first.", item_id: "rs_1", encrypted_content: "gAAAAA" }]
      },
      {
        role: "assistant",
        parts: [{ type: "text", content: "I look.", item_id: "msg_1", status: "completed", phase: "commentary" }]
      },
      {
        role: "assistant",
        parts: [
          { type: "tool_call", id: "call_1", name: "look", arguments: { at: 1 }, item_id: "fc_1", status: "completed" }
        ]
      },
      {
        role: "assistant",
        parts: [
          { type: "tool_call", id: "call_2", name: "shell", arguments: "ls -l", tool_type: "custom", item_id: "ctc_1" }
        ]
      },
      {
        role: "tool",
        parts: [{ type: "tool_call_response", id: "call_1", response: "A picture", tool_type: "function_call_output" }]
      },
      {
        role: "assistant",
        parts: [
          { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "pictures" } }
        ]
      },
      { role: "assistant", parts: [{ type: "tool_search_output", execution: "server", tools: [{ name: "x" }] }] },
      { role: "tool", parts: [{ type: "shell_call_output", call_id: "call_3" }] },
      { role: "assistant", parts: [{ type: "item_reference", id: "msg_0" }] }
    ],
    output: []
  }
}
