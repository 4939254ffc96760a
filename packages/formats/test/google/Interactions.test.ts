import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Facts, JsonObject } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { Interactions as format } from "../../src/google/Interactions.ts"
import { billing } from "../../src/google/InteractionsFacts.ts"
import { everyStep } from "../data/Interactions.ts"
import { answersOf, areThere, longStrings } from "../Workloads.ts"

const unknown: Facts = {
  provider: "google",
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

describe("facts of interactions", () => {
  it("are read from request and answer", () => {
    expect(format.facts(everyStep.inputs, everyStep.output)).toEqual({
      provider: "google",
      model: "gemini-3-pro",
      response_model: "gemini-3-pro",
      input_tokens: 100 + 50,
      output_tokens: 80 + 70,
      cache_read_tokens: 40,
      cache_write_tokens: null,
      reasoning_tokens: 70,
      stop_reason: "tool_calls",
      provider_stop_reason: "requires_action",
      tool_calls: ["google_search", "code_execution", "note", "now"],
      error_type: null,
      error_code: null,
      error_status: null
    })
    expect(billing(everyStep.inputs, everyStep.output)).toMatchObject({
      service_tier: "standard",
      cache_write_1h_tokens: null,
      input_audio_tokens: 10 + 1,
      cache_audio_read_tokens: 4,
      output_audio_tokens: 6,
      output_image_tokens: 20,
      web_searches: 1
    })
    const counted = {
      grounding_tool_count: [
        { type: "google_maps", count: 9 },
        { type: "google_search", count: 3 }
      ]
    }
    expect(billing({}, { usage: counted }).web_searches).toBe(3)
    expect(billing({}, { usage: {} }).web_searches).toBeNull()
    const search = { type: "google_search_call", arguments: { queries: ["a", "b", "a"] } }
    expect(billing({}, { steps: [search, search] }).web_searches).toBe(2)
    expect(billing({}, { steps: [{ type: "google_maps_call" }] }).uncounted).toEqual(["maps"])
  })

  it("have what the total says of the output where nothing else does", () => {
    expect(format.facts({}, { usage: { total_input_tokens: 5, total_tokens: 9 } }).output_tokens).toBe(4)
  })

  it("take an agent as a model", () => {
    expect(format.facts({ agent: "deep-research-pro" }, { agent: "deep-research-pro-1" })).toEqual({
      ...unknown,
      model: "deep-research-pro",
      response_model: "deep-research-pro-1"
    })
  })

  it("are null where nothing is known", () => {
    for (const output of [null, undefined, 0, "text", [], {}, true]) expect(format.facts({}, output)).toEqual(unknown)
    for (const inputs of [null, undefined, [], "a", { model: 4 }]) expect(format.facts(inputs, {})).toEqual(unknown)
    for (const bad of [-1, 1.5, "3", 2 ** 53, true, {}, []]) {
      const usage = {
        total_input_tokens: bad,
        total_output_tokens: bad,
        total_thought_tokens: bad,
        total_cached_tokens: bad
      }
      expect(format.facts({}, { usage })).toEqual(unknown)
    }
  })

  it("translate every status", () => {
    const reasons: Readonly<Record<string, string | null>> = {
      completed: "end",
      requires_action: "tool_calls",
      incomplete: "length",
      budget_exceeded: "length",
      requires_continuation: "pause",
      failed: "error",
      cancelled: "other",
      unheard_of: "other"
    }
    for (const [status, reason] of Object.entries(reasons)) {
      expect(format.facts({}, { status })).toMatchObject({ stop_reason: reason, provider_stop_reason: status })
    }
    for (const status of ["queued", "in_progress", "", null, 4]) {
      expect(format.facts({}, { status })).toMatchObject({ stop_reason: null, provider_stop_reason: null })
    }
  })

  it("tell errors, also of an interaction that failed", () => {
    const error = { error: { code: "invalid_request", message: "No." } }
    expect(format.facts({}, error)).toEqual({
      ...unknown,
      error_type: "invalid_request",
      error_code: "invalid_request"
    })
    expect(format.facts({}, { status: "failed", steps: [] })).toMatchObject({
      error_type: "unknown",
      stop_reason: "error"
    })
    expect(format.facts({}, { status: "failed", errors: [{ code: "internal" }] })).toMatchObject({
      error_type: "internal"
    })
    expect(format.messages({}, error).output).toEqual([])
  })

  it("are read from outputs as well, which came before steps", () => {
    const outputs = [
      { type: "function_call", id: "a", name: "look", arguments: { b: 1 } },
      { type: "text", text: "c" }
    ]
    expect(format.facts({}, { outputs }).tool_calls).toEqual(["look"])
    expect(format.messages({}, { outputs, status: "completed" }).output).toEqual([
      {
        status: "completed",
        role: "assistant",
        parts: [{ type: "tool_call", id: "a", name: "look", arguments: { b: 1 } }]
      },
      { role: "assistant", parts: [{ type: "text", content: "c" }], finish_reason: "completed" }
    ])
  })
})

const inputOf = (input: unknown) => format.messages({ input }, null).input

describe("interactions in normal form", () => {
  it("have the parts of the semantic conventions, and a message for each step", () => {
    const { input, output, instructions, tools, parameters } = format.messages(everyStep.inputs, everyStep.output)
    expect(instructions).toEqual([{ type: "text", content: "Be brief." }])
    expect(tools).toEqual(everyStep.inputs.tools)
    expect(parameters).toEqual({ model: "gemini-3-pro", generation_config: { temperature: 0 }, stream: true })
    expect(input).toEqual([
      {
        role: "user",
        parts: [
          { type: "text", content: "How is Zürich?" },
          { type: "blob", mime_type: "image/png", modality: "image", content: "iVBORw==", resolution: "low" }
        ]
      },
      { role: "assistant", parts: [{ type: "reasoning", signature: "QkJCQg==" }] },
      { role: "assistant", parts: [{ type: "tool_call", id: "call1234", name: "look", arguments: { at: "Zürich" } }] },
      {
        role: "tool",
        parts: [
          {
            type: "tool_call_response",
            id: "call1234",
            name: "look",
            response: [
              { type: "text", content: "sun" },
              { type: "uri", mime_type: "image/png", modality: "image", uri: "https://example.com/a.png" }
            ]
          }
        ]
      },
      { role: "assistant", parts: [{ type: "text", content: "Warm." }] },
      { role: "user", parts: [{ type: "text", content: "And now?" }] }
    ])
    const { id, status, created, updated, service_tier, object, model, steps } = everyStep.output
    const said = (...parts: ReadonlyArray<unknown>) => ({ role: "assistant", parts })
    expect(output).toEqual([
      {
        ...{ id, status, created, updated, service_tier, object, model },
        ...said({ type: "reasoning", content: "**Zürich**\nis in Switzerland.", signature: "QUFBQQ==" })
      },
      said({
        type: "tool_call",
        id: "abcd1234",
        name: "google_search",
        arguments: { queries: ["Zürich", ""] },
        tool_type: "google_search_call"
      }),
      said({
        type: "tool_call_response",
        id: "abcd1234",
        response: steps[2]?.result,
        tool_type: "google_search_result",
        is_error: false
      }),
      said({
        type: "tool_call",
        id: "code1234",
        name: "code_execution",
        arguments: { code: "print(1)", language: "python" },
        tool_type: "code_execution_call"
      }),
      said({
        type: "tool_call_response",
        id: "code1234",
        response: "1\n2\n",
        tool_type: "code_execution_result",
        is_error: false
      }),
      said(
        { type: "text", content: "It is warm\u2028— 晴れ 🏔️.", annotations: steps[5]?.content?.[0]?.annotations },
        { type: "blob", mime_type: "image/png", modality: "image", content: "iVBORw==" },
        { type: "blob", mime_type: "audio/l16", modality: "audio", content: "AQIDBAU=" }
      ),
      said({ type: "tool_call", id: "efgh5678", name: "note", arguments: { text: "Sunny", at: [1] } }),
      { ...said({ type: "tool_call", id: "ijkl9012", name: "now" }), finish_reason: "requires_action" }
    ])
  })

  it("take a text, a content, contents and turns", () => {
    const user = [{ role: "user", parts: [{ type: "text", content: "a" }] }]
    const text = { type: "text", text: "a" }
    for (const input of [
      "a",
      text,
      [text],
      ["a"],
      [{ role: "user", content: "a" }],
      [{ role: "user", content: [text] }]
    ]) {
      expect(inputOf(input)).toEqual(user)
    }
    for (const input of [null, undefined, "", [], {}]) expect(inputOf(input)).toEqual([])
    const turn = {
      role: "model",
      content: [
        { type: "thought", signature: "QQ==" },
        text,
        { type: "function_call", id: "b", name: "c", arguments: {} }
      ]
    }
    expect(inputOf([turn])).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", signature: "QQ==" },
          { type: "text", content: "a" },
          { type: "tool_call", id: "b", name: "c" }
        ]
      }
    ])
  })

  it("tell each summary of a thought, and its signature once", () => {
    const summary = [
      { type: "text", text: "a" },
      { type: "image", data: "iVBORw==", mime_type: "image/png" },
      { type: "text", text: "b" }
    ]
    expect(inputOf([{ type: "thought", signature: "QQ==", summary }])[0]?.parts).toEqual([
      { type: "reasoning", content: "a", signature: "QQ==" },
      { type: "blob", mime_type: "image/png", modality: "image", content: "iVBORw==", thought: true },
      { type: "reasoning", content: "b" }
    ])
    expect(inputOf([{ type: "thought" }])).toEqual([{ role: "assistant", parts: [] }])
  })

  it("keep what is not known, with all of its keys", () => {
    const odd = JSON.parse('{"type":"unheard_of","a":{"b":[1]},"__proto__":{"c":1},"constructor":"d"}') as JsonObject
    expect(JSON.stringify(inputOf([odd])[0]?.parts)).toBe(JSON.stringify([odd]))
    expect(
      inputOf([{ type: "text", text: 4 }, { type: "image" }, 4, { text: "a" }]).flatMap(({ parts }) => parts)
    ).toEqual([
      { type: "text", text: 4 },
      { type: "image" },
      { type: "unknown", content: 4 },
      { type: "unknown", text: "a" }
    ])
    expect(inputOf([{ type: "model_output", content: [], error: { code: 13, message: "m" } }])).toEqual([
      { role: "assistant", parts: [], error: { code: 13, message: "m" } }
    ])
    expect(inputOf([{ type: "function_call", name: "a", arguments: "not JSON" }])[0]?.parts).toEqual([
      { type: "tool_call", name: "a", arguments: "not JSON" }
    ])
  })

  it("are the same messages when the next call sends its steps back", () => {
    const { output } = format.messages(null, everyStep.output)
    const sent = inputOf(everyStep.output.steps)
    expect(sent.map(identity)).toEqual(output.map(identity))
  })

  it("take any value, nested however deep", () => {
    let deep: JsonObject = { type: "text", text: "a" }
    for (let depth = 0; depth < 100_000; depth++) deep = { type: "function_result", call_id: "a", result: [deep] }
    expect(inputOf([deep])).toHaveLength(1)
    expect(format.facts(deep, deep)).toEqual(unknown)
    const value = fc.jsonValue({ maxDepth: 2 })
    const types = [
      "text",
      "image",
      "thought",
      "function_call",
      "function_result",
      "model_output",
      "google_search_call",
      "x_result"
    ]
    const item = fc.record(
      {
        type: fc.constantFrom(...types),
        text: value,
        content: value,
        summary: fc.oneof(value, fc.array(fc.record({ type: fc.constant("text"), text: value }))),
        result: value,
        arguments: value,
        data: value,
        role: value
      },
      { requiredKeys: ["type"], noNullPrototype: true }
    )
    const call = fc.record({
      input: fc.oneof(value, fc.array(fc.oneof(item, value))),
      system_instruction: value,
      tools: value,
      steps: fc.oneof(value, fc.array(fc.oneof(item, value))),
      status: value,
      usage: value
    })
    fc.assert(
      fc.property(fc.oneof(call, value), fc.oneof(call, value), (inputs, output) => {
        format.facts(inputs, output)
        billing(inputs, output)
        const { input, output: answered } = format.messages(inputs, output)
        for (const message of [...input, ...answered]) identity(message)
      })
    )
  })
})

interface Answer {
  readonly model?: string
  readonly status?: string
  readonly steps?: ReadonlyArray<{ readonly type: string; readonly name?: string }>
  readonly usage?: Readonly<Record<string, number>>
  readonly error?: { readonly code: string }
}

const words: Readonly<Record<string, Facts["stop_reason"]>> = {
  completed: "end",
  requires_action: "tool_calls",
  incomplete: "length"
}

/** Facts as one would read them from an answer by hand. */
const readPlainly = (inputs: unknown, { model, status = "", steps = [], usage = {}, error }: Answer): Facts => {
  const asked = (inputs as { readonly model?: string } | null)?.model ?? null
  if (error !== undefined) return { ...unknown, model: asked, error_type: error.code, error_code: error.code }
  const counted = (key: string) => usage[`total_${key}_tokens`] ?? Number.NaN
  const names: Readonly<Record<string, string | undefined>> = { google_search_call: "google_search" }
  return {
    ...unknown,
    model: asked,
    response_model: model ?? null,
    input_tokens: counted("input") + counted("tool_use"),
    output_tokens: counted("output") + counted("thought"),
    cache_read_tokens: counted("cached"),
    reasoning_tokens: counted("thought"),
    stop_reason: words[status] ?? null,
    provider_stop_reason: status,
    tool_calls: steps.flatMap(({ type, name }) => name ?? names[type] ?? [])
  }
}

const answers = answersOf("provider3-interactions")
const answered = answers.filter(({ output }) => output !== null)

describe.runIf(areThere)("recorded interactions", () => {
  it("have the facts that a plain reading gives", () => {
    expect([answers.length, answered.length]).toEqual([12, 10])
    for (const { source, inputs, output } of answered) {
      expect(format.facts(inputs, output), source).toEqual(readPlainly(inputs, output as Answer))
    }
  })

  it("lack facts for known reasons only", () => {
    const all = answered.map(({ inputs, output }) => format.facts(inputs, output))
    const missing = (key: keyof Facts) => all.filter((facts) => facts[key] === null).length
    // Five fixtures have the answer only, and one answer is an error. Google has no count of what it wrote to a cache.
    expect([missing("model"), missing("error_type"), missing("cache_write_tokens")]).toEqual([5, 9, 10])
    for (const key of [
      "response_model",
      "input_tokens",
      "output_tokens",
      "cache_read_tokens",
      "reasoning_tokens",
      "stop_reason",
      "tool_calls"
    ] as const) {
      expect(missing(key), key).toBe(1)
    }
  })

  it("lose no text in normal form", () => {
    for (const { source, inputs, output } of answers) {
      const kept = new Set(longStrings(format.messages(inputs, output)))
      const isError = (output as Answer | null)?.error !== undefined
      const lost = [...longStrings(inputs), ...(isError ? [] : longStrings(output))].filter((text) => !kept.has(text))
      expect(lost, source).toEqual([])
    }
  })
})
