import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Facts, JsonObject, Message } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { Messages as format } from "../../src/anthropic/Messages.ts"
import { billing } from "../../src/anthropic/MessagesFacts.ts"
import { errorInTheMiddle, everyBlock } from "../data/Messages.ts"
import { answersOf, areThere, longStrings, readRuns } from "../Workloads.ts"

const apis = ["provider2-messages", "provider2-beta-messages"] as const

const unknown: Facts = {
  provider: "anthropic",
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

describe("facts of messages", () => {
  it("are read from request and answer", () => {
    expect(format.facts({ model: "claude-sonnet-4-6" }, everyBlock.output)).toEqual({
      provider: "anthropic",
      model: "claude-sonnet-4-6",
      response_model: "claude-sonnet-4-6",
      input_tokens: 40 + 3 + 20,
      output_tokens: 90,
      cache_read_tokens: 20,
      cache_write_tokens: 3,
      reasoning_tokens: 12,
      stop_reason: "tool_calls",
      provider_stop_reason: "tool_use",
      tool_calls: ["web_search", "note", "now"],
      error_type: null,
      error_code: null,
      error_status: null
    })
    expect(billing({}, everyBlock.output)).toMatchObject({
      service_tier: "standard",
      cache_write_1h_tokens: 2,
      input_audio_tokens: null,
      cache_audio_read_tokens: null,
      output_audio_tokens: null,
      output_image_tokens: null,
      web_searches: 1
    })
  })

  it("are null where nothing is known", () => {
    for (const output of [null, undefined, 0, "text", [], {}, true]) expect(format.facts({}, output)).toEqual(unknown)
    for (const inputs of [null, undefined, [], "a", { model: 4 }]) expect(format.facts(inputs, {})).toEqual(unknown)
  })

  it("have one meaning for tokens, whatever the answer leaves out", () => {
    expect(usage({ input_tokens: 5, output_tokens: 7 })).toMatchObject({ input_tokens: 5, cache_read_tokens: null })
    expect(usage({ input_tokens: 5, cache_read_input_tokens: null })).toMatchObject({
      input_tokens: 5,
      cache_read_tokens: null
    })
    expect(
      usage({ input_tokens: 5, cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 } })
    ).toMatchObject({
      input_tokens: 10,
      cache_write_tokens: 5
    })
    expect(usage({ cache_read_input_tokens: 5 })).toMatchObject({ input_tokens: null, cache_read_tokens: 5 })
  })

  it("have no counts that are none", () => {
    for (const bad of [-1, 1.5, "3", 2 ** 53, true, {}, []]) {
      expect(usage({ input_tokens: bad, output_tokens: bad })).toMatchObject({
        input_tokens: null,
        output_tokens: null
      })
      expect(usage({ input_tokens: 1, cache_read_input_tokens: bad })).toMatchObject({
        input_tokens: null,
        cache_read_tokens: null
      })
    }
    expect(usage({ input_tokens: 2 ** 53 - 1, cache_read_input_tokens: 1 }).input_tokens).toBeNull()
  })

  it("count what the provider spent on compacting, which its own sum leaves out", () => {
    const compaction = { type: "compaction", input_tokens: 100, cache_creation_input_tokens: 50, output_tokens: 9 }
    const message = { type: "message", input_tokens: 5, output_tokens: 7 }
    const advice = { type: "advisor_message", model: "another", input_tokens: 1000, output_tokens: 1000 }
    expect(usage({ input_tokens: 5, output_tokens: 7, iterations: [compaction, message, advice] })).toMatchObject({
      input_tokens: 155,
      output_tokens: 16,
      cache_write_tokens: 50
    })
  })

  it("name tools of the provider's that are not counted", () => {
    const of = (names: ReadonlyArray<string>, server_tool_use: object | null = null) =>
      billing({}, { content: names.map((name) => ({ type: "server_tool_use", name })), usage: { server_tool_use } })
    expect(of(["web_search"]).uncounted).toEqual(["web_search"])
    expect(of(["web_search"], { web_search_requests: 1 })).toMatchObject({ uncounted: [], web_searches: 1 })
    expect(of(["bash_code_execution"]).uncounted).toEqual(["code_interpreter"])
    // Beside what is read in the web, code costs nothing.
    expect(of(["code_execution", "web_fetch"]).uncounted).toEqual([])
    expect(of(["code_execution", "web_search"], { web_search_requests: 1 }).uncounted).toEqual([])
    const iterations = [1, 2].map((output_tokens) => ({ type: "message", input_tokens: 5, output_tokens }))
    const content = [{ type: "server_tool_use", name: "code_execution" }]
    const usage = { input_tokens: 10, output_tokens: 3, iterations }
    expect(billing({}, { content, usage }).requests).toMatchObject([
      { uncounted: ["code_interpreter"] },
      { uncounted: [] }
    ])
  })

  it("name each request of an answer, and that of an advisor", () => {
    const of = (...iterations: ReadonlyArray<object>) =>
      billing(
        {},
        { usage: { input_tokens: 12, output_tokens: 9, server_tool_use: { web_search_requests: 2 }, iterations } }
      )
    const first = { type: "message", input_tokens: 5, output_tokens: 7 }
    const second = { type: "message", input_tokens: 7, output_tokens: 2, cache_creation: null }
    const compaction = { type: "compaction", input_tokens: 90, output_tokens: 3, cache_read_input_tokens: 10 }
    const advice = { type: "advisor_message", model: "claude-opus-4-7", input_tokens: 1000, output_tokens: 40 }
    const { requests, web_searches } = of(first, advice, second, compaction, { type: "fallback", input_tokens: 99 })
    expect(web_searches).toBe(2)
    expect(requests).toMatchObject([
      { input_tokens: 5, output_tokens: 7, response_model: null, web_searches: 2 },
      { input_tokens: 7, output_tokens: 2, response_model: null, web_searches: null },
      { input_tokens: 100, output_tokens: 3, cache_read_tokens: 10, response_model: null },
      { input_tokens: 1000, output_tokens: 40, response_model: "claude-opus-4-7" }
    ])
    // Of iterations that are not all there, the sum says more.
    expect(of(first, compaction).requests).toMatchObject([{ input_tokens: 12 }, { input_tokens: 100 }])
    expect(of({ ...first, input_tokens: 12, output_tokens: 9 }).requests).toBeNull()
    expect(of(first, second, { ...advice, model: null }).uncounted).toEqual(["advisor"])
  })

  it("translate every reason to stop", () => {
    const reasons = {
      end_turn: "end",
      stop_sequence: "end",
      max_tokens: "length",
      model_context_window_exceeded: "length",
      tool_use: "tool_calls",
      pause_turn: "pause",
      compaction: "pause",
      refusal: "refusal",
      unheard_of: "other"
    }
    for (const [word, reason] of Object.entries(reasons)) {
      expect(format.facts({}, { stop_reason: word })).toMatchObject({ stop_reason: reason, provider_stop_reason: word })
    }
    for (const none of [null, "", 4]) expect(format.facts({}, { stop_reason: none }).stop_reason).toBeNull()
  })

  it("tell errors, also of a stream that failed after it had begun", () => {
    expect(format.facts({}, errorInTheMiddle.output)).toMatchObject({
      response_model: "claude-sonnet-4-6",
      output_tokens: 1,
      error_type: "overloaded_error",
      stop_reason: null,
      tool_calls: []
    })
    const body = { type: "error", error: { type: "not_found_error", message: "model: a" }, request_id: "req_1" }
    expect(format.facts({ model: "a" }, body)).toEqual({ ...unknown, model: "a", error_type: "not_found_error" })
  })

  it("tell who serves the model where the body does", () => {
    expect(format.facts({ anthropic_version: "bedrock-2023-05-31" }, {}).provider).toBe("aws")
    expect(format.facts({ anthropic_version: "vertex-2023-10-16" }, {}).provider).toBe("google")
    expect(format.facts({}, { id: "msg_bdrk_01" }).provider).toBe("aws")
    expect(format.facts({}, { id: "msg_vrtx_01" }).provider).toBe("google")
    expect(format.facts({}, { model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0" }).provider).toBe("aws")
    expect(format.facts({ model: "deepseek-chat" }, {}).provider).toBe("deepseek")
    expect(format.facts({ model: "glm-4.7" }, { id: "msg_7" }).provider).toBeNull()
    expect(format.facts({ model: "a model of somebody" }, {}).provider).toBe("anthropic")
  })

  it.each([
    ["us", "us"],
    ["global", "standard"],
    ["not_available", "standard"]
  ])("take an answer made in one country only as a tier: %s", (inference_geo, tier) => {
    const usage = { service_tier: "standard", inference_geo }
    expect(billing({}, { usage }).service_tier).toBe(tier)
  })

  it("take fast mode as a tier", () => {
    expect(billing({}, { usage: { service_tier: "standard", speed: "fast" } }).service_tier).toBe("fast")
    expect(billing({}, { usage: { service_tier: "priority", speed: "standard" } }).service_tier).toBe("priority")
  })
})

const partsOf = (content: unknown) => format.messages({ messages: [{ role: "user", content }] }, null).input[0]?.parts

describe("messages in normal form", () => {
  it("have the parts of the semantic conventions", () => {
    const [message] = format.messages({}, everyBlock.output).output
    expect(message).toMatchObject({ role: "assistant", finish_reason: "tool_use", id: "msg_1" })
    expect(message?.parts).toEqual([
      { type: "reasoning", content: "The user is in Zürich 🏔️.", signature: "c2lnbmF0dXJl" },
      {
        type: "tool_call",
        id: "srvtoolu_1",
        name: "web_search",
        arguments: { query: "weather Zürich" },
        tool_type: "server_tool_use"
      },
      {
        type: "tool_call_response",
        id: "srvtoolu_1",
        response: [
          { type: "web_search_result", title: "Weather", url: "https://example.com", encrypted_content: "QUJD" }
        ],
        tool_type: "web_search_tool_result"
      },
      {
        type: "text",
        content: "It is warm\u2028and dry: 21 °C — 晴れ.",
        citations: [
          { type: "web_search_result_location", url: "https://example.com/a", cited_text: "warm and dry" },
          { type: "web_search_result_location", url: "https://example.com/b", cited_text: "warm and dry" }
        ]
      },
      { type: "tool_call", id: "toolu_1", name: "note", arguments: { text: "😀", at: 9_007_199_254_740_992 } },
      { type: "tool_call", id: "toolu_2", name: "now" }
    ])
  })

  it("have text however it was written", () => {
    const text = [{ type: "text", content: "a" }]
    expect(partsOf("a")).toEqual(text)
    expect(partsOf(["a"])).toEqual(text)
    expect(partsOf([{ type: "text", text: "a", cache_control: { type: "ephemeral" }, citations: null }])).toEqual(text)
    expect(partsOf({ type: "text", text: "a" })).toEqual(text)
    for (const nothing of [null, "", [], [{ type: "text", text: "" }], [{ type: "thinking", thinking: "" }]]) {
      expect(partsOf(nothing)).toEqual([])
    }
    expect(partsOf([{ type: "thinking", thinking: "", signature: "QQ==" }])).toEqual([
      { type: "reasoning", signature: "QQ==" }
    ])
  })

  it("tell bytes, addresses and files apart, and keep documents that are text", () => {
    const source = { type: "base64", media_type: "application/pdf", data: "QUJD" }
    expect(partsOf([{ type: "document", source, title: "A", context: null, citations: { enabled: true } }])).toEqual([
      {
        type: "blob",
        mime_type: "application/pdf",
        modality: "document",
        content: "QUJD",
        title: "A",
        citations: { enabled: true }
      }
    ])
    expect(partsOf([{ type: "image", source: { type: "url", url: "https://example.com/a.png" } }])).toEqual([
      { type: "uri", modality: "image", uri: "https://example.com/a.png" }
    ])
    expect(partsOf([{ type: "image", source: { type: "url", url: "data:image/png;base64,QUJD" } }])).toEqual([
      { type: "blob", mime_type: "image/png", modality: "image", content: "QUJD" }
    ])
    expect(partsOf([{ type: "document", source: { type: "file", file_id: "file_1" } }])).toEqual([
      { type: "file", modality: "document", file_id: "file_1" }
    ])
    expect(partsOf([{ type: "container_upload", file_id: "file_1" }])).toEqual([{ type: "file", file_id: "file_1" }])
    const text = { type: "document", source: { type: "text", media_type: "text/plain", data: "a" }, title: "A" }
    expect(partsOf([text])).toEqual([text])
    const odd = { type: "image", source: { type: "base64", data: 4 } }
    expect(partsOf([odd])).toEqual([odd])
  })

  it("have results of tools, whichever way they were written", () => {
    const result = (content: unknown, more = {}) =>
      partsOf([{ type: "tool_result", tool_use_id: "toolu_1", content, ...more }])
    const plain = [{ type: "tool_call_response", id: "toolu_1", response: "sunny" }]
    expect(result("sunny", { is_error: false })).toEqual(plain)
    expect(result([{ type: "text", text: "sunny", cache_control: { type: "ephemeral" } }])).toEqual(plain)
    expect(result("no", { is_error: true })).toEqual([{ ...plain[0], response: "no", is_error: true }])
    const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } }
    expect(result([{ type: "text", text: "a" }, image])).toEqual([
      {
        ...plain[0],
        response: [
          { type: "text", content: "a" },
          { type: "uri", modality: "image", uri: "https://example.com/a.png" }
        ]
      }
    ])
    expect(result(undefined)).toEqual([{ type: "tool_call_response", id: "toolu_1" }])
  })

  it("keep what is not known, with all of its keys", () => {
    const odd = JSON.parse('{"type":"unheard_of","a":{"b":[1]},"__proto__":{"c":1},"constructor":"d"}') as JsonObject
    expect(JSON.stringify(partsOf([odd]))).toBe(JSON.stringify([odd]))
    expect(partsOf([{ type: "text", text: 4 }, { text: "a" }, 4])).toEqual([
      { type: "text", text: 4 },
      { type: "unknown", text: "a" },
      { type: "unknown", content: 4 }
    ])
  })

  it("stand beside instructions, tools and parameters", () => {
    const ephemeral = { cache_control: { type: "ephemeral" } }
    const schema = { type: "object", properties: { cache_control: { type: "string" } } }
    const inputs = {
      model: "claude-sonnet-4-6",
      max_tokens: 10,
      ...ephemeral,
      stop_sequences: [],
      system: [{ type: "text", text: "Be brief.", ...ephemeral }],
      tools: [
        { name: "note", description: "Notes", input_schema: schema, ...ephemeral, strict: true },
        { type: "web_search_20250305", name: "web_search", max_uses: null }
      ],
      messages: [{ role: "system", content: "Now." }]
    }
    expect(format.messages(inputs, null)).toEqual({
      instructions: [{ type: "text", content: "Be brief." }],
      tools: [
        { name: "note", description: "Notes", parameters: schema, strict: true },
        { type: "web_search_20250305", name: "web_search" }
      ],
      parameters: { model: "claude-sonnet-4-6", max_tokens: 10 },
      input: [{ role: "system", parts: [{ type: "text", content: "Now." }] }],
      output: []
    })
    expect(format.element(inputs.messages[0])).toEqual(format.messages(inputs, null).input)
    expect(format.messages({ system: "Be brief." }, null).instructions).toEqual([
      { type: "text", content: "Be brief." }
    ])
  })

  it("have an answer that failed after it had begun, and none that failed at once", () => {
    expect(format.messages({}, errorInTheMiddle.output).output).toMatchObject([
      { role: "assistant", parts: [{ type: "text", content: "It is " }], error: { type: "overloaded_error" } }
    ])
    expect(format.messages({}, { type: "error", error: { type: "api_error" } }).output).toEqual([])
  })

  it("take any value, nested however deep", () => {
    let deep: JsonObject = { type: "text", text: "a" }
    for (let depth = 0; depth < 100_000; depth++) deep = { type: "tool_result", tool_use_id: "a", content: [deep] }
    expect(partsOf([deep])).toHaveLength(1)
    expect(format.facts(deep, deep)).toEqual({ ...unknown, tool_calls: [] })
    const block = fc.record(
      {
        type: fc.constantFrom("text", "image", "tool_use", "tool_result", "thinking", "document", "x_tool_result"),
        text: fc.jsonValue(),
        source: fc.oneof(fc.jsonValue(), fc.record({ type: fc.constantFrom("base64", "url"), url: fc.jsonValue() })),
        content: fc.jsonValue(),
        name: fc.jsonValue(),
        caller: fc.jsonValue()
      },
      { noNullPrototype: true }
    )
    const any = fc.oneof(
      fc.jsonValue(),
      fc.record({ messages: fc.jsonValue(), content: fc.array(block), usage: fc.jsonValue() })
    )
    fc.assert(
      fc.property(any, any, (inputs, output) => {
        format.facts(inputs, output)
        billing(inputs, output)
        const { input } = format.messages({ messages: [output] }, inputs)
        for (const message of input) identity(message)
      })
    )
  })
})

interface Answer {
  readonly model?: string
  readonly stop_reason?: string | null
  readonly content?: ReadonlyArray<{ readonly type: string; readonly name?: string }>
  readonly usage?: Readonly<Record<string, number>> & {
    readonly output_tokens_details?: { readonly thinking_tokens: number }
  }
  readonly error?: { readonly type: string }
}

const reasonOf: Readonly<Record<string, string>> = {
  end_turn: "end",
  tool_use: "tool_calls",
  refusal: "refusal"
}

/** Tokens of the two calls whose conversation the provider compacted: its sum, and that of the compaction. */
const compacted: Readonly<Record<string, Partial<Facts>>> = {
  msg_01F14qCbQK62eHkEDj6yvZsi: { input_tokens: 220 + 55_196, output_tokens: 8 + 125 },
  msg_011CduoCGqnmwXgi7jhzyVZM: {
    input_tokens: 229 + 100 + 55_096,
    output_tokens: 5 + 131,
    cache_write_tokens: 55_096
  }
}

/** Facts as one would read them from an answer by hand. */
const readPlainly = (inputs: unknown, output: Answer & { readonly id?: string }): Facts => {
  const { usage, error, stop_reason: stop, content } = output
  const model = (inputs as { readonly model?: string } | null)?.model ?? null
  if (error !== undefined) return { ...unknown, model, error_type: error.type }
  const [read, written] = [usage?.["cache_read_input_tokens"], usage?.["cache_creation_input_tokens"]]
  return {
    ...unknown,
    model,
    response_model: output.model ?? null,
    input_tokens: usage === undefined ? null : (usage["input_tokens"] ?? 0) + (read ?? 0) + (written ?? 0),
    output_tokens: usage?.["output_tokens"] ?? null,
    cache_read_tokens: read ?? null,
    cache_write_tokens: written ?? null,
    reasoning_tokens: usage?.output_tokens_details?.thinking_tokens ?? null,
    stop_reason: (reasonOf[stop ?? ""] ?? null) as Facts["stop_reason"],
    provider_stop_reason: stop ?? null,
    tool_calls: (content ?? []).flatMap(({ type, name }) => (type.endsWith("tool_use") ? [name ?? ""] : [])),
    ...compacted[output.id ?? ""]
  }
}

const answers = answersOf(...apis)
const answered = answers.filter(({ output }) => output !== null)

describe.runIf(areThere)("recorded messages", () => {
  it("have the facts that a plain reading gives", () => {
    expect([answers.length, answered.length]).toEqual([83, 69])
    for (const { source, inputs, output } of answered) {
      expect(format.facts(inputs, output), source).toEqual(readPlainly(inputs, output as Answer))
    }
  })

  it("lack facts for known reasons only", () => {
    const all = answered.map(({ inputs, output }) => format.facts(inputs, output))
    const missing = (key: keyof Facts) => all.filter((facts) => facts[key] === null).length
    expect(all.filter(({ error_type: error }) => error !== null).length).toBe(5)
    expect({
      // Sources that have the answer only: nine fixtures.
      model: missing("model"),
      // The five errors have no answer.
      response_model: missing("response_model"),
      input_tokens: missing("input_tokens"),
      output_tokens: missing("output_tokens"),
      stop_reason: missing("stop_reason"),
      tool_calls: missing("tool_calls"),
      // The errors, and two answers whose usage is two counts.
      cache_read_tokens: missing("cache_read_tokens"),
      cache_write_tokens: missing("cache_write_tokens"),
      // The provider tells them since 2026, and not in every answer: 12 have them.
      reasoning_tokens: missing("reasoning_tokens"),
      // Bodies of errors do not name their status.
      error_status: missing("error_status")
    }).toEqual({
      model: 9,
      response_model: 5,
      input_tokens: 5,
      output_tokens: 5,
      stop_reason: 5,
      tool_calls: 5,
      cache_read_tokens: 7,
      cache_write_tokens: 7,
      reasoning_tokens: 57,
      error_status: 69
    })
  })

  it("lose no text in normal form", () => {
    for (const { source, inputs, output } of answers) {
      const kept = new Set(longStrings(format.messages(inputs, output)))
      const isError = (output as Answer | null)?.error !== undefined
      const lost = [...longStrings(inputs), ...(isError ? [] : longStrings(output))].filter((text) => !kept.has(text))
      expect(lost, source).toEqual([])
    }
  })

  it("are the same message when a later call of the same source sends an answer back", () => {
    const pairs = answers.flatMap((first, index) =>
      answers.slice(index + 1).flatMap((second) => (second.source === first.source ? [[first, second] as const] : []))
    )
    const repeated = pairs.filter(([{ output }, { inputs }]) => {
      const [call] = longStrings((output as Answer | null)?.content?.map((block) => ({ ...block, type: "" })))
      return call !== undefined && longStrings(inputs).includes(call)
    })
    for (const [{ source, output }, { inputs }] of repeated) {
      const sent = format.messages(inputs, null).input.map(identity)
      expect(sent, source).toContain(format.messages({}, output).output.map(identity)[0])
    }
    expect(repeated.length).toBe(1)
  })

  it("are the same message when the next call sends an answer back", () => {
    const [run] = readRuns("coding-run.json") as ReadonlyArray<{ readonly messages: ReadonlyArray<JsonObject> }>
    const sent = run?.messages.filter((message) => message["_output"] !== undefined) ?? []
    expect(sent.length).toBe(431)
    const identityOf = (message: Message | undefined) => (message === undefined ? null : identity(message))
    for (const { _output: output, ...message } of sent) {
      const { input, output: answered } = format.messages({ messages: [message] }, output)
      expect(identityOf(answered[0])).toBe(identityOf(input[0]))
    }
  })
})
