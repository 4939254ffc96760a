/** The tokens of the AI SDK's results, whose shape differs between versions, and between results and providers. */
import type { Json, Tokens } from "../Format.ts"
import { get, isEmpty, isObject, list, rest } from "../json/Read.ts"
import { type Counts, countsOf, isCounting } from "../usage/Counts.ts"
import { sumOf, tokensOf as read } from "../usage/Usage.ts"

/** The steps of a result, or the result itself where it is one step. */
export const stepsOf = (output: unknown): ReadonlyArray<unknown> => {
  const steps = list(get(output, "steps"))
  return steps.length > 0 ? steps : [output]
}

/** What each provider says of a step. */
export const metadataOf = (step: unknown): ReadonlyArray<Json> => {
  const metadata = get(step, "providerMetadata")
  return isObject(metadata) ? Object.values(metadata) : []
}

/** What the provider itself counted, by its own names. */
export const rawUsageOf = (step: unknown): Json | undefined =>
  get(step, "usage", "raw") ??
  metadataOf(step)
    .flatMap((said) => [get(said, "usage"), get(said, "usageMetadata")])
    .find((usage) => isObject(usage) && !isEmpty(usage))

const isDefined = <A>(value: A | undefined): value is A => value !== undefined

export const tokensOfStep = (step: unknown): Tokens => {
  const [usage, raw] = [countsOf(get(step, "usage")), countsOf(rawUsageOf(step))]
  const input = usage.input ?? usage.prompt
  // Without counts of the SDK, there are at least the provider's.
  const isSaid = [input, usage.fresh, usage.output, usage.spoken].some((value) => (value ?? 0) > 0)
  if (!isSaid && isCounting(raw)) return read(raw, "prompt")
  const all = [usage, ...metadataOf(step).map(countsOf), raw]
  // Up to version 5, Anthropic's input is without what was cached.
  const isFresh =
    !isObject(get(step, "usage", "inputTokenDetails")) &&
    !isObject(get(step, "usage", "inputTokens")) &&
    isObject(get(step, "providerMetadata", "anthropic")) &&
    (raw.input ?? input) === input
  const counts: Counts = {
    ...usage,
    input,
    read: all.map(({ cached, read }) => cached ?? read).find(isDefined),
    created: all.map(({ written, created }) => written ?? created).find(isDefined),
    reasoning: all.map(({ reasoning, thoughts }) => reasoning ?? thoughts).find(isDefined)
  }
  return read({ ...counts, cached: undefined, written: undefined }, isFresh ? "fresh" : "input", raw.total)
}

export const isCounted = (tokens: Tokens): boolean => tokens.input_tokens !== null || tokens.output_tokens !== null

export const tokensOf = (output: unknown): Tokens => {
  const steps = stepsOf(output).map(tokensOfStep)
  // Without the usage of each step, there is at least that of all together.
  return steps.every(isCounted)
    ? sumOf(steps)
    : tokensOfStep({ ...rest(output, new Set()), usage: get(output, "totalUsage") ?? get(output, "usage") })
}
