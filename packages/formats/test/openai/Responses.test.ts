import { describe, expect, it } from "vitest"
import type { Facts, Message } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { Responses as format } from "../../src/openai/Responses.ts"
import { billing } from "../../src/openai/ResponsesFacts.ts"
import { conversation, openAi } from "../data/Responses.ts"
import { accumulate } from "../Streams.ts"
import { answersOf, areThere, longStrings, streamsOf } from "../Workloads.ts"

const api = "provider1-responses"

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

const stop = (status: unknown, items: ReadonlyArray<object> = [], reason?: string) => {
  const facts = format.facts(
    {},
    { status, output: items, incomplete_details: reason === undefined ? null : { reason } }
  )
  return [facts.stop_reason, facts.provider_stop_reason]
}

describe("facts of responses", () => {
  it("are read from request and answer", () => {
    expect(format.facts({ model: "gpt-5" }, openAi.output)).toEqual({
      provider: "openai",
      model: "gpt-5",
      response_model: "gpt-5-2025-08-07",
      input_tokens: 50,
      output_tokens: 30,
      cache_read_tokens: 20,
      cache_write_tokens: 5,
      reasoning_tokens: 12,
      stop_reason: "tool_calls",
      provider_stop_reason: "completed",
      tool_calls: ["look"],
      error_type: null,
      error_code: null,
      error_status: null
    })
  })

  it("are null where nothing is known", () => {
    for (const output of [null, undefined, 0, "text", [], {}, { usage: null, output: null }])
      expect(format.facts({}, output)).toEqual(unknown)
  })

  it("say why the model stopped", () => {
    const call = { type: "function_call", call_id: "a", name: "look" }
    expect(stop("completed")).toEqual(["end", "completed"])
    expect(stop("completed", [call])).toEqual(["tool_calls", "completed"])
    expect(stop("completed", [{ type: "web_search_call" }])).toEqual(["end", "completed"])
    expect(stop("completed", [{ type: "tool_search_call", execution: "client" }])).toEqual(["tool_calls", "completed"])
    expect(stop("completed", [{ type: "tool_search_call", execution: "server" }])).toEqual(["end", "completed"])
    // The provider ran the command in its own container.
    const shell = [
      { type: "shell_call", call_id: "b" },
      { type: "shell_call_output", call_id: "b" }
    ]
    expect(stop("completed", shell)).toEqual(["end", "completed"])
    expect(stop("completed", shell.slice(0, 1))).toEqual(["tool_calls", "completed"])
    expect(stop("completed", [{ type: "mcp_approval_request", name: "x" }])).toEqual(["pause", "completed"])
    const refusal = { type: "message", content: [{ type: "refusal", refusal: "No." }] }
    expect(stop("completed", [refusal])).toEqual(["refusal", "completed"])
    expect(stop("incomplete", [call], "max_output_tokens")).toEqual(["length", "max_output_tokens"])
    expect(stop("incomplete", [], "content_filter")).toEqual(["content_filter", "content_filter"])
    expect(stop("incomplete")).toEqual(["other", "incomplete"])
    expect(stop("failed")).toEqual(["error", "failed"])
    expect(stop("cancelled")).toEqual(["other", "cancelled"])
    for (const status of ["queued", "in_progress", null, ""]) expect(stop(status)).toEqual([null, null])
  })

  it("name the calls of the client and of the provider, in order", () => {
    const types = ["reasoning", "web_search_call", "mcp_call", "function_call", "tool_search_output", "shell_call"]
    const output = types.map((type, index) =>
      type === "mcp_call" || type === "function_call" ? { type, name: `tool_${index}` } : { type }
    )
    expect(format.facts({}, { output }).tool_calls).toEqual(["web_search", "tool_2", "tool_3", "shell"])
  })

  it("say that a response failed, also without an error", () => {
    expect(format.facts({}, { status: "failed", error: null }).error_type).toBe("unknown")
    expect(format.facts({}, { status: "failed", error: { code: "server_error", message: "m" } }).error_type).toBe(
      "server_error"
    )
  })

  it("are those of a compaction, which names no model and has no status", () => {
    const items = [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] },
      { type: "compaction", id: "cmp_1", encrypted_content: "QUJD" }
    ]
    const usage = { input_tokens: 50_000, output_tokens: 500, total_tokens: 50_500 }
    const output = { id: "resp_1", object: "response.compaction", output: items, usage }
    const counted = { input_tokens: 50_000, output_tokens: 500, stop_reason: null, tool_calls: [] }
    expect(format.facts({ model: "gpt-5" }, output)).toMatchObject({ model: "gpt-5", ...counted })
    expect(format.facts({ previous_response_id: "resp_0" }, output)).toMatchObject({ model: null, ...counted })
    const { output: kept } = format.messages({ model: "gpt-5", input: items.slice(0, 1) }, output)
    const { input } = format.messages({ model: "gpt-5", input: items }, null)
    expect(kept.map(identity)).toEqual(input.map(identity))
    expect(kept[1]!.parts).toMatchObject([{ type: "compaction" }])
  })

  it("say what a price depends on", () => {
    const search = { type: "web_search_call", action: { type: "search" } }
    const output = {
      ...openAi.output,
      service_tier: "flex",
      output: [search, { ...search, action: { type: "open_page" } }]
    }
    expect(billing({ service_tier: "auto" }, output)).toMatchObject({
      service_tier: "flex",
      cache_write_1h_tokens: null,
      input_audio_tokens: null,
      cache_audio_read_tokens: null,
      output_audio_tokens: null,
      output_image_tokens: null,
      web_searches: 1
    })
    expect(billing({}, { error: {} })).toMatchObject({ web_searches: null, file_searches: null, uncounted: [] })
    const items = ["file_search_call", "code_interpreter_call", "code_interpreter_call", "image_generation_call"]
    expect(billing({}, { output: items.map((type) => ({ type })) })).toMatchObject({
      file_searches: 1,
      uncounted: ["code_interpreter", "images"]
    })
  })

  it("name tools that are not counted: a hosted shell, xAI's, and what a router searched", () => {
    const shell = (type: string) => ({ output: [{ type: "shell_call", environment: { type } }] })
    expect(billing({}, shell("container_reference")).uncounted).toEqual(["code_interpreter"])
    expect(billing({}, shell("local")).uncounted).toEqual([])
    const counted = { x_search_calls: 2, code_interpreter_calls: 1, web_search_calls: 0, document_search_calls: 4 }
    expect(billing({}, { output: [], usage: { server_side_tool_usage_details: counted } })).toMatchObject({
      web_searches: 0,
      file_searches: 4,
      uncounted: ["web_search", "code_interpreter"]
    })
    const content = [{ type: "output_text", text: "", annotations: [{ type: "url_citation" }] }]
    const cited = (model: string, usage = {}) => billing({}, { model, output: [{ type: "message", content }], usage })
    expect(cited("openai/gpt-5").uncounted).toEqual(["web_search"])
    expect(cited("openai/gpt-5", { server_tool_use: { web_search_requests: 1 } })).toMatchObject({
      web_searches: 1,
      uncounted: []
    })
    // It may cite what an earlier call has found.
    expect(cited("gpt-5").uncounted).toEqual([])
  })
})

describe("messages of responses", () => {
  it("have each kind of item in normal form", () => {
    expect(format.messages(conversation.inputs, null)).toEqual(conversation.normal)
    expect(conversation.inputs.input.flatMap(format.element)).toEqual(conversation.normal.input)
  })

  it("are one for each item of the output, the last with the reason", () => {
    expect(format.messages({}, openAi.output).output).toEqual([
      {
        role: "assistant",
        parts: [{ type: "reasoning", content: "First.\n\nThen.", item_id: "rs_1", status: "completed" }]
      },
      {
        role: "assistant",
        parts: [
          {
            type: "text",
            content: "Grüße 👋",
            annotations: [{ type: "url_citation", url: "https://a.example" }],
            item_id: "msg_1",
            status: "completed"
          },
          { type: "refusal", refusal: "Not that.", item_id: "msg_1" }
        ]
      },
      {
        role: "assistant",
        parts: [
          {
            type: "tool_call",
            id: "call_1",
            name: "look",
            arguments: { at: "🏔️" },
            item_id: "fc_1",
            status: "completed"
          }
        ],
        finish_reason: "completed"
      }
    ])
  })

  it("keep an item without a type whole, which may be a reference to another", () => {
    const reference = { id: "rs_0123456789abcdef0123" }
    expect(format.element(reference)).toEqual([
      { role: "assistant", parts: [{ type: "item_reference", ...reference }] }
    ])
    expect(format.element(reference)).toEqual(format.element({ type: "item_reference", ...reference }))
    const result = { call_id: "call_1", output: "What the tool answered." }
    expect(format.element(result)).toEqual([{ role: "user", parts: [{ ...result, type: "unknown" }] }])
    expect(format.element({ role: "user" })).toEqual([{ role: "user", parts: [] }])
  })

  it("have an input that is text, and reasoning with and without a summary", () => {
    expect(format.messages({ input: "Hello" }, null).input).toEqual([
      { role: "user", parts: [{ type: "text", content: "Hello" }] }
    ])
    const reasoning = { type: "reasoning", content: [{ type: "reasoning_text", text: "All of it" }] }
    expect(format.element(reasoning)[0]?.parts).toEqual([{ type: "reasoning", content: "All of it" }])
    expect(format.element({ ...reasoning, summary: [{ text: "Short" }] })[0]?.parts).toEqual([
      { type: "reasoning", content: "All of it", summary: "Short" }
    ])
    expect(format.element({ ...reasoning, summary: [{ odd: 1 }] })[0]?.parts).toEqual([
      { type: "reasoning", content: "All of it", summary: [{ odd: 1 }] }
    ])
  })
})

describe.runIf(areThere)("recorded responses", () => {
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

  const callName = (item: any) => item.name ?? item.type.replace(/_call$/, "")

  /** A plain reading of what OpenAI documents. A call of a function is the client's to answer. */
  const plain = (inputs: any, output: any): Facts => {
    const completed = output.output?.some((item: any) => item.type === "function_call") ? "tool_calls" : "end"
    return {
      provider: /^(gpt-\d|o\d)/.test(output.model ?? inputs?.model ?? "") ? "openai" : null,
      model: inputs?.model ?? null,
      response_model: output.model ?? null,
      input_tokens: output.usage?.input_tokens ?? null,
      output_tokens: output.usage?.output_tokens ?? null,
      cache_read_tokens: output.usage?.input_tokens_details.cached_tokens ?? null,
      cache_write_tokens: output.usage?.input_tokens_details.cache_write_tokens ?? null,
      reasoning_tokens: output.usage?.output_tokens_details.reasoning_tokens ?? null,
      stop_reason: output.status === "completed" ? completed : null,
      provider_stop_reason: output.status === "completed" ? "completed" : null,
      tool_calls: output.output?.filter((item: any) => item.type.endsWith("_call")).map(callName) ?? null,
      error_type: output.error?.type ?? output.error?.code ?? null,
      error_code: output.error?.code ?? null,
      error_status: null
    }
  }

  /** What differs from the plain reading, by a part of the source. */
  const exceptions: ReadonlyArray<readonly [source: string, facts: (output: any) => Partial<Facts>]> = [
    ["test_bedrock_mantle", () => ({ provider: "aws" })],
    ["bedrock_mantle_responses", () => ({ provider: "aws" })],
    ["deepseek", () => ({ provider: "deepseek" })],
    ["openrouter", () => ({ provider: "openrouter" })],
    ["azure_gpt-5-nano", () => ({ provider: "azure" })],
    ["xai", () => ({ provider: "x-ai" })],
    ["openai-local-shell-tool", () => ({ stop_reason: "tool_calls" })],
    // The client searches its tools.
    ["test_openai_execution_client_round_trip", () => ({ stop_reason: "tool_calls" })],
    [
      "openai-error",
      ({ status }) => (status === "failed" ? { stop_reason: "error", provider_stop_reason: "failed" } : {})
    ]
  ]

  it("have the facts of an independent reading", () => {
    for (const { source, inputs, output } of all) {
      const [, except] = exceptions.findLast(([part]) => source.includes(part)) ?? []
      expect(format.facts(inputs, output), source).toEqual({ ...plain(inputs, output), ...except?.(output) })
    }
    expect(all.length).toBe(49 + 21 + 25)
  })

  it("leave facts unknown for reasons that are known", () => {
    const facts = all.map(({ inputs, output }) => format.facts(inputs, output))
    const isNull = (key: keyof Facts) => facts.filter((each) => each[key] === null).length
    // 7 error bodies.
    expect([isNull("response_model"), isNull("tool_calls")]).toEqual([7, 7])
    // The source of these has no request.
    expect(isNull("model")).toBe(all.filter(({ inputs }) => inputs === null).length)
    // Besides the errors, one that failed and one that is queued: neither has usage, and the queued one has not stopped.
    expect([isNull("input_tokens"), isNull("output_tokens"), isNull("cache_read_tokens")]).toEqual([9, 9, 9])
    expect([isNull("stop_reason"), isNull("provider_stop_reason")]).toEqual([8, 8])
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
      const texts = longStrings([inputs?.input, inputs?.instructions, inputs?.tools, output.output])
      expect(
        texts.filter((text) => !isKept(text)),
        source
      ).toEqual([])
    }
  })

  it("have the same identity when they are sent back", () => {
    const ids = (message: Message) =>
      message.parts.flatMap((part) => [part["item_id"], part["id"]]).filter((id) => typeof id === "string")
    const answered = answers.flatMap(({ inputs, output }) => format.messages(inputs, output).output)
    const sent = answers
      .flatMap(({ inputs }) => format.messages(inputs, null).input)
      .filter(({ role }) => role === "assistant")
    const pairs = answered.flatMap((answer) =>
      sent
        .filter((message) => ids(message).some((id) => ids(answer).includes(id)))
        .map((message) => [answer, message] as const)
    )
    expect(pairs.length).toBe(10)
    const other = pairs.filter(([answer, message]) => identity(answer) !== identity(message))
    // A client that sent other arguments of a search than those that were answered.
    expect(other.map(([answer]) => answer.parts[0]?.type)).toEqual(["tool_search_call"])
  })
})
