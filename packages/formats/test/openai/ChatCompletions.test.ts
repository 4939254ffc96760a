import { describe, expect, it } from "vitest"
import type { Facts, JsonObject, Message } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { ChatCompletions as format } from "../../src/openai/ChatCompletions.ts"
import { billing } from "../../src/openai/ChatCompletionsFacts.ts"
import { conversation, openAi } from "../data/ChatCompletions.ts"
import { accumulate } from "../Streams.ts"
import { answersOf, areThere, longStrings, readRuns, streamsOf } from "../Workloads.ts"

const api = "provider1-chat-completions"

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

const usage = (counts: unknown) => format.facts({}, { usage: counts })

const stop = (finish_reason: unknown, message: object = {}) => {
  const facts = format.facts({}, { choices: [{ finish_reason, message }] })
  return [facts.stop_reason, facts.provider_stop_reason]
}

describe("facts of chat completions", () => {
  it("are read from request and answer", () => {
    expect(format.facts(openAi.inputs, openAi.output)).toEqual({
      provider: "openai",
      model: "gpt-5-mini",
      response_model: "gpt-5-mini-2025-08-07",
      input_tokens: 40,
      output_tokens: 30,
      cache_read_tokens: 20,
      cache_write_tokens: null,
      reasoning_tokens: 12,
      stop_reason: "tool_calls",
      provider_stop_reason: "tool_calls",
      tool_calls: ["look", "go"],
      error_type: null,
      error_code: null,
      error_status: null
    })
  })

  it("are null where nothing is known", () => {
    for (const output of [null, undefined, 0, "text", [], {}, true]) expect(format.facts({}, output)).toEqual(unknown)
    for (const inputs of [null, undefined, [], "a", { model: 4 }, { model: "" }])
      expect(format.facts(inputs, {})).toEqual(unknown)
  })

  it("count what is cached and reasoned wherever it stands", () => {
    expect(usage({ prompt_tokens: 9, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 5 })).toMatchObject({
      input_tokens: 9,
      cache_read_tokens: 4
    })
    for (const key of ["cached_tokens", "num_cached_tokens"]) expect(usage({ [key]: 4 }).cache_read_tokens).toBe(4)
    expect(usage({ prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 7 } })).toMatchObject({
      cache_read_tokens: 0,
      cache_write_tokens: 7
    })
    expect(usage({ input_tokens: 3, output_tokens: 2 })).toMatchObject({ input_tokens: 3, output_tokens: 2 })
    expect(format.facts({}, { x_groq: { usage: { prompt_tokens: 3 } } }).input_tokens).toBe(3)
  })

  it("add the reasoning to the output where the total says that it is counted beside it", () => {
    const completion_tokens_details = { reasoning_tokens: 189 }
    const counts = { prompt_tokens: 291, completion_tokens: 26, completion_tokens_details }
    expect(usage({ ...counts, total_tokens: 506 }).output_tokens).toBe(26 + 189)
    expect(usage({ ...counts, completion_tokens: 200, total_tokens: 491 }).output_tokens).toBe(200)
    expect(usage({ prompt_tokens: 3, completion_tokens: 200, completion_tokens_details }).output_tokens).toBe(200)
    // More reasoning than output cannot be a part of it.
    expect(usage(counts).output_tokens).toBe(26 + 189)
  })

  it("are no counts where they are no counts", () => {
    for (const count of [-1, 1.5, "4", null, 2 ** 53, Number.NaN, {}])
      expect(usage({ prompt_tokens: count, completion_tokens_details: { reasoning_tokens: count } })).toEqual(unknown)
  })

  it("say why the model stopped", () => {
    expect(stop("stop")).toEqual(["end", "stop"])
    expect(stop("eos")).toEqual(["end", "eos"])
    expect(stop("length")).toEqual(["length", "length"])
    expect(stop("function_call")).toEqual(["tool_calls", "function_call"])
    expect(stop("content_filter")).toEqual(["content_filter", "content_filter"])
    expect(stop("error")).toEqual(["error", "error"])
    expect(stop("constructor")).toEqual(["other", "constructor"])
    expect(stop("stop", { refusal: "I cannot." })).toEqual(["refusal", "stop"])
    expect(stop("stop", { tool_calls: [{ function: { name: "look" } }] })).toEqual(["tool_calls", "stop"])
    for (const nothing of ["", null, undefined, 3]) expect(stop(nothing)).toEqual([null, null])
  })

  it.each<[string | null, unknown]>([
    ["openrouter", { id: "gen-1", model: "openai/gpt-4o" }],
    ["openrouter", { choices: [{ native_finish_reason: "STOP" }] }],
    ["azure", { prompt_filter_results: [], model: "deepseek-r1" }],
    ["azure", { choices: [{ content_filter_results: {} }] }],
    ["groq", { x_groq: {} }],
    ["deepseek", { usage: { prompt_cache_hit_tokens: 0 } }],
    ["x-ai", { usage: { num_sources_used: 0 } }],
    ["perplexity", { search_results: [] }],
    ["together", { choices: [{ seed: 1 }] }],
    ["mistral", { model: "mistral-small-latest" }],
    ["mistral", { model: "open-mixtral-8x7b" }],
    ["zai", { model: "glm-4.7", id: "20260701071019fb893cf0ba38429c" }],
    ["mistral", { model: "mistral-medium-3", id: "b6fb3feaa0154b08bad5a1ea48f56374" }],
    ["moonshotai", { model: "kimi-k2", usage: { cached_tokens: 0 } }],
    ["moonshotai", { model: "moonshot-v1-8k" }],
    ["deepseek", { model: "deepseek-v4-flash", id: "9373c33a-2d56-4240-a9fa-b489b43619a5" }],
    ["deepseek", { model: "deepseek-reasoner" }],
    ["ollama", { model: "deepseek-r1:8b", system_fingerprint: "fp_ollama" }],
    ["ollama", { model: "gpt-4o", system_fingerprint: "fp_ollama" }],
    ["lmstudio", { model: "mistral-small-3.2", system_fingerprint: "mistral-small-3.2" }],
    ["llama.cpp", { model: "gpt-4o-mini", system_fingerprint: "b4321-1a2b3c4d", timings: { predicted_ms: 4.5 } }],
    [null, { model: "deepseek-r1-distill-qwen-7b", id: "chatcmpl-7" }],
    [null, { model: "glm-4.7", id: "chatcmpl-7" }],
    [null, { model: "kimi-k2", usage: { prompt_tokens: 1 } }],
    [null, { model: "mistral-small3.2:24b", id: "chatcmpl-7" }],
    [null, { model: "mistral-nemo", id: "chatcmpl-7" }],
    ["anthropic", { model: "claude-haiku-4-5" }],
    ["openai", { model: "gpt-4o" }],
    ["openai", { model: "o3" }],
    ["openai", { model: "ft:gpt-4o-mini-2024-07-18:acme::1" }],
    ["openai", { model: "chatgpt-4o-latest" }],
    // Anybody may serve these, also without the marks of a provider.
    [null, { model: "gpt-oss-120b" }],
    [null, { model: "mistralai/ministral-3" }],
    [null, { model: "qwen3-max" }]
  ])("name the provider by its marks: %s", (provider, output) => {
    expect(format.facts({}, output).provider).toBe(provider)
  })

  it("name the provider by the model that was asked for where the answer has none", () => {
    expect(format.facts({ model: "grok-4" }, { error: { code: 401 } }).provider).toBe("x-ai")
  })

  it.each([
    ["Anthropic's name", { server_tool_use: { web_search_requests: 2 } }],
    ["a name of LiteLLM's", { prompt_tokens_details: { web_search_requests: 2, cached_tokens: null } }],
    [
      "two names, of which one was not filled in",
      { num_search_queries: 2, server_tool_use: { web_search_requests: 0 } }
    ]
  ])("count searches under %s", (_, usage) => {
    expect(billing({}, { choices: [], usage })).toMatchObject({ web_searches: 2, uncounted: [] })
  })

  it("name what the answer shows and its usage does not count", () => {
    const of = (message: object, usage = {}) => billing({}, { choices: [{ message }], usage }).uncounted
    const audio = { id: "a", data: "AAAA", transcript: "Hi" }
    expect(of({ audio })).toEqual(["audio"])
    expect(of({ audio }, { completion_tokens_details: { audio_tokens: 9 } })).toEqual([])
    expect(of({ audio: { id: "a" } })).toEqual([])
    const images = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }]
    expect(of({ images })).toEqual(["images"])
    expect(of({ images }, { completion_tokens_details: { image_tokens: 9 } })).toEqual([])
    expect(of({ executed_tools: [{ type: "browser_search" }, { type: "python" }] })).toEqual([
      "web_search",
      "code_interpreter"
    ])
    expect(of({}, { num_sources_used: 3 })).toEqual(["web_search"])
    expect(of({}, { num_sources_used: 0 })).toEqual([])
  })

  it("say what a price depends on", () => {
    expect(billing({ service_tier: "flex" }, openAi.output)).toMatchObject({
      service_tier: "default",
      cache_write_1h_tokens: null,
      input_audio_tokens: 0,
      cache_audio_read_tokens: null,
      output_audio_tokens: 0,
      output_image_tokens: null,
      web_searches: null
    })
    expect(billing(null, null).service_tier).toBeNull()
    const choices = [{ message: { annotations: [{ type: "url_citation", url_citation: {} }] } }]
    expect(billing({}, { choices }).uncounted).toEqual(["web_search"])
    const usage = { num_search_queries: 3, citation_tokens: 7 }
    expect(billing({}, { choices, usage })).toMatchObject({ web_searches: 3, citation_tokens: 7, uncounted: [] })
    const compacted = { prompt_tokens: 12, completion_tokens: 5 }
    const iterations = [
      { type: "compaction", input_tokens: 9, output_tokens: 3 },
      { type: "message", input_tokens: 3, output_tokens: 2 }
    ]
    expect(billing({}, { usage: { ...compacted, iterations } }).requests).toMatchObject([
      { input_tokens: 3 },
      { input_tokens: 9 }
    ])
    expect(billing({}, { usage: { ...compacted, prompt_tokens: 3, iterations } }).requests).toBeNull()
  })
})

describe("messages of chat completions", () => {
  it("have each kind of content in normal form", () => {
    expect(format.messages(conversation.inputs, null)).toEqual(conversation.normal)
    expect(conversation.inputs.messages.flatMap(format.element)).toEqual(conversation.normal.input)
  })

  it("are one for each choice", () => {
    const { output } = format.messages({}, { ...openAi.output, citations: ["https://a.example"] })
    expect(output).toEqual([
      {
        role: "assistant",
        citations: ["https://a.example"],
        parts: [
          { type: "text", content: "Grüße 👋" },
          { type: "tool_call", id: "call_a", name: "look", arguments: { at: "🏔️" } },
          { type: "tool_call", id: "call_b", name: "go" }
        ],
        finish_reason: "tool_calls"
      },
      { role: "assistant", parts: [{ type: "refusal", refusal: "I cannot." }], finish_reason: "stop" }
    ])
  })

  it("have sound, and thinking in blocks", () => {
    const audio = { id: "audio_1", data: "AAAA", transcript: "Hello", expires_at: 9 }
    const content = [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }], closed: true }]
    const message = { role: "assistant", content, audio }
    expect(format.element(message)).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "Hm.", closed: true },
          { type: "blob", modality: "audio", content: "AAAA", id: "audio_1", transcript: "Hello", expires_at: 9 }
        ]
      }
    ])
  })

  it("do not depend on marks for caches, which make text a list", () => {
    const marked = { cache_control: { type: "ephemeral" } }
    for (const message of [{ role: "user" }, { role: "tool", tool_call_id: "a" }, { role: "system" }]) {
      const asList = format.element({ ...message, content: [{ type: "text", text: "Hello", ...marked }] })
      expect(asList).toEqual(format.element({ ...message, ...marked, content: "Hello" }))
    }
    const image = { type: "image_url", image_url: { url: "https://a.example" } }
    expect(format.element({ role: "tool", content: [{ ...image, ...marked }] })).toEqual(
      format.element({ role: "tool", content: [image] })
    )
    expect(format.element({ role: "user", content: [{ type: "novelty", ...marked }] })).toEqual([
      { role: "user", parts: [{ type: "novelty" }] }
    ])
  })

  it("are empty where there are none, and generic where they are odd", () => {
    for (const value of [null, undefined, 4, "a", {}, { messages: {} }, { messages: null }]) {
      const { input, output, instructions, tools } = format.messages(value, value)
      expect([input, output, instructions, tools]).toEqual([[], [], [], []])
    }
    expect(format.messages({ messages: ["Hello", { role: "user", content: { deep: 1 } }, null] }, {}).input).toEqual([
      { role: "unknown", parts: [{ type: "unknown", content: "Hello" }] },
      { role: "user", parts: [{ type: "unknown", deep: 1 }] },
      { role: "unknown", parts: [] }
    ])
  })

  it("keep keys of any name", () => {
    const message = JSON.parse(
      '{"role":"user","__proto__":{"a":1},"content":[{"type":"text","text":"a","__proto__":7}]}'
    )
    const text = JSON.stringify(format.element(message))
    expect(text).toContain('"__proto__":{"a":1}')
    expect(text).toContain('"__proto__":7')
  })
})

describe.runIf(areThere)("recorded chat completions", () => {
  const streamed = streamsOf(api).filter(({ stream }) => stream !== null)
  const answers = answersOf(api).filter(({ output }) => output !== null)
  const all = [
    ...answers,
    ...streamed.map(({ source, request, stream }) => ({
      source,
      inputs: request,
      output: accumulate(format.accumulator, stream as string).output
    }))
  ] as ReadonlyArray<{ readonly source: string; readonly inputs: any; readonly output: any }>

  const words: Record<string, string> = {
    stop: "end",
    eos: "end",
    length: "length",
    tool_calls: "tool_calls",
    content_filter: "content_filter"
  }

  /** A plain reading of what OpenAI documents. */
  const plain = (inputs: any, output: any): Facts => {
    const [choice] = output.choices ?? []
    const error = output.error
    return {
      provider: /^(gpt-\d|o\d)/.test(output.model ?? inputs?.model ?? "") ? "openai" : null,
      model: inputs?.model ?? null,
      response_model: output.model ?? null,
      input_tokens: output.usage?.prompt_tokens ?? null,
      output_tokens: output.usage?.completion_tokens ?? null,
      cache_read_tokens: output.usage?.prompt_tokens_details?.cached_tokens ?? null,
      cache_write_tokens: output.usage?.prompt_tokens_details?.cache_write_tokens ?? null,
      reasoning_tokens: output.usage?.completion_tokens_details?.reasoning_tokens ?? null,
      stop_reason: (words[choice?.finish_reason] ?? null) as Facts["stop_reason"],
      provider_stop_reason: choice?.finish_reason || null,
      tool_calls:
        output.choices?.flatMap((each: any) =>
          (each.message?.tool_calls ?? []).map((call: any) => call.function.name)
        ) ?? null,
      error_type: error ? String(error.type ?? error.code) : null,
      // Of others than OpenAI it is a status.
      error_code: /^[a-z]/.test(error?.code ?? "") ? error.code : null,
      error_status: null
    }
  }

  /** What differs from the plain reading, by a part of the source. */
  const exceptions: ReadonlyArray<readonly [source: string, facts: (output: any) => Partial<Facts>]> = [
    ["packages/deepseek/", () => ({ provider: "deepseek" })],
    ["deepseek-chat", () => ({ provider: "deepseek" })],
    // These two count cached tokens beside the others.
    ["huggingface-v4-latest", ({ usage }) => ({ cache_read_tokens: usage.cached_tokens })],
    [
      "test_instrumentor/test_chat_stream",
      ({ usage }) => ({ provider: "together", cache_read_tokens: usage.cached_tokens })
    ],
    ["packages/groq/", () => ({ provider: "groq" })],
    ["test_groq/test_tool_use_failed", (output) => ({ provider: "groq", error_status: output.error ? 400 : null })],
    ["mistral", () => ({ provider: "mistral" })],
    // Mistral's older name for cached tokens: 32 of 64.
    ["matrix[tool_return_content-url-audio-mistral]", () => ({ provider: "mistral", cache_read_tokens: 32 })],
    ["azure_gpt-5-nano", () => ({ provider: "azure" })],
    ["azure_chat_completion", () => ({ provider: "azure" })],
    ["test_azure/", () => ({ provider: "azure" })],
    // An error of Azure's names only a status, and the model that was asked for is xAI's.
    ["azure_grok", () => ({ provider: "x-ai", error_status: 401 })],
    ["test_zai", () => ({ provider: "zai" })],
    ["chat_basic_chat_functionality_perplexity", () => ({ provider: "perplexity" })],
    ["error_handling_with_perplexity", () => ({ provider: "perplexity", error_status: 401 })],
    ["packages/perplexity/", () => ({ provider: "perplexity" })],
    ["should-set-attributes-in-span-for-streaming-chat", () => ({ provider: "together" })],
    // xAI counts reasoning beside the output: 1 + 228, 1 + 290, 26 + 189, 26 + 196.
    ["xai-text", ({ usage }) => ({ provider: "x-ai", output_tokens: usage.total_tokens - usage.prompt_tokens })],
    ["xai-tool-call", ({ usage }) => ({ provider: "x-ai", output_tokens: usage.total_tokens - usage.prompt_tokens })],
    ["moonshotai", ({ usage }) => ({ provider: "moonshotai", cache_read_tokens: usage.cached_tokens })],
    ["ollama_cloud_gpt-oss_120b_reports", () => ({ provider: "ollama" })],
    ["test_openrouter", () => ({ provider: "openrouter" })],
    ["openrouter_claude", () => ({ error_status: 401 })],
    ["test_tools_streaming_variant_c", () => ({ provider: "openrouter" })],
    ["anthropic-fallback", () => ({ provider: "anthropic" })],
    ["test_snowflake", () => ({ provider: "anthropic" })],
    // The stream came from DeepSeek under another name, and says so in its usage.
    [
      "test_chat/test_chat_streaming",
      ({ usage }) =>
        "prompt_cache_hit_tokens" in usage
          ? { provider: "deepseek", cache_read_tokens: usage.prompt_cache_hit_tokens }
          : {}
    ],
    // The model refused, for which there is no word.
    ["173417d553406f034f643e5db3f8d591fb691ebac56f5ae39a22cc7d455c5353", () => ({ stop_reason: "refusal" })],
    ["ChatCompletionStream.test.ts.snap", () => ({ stop_reason: "refusal" })]
  ]

  it("have the facts of an independent reading", () => {
    for (const { source, inputs, output } of all) {
      const [, except] = exceptions.findLast(([part]) => source.includes(part)) ?? []
      expect(format.facts(inputs, output), source).toEqual({ ...plain(inputs, output), ...except?.(output) })
    }
    expect(all.length).toBe(50 + 34 + 35)
  })

  it("leave facts unknown for reasons that are known", () => {
    const facts = all.map(({ inputs, output }) => format.facts(inputs, output))
    const count = (is: (facts: Facts) => boolean) => facts.filter(is).length
    const isNull = (key: keyof Facts) => count((each) => each[key] === null)
    // 14 are errors, which have neither a model that answered nor choices.
    expect([isNull("response_model"), isNull("tool_calls")]).toEqual([14, 14])
    // The source of these streams has no request.
    expect(isNull("model")).toBe(all.filter(({ inputs }) => inputs === null).length)
    // Besides the errors, streams whose client did not ask for usage, and two that an error ended.
    expect([isNull("input_tokens"), isNull("output_tokens")]).toEqual([14 + 7, 14 + 7])
    // The errors, the two that an error ended, and Snowflake's two, which have no reason.
    expect(isNull("stop_reason")).toBe(14 + 2 + 2)
  })

  it("lose no text", () => {
    for (const { source, inputs, output } of all) {
      const normal = JSON.stringify(format.messages(inputs, output))
      const isKept = (text: string): boolean => {
        if (normal.includes(JSON.stringify(text).slice(1, -1))) return true
        const [head] = /^data:[^,]*;base64,/.exec(text.slice(0, 200)) ?? []
        if (head !== undefined) return isKept(text.slice(head.length))
        // Arguments are parsed.
        return /^\s*\{/.test(text) && normal.includes(JSON.stringify(JSON.parse(text)))
      }
      const lost = longStrings([inputs?.messages, inputs?.tools, output.choices, output.citations]).filter(
        (text) => !isKept(text)
      )
      expect(lost, source).toEqual([])
    }
  })

  const callIds = (message: Message) => message.parts.flatMap((part) => (part.type === "tool_call" ? [part["id"]] : []))

  it("have the same identity when they are sent back", () => {
    const answered = answers.flatMap(({ inputs, output }) => format.messages(inputs, output).output)
    const sent = answers
      .flatMap(({ inputs }) => format.messages(inputs, null).input)
      .filter(({ role }) => role === "assistant")
    const pairs = answered.flatMap((answer) =>
      sent
        .filter((message) => callIds(message).some((id) => callIds(answer).includes(id)))
        .map((message) => [answer, message] as const)
    )
    expect(pairs.length).toBe(4)
    for (const [answer, message] of pairs) expect(identity(message)).toBe(identity(answer))
  })

  it("have the same identity in each following call of a run", () => {
    let pairs = 0
    for (const run of readRuns("airline-runs.ndjson")) {
      const messages = run["messages"] as ReadonlyArray<JsonObject>
      for (const { _output: output, ...message } of messages) {
        if (output === undefined) continue
        const [answer] = format.messages({}, output).output
        const [sent] = format.element(message)
        expect(identity(sent as Message)).toBe(identity(answer as Message))
        pairs++
      }
    }
    expect(pairs).toBe(948)
  })
})
