import { formats } from "@tachograph/formats"
import { PriceList } from "@tachograph/prices"
import { DateTime } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { apis } from "../../src/domain/ProviderNames.ts"
import type { Api } from "../../src/domain/Event.ts"
import * as ReadFacts from "../../src/facts/ReadFacts.ts"
import * as JsonValue from "../../src/payload/scan/JsonValue.ts"
import * as Steps from "../../src/payload/scan/Steps.ts"

const message = { role: "assistant", content: [{ type: "text", text: "x".repeat(3000) }] }
const fields = JsonValue.fieldsAt(
  ReadFacts.inputsPaths.map((path) => ["inputs", ...path]),
  [["output"]]
)

/** The payload as it is read from a long text. */
const shortened = (inputs: unknown, output: unknown) => {
  const text = Buffer.from(JSON.stringify({ inputs, output }))
  const { value } = Steps.run(JsonValue.parseFields(text, fields)) as { value: { inputs: unknown; output: unknown } }
  return value
}

const expectSame = (api: Api, inputs: unknown, output: unknown, source: string) => {
  const read = shortened(inputs, output)
  expect([source, ReadFacts.read(api, read.inputs, read.output)]).toEqual([source, ReadFacts.read(api, inputs, output)])
}

describe("facts", () => {
  it.each<[Api, object, object]>([
    ["provider1-chat-completions", { model: "m" }, { choices: [{ message, finish_reason: "stop" }] }],
    ["provider1-responses", { model: "m" }, { status: "completed", output: [message] }],
    ["provider2-messages", { model: "m", anthropic_version: "vertex-2023-10-16" }, message],
    ["provider2-beta-messages", { model: "m", anthropic_version: "bedrock-2023-05-31" }, message],
    ["provider3-models", { model: "models/m" }, { candidates: [{ content: { parts: [{ text: "t" }] } }] }],
    ["provider3-interactions", { agent: "a" }, { status: "completed" }],
    ["aisdk", { model: { modelId: "m", provider: "openai.chat" } }, { finishReason: "stop" }],
    ["aisdk", { modelId: "m", provider: "google.generative-ai" }, { finishReason: "stop" }],
    ["aisdk", { "ai.model.id": "m", "ai.model.provider": "openai" }, { "ai.response.finishReason": "stop" }],
    ["aisdk", { "gen_ai.request.model": "m", "gen_ai.system": "openai" }, { "ai.response.finishReason": "stop" }]
  ])("of %s are the same if the text is long, for %j", (api, inputs, output) => {
    expectSame(api, { ...inputs, messages: [message], contents: [message], input: [message] }, output, api)
    expect(ReadFacts.read(api, inputs, output).facts).toMatchObject({ model: expect.anything() })
  })

  it("are the same if the text is long, for recorded calls", () => {
    const file = (name: string) => new URL(`../../../../../shared/workloads/${name}`, import.meta.url)
    if (!existsSync(file("calls.ndjson")))
      return console.log("Left out: there are no recorded calls beside this folder")
    const lines = (name: string): ReadonlyArray<any> =>
      readFileSync(file(name), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
    for (const { api, inputs, output, source } of lines("calls.ndjson")) expectSame(api, inputs, output, source)
    for (const { api, request, response, source } of lines("streams.ndjson")) {
      if (response !== null) expectSame(api, request ?? {}, response, source)
    }
  })

  it("are read by every format, of any value", () => {
    expect(Object.keys(formats).sort()).toEqual([...apis].sort())
    for (const api of apis) for (const value of [null, 1, "", [], {}]) ReadFacts.read(api, value, value)
  })

  it("fit into the columns of a storage", () => {
    const calls = Array.from({ length: 2000 }, (_, n) => ({ type: "tool_use", id: `${n}`, name: `a\n\ud800${n}` }))
    const output = {
      model: "m".repeat(256),
      stop_reason: "r".repeat(101),
      content: calls,
      usage: { input_tokens: 2 ** 31 }
    }
    const { facts } = ReadFacts.read("provider2-messages", { model: "m\u0000" }, output)
    expect(facts).toMatchObject({ model: null, responseModel: null, providerStopReason: null, inputTokens: null })
    const names = facts.toolCalls!
    expect(names.slice(0, 2)).toEqual(["a\ufffd\ufffd0", "a\ufffd\ufffd1"])
    expect(names.join("\n").length).toBeLessThan(ReadFacts.maxToolCallsLength)
    expect([...names, "a\ufffd\ufffd200"].join("\n").length).toBeGreaterThan(ReadFacts.maxToolCallsLength - 10)
    const atLimit = {
      ...output,
      model: "m".repeat(255),
      stop_reason: "r".repeat(100),
      usage: { input_tokens: 2 ** 31 - 1 }
    }
    expect(ReadFacts.read("provider2-messages", {}, atLimit).facts).toMatchObject({
      responseModel: atLimit.model,
      providerStopReason: atLimit.stop_reason,
      inputTokens: 2 ** 31 - 1
    })
  })

  it.each(["m", "é", "😀"])("have names and words of as many %s as columns take", (character) => {
    const factsOf = (model: string, reason: string) =>
      ReadFacts.read("provider2-messages", { model }, { model, content: [], stop_reason: reason }).facts
    const [model, reason] = [character.repeat(ReadFacts.maxModelLength), character.repeat(ReadFacts.maxWordLength)]
    expect(factsOf(model, reason)).toMatchObject({ model, responseModel: model, providerStopReason: reason })
    const none = { model: null, responseModel: null, providerStopReason: null }
    expect(factsOf(`${model}${character}`, `${reason}${character}`)).toMatchObject(none)
  })

  it("name every error, whatever its type", () => {
    const typeOf = (type: unknown) =>
      ReadFacts.read("provider2-messages", {}, { type: "error", error: { type, message: "m" } }).facts.errorType
    expect(typeOf("overloaded_error")).toBe("overloaded_error")
    expect(typeOf("e".repeat(200))).toBe("e".repeat(100))
    expect(typeOf("a\u0000b")).toBe("a\ufffdb")
    expect(typeOf(undefined)).toBe("unknown")
  })

  it.each(apis)("of %s are of an error where the status of the response is one", (api) => {
    const typeOf = (output: unknown, httpStatus: number) =>
      ReadFacts.read(api, {}, output, { httpStatus }).facts.errorType
    expect([400, 503, 599].map((status) => typeOf({}, status))).toEqual(["400", "503", "599"])
    expect([100, 200, 399].map((status) => typeOf({}, status))).toEqual([null, null, null])
    expect(typeOf({ detail: "Not Found" }, 404)).toBe("404")
    expect(typeOf({ message: "Unauthorized" }, 401)).toBe("401")
    expect(typeOf({ error: { message: "slow down" } }, 429)).toBe("429")
    expect(typeOf({ error: { message: "slow down" } }, 200)).toBe("unknown")
    expect(typeOf({ error: { type: "overloaded_error", message: "m" } }, 529)).toBe("overloaded_error")
  })

  it("are priced by the time of the call", () => {
    const read = ReadFacts.read(
      "provider1-chat-completions",
      { model: "o3" },
      { choices: [], usage: { prompt_tokens: 1_000_000, completion_tokens: 0 } }
    )
    const costAt = (time: string) => ReadFacts.costOf(PriceList.make(), read, DateTime.makeUnsafe(time)).costUsd
    expect([costAt("2025-06-01T00:00:00Z"), costAt("2026-01-01T00:00:00Z")]).toEqual([10e9, 2e9])
  })

  /** The raw usage of a provider, the same as the AI SDK hands it out, and what it costs. */
  const servedBy: ReadonlyArray<readonly [what: string, api: Api, output: any, step: object, dollars: number | null]> =
    [
      [
        "Anthropic, in one country only",
        "provider2-messages",
        {
          model: "claude-sonnet-4-5",
          stop_reason: "end_turn",
          usage: { input_tokens: 1_000, output_tokens: 100, inference_geo: "us" }
        },
        { providerMetadata: { anthropic: {} } },
        null
      ],
      [
        "Anthropic, in fast mode",
        "provider2-messages",
        {
          model: "claude-sonnet-4-5",
          stop_reason: "end_turn",
          usage: { input_tokens: 1_000, output_tokens: 100, speed: "fast" }
        },
        { providerMetadata: { anthropic: {} } },
        null
      ],
      [
        "Anthropic, with two searches",
        "provider2-messages",
        {
          model: "claude-sonnet-4-5",
          stop_reason: "end_turn",
          usage: { input_tokens: 1_000, output_tokens: 100, server_tool_use: { web_search_requests: 2 } }
        },
        {},
        0.003 + 0.0015 + 2 * 0.01
      ],
      [
        "Google, an image",
        "provider3-models",
        {
          modelVersion: "gemini-2.5-flash-image",
          usageMetadata: {
            promptTokenCount: 10,
            candidatesTokenCount: 1_290,
            totalTokenCount: 1_300,
            candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1_290 }]
          }
        },
        {},
        (10 * 0.3 + 1_290 * 30) / 1e6
      ],
      [
        "Google, what it was told, all of it cached",
        "provider3-models",
        {
          modelVersion: "gemini-2.5-flash",
          usageMetadata: {
            promptTokenCount: 1_000,
            cachedContentTokenCount: 1_000,
            candidatesTokenCount: 10,
            totalTokenCount: 1_010,
            promptTokensDetails: [{ modality: "AUDIO", tokenCount: 1_000 }]
          }
        },
        {},
        (1_000 * 0.1 + 10 * 2.5) / 1e6
      ],
      [
        "Google, with capacity of its own",
        "provider3-models",
        {
          modelVersion: "gemini-2.5-flash",
          usageMetadata: {
            promptTokenCount: 1_000,
            candidatesTokenCount: 10,
            totalTokenCount: 1_010,
            trafficType: "PROVISIONED_THROUGHPUT"
          }
        },
        {},
        null
      ]
    ]

  it.each(servedBy)("of the AI SDK cost what the provider's own answer does: %s", (_, api, output, step, dollars) => {
    const list = PriceList.make()
    const costOf = (read: ReadFacts.FactsRead) =>
      ReadFacts.costOf(list, read, DateTime.makeUnsafe("2026-10-01T00:00:00Z"))
    const own = costOf(ReadFacts.read(api, {}, output))
    const raw = output.usage ?? output.usageMetadata
    const { cacheReadTokens, inputTokens, outputTokens } = ReadFacts.read(api, {}, output).facts
    const usage = {
      inputTokens: { total: inputTokens, cacheRead: cacheReadTokens ?? undefined },
      outputTokens: { total: outputTokens },
      raw
    }
    const provider = api === "provider2-messages" ? "anthropic.messages" : "google.generative-ai"
    const inputs = { model: { provider, modelId: output.model ?? output.modelVersion } }
    const aisdk = costOf(ReadFacts.read("aisdk", inputs, { content: [], finishReason: "stop", usage, ...step }))
    expect(own.costUsd).toBe(dollars === null ? null : Math.round(dollars * 1e9))
    expect(aisdk.costUsd).toBe(own.costUsd)
  })

  it("of the AI SDK count a search of OpenAI's, and no page that it opened", () => {
    const block = (toolCallId: string, action: string) => [
      { type: "tool-call", toolCallId, toolName: "web_search", input: "{}", providerExecuted: true },
      {
        type: "tool-result",
        toolCallId,
        toolName: "web_search",
        result: { action: { type: action } },
        providerExecuted: true
      }
    ]
    const content = [...block("1", "search"), ...block("2", "openPage")]
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } }
    const inputs = { model: { provider: "openai.responses", modelId: "gpt-4o" } }
    const read = ReadFacts.read("aisdk", inputs, { content, finishReason: "stop", usage })
    const { costUsd } = ReadFacts.costOf(PriceList.make(), read, DateTime.makeUnsafe("2026-10-01T00:00:00Z"))
    expect(costUsd).toBe(0.01 * 1e9)
  })

  it("of several requests are priced each, by its own model", () => {
    const step = (modelId: string, inputTokens: number) => ({
      model: { provider: "google.generative-ai", modelId },
      usage: { inputTokens, outputTokens: 100 },
      response: { modelId }
    })
    const inputs = { model: { provider: "google.generative-ai", modelId: "gemini-2.5-pro" } }
    const costOf = (...steps: ReadonlyArray<object>) => {
      const read = ReadFacts.read("aisdk", inputs, { finishReason: "stop", steps })
      return ReadFacts.costOf(PriceList.make(), read, DateTime.makeUnsafe("2026-10-01T00:00:00Z"))
    }
    const pro = step("gemini-2.5-pro", 150_000)
    const ofPro = 150_000 * 1_250 + 100 * 10_000
    expect(costOf(pro)).toMatchObject({ costUsd: ofPro, price: "google/gemini-2.5-pro", priceIsExact: true })
    expect(costOf(pro, pro)).toMatchObject({ costUsd: 2 * ofPro, price: "google/gemini-2.5-pro" })
    expect(costOf(pro, step("gemini-2.5-flash", 1_000))).toMatchObject({
      costUsd: ofPro + 1_000 * 300 + 100 * 2_500,
      price: "google/gemini-2.5-pro, google/gemini-2.5-flash"
    })
    const iterations = [
      { type: "compaction", input_tokens: 180_000, output_tokens: 3_500 },
      { type: "message", input_tokens: 23_000, output_tokens: 1_000 }
    ]
    const usage = { input_tokens: 23_000, output_tokens: 1_000, iterations }
    const read = ReadFacts.read(
      "provider2-messages",
      { model: "claude-sonnet-4-5" },
      { model: "claude-sonnet-4-5", stop_reason: "end_turn", usage }
    )
    expect(ReadFacts.costOf(PriceList.make(), read, DateTime.makeUnsafe("2026-10-01T00:00:00Z")).costUsd).toBe(
      676_500_000
    )
    const raw = { inputTokens: 203_000, outputTokens: 4_500, raw: usage }
    const ofAiSdk = { model: { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" } }
    const sdk = ReadFacts.read("aisdk", ofAiSdk, { content: [], finishReason: "stop", usage: raw })
    expect(ReadFacts.costOf(PriceList.make(), sdk, DateTime.makeUnsafe("2026-10-01T00:00:00Z")).costUsd).toBe(
      676_500_000
    )
  })

  it("cost what the answer says, beside what the list does", () => {
    const costOf = (model: string, usage: object) => {
      const counts = { prompt_tokens: 100, completion_tokens: 50, ...usage }
      const read = ReadFacts.read("provider1-chat-completions", {}, { id: "gen-1", model, choices: [], usage: counts })
      return ReadFacts.costOf(PriceList.make(), read, DateTime.makeUnsafe("2026-10-01T00:00:00Z"))
    }
    expect(costOf("openai/gpt-4o", { cost: 0.02075 })).toEqual({
      ...{ costUsd: 20_750_000, statedCostUsd: 20_750_000, listCostUsd: 750_000, unpriced: null },
      ...{ price: "openrouter/openai/gpt-4o", priceIsExact: true, unpricedParts: [] }
    })
    const unknown = { price: null, priceIsExact: null, unpricedParts: null, listCostUsd: null }
    expect(costOf("x/y", { cost: 0 })).toEqual({ ...unknown, costUsd: 0, statedCostUsd: 0, unpriced: null })
    expect(costOf("x/y", {})).toEqual({ ...unknown, costUsd: null, statedCostUsd: null, unpriced: "unknown-model" })
    expect(costOf("openai/gpt-4o", { cost: 1e7 })).toMatchObject({ costUsd: 750_000, statedCostUsd: null })
    const details = { completion_tokens_details: { audio_tokens: 10, image_tokens: 10 } }
    expect(costOf("openai/gpt-4o:online", details)).toMatchObject({
      ...{ statedCostUsd: null, listCostUsd: null, priceIsExact: false },
      // In the order in which they are stored.
      unpricedParts: ["audio", "images", "web_search"]
    })
  })

  it("of a stream that was cut before it said its output have no price, and neither have counts that no column takes", () => {
    const list = PriceList.make()
    const usage = { input_tokens: 1_000, output_tokens: 4 }
    const of = (output: object) =>
      ReadFacts.costOf(
        list,
        ReadFacts.read("provider2-messages", {}, { model: "claude-sonnet-4-5", content: [], usage, ...output }),
        DateTime.makeUnsafe("2026-10-01T00:00:00Z")
      )
    expect(of({ stop_reason: "end_turn" })).toMatchObject({ costUsd: 3_060_000, priceIsExact: true })
    expect(of({ stop_reason: null })).toMatchObject({ costUsd: null, unpriced: "no-usage" })
    const many = { input_tokens: ReadFacts.maxTokens + 1, output_tokens: 4 }
    expect(of({ stop_reason: "end_turn", usage: many })).toMatchObject({ costUsd: null, unpriced: "no-usage" })
  })

  it("have no exact price where another model answered than the one that is priced", () => {
    const read = ReadFacts.read(
      "provider1-chat-completions",
      { model: "gpt-4.1" },
      { model: "internal", choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 0 } }
    )
    const cost = ReadFacts.costOf(PriceList.make(), read, DateTime.makeUnsafe("2026-10-01T00:00:00Z"))
    expect(cost).toMatchObject({ price: "openai/gpt-4.1", priceIsExact: false })
  })
})
