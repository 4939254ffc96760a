/** The tokens that a span tells. What the same name counts depends on who made the span. */
import type { Json, Tokens } from "../Format.ts"
import { count, get, isObject } from "../json/Read.ts"
import { type Counts, countsOf } from "../usage/Counts.ts"
import { tokensOf } from "../usage/Usage.ts"
import { scopeOf, valueAt } from "./Attributes.ts"

/** Names of counts: the first that is there counts. */
const names: Readonly<Record<"input" | "output" | "read" | "created" | "reasoning", ReadonlyArray<string>>> = {
  input: [
    ...["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"],
    ...["input_tokens", "input_token_count"]
  ],
  output: [
    ...["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"],
    ...["output_tokens", "output_token_count"]
  ],
  read: [
    ...["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"],
    ...["gen_ai.usage.input_tokens.cached", "llm.token_count.prompt_details.cache_read"],
    ...["cache_read_tokens", "cached_token_count", "cached_content_token_count"]
  ],
  created: [
    ...["gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"],
    ...["gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.input_tokens.cache_write"],
    ...["llm.token_count.prompt_details.cache_write", "cache_creation_tokens"]
  ],
  reasoning: [
    ...["gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"],
    ...["gen_ai.usage.output_tokens.reasoning", "llm.token_count.completion_details.reasoning"],
    ...["llm.usage.reasoning_tokens", "ai.usage.outputTokenDetails.reasoningTokens", "reasoning_token_count"]
  ]
}

/** Scopes whose input is without what was read from a cache or written to one. That of all others is all that went in. */
const freshScopes = /^(?:@traceloop\/instrumentation-anthropic|com\.anthropic\.claude_code\.events)$/

/** Emitters that count thoughts beside the output. */
const thoughtsBeside = ["thoughts_token_count"]

/** Codex writes some of its counts as texts. */
const countIn = (value: Json | undefined): number | null =>
  count(typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value)

const firstCount = (output: unknown, keys: ReadonlyArray<string>): number | undefined =>
  keys.map((key) => countIn(get(output, key))).find((value) => value !== null) ?? undefined

const sumWhere = (details: Json | undefined, pattern: RegExp): number | undefined => {
  const found = Object.entries(isObject(details) ? details : {}).filter(([key]) => pattern.test(key))
  return found.length === 0 ? undefined : found.reduce((sum, [, value]) => sum + (count(value) ?? 0), 0)
}

/** Langfuse takes all parts out of their wholes: what was read from a cache, and also what was thought. */
const langfuseCounts = (output: unknown): Counts => {
  const details = valueAt(output, "langfuse.observation.usage_details")
  return {
    input: sumWhere(details, /^(?:input|cache_)/),
    output: sumWhere(details, /^output/),
    cached: sumWhere(details, /cache_read|cached/),
    written: sumWhere(details, /cache_(?:creation|write)/),
    reasoning: sumWhere(details, /reasoning/)
  }
}

/** LangChain counts alike for all providers. */
const langChainCounts = (output: unknown): Counts => {
  const message = get(valueAt(output, "output.value"), "generations", 0, 0, "message", "kwargs")
  return countsOf(get(message, "usage_metadata") ?? get(message, "response_metadata", "usage"))
}

const isSaid = ({ input, output, prompt }: Counts): boolean => (input ?? prompt ?? output) !== undefined

export const tokensIn = (output: unknown): Tokens => {
  const others = [langfuseCounts(output), langChainCounts(output)].find(isSaid)
  if (others !== undefined) return tokensOf(others, "input")
  const countOf = (name: keyof typeof names) => firstCount(output, names[name])
  const counts: Counts = {
    input: countOf("input"),
    output: countOf("output"),
    read: countOf("read"),
    created: countOf("created"),
    reasoning: countOf("reasoning"),
    thoughts: firstCount(output, thoughtsBeside)
  }
  return tokensOf(counts, freshScopes.test(scopeOf(output)) ? "fresh" : "input")
}

/** What is kept in a cache for an hour. */
export const longCacheWrites = (output: unknown): number | null =>
  firstCount(output, ["anthropic.usage.cache_creation.ephemeral_1h_input_tokens", "cache_creation_1h_tokens"]) ?? null
