/** Counts of tokens under every name, and in every format. */
import { type Api, formats } from "@tachograph/formats"
import { describe, expect, it } from "vitest"

const apis = Object.keys(formats).filter((api) => api !== "aisdk" && api !== "provider2-beta-messages") as Array<Api>

const keyOf = (api: Api) => (api === "provider3-models" ? "usageMetadata" : "usage")

/** Input, output, cache reads, cache writes and reasoning. */
const tokensOf = (api: Api, output: unknown) => {
  const facts = formats[api].facts({}, output)
  const { input_tokens: input, output_tokens: answered } = facts
  return [input, answered, facts.cache_read_tokens, facts.cache_write_tokens, facts.reasoning_tokens]
}

const counted = (api: Api, usage: object) => tokensOf(api, { [keyOf(api)]: usage })

const hourOf = (api: Api, output: unknown) => formats[api].billing({}, output).cache_write_1h_tokens

describe("a total", () => {
  it.each(apis)("says in %s what came out beside the output", (api) => {
    const usages = [
      { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
      { promptTokenCount: 20, candidatesTokenCount: 198, totalTokenCount: 623 },
      { total_input_tokens: 20, total_output_tokens: 198, total_tokens: 623 },
      { input_tokens: 20, total_tokens: 623 }
    ]
    for (const usage of usages) expect(counted(api, usage)).toEqual([20, 603, null, null, null])
  })

  it.each(apis)("says in %s whether the cache is within the input", (api) => {
    const cache = { cache_read_input_tokens: 50, cache_creation_input_tokens: 30 }
    for (const [input, output] of [
      ["prompt_tokens", "completion_tokens"],
      ["input_tokens", "output_tokens"]
    ]) {
      const usage = { [input!]: 100, [output!]: 40, ...cache }
      expect(counted(api, { ...usage, total_tokens: 140 })).toEqual([100, 40, 50, 30, null])
      expect(counted(api, { ...usage, total_tokens: 220 })).toEqual([180, 40, 50, 30, null])
      // One of both only: some gateways count so.
      expect(counted(api, { ...usage, total_tokens: 190 })).toEqual([150, 40, 50, 30, null])
      expect(counted(api, { ...usage, total_tokens: 170 })).toEqual([130, 40, 50, 30, null])
    }
  })

  it.each(apis)("says in %s whether the reasoning is within the output", (api) => {
    const usages = [
      { prompt_tokens: 20, completion_tokens: 90, completion_tokens_details: { reasoning_tokens: 60 } },
      { input_tokens: 20, output_tokens: 90, reasoning_tokens: 60 },
      { promptTokenCount: 20, candidatesTokenCount: 90, thoughtsTokenCount: 60 }
    ]
    for (const usage of usages) {
      expect(counted(api, { ...usage, total_tokens: 110 })).toEqual([20, 90, null, null, 60])
      expect(counted(api, { ...usage, total_tokens: 170 })).toEqual([20, 150, null, null, 60])
    }
  })

  it("is left aside where it contradicts the counts, or what it has beyond them may be cache", () => {
    const chat = "provider1-chat-completions"
    expect(counted(chat, { prompt_tokens: 20, completion_tokens: 30, total_tokens: 7 })).toEqual([
      20,
      30,
      null,
      null,
      null
    ])
    expect(
      counted("provider2-messages", {
        input_tokens: 3,
        output_tokens: 5,
        total_tokens: 99,
        cache_read_input_tokens: 50
      })
    ).toEqual([53, 5, 50, null, null])
  })

  it("tells of the AI SDK's counts, first the provider's own", () => {
    const usage = {
      inputTokens: 20,
      outputTokens: 198,
      outputTokenDetails: { reasoningTokens: 405 },
      totalTokens: 218,
      raw: { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 }
    }
    expect(tokensOf("aisdk", { usage })).toEqual([20, 603, null, null, 405])
    const { outputTokenDetails: _, ...unnamed } = usage
    expect(tokensOf("aisdk", { usage: unnamed })).toEqual([20, 603, null, null, null])
    const version4 = { promptTokens: 20, completionTokens: 198, totalTokens: 623 }
    expect(tokensOf("aisdk", { usage: version4 })).toEqual([20, 603, null, null, null])
    // What the SDK did not fill in.
    expect(tokensOf("aisdk", { usage: { inputTokens: 0, outputTokens: 0, raw: usage.raw } })).toEqual([
      20,
      603,
      null,
      null,
      null
    ])
  })
})

describe("a part", () => {
  it.each(apis)("is never above its whole in %s", (api) => {
    expect(counted(api, { prompt_tokens: 100, completion_tokens: 9, cached_tokens: 5000 })).toEqual([
      5100,
      9,
      5000,
      null,
      null
    ])
    expect(counted(api, { prompt_tokens: 9, completion_tokens: 9, reasoning_tokens: 50 })).toEqual([
      9,
      59,
      null,
      null,
      50
    ])
    const both = { cache_read_input_tokens: 80, cache_creation_input_tokens: 50 }
    expect(counted(api, { input_tokens: 100, output_tokens: 9, ...both })).toEqual([230, 9, 80, 50, null])
    const hour = { cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 70 } }
    expect(counted(api, { prompt_tokens: 100, completion_tokens: 9, cache_creation_input_tokens: 0, ...hour })[3]).toBe(
      71
    )
  })

  it("is nothing where it is no count, and its sum is not known", () => {
    const usage = { output_tokens: 9, cache_read_input_tokens: "many" }
    expect(counted("provider2-messages", { input_tokens: 3, ...usage })).toEqual([null, 9, null, null, null])
    expect(counted("provider1-chat-completions", { prompt_tokens: 3, ...usage })).toEqual([3, 9, null, null, null])
  })
})

describe("writes to a cache that are kept for an hour", () => {
  const usages: ReadonlyArray<readonly [of: string, usage: object]> = [
    ["Anthropic", { cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 7 } }],
    [
      "LiteLLM",
      {
        prompt_tokens_details: {
          cache_creation_tokens: 9,
          cache_creation_token_details: { ephemeral_1h_input_tokens: 7 }
        }
      }
    ],
    [
      "LiteLLM's responses",
      {
        input_tokens_details: {
          cache_creation_tokens: 9,
          cache_creation_token_details: { ephemeral_1h_input_tokens: 7 }
        }
      }
    ],
    [
      "DashScope",
      { prompt_tokens_details: { cache_creation_input_tokens: 9, cache_creation: { ephemeral_1h_input_tokens: 7 } } }
    ],
    ["new-api", { cache_creation_input_tokens: 9, claude_cache_creation_1_h_tokens: 7 }],
    ["Converse, as it is rebuilt", { prompt_tokens_details: { cache_write_tokens: 9, cache_write_1h_tokens: 7 } }],
    [
      "Bedrock",
      {
        cacheWriteInputTokens: 9,
        cacheDetails: [
          { ttl: "5m", inputTokens: 2 },
          { ttl: "1h", inputTokens: 7 }
        ]
      }
    ]
  ]

  it.each(usages)("are those of %s in every format", (_, usage) => {
    for (const api of apis) {
      const output = { [keyOf(api)]: { prompt_tokens: 20, completion_tokens: 3, ...usage } }
      expect(tokensOf(api, output)).toEqual([20, 3, null, 9, null])
      expect(hourOf(api, output)).toBe(7)
    }
    const step = { usage: { inputTokens: 20, inputTokenDetails: { cacheWriteTokens: 9 }, outputTokens: 3, raw: usage } }
    expect(hourOf("aisdk", step)).toBe(7)
    expect(hourOf("aisdk", { steps: [step, step] })).toBe(14)
    expect(hourOf("aisdk", { usage: { inputTokens: 20, outputTokens: 3 }, providerMetadata: { any: { usage } } })).toBe(
      7
    )
  })
})

describe("a dialect", () => {
  const dialects: ReadonlyArray<readonly [of: string, usage: object]> = [
    [
      "OpenAI",
      { prompt_tokens: 90, completion_tokens: 8, prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 6 } }
    ],
    ["DeepSeek", { prompt_tokens: 90, completion_tokens: 8, prompt_cache_hit_tokens: 40, cache_write_tokens: 6 }],
    [
      "Anthropic in chat completions",
      {
        input_tokens: 44,
        output_tokens: 8,
        total_tokens: 98,
        cache_read_input_tokens: 40,
        cache_creation_input_tokens: 6
      }
    ],
    [
      "Converse",
      { inputTokens: 44, outputTokens: 8, totalTokens: 98, cacheReadInputTokens: 40, cacheWriteInputTokens: 6 }
    ],
    [
      "Vertex",
      { prompt_token_count: 90, candidates_token_count: 8, cached_content_token_count: 40, cache_write_tokens: 6 }
    ],
    [
      "interactions",
      { total_input_tokens: 90, total_output_tokens: 8, total_cached_tokens: 40, cache_creation_tokens: 6 }
    ],
    [
      "OpenRouter's SDK",
      { promptTokens: 90, completionTokens: 8, promptTokensDetails: { cachedTokens: 40, cacheWriteTokens: 6 } }
    ],
    [
      "LangChain",
      {
        input_tokens: 90,
        output_tokens: 8,
        total_tokens: 98,
        input_token_details: { cache_read: 40, cache_creation: 6 }
      }
    ],
    // Zeros and nulls were not filled in.
    [
      "new-api",
      {
        prompt_tokens: 0,
        completion_tokens: 0,
        input_tokens: 90,
        output_tokens: 8,
        total_tokens: 98,
        prompt_tokens_details: { cached_tokens: 0 },
        cached_tokens: 40,
        input_tokens_details: null,
        cache_creation_input_tokens: 6
      }
    ]
  ]

  it.each(dialects)("of %s is read in every format", (_, usage) => {
    for (const api of apis) expect(counted(api, usage)).toEqual([90, 8, 40, 6, null])
  })

  it("means the cache beside the input where all its names are Anthropic's, but for the names of the responses", () => {
    const usage = { input_tokens: 100, output_tokens: 8, cache_read_input_tokens: 40 }
    for (const api of apis) expect(counted(api, usage)[0]).toBe(api === "provider1-responses" ? 100 : 140)
  })

  it("of modalities is read in every format", () => {
    const usages = [
      {
        prompt_tokens_details: { audio_tokens: 5, cached_tokens_details: { audio_tokens: 2 } },
        completion_tokens_details: { audio_tokens: 3, image_tokens: 4 }
      },
      {
        promptTokensDetails: [
          { modality: "AUDIO", tokenCount: 4 },
          { modality: "TEXT", tokenCount: 7 }
        ],
        toolUsePromptTokensDetails: [{ modality: "AUDIO", tokenCount: 1 }],
        cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 2 }],
        candidatesTokensDetails: [
          { modality: "AUDIO", tokenCount: 3 },
          { modality: "IMAGE", tokenCount: 4 }
        ]
      },
      {
        input_tokens_by_modality: [{ modality: "audio", tokens: 5 }],
        cached_tokens_by_modality: [{ modality: "audio", tokens: 2 }],
        output_tokens_by_modality: [
          { modality: "audio", tokens: 3 },
          { modality: "image", tokens: 4 }
        ]
      }
    ]
    for (const usage of usages) {
      for (const api of apis) {
        expect(formats[api].billing({}, { [keyOf(api)]: usage })).toMatchObject({
          input_audio_tokens: 5,
          cache_audio_read_tokens: 2,
          output_audio_tokens: 3,
          output_image_tokens: 4
        })
      }
    }
  })
})

describe("a usage", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 4 }
  const places: ReadonlyArray<readonly [where: string, output: object]> = [
    ["beside the answer", { usage }],
    ["in a choice", { choices: [{ index: 0, usage }] }],
    ["in the second choice", { choices: [{ index: 0 }, { index: 1, usage }] }],
    ["beside Groq's own", { x_groq: { usage } }],
    ["under Google's name", { usageMetadata: usage }],
    [
      "where another one counts nothing",
      { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, x_groq: { usage } }
    ],
    ["where another one is null", { usage: null, choices: [{ usage: null }, { usage }] }]
  ]

  it.each(places)("is found %s in every format", (_, output) => {
    for (const api of apis) expect(tokensOf(api, output)).toEqual([10, 5, 4, null, null])
  })

  it("of zeros is one, if there is no other", () => {
    expect(
      tokensOf("provider1-chat-completions", { usage: { prompt_tokens: 0, completion_tokens: 0 } }).slice(0, 2)
    ).toEqual([0, 0])
  })
})
