import { type Api, formats } from "@tachograph/formats"
import { describe, expect, it } from "vitest"

const statedBy = (api: Api, output: unknown) => formats[api].billing({}, output).stated_cost

/** Of a key of one's own, which pays the provider beside OpenRouter. */
const byok = (cost_details: unknown) => ({ cost: 0.001, is_byok: true, cost_details })

describe("the cost that an answer states", () => {
  it.each<[string, unknown, number | null]>([
    ["OpenRouter", { cost: 0.02075 }, 0.02075],
    ["OpenRouter, for nothing", { cost: 0 }, 0],
    [
      "OpenRouter, with the provider's",
      { cost: 0.02, is_byok: false, cost_details: { upstream_inference_cost: 0.02 } },
      0.02
    ],
    ["OpenRouter, with a key of one's own", byok({ upstream_inference_cost: 0.25 }), 0.251],
    ["OpenRouter, with a key of one's own, without the provider's", byok({ upstream_inference_cost: null }), null],
    ["Perplexity", { cost: { input_tokens_cost: 0.1, total_cost: 0.409393 } }, 0.409393],
    ["xAI", { cost_in_usd_ticks: 37_756_000 }, 0.0037756],
    ["xAI, beside another", { cost_in_usd_ticks: 0, cost: 1 }, 0],
    ["nobody", { cost: null, cost_in_usd_ticks: null }, null],
    ["nobody, with a cost that is none", { cost: -1 }, null],
    ["nobody, with another text", { cost: "free" }, null],
    ["nobody, with no usage", null, null]
  ])("is read in every format with a usage: %s", (_, usage, dollars) => {
    for (const api of ["provider1-chat-completions", "provider1-responses", "provider2-messages"] as const) {
      expect([api, statedBy(api, { usage })]).toEqual([api, dollars])
    }
    expect(statedBy("aisdk", { content: [], usage: { inputTokens: 1, raw: usage } })).toBe(dollars)
  })

  it("is read of Vercel's gateway, unless a key of one's own pays for the call", () => {
    const gateway = (credentialType: string) => ({
      gateway: {
        routing: { attempts: [{ credentialType: "byok" }, { credentialType }] },
        cost: "0.0045405",
        marketCost: "1"
      }
    })
    const outputs = (provider_metadata: unknown) => [
      statedBy("aisdk", { content: [], providerMetadata: provider_metadata }),
      statedBy("provider1-chat-completions", { choices: [{ message: { provider_metadata } }] }),
      statedBy("provider1-responses", { provider_metadata }),
      statedBy("provider2-messages", { provider_metadata })
    ]
    expect(outputs(gateway("system"))).toEqual(Array(4).fill(0.0045405))
    expect(outputs(gateway("byok"))).toEqual(Array(4).fill(null))
    expect(outputs({ gateway: { cost: "" } })).toEqual(Array(4).fill(null))
  })

  it("is what the steps of the AI SDK state together, if each of them does", () => {
    const step = (providerMetadata: object) => ({ content: [], usage: { inputTokens: 1 }, providerMetadata })
    const openrouter = { usage: { cost: 0.25, isByok: true, costDetails: { upstreamInferenceCost: 0.5 } } }
    const steps = [step({ openrouter }), step({ xai: { costInUsdTicks: 5_000_000_000 } })]
    expect(statedBy("aisdk", { steps })).toBe(1.25)
    expect(statedBy("aisdk", { steps: [...steps, step({ perplexity: { cost: { totalCost: 1 } } })] })).toBe(2.25)
    expect(statedBy("aisdk", { steps: [...steps, step({ openai: {} })] })).toBeNull()
  })
})
