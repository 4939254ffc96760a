/** Who answered a call in a format of OpenAI's: many providers speak it, and most leave marks in what they answer. */
import type { Json } from "./Format.ts"
import { get, text } from "./json/Read.ts"

const has = (value: Json | undefined): boolean => value !== undefined && value !== null

/** Marks that only one provider leaves, by its name in price lists. */
const marks: ReadonlyArray<readonly [provider: string, isMarked: (output: unknown) => boolean]> = [
  ["openrouter", (output) => text(get(output, "id"))?.startsWith("gen-") === true],
  ["openrouter", (output) => has(get(output, "choices", 0, "native_finish_reason"))],
  ["azure", (output) => has(get(output, "prompt_filter_results")) || has(get(output, "content_filters"))],
  ["azure", (output) => has(get(output, "choices", 0, "content_filter_results"))],
  ["groq", (output) => has(get(output, "x_groq")) || has(get(output, "usage", "queue_time"))],
  ["deepseek", (output) => has(get(output, "usage", "prompt_cache_hit_tokens"))],
  ["x-ai", (output) => has(get(output, "usage", "cost_in_usd_ticks")) || has(get(output, "usage", "num_sources_used"))],
  ["perplexity", (output) => has(get(output, "usage", "search_context_size")) || has(get(output, "search_results"))],
  ["together", (output) => Array.isArray(get(output, "prompt")) && has(get(output, "choices", 0, "seed"))]
]

/** Names of models that one provider gives to its own models and serves itself. */
const models: ReadonlyArray<readonly [provider: string, name: RegExp]> = [
  ["anthropic", /^claude-/],
  ["aws", /^(?:openai|(?:[a-z-]+\.)?anthropic)\./],
  ["deepseek", /^deepseek-/],
  ["google", /^gemini-/],
  ["mistral", /^(?:open-)?(?:mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)-/],
  ["moonshotai", /^(?:kimi|moonshot)-/],
  ["perplexity", /^sonar(?:-|$)/],
  ["x-ai", /^grok-/],
  ["zai", /^glm-/]
]

/** The provider of a model that only one serves under its name. */
export const providerOfModel = (inputs: unknown, output: unknown): string | undefined => {
  const model = text(get(output, "model")) ?? text(get(inputs, "model")) ?? ""
  return models.find(([, name]) => name.test(model))?.[0]
}

/** The provider by its marks, else by the model's name, else OpenAI. */
export const providerOf = (inputs: unknown, output: unknown): string => {
  const marked = marks.find(([, isMarked]) => isMarked(output))
  return marked?.[0] ?? providerOfModel(inputs, output) ?? "openai"
}
