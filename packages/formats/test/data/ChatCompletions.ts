/** Chat completions made by hand: what streams of many providers look like, and the answers for which they stand. */

const chunk = (choices: ReadonlyArray<unknown>, fields: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1700000000,
  model: "gpt-5-mini-2025-08-07",
  service_tier: "default",
  system_fingerprint: "fp_1",
  choices,
  usage: null,
  obfuscation: "x1y2",
  ...fields
})

const choice = (delta: object, finish: string | null = null, index = 0) => ({
  index,
  delta,
  logprobs: null,
  finish_reason: finish
})

const usage = {
  prompt_tokens: 40,
  completion_tokens: 30,
  total_tokens: 70,
  prompt_tokens_details: { cached_tokens: 20, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 12, audio_tokens: 0 }
}

/** Text of two choices, a refusal, and two tool calls whose pieces come by turns. */
export const openAi = {
  inputs: { model: "gpt-5-mini", messages: [{ role: "user", content: "Hello" }], stream: true },
  payloads: [
    chunk([choice({ role: "assistant", content: "", refusal: null })]),
    chunk([choice({ content: "Grüße " })]),
    chunk([choice({ role: "assistant", content: null, refusal: "" }, null, 1)]),
    chunk([choice({ content: "👋" }), choice({ refusal: "I can" }, null, 1)]),
    chunk([choice({ refusal: "not." }, null, 1)]),
    chunk([
      choice({ tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "look", arguments: "" } }] })
    ]),
    chunk([
      choice({ tool_calls: [{ index: 1, id: "call_b", type: "function", function: { name: "go", arguments: "{}" } }] })
    ]),
    chunk([choice({ tool_calls: [{ index: 0, function: { arguments: '{"at":' } }] })]),
    chunk([choice({ tool_calls: [{ index: 0, function: { arguments: '"🏔️"}' } }] })]),
    chunk([choice({}, "stop", 1)]),
    chunk([choice({}, "tool_calls")]),
    chunk([], { usage })
  ],
  output: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1700000000,
    model: "gpt-5-mini-2025-08-07",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Grüße 👋",
          tool_calls: [
            { id: "call_a", type: "function", function: { name: "look", arguments: '{"at":"🏔️"}' } },
            { id: "call_b", type: "function", function: { name: "go", arguments: "{}" } }
          ],
          refusal: null
        },
        logprobs: null,
        finish_reason: "tool_calls"
      },
      {
        index: 1,
        message: { role: "assistant", content: null, refusal: "I cannot." },
        logprobs: null,
        finish_reason: "stop"
      }
    ],
    usage,
    service_tier: "default",
    system_fingerprint: "fp_1"
  }
}

/** A stream of one choice whose deltas are given. */
export const deltas = (...all: ReadonlyArray<object>) => all.map((delta) => ({ choices: [{ index: 0, delta }] }))

/** A conversation with each kind of content that a request can hold. */
export const conversation = {
  inputs: {
    model: "gpt-5",
    temperature: 0.5,
    messages: [
      { role: "system", content: "Answer in German, please.", cache_control: { type: "ephemeral" } },
      {
        role: "user",
        name: "Ann",
        content: [
          { type: "text", text: "What are these?", cache_control: { type: "ephemeral" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" } },
          { type: "image_url", image_url: { url: "https://pictures.example/1.jpg" } },
          { type: "input_audio", input_audio: { data: "SUQzBAAA", format: "mp3" } },
          { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=", filename: "a.pdf" } },
          { type: "file", file: { file_id: "file-1" } },
          { type: "novelty", shape: { corners: 5 } }
        ]
      },
      {
        role: "assistant",
        content: "",
        refusal: null,
        reasoning_content: "Look first.",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "look", arguments: '{"at": 1}' } },
          { id: "call_2", type: "function", function: { name: "look", arguments: "{not JSON" } },
          { id: "call_3", type: "custom", custom: { name: "shell", input: "ls -l" } }
        ]
      },
      { role: "tool", tool_call_id: "call_1", content: "A picture" },
      { role: "tool", tool_call_id: "call_2", content: [{ type: "text", text: "Nothing" }] },
      { role: "assistant", content: null, function_call: { name: "old", arguments: "{}" } },
      { role: "function", name: "old", content: "fine" }
    ],
    tools: [
      {
        type: "function",
        function: { name: "look", description: "Looks.", parameters: { type: "object" }, strict: true }
      },
      { type: "web_search", filters: null }
    ],
    functions: [{ name: "old", parameters: {} }]
  },
  normal: {
    instructions: [],
    tools: [
      { type: "function", name: "look", description: "Looks.", parameters: { type: "object" }, strict: true },
      { type: "web_search", filters: null },
      { type: "function", name: "old", parameters: {} }
    ],
    parameters: { model: "gpt-5", temperature: 0.5 },
    input: [
      { role: "system", parts: [{ type: "text", content: "Answer in German, please." }] },
      {
        role: "user",
        name: "Ann",
        parts: [
          { type: "text", content: "What are these?" },
          { type: "blob", mime_type: "image/png", modality: "image", content: "iVBORw0KGgo=", detail: "low" },
          { type: "uri", modality: "image", uri: "https://pictures.example/1.jpg" },
          { type: "blob", mime_type: "audio/mpeg", modality: "audio", content: "SUQzBAAA" },
          { type: "blob", mime_type: "application/pdf", modality: "document", content: "JVBERi0=", filename: "a.pdf" },
          { type: "file", file_id: "file-1" },
          { type: "novelty", shape: { corners: 5 } }
        ]
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "Look first." },
          { type: "tool_call", id: "call_1", name: "look", arguments: { at: 1 } },
          { type: "tool_call", id: "call_2", name: "look", arguments: "{not JSON" },
          { type: "tool_call", id: "call_3", name: "shell", arguments: "ls -l", tool_type: "custom" }
        ]
      },
      { role: "tool", parts: [{ type: "tool_call_response", id: "call_1", response: "A picture" }] },
      {
        role: "tool",
        parts: [{ type: "tool_call_response", id: "call_2", response: "Nothing" }]
      },
      { role: "assistant", parts: [{ type: "tool_call", name: "old" }] },
      { role: "function", name: "old", parts: [{ type: "tool_call_response", response: "fine" }] }
    ],
    output: []
  }
}
