import { waitForUpdate } from "@pydantic/genai-prices"
import { describe, expect, it } from "vitest"
import { PriceList } from "@tachograph/prices"
import * as Rates from "../src/Rates.ts"
import * as Usages from "./Usages.ts"

const at = new Date("2026-10-01T12:00:00Z")
const { cost } = PriceList.make()

const priceOf = (provider: string | null, model: string | null, response_model: string | null = null) => {
  const found = cost({ ...Usages.nothing, provider, model, response_model, input_tokens: 1, output_tokens: 1 }, at)
  return "unpriced" in found ? found.unpriced : `${found.isExact ? "" : "~"}${found.price}`
}

describe("the price of a name", () => {
  it.each([
    [null, "openai/gpt-4o", "~openai/gpt-4o"],
    [null, "anthropic/claude-sonnet-4.5", "~anthropic/claude-sonnet-4-5"],
    [null, "xai/grok-4", "~x-ai/grok-4-0709"],
    [null, "deepseek/deepseek-chat", "~deepseek/deepseek-chat"],
    [null, "groq/llama-3.3-70b-versatile", "~groq/llama-3.3-70b-versatile"],
    [null, "mistral/mistral-large-latest", "~mistral/mistral-large"],
    [null, "publishers/google/models/gemini-2.5-flash", "~google/gemini-2.5-flash"],
    [null, "openrouter/openai/gpt-4o", "~openrouter/openai/gpt-4o"],
    [
      null,
      "bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "~aws/global.anthropic.claude-sonnet-4-5-20250929-v1:0"
    ],
    [null, "vertex_ai/claude-sonnet-4-5@20250929", "~google/claude-sonnet-4-5"],
    [null, "litellm_proxy/gpt-4o", "~openai/gpt-4o"],
    ["vertexcompat", "google/gemini-2.5-flash", "~google/gemini-2.5-flash"],
    ["zai", "glm-4.7", "~zhipuai/GLM-4.7"],
    ["openrouter", "openai/gpt-4o:nitro", "~openrouter/openai/gpt-4o"],
    ["openrouter", "deepseek/deepseek-chat-v3.1:free", "openrouter/deepseek/deepseek-chat-v3.1:free"],
    [null, "deepseek/deepseek-chat-v3.1:free", "openrouter/deepseek/deepseek-chat-v3.1:free"]
  ])("of %s is found behind a router's, %s: %s", (provider, model, price) => {
    expect(priceOf(provider, model)).toBe(price)
  })

  it.each([
    [null, "deepseek-r1:8b"],
    [null, "kimi-k2-thinking"],
    [null, "glm-4.7"],
    [null, "minimax-m2"],
    [null, "mistral-large-2411"],
    [null, "gpt-oss-120b"],
    [null, "openai/gpt-oss-120b"],
    [null, "google/gemma-3-27b-it"],
    [null, "moonshotai/kimi-k2-thinking"],
    [null, "mistralai/mistral-large-2411"],
    [null, "unsloth/deepseek-r1"],
    ["groq", "deepseek-r1"],
    ["openai", "deepseek-r1:8b"],
    ["openrouter", "minimax-m2"],
    ["ollama", "gpt-4o"],
    ["lmstudio", "deepseek-r1"],
    [null, "llama3.3:70b"],
    [null, "qwen3:8b"]
  ])("of %s for open weights is nobody's: %s", (provider, model) => {
    expect(priceOf(provider, model)).toBe("unknown-model")
  })

  it("is that of the name that says more, where the one that answered is a part of it", () => {
    const profile = (region: string) => `${region}.anthropic.claude-sonnet-4-5-20250929-v1:0`
    const of = (asked: string, answered = "claude-sonnet-4-5-20250929") => priceOf("aws", asked, answered)
    expect(of(profile("global"))).toBe(`aws/${profile("global")}`)
    expect(of(profile("eu"))).toBe(`~aws/${profile("regional")}`)
    expect(of("global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6")).toMatch(
      /^~aws\/global\.anthropic\.claude-opus/
    )
    expect(
      of(
        "arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-haiku-4-5-20251001-v1:0",
        "claude-haiku-4-5-20251001"
      )
    ).toMatch(/^~aws\/global/)
    expect(of("my-application-profile")).toBe(`~aws/${profile("regional")}`)
    // Another model, or the same one by an alias: the one that answered counts.
    expect(priceOf("openai", "gpt-4o", "gpt-4o-2024-08-06")).toBe("~openai/gpt-4o")
    expect(priceOf("anthropic", "claude-opus-4-6", "claude-sonnet-4-6")).toBe("anthropic/claude-sonnet-4-6")
    expect(priceOf("openrouter", "openai/gpt-4o:online", "openai/gpt-4o")).toBe("openrouter/openai/gpt-4o")
    expect(priceOf("openai", "gpt-4o", "no-such-model")).toBe("~openai/gpt-4o")
  })
})

describe("a model that searches with each request", () => {
  it.each(["gpt-4o-search-preview", "gpt-4o-mini-search-preview"])("pays for it: %s", (model) => {
    expect(cost({ ...Usages.nothing, provider: "openai", model, input_tokens: 1, output_tokens: 1 }, at)).toMatchObject(
      {
        isExact: false,
        unpricedParts: ["web_search"]
      }
    )
  })
})

describe("the prices of the list", () => {
  it("are all used, or named as left out", async () => {
    const providers = (await waitForUpdate()) ?? []
    const prices = providers
      .flatMap(({ models }) => models)
      .flatMap(({ prices }) => (Array.isArray(prices) ? prices.map((each) => each.prices) : [prices]))
    const keys = new Set(prices.flatMap((price) => Object.keys(price).filter((key) => price[key] !== undefined)))
    expect(keys.size).toBeGreaterThan(20)
    const whole = { input_mtok: 1, output_mtok: 1, cache_read_mtok: 1, cache_write_mtok: 1 }
    const amountOf = (key: string, price: number) =>
      Rates.amountOf(Rates.ratesOf({ ...whole, [key]: price }), Usages.everything)!.nanoDollars
    for (const key of keys) expect([key, amountOf(key, 1) !== amountOf(key, 5)]).toEqual([key, !(key in Rates.leftOut)])
    for (const key of Object.keys(Rates.leftOut)) expect(keys).toContain(key)
  })
})

describe("a part without a price", () => {
  const of = (provider: string, model: string, usage: object) => {
    const found = cost({ ...Usages.nothing, provider, model, input_tokens: 1_000, output_tokens: 500, ...usage }, at)
    return found as PriceList.Priced
  }

  it.each([
    ["openai", "gpt-4o-audio-preview", { input_audio_tokens: 800, output_audio_tokens: 400 }, "audio", 0.0015],
    ["openai", "gpt-4o-mini-audio-preview", { output_audio_tokens: 500 }, "audio", 0.00015],
    ["openai", "gpt-5-image", { output_image_tokens: 500 }, "images", 0.01],
    ["openai", "gpt-4.1-nano", { web_searches: 2 }, "web_search", 0.0003],
    ["anthropic", "claude-sonnet-4-5", { file_searches: 1 }, "file_search", 0.0105],
    ["google", "gemini-2.5-flash", { uncounted: ["maps"] }, "maps", 0.00155],
    [
      "aws",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      { cache_write_tokens: 900, cache_write_1h_tokens: 900 },
      "cache_write_1h",
      (100 * 3.3 + 500 * 16.5) / 1e6
    ]
  ])("is not in the cost of %s's %s, which says so: %j", (provider, model, usage, part, dollars) => {
    const found = of(provider, model, usage)
    expect(found).toMatchObject({ isExact: false, unpricedParts: [part] })
    expect(found.nanoDollars).toBe(Math.round(dollars * 1e9))
  })

  it("is none where the list has one price for all, or the model is of one kind, or costs nothing", () => {
    expect(of("google", "gemini-2.5-pro", { input_audio_tokens: 1_000 }).unpricedParts).toEqual([])
    expect(of("google", "gemini-2.5-pro-tts", { output_audio_tokens: 500 }).unpricedParts).toEqual([])
    expect(of("openai", "gpt-image-1", { output_image_tokens: 500 }).unpricedParts).toEqual([])
    expect(of("openrouter", "x/y:free", { output_audio_tokens: 500, web_searches: 1 })).toMatchObject({
      nanoDollars: 0,
      unpricedParts: []
    })
  })

  it("is never a search of Google's: each query has one, or each request that searched", () => {
    const searched = (model: string, web_searches: number) =>
      of("google", model, { web_searches }).nanoDollars - of("google", model, { web_searches: 0 }).nanoDollars
    expect([searched("gemini-3-flash-preview", 2), searched("gemini-2.5-flash", 2)]).toEqual([28e6, 35e6])
  })
})

describe("a call of several requests", () => {
  const request = {
    ...Usages.nothing,
    provider: "google",
    model: "gemini-2.5-pro",
    input_tokens: 150_000,
    output_tokens: 10
  }
  const of = (...requests: ReadonlyArray<typeof request>) =>
    cost({ ...request, input_tokens: 300_000, output_tokens: 20, requests }, at)

  it("costs what each of them does", () => {
    // Above 200,000 tokens of input, Gemini 2.5 Pro costs twice as much.
    expect(of(request, request)).toEqual({
      nanoDollars: 2 * (150_000 * 1_250 + 10 * 10_000),
      price: "google/gemini-2.5-pro",
      isExact: true,
      unpricedParts: []
    })
    // Perplexity takes 12 dollars for a thousand requests that read much, and less for others.
    const sonar = { ...request, provider: "perplexity", model: "sonar", input_tokens: 0, output_tokens: 0 }
    expect(of(sonar, sonar, sonar)).toMatchObject({ nanoDollars: 36e6, isExact: false })
  })

  it("names the price of each model, and has none without the price of one", () => {
    const advice = { ...request, provider: "anthropic", model: "claude-opus-4-7", uncounted: ["advisor" as const] }
    expect(of(request, advice)).toMatchObject({
      price: "google/gemini-2.5-pro, anthropic/claude-opus-4-7",
      isExact: false,
      unpricedParts: ["advisor"]
    })
    expect(of(request, { ...request, model: "no-such-model" })).toEqual({ unpriced: "unknown-model" })
    expect(of(request, { ...request, service_tier: "batch" } as never)).toEqual({ unpriced: "service-tier" })
  })
})
