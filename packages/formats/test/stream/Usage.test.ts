/** Counts that a stream tells again, in every format. */
import { type Api, formats, type JsonObject } from "@tachograph/formats"
import { describe, expect, it } from "vitest"
import { wireFormats } from "../../src/WireFormats.ts"
import { accumulator as aiSdk } from "../../src/aisdk/Stream.ts"
import { accumulate, toText } from "../Streams.ts"

type Wired = Exclude<Api, "aisdk">

const tokensOf = (api: Api, output: unknown) => {
  const { input_tokens: input, output_tokens: answered, cache_read_tokens: read } = formats[api].facts({}, output)
  return [input, answered, read]
}

const tokensIn = (api: Wired, ...payloads: ReadonlyArray<object>) =>
  tokensOf(api, accumulate(wireFormats[api].accumulator, toText(payloads)).output)

/** Payloads that tell usages one after the other, by the place where the format has them. */
const tellings: ReadonlyArray<
  readonly [where: string, api: Wired, tell: (...usages: ReadonlyArray<object>) => ReadonlyArray<object>]
> = [
  ["chat completions", "provider1-chat-completions", (...usages) => usages.map((usage) => ({ choices: [], usage }))],
  [
    "choices",
    "provider1-chat-completions",
    (...usages) => usages.map((usage) => ({ choices: [{ index: 0, delta: { content: "a" }, usage }] }))
  ],
  ["Groq's", "provider1-chat-completions", (...usages) => usages.map((usage) => ({ choices: [], x_groq: { usage } }))],
  [
    "responses",
    "provider1-responses",
    (...usages) => usages.map((usage) => ({ type: "response.completed", response: { object: "response", usage } }))
  ],
  [
    "messages",
    "provider2-messages",
    (first, ...usages) => [
      { type: "message_start", message: { type: "message", id: "msg_1", content: [], usage: first } },
      ...usages.map((usage) => ({ type: "message_delta", delta: {}, usage }))
    ]
  ],
  [
    "interactions",
    "provider3-interactions",
    (...usages) => usages.map((usage) => ({ event_type: "interaction.created", interaction: { usage } }))
  ],
  [
    "interactions that are over",
    "provider3-interactions",
    (...usages) =>
      usages.map((usage, index) => ({
        event_type: index === usages.length - 1 ? "interaction.completed" : "interaction.created",
        interaction: { id: "1", usage }
      }))
  ]
]

describe.each(tellings)("a later count in %s", (_, api, tell) => {
  const told = { prompt_tokens: 100, completion_tokens: 1, cached_tokens: 40 }

  it("is not erased by a zero, by null or by nothing", () => {
    for (const nothing of [0, null]) {
      const later = { prompt_tokens: nothing, completion_tokens: 9, cached_tokens: nothing }
      expect(tokensIn(api, ...tell(told, later))).toEqual([100, 9, 40])
    }
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, cached_tokens: 0 }
    expect(tokensIn(api, ...tell({ ...told, completion_tokens: 9 }, zeros))).toEqual([100, 9, 40])
    expect(tokensIn(api, ...tell(told, { completion_tokens: 9 }, {}))).toEqual([100, 9, 40])
  })

  it("replaces an earlier one, also a zero", () => {
    expect(tokensIn(api, ...tell({ prompt_tokens: 0, completion_tokens: 0 }, told))).toEqual([100, 1, 40])
    expect(tokensIn(api, ...tell(told, { prompt_tokens: 90, completion_tokens: 30 }))).toEqual([90, 30, 40])
  })

  it("is told apart in its details", () => {
    const detailed = (cached: number) => ({
      prompt_tokens: 100,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: cached }
    })
    expect(tokensIn(api, ...tell(detailed(40), detailed(0)))).toEqual([100, 9, 40])
    expect(tokensIn(api, ...tell(detailed(0), detailed(40)))).toEqual([100, 9, 40])
  })
})

describe("a later count", () => {
  it("of Gemini's does not erase one, though what it leaves out is nothing", () => {
    const tell = (...all: ReadonlyArray<object>) =>
      tokensIn("provider3-models", ...all.map((usageMetadata) => ({ candidates: [], usageMetadata })))
    const told = { promptTokenCount: 100, candidatesTokenCount: 9, cachedContentTokenCount: 40 }
    const zeros = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 }
    expect(tell(told, zeros)).toEqual([100, 9, 40])
    expect(tell(told, { ...told, candidatesTokenCount: 0 })).toEqual([100, 9, 40])
    expect(tell(told, { promptTokenCount: null, trafficType: "ON_DEMAND" })).toEqual([100, 9, 40])
    expect(tell({ ...told, thoughtsTokenCount: 30 }, told)).toEqual([100, 9, 40])
  })

  it("of the AI SDK does not erase one", () => {
    const usage = { inputTokens: 100, outputTokens: 9, cachedInputTokens: 40 }
    const stream = aiSdk()
    stream.push({ type: "text-delta", id: "1", delta: "a" })
    for (const told of [usage, { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 }])
      stream.push({ type: "finish", finishReason: "stop", usage: told })
    expect(tokensOf("aisdk", stream.end().output)).toEqual([100, 9, 40])
  })

  it("of writes for an hour does not erase those of the start", () => {
    const start = { input_tokens: 3, cache_creation_input_tokens: 9, cache_creation: { ephemeral_1h_input_tokens: 9 } }
    const end = { output_tokens: 5, cache_creation_input_tokens: 0, cache_creation: { ephemeral_1h_input_tokens: 0 } }
    const { output } = accumulate(
      wireFormats["provider2-messages"].accumulator,
      toText([
        { type: "message_start", message: { id: "msg_1", content: [], usage: start } },
        { type: "message_delta", delta: {}, usage: end }
      ])
    )
    expect((output as JsonObject)["usage"]).toEqual({ ...start, output_tokens: 5 })
  })
})
