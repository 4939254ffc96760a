/** The numbers and characters that stand for words in columns. Those of stores that exist: none may change. */
import { stopReasons, unpricedParts, unpricedReasons } from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import { expect, it } from "vitest"
import * as Series from "../../src/rollup/Series.ts"
import * as KnownWords from "../../src/sql/KnownWords.ts"

it("keeps each word as the number that it has always had", () => {
  expect(ProviderNames.apiCodes).toEqual({
    "provider1-chat-completions": 0,
    "provider1-responses": 1,
    "provider3-models": 2,
    "provider3-interactions": 3,
    "provider2-messages": 4,
    "provider2-beta-messages": 5,
    aisdk: 6
  })
  const inOrder = (codes: Readonly<Record<string, number>>) =>
    Object.entries(codes)
      .map(([word, code]) => `${code} ${word}`)
      .join(", ")
  expect(inOrder(stopReasons)).toBe(
    "0 end, 1 length, 2 tool_calls, 3 refusal, 4 content_filter, 5 pause, 6 error, 7 other"
  )
  expect(inOrder(unpricedReasons)).toBe("0 no-model, 1 no-usage, 2 usage-invalid, 3 unknown-model, 4 service-tier")
  expect(inOrder(unpricedParts)).toBe(
    "0 audio, 1 images, 2 video, 3 cache_write_1h, 4 citations, 5 web_search, 6 file_search, 7 code_interpreter, 8 maps, 9 advisor"
  )
})

it("keeps the number of each series of sums, and their units", () => {
  expect([Series.position, Series.session]).toEqual([0, 1])
  expect(Series.ofTimes).toEqual({
    all: { quarter: 2, hour: 3, sixHours: 4, day: 5, week: 6 },
    names: { quarter: 7, hour: 8, sixHours: 9, day: 10, week: 11 },
    people: { quarter: 12, week: 13 },
    both: { quarter: 12 }
  })
  expect(Series.slotMs).toBe(900_000)
  expect(Series.slotsOf).toEqual({ quarter: 1, hour: 4, sixHours: 24, day: 96, week: 672 })
})

it("keeps known words of providers as the character that each has always had, and others as they are", () => {
  const providers =
    "openai anthropic google azure aws openrouter groq mistral deepseek x-ai together perplexity fireworks cohere cerebras huggingface moonshotai zai"
  expect(providers.split(" ").map(KnownWords.providers.encode).join("")).toBe("ABCDEFGHIJKLMNOPQR")
  const reasons =
    "stop end_turn tool_calls tool_use STOP completed length max_tokens MAX_TOKENS incomplete max_output_tokens tool-calls requires_action stop_sequence content_filter content-filter refusal pause_turn SAFETY function_call failed error"
  expect(reasons.split(" ").map(KnownWords.stopReasons.encode).join("")).toBe("ABCDEFGHIJKLMNOPQRSTUV")
  for (const { decode, encode } of [KnownWords.providers, KnownWords.stopReasons]) {
    for (const word of ["stop", "openai", "A", "=", "", "toString", "__proto__"])
      expect(decode(encode(word))).toBe(word)
  }
  expect(() => KnownWords.providers.decode("Z")).toThrow("no known word")
})
