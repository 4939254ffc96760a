/** The tokens of the AI SDK's results, whose shape differs between versions, and between results and providers. */
import type { Json } from "./Format.ts"
import { count, first, get, isObject, list, rest, sum } from "./json/Read.ts"

/** The steps of a result, or the result itself where it is one step. */
export const stepsOf = (output: unknown): ReadonlyArray<unknown> => {
  const steps = list(get(output, "steps"))
  return steps.length > 0 ? steps : [output]
}

export interface Tokens {
  readonly input: number | null
  readonly output: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly reasoning: number | null
}

/** The usage that a provider hands out from version 6 on. */
const nestedTokens = (usage: Json): Tokens => {
  const read = count(get(usage, "inputTokens", "cacheRead"))
  const written = count(get(usage, "inputTokens", "cacheWrite"))
  const fresh = count(get(usage, "inputTokens", "noCache"))
  const [spoken, thought] = [count(get(usage, "outputTokens", "text")), count(get(usage, "outputTokens", "reasoning"))]
  return {
    input: count(get(usage, "inputTokens", "total")) ?? (fresh === null ? null : sum(fresh, read, written)),
    output: count(get(usage, "outputTokens", "total")) ?? sum(spoken, thought),
    cacheRead: read,
    cacheWrite: written,
    reasoning: thought
  }
}

/** The usage of results, and of providers up to version 5. `metadata` is the provider's. */
const flatTokens = (usage: Json | undefined, metadata: Json | undefined): Tokens => {
  const input = first(count(get(usage, "inputTokens")), count(get(usage, "promptTokens")))
  const output = first(count(get(usage, "outputTokens")), count(get(usage, "completionTokens")))
  const reasoning = first(
    count(get(usage, "outputTokenDetails", "reasoningTokens")),
    count(get(usage, "reasoningTokens"))
  )
  const anthropic = get(metadata, "anthropic")
  const raw = get(anthropic, "usage")
  const read = first(
    count(get(usage, "inputTokenDetails", "cacheReadTokens")),
    count(get(usage, "cacheReadTokens")),
    count(get(usage, "cachedInputTokens")),
    count(get(anthropic, "cacheReadInputTokens")),
    count(get(raw, "cache_read_input_tokens")),
    count(get(metadata, "bedrock", "usage", "cacheReadInputTokens"))
  )
  const written = first(
    count(get(usage, "inputTokenDetails", "cacheWriteTokens")),
    count(get(usage, "cacheWriteTokens")),
    count(get(anthropic, "cacheCreationInputTokens")),
    count(get(raw, "cache_creation_input_tokens")),
    count(get(metadata, "bedrock", "usage", "cacheWriteInputTokens"))
  )
  // Up to version 5, Anthropic's input is without what was cached, also on Bedrock, and Gemini's output without what was thought.
  const fresh = count(get(raw, "input_tokens"))
  const total = count(get(usage, "totalTokens"))
  const isAllBeside = total !== null && (read ?? 0) + (written ?? 0) > 0 && total === sum(input, output, read, written)
  const isBeside =
    get(usage, "inputTokenDetails") === undefined &&
    (isAllBeside || (isObject(anthropic) && (fresh ?? input) === input))
  const isThoughtBeside =
    output !== null && (reasoning ?? 0) > 0 && total !== null && total === sum(input, output, reasoning)
  return {
    input: isBeside && input !== null ? sum(input, read, written) : input,
    output: isThoughtBeside ? sum(output, reasoning) : output,
    cacheRead: read,
    cacheWrite: written,
    reasoning
  }
}

export const tokensOfStep = (step: unknown): Tokens => {
  const usage = get(step, "usage")
  return isObject(get(usage, "inputTokens"))
    ? nestedTokens(usage as Json)
    : flatTokens(usage, get(step, "providerMetadata"))
}

export const isCounted = ({ input, output }: Tokens): boolean => input !== null || output !== null

export const tokensOf = (output: unknown): Tokens => {
  const steps = stepsOf(output).map(tokensOfStep)
  // Without the usage of each step, there is at least that of all together.
  const all = steps.every(isCounted)
    ? steps
    : [tokensOfStep({ ...rest(output, new Set()), usage: get(output, "totalUsage") ?? get(output, "usage") })]
  const add = (key: keyof Tokens) => sum(...all.map((tokens) => tokens[key]))
  return {
    input: add("input"),
    output: add("output"),
    cacheRead: add("cacheRead"),
    cacheWrite: add("cacheWrite"),
    reasoning: add("reasoning")
  }
}
