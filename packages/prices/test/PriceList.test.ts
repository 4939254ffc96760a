import { readFileSync } from "node:fs"
import { calcPrice, findProvider } from "@pydantic/genai-prices"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { PriceFile, PriceList } from "@tachograph/prices"
import { nothing } from "./Usages.ts"

const at = new Date("2026-10-01T12:00:00Z")
const { cost, date, inputPrices } = PriceList.make()

describe("the cost of a call", () => {
  it("adds up input, cache reads, cache writes of 5 minutes and of an hour, and output", () => {
    const usage = {
      ...nothing,
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      input_tokens: 10_000,
      cache_read_tokens: 6_000,
      cache_write_tokens: 3_000,
      cache_write_1h_tokens: 1_000,
      output_tokens: 500
    }
    // Dollars per million: input 3, cache read 0.30, cache write 3.75 and for an hour 6, output 15.
    const dollars = (1_000 * 3 + 6_000 * 0.3 + 2_000 * 3.75 + 1_000 * 6 + 500 * 15) / 1e6
    expect(dollars).toBeCloseTo(0.0258, 12)
    expect(cost(usage, at)).toEqual({
      nanoDollars: 25_800_000,
      price: "anthropic/claude-sonnet-4-5",
      isExact: true,
      unpricedParts: []
    })
  })

  it("counts reasoning as output", () => {
    const usage = {
      ...nothing,
      provider: "openai",
      model: "o4-mini",
      input_tokens: 1_000,
      output_tokens: 2_000,
      reasoning_tokens: 1_500
    }
    // Dollars per million: input 1.10, output 4.40.
    expect(cost(usage, at)).toEqual({
      nanoDollars: 1_000 * 1_100 + 2_000 * 4_400,
      price: "openai/o4-mini",
      isExact: true,
      unpricedParts: []
    })
  })

  it("is that of the higher tier for the whole of a call with a long input", () => {
    const usage = { ...nothing, provider: "google", model: "gemini-2.5-pro", output_tokens: 1_000 }
    const costOf = (tokens: number) => cost({ ...usage, input_tokens: tokens }, at)
    // Dollars per million: input 1.25 and output 10; above 200,000 tokens of input 2.50 and 15.
    expect(costOf(200_000)).toMatchObject({ nanoDollars: 200_000 * 1_250 + 1_000 * 10_000 })
    expect(costOf(200_001)).toMatchObject({ nanoDollars: 200_001 * 2_500 + 1_000 * 15_000 })
  })

  it("is that of the model that answered, and says that an alias is not the very model", () => {
    const usage = {
      ...nothing,
      provider: "openai",
      model: "gpt-4o",
      response_model: "gpt-4o-2024-08-06",
      input_tokens: 1_000,
      cache_read_tokens: 400,
      output_tokens: 100
    }
    // Dollars per million: input 2.50, cached input 1.25, output 10.
    expect(cost(usage, at)).toEqual({
      nanoDollars: 600 * 2_500 + 400 * 1_250 + 100 * 10_000,
      price: "openai/gpt-4o",
      isExact: false,
      unpricedParts: []
    })
    expect(cost({ ...usage, response_model: null }, at)).toMatchObject({ price: "openai/gpt-4o", isExact: true })
  })

  it("is unknown for a tier that the list has no price for", () => {
    const usage = { ...nothing, provider: "openai", model: "gpt-4o", input_tokens: 1, output_tokens: 1 }
    for (const service_tier of ["batch", "flex", "priority", "scale"]) {
      expect(cost({ ...usage, service_tier }, at)).toEqual({ unpriced: "service-tier" })
    }
    for (const service_tier of ["default", "standard", "auto", "on_demand", "STANDARD"]) {
      expect(cost({ ...usage, service_tier }, at)).toHaveProperty("nanoDollars")
    }
  })

  it("is unknown where the model is, or where no tokens were counted", () => {
    const usage = { ...nothing, input_tokens: 1, output_tokens: 1 }
    expect(cost(usage, at)).toEqual({ unpriced: "no-model" })
    expect(cost({ ...usage, model: "no-such-model" }, at)).toEqual({ unpriced: "unknown-model" })
    expect(cost({ ...usage, model: "x".repeat(256) }, at)).toEqual({ unpriced: "unknown-model" })
    expect(cost({ ...usage, model: "gpt-4o", output_tokens: null }, at)).toEqual({ unpriced: "no-usage" })
  })

  it("is unknown where the counts contradict each other", () => {
    const usage = { ...nothing, model: "gpt-4o", input_tokens: 10, output_tokens: 1, cache_read_tokens: 11 }
    expect(cost(usage, at)).toEqual({ unpriced: "usage-invalid" })
    expect(cost({ ...usage, cache_read_tokens: 10 }, at)).toHaveProperty("nanoDollars")
  })

  it("finds a model of another provider, and says so", () => {
    const usage = { ...nothing, provider: "openai", model: "claude-sonnet-4-5", input_tokens: 1, output_tokens: 0 }
    expect(cost(usage, at)).toEqual({
      nanoDollars: 3_000,
      price: "anthropic/claude-sonnet-4-5",
      isExact: false,
      unpricedParts: []
    })
  })

  it.each([
    ["openai", "openai/gpt-4o", "openai/gpt-4o"],
    ["anthropic", "anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"],
    ["x-ai", "xai/grok-4", "x-ai/grok-4-0709"],
    ["google", "google/gemini-2.5-flash", "google/gemini-2.5-flash"]
  ])(
    "finds the model of %s behind a router's name %s, and says that it is not the very one",
    (provider, model, price) => {
      const usage = { ...nothing, provider, model, input_tokens: 1, output_tokens: 1 }
      expect(cost(usage, at)).toMatchObject({ price, isExact: false })
    }
  )

  it("follows a price that changes with the day", () => {
    const usage = { ...nothing, provider: "openai", model: "o3", input_tokens: 1_000_000, output_tokens: 0 }
    const onDay = (day: string) => cost(usage, new Date(day))
    // The input of o3 became cheaper on 2025-06-10: 10 dollars per million before, 2 since then.
    expect(onDay("2025-06-09T23:59:59Z")).toMatchObject({ nanoDollars: 10e9 })
    expect(onDay("2025-06-10T00:00:00Z")).toMatchObject({ nanoDollars: 2e9 })
  })

  it("is what the package of the list calculates, for every count and model", () => {
    const providers = [
      "anthropic",
      "openai",
      "google",
      "azure",
      "groq",
      "mistral",
      "deepseek",
      "x-ai",
      "perplexity",
      "aws"
    ]
    const models = providers.flatMap((provider) =>
      (findProvider({ providerId: provider })?.models ?? []).map(({ id }) => ({ provider, model: id }))
    )
    const part = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true }))
    const counts = fc.record({
      input: fc.integer({ min: 0, max: 400_000 }),
      output: fc.integer({ min: 0, max: 100_000 }),
      parts: fc.tuple(part, part, part, part, part)
    })
    const day = fc.date({ min: new Date("2024-01-01"), max: new Date("2027-01-01"), noInvalidDate: true })
    let compared = 0
    fc.assert(
      fc.property(fc.constantFrom(...models), counts, day, (name, { input, output, parts }, time) => {
        const [read, write, hour, audio, image] = parts
        const usage = {
          ...nothing,
          ...name,
          input_tokens: input,
          output_tokens: output,
          cache_read_tokens: Math.floor(input * read),
          cache_write_tokens: Math.floor((input - Math.floor(input * read)) * write),
          output_audio_tokens: Math.floor(output * audio * 0.5),
          output_image_tokens: Math.floor(output * image * 0.5)
        }
        const cache_write_1h_tokens = Math.floor(usage.cache_write_tokens * hour)
        const found = cost({ ...usage, cache_write_1h_tokens }, time)
        const expected = calcPrice(
          {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            cache_write_1h_tokens,
            output_audio_tokens: usage.output_audio_tokens,
            output_image_tokens: usage.output_image_tokens
          },
          name.model,
          { providerId: name.provider, timestamp: time }
        )
        // Some ids of the list do not match their own pattern.
        if (expected === null) return
        expect(found).toMatchObject({ price: `${expected.provider.id}/${expected.model.id}` })
        // The package takes what has no price for what it is a part of.
        if ((found as PriceList.Priced).unpricedParts.length > 0) return
        compared += 1
        expect(Math.abs((found as { nanoDollars: number }).nanoDollars - expected.total_price * 1e9)).toBeLessThan(1)
      }),
      { numRuns: 800 }
    )
    expect(compared).toBeGreaterThan(200)
  })
})

describe("prices of input", () => {
  const sonnet = { provider: "anthropic", model: "claude-sonnet-4-5", response_model: null, input_tokens: 1_000 }
  const price = "anthropic/claude-sonnet-4-5"

  it("are those of the call's tier", () => {
    expect(inputPrices({ ...sonnet, price }, at)).toEqual({ input: 3, cacheRead: 0.3, cacheWrite: 3.75 })
    const long = { ...sonnet, price, input_tokens: 300_000 }
    expect(inputPrices(long, at)).toEqual({ input: 6, cacheRead: 0.6, cacheWrite: 7.5 })
  })

  it("are not known of a call that has another price, or whose input was not counted", () => {
    for (const other of ["own:claude-sonnet-4-5", `${price}, anthropic/claude-opus-4-7`]) {
      expect(inputPrices({ ...sonnet, price: other }, at)).toBe(null)
    }
    expect(inputPrices({ ...sonnet, price, input_tokens: null }, at)).toBe(null)
    expect(inputPrices({ ...sonnet, price, model: "a-model-of-nobody" }, at)).toBe(null)
  })

  it("have none of cache reads where the list has none", () => {
    const own = PriceList.make(
      PriceFile.parse('{"date":"2026-11-01","prices":[{"model":"mine","input_mtok":2,"output_mtok":3}]}')
    )
    const mine = { ...sonnet, model: "mine", price: "own:mine" }
    expect(own.inputPrices(mine, at)).toEqual({ input: 2, cacheRead: null, cacheWrite: 2 })
  })
})

describe("the kept list", () => {
  it("is of the version that its day belongs to", () => {
    const manifest = new URL("../package.json", import.meta.url)
    const { dependencies } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies: Record<string, string> }
    expect([dependencies["@pydantic/genai-prices"], date]).toEqual(["0.1.8", "2026-09-23"])
  })
})

describe("prices of one's own", () => {
  const own = PriceList.make(
    PriceFile.parse(
      JSON.stringify({
        date: "2026-11-01",
        prices: [
          { model: "my-model", input_mtok: 2, output_mtok: 4 },
          { provider: "azure", model: "GPT-4o*", input_mtok: 1, cache_read_mtok: 0.5, output_mtok: 8 }
        ]
      })
    )
  )
  const usage = { ...nothing, input_tokens: 100, output_tokens: 10, cache_read_tokens: 40 }

  it("come before the kept list", () => {
    expect(own.cost({ ...usage, model: "My-Model" }, at)).toEqual({
      nanoDollars: 100 * 2_000 + 10 * 4_000,
      price: "own:my-model",
      isExact: true,
      unpricedParts: []
    })
    expect(own.cost({ ...usage, provider: "azure", model: "gpt-4o-2024-08-06" }, at)).toEqual({
      nanoDollars: 60 * 1_000 + 40 * 500 + 10 * 8_000,
      price: "own:azure/gpt-4o*",
      isExact: false,
      unpricedParts: []
    })
    expect(own.cost({ ...usage, provider: "openai", model: "gpt-4o" }, at)).toMatchObject({ price: "openai/gpt-4o" })
  })

  it.each([
    ["openrouter", "anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", "own:claude-sonnet*"],
    ["aws", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929", "own:claude-sonnet*"],
    ["openai", "gpt-4o", "gpt-4o-2024-08-06", "own:gpt-4o"],
    ["openai", "gpt-4o-2024-08-06", "gpt-4o", "own:gpt-4o"]
  ])("come before it at %s for %s, which answered as %s", (provider, model, response_model, price) => {
    const text = JSON.stringify({
      date: "2026-11-01",
      prices: ["claude-sonnet*", "gpt-4o"].map((name) => ({ model: name, input_mtok: 1, output_mtok: 2 }))
    })
    const cost = PriceList.make(PriceFile.parse(text)).cost({ ...usage, provider, model, response_model }, at)
    expect(cost).toMatchObject({ price })
  })

  it("show their day", () => {
    expect(own.date).toBe("2026-11-01 (own), 2026-09-23")
  })
})
