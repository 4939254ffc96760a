/** Who answered a call in a format of OpenAI's: many providers speak it, and most leave marks in what they answer. */
import type { Json } from "./Format.ts"
import { get, text } from "./json/Read.ts"

/** Keys that only one provider has, by its name in price lists. The first mark that is there counts. */
const marks: ReadonlyArray<readonly [provider: string, where: "choice" | "output" | "usage", key: string]> = [
  ["openrouter", "choice", "native_finish_reason"],
  ["azure", "output", "prompt_filter_results"],
  ["azure", "output", "content_filters"],
  ["azure", "choice", "content_filter_results"],
  ["groq", "output", "x_groq"],
  ["groq", "usage", "queue_time"],
  ["deepseek", "usage", "prompt_cache_hit_tokens"],
  ["x-ai", "usage", "cost_in_usd_ticks"],
  ["x-ai", "usage", "num_sources_used"],
  ["perplexity", "usage", "search_context_size"],
  ["perplexity", "output", "search_results"],
  ["together", "choice", "seed"]
]

/** How the names begin of models that one provider gives to its own models and serves itself. */
const models: ReadonlyArray<readonly [provider: string, name: RegExp]> = [
  // Others serve `gpt-oss`.
  ["openai", /^(?:(?:ft:)?(?:gpt-(?!oss)|o\d(?:-|$))|chatgpt-|codex-|computer-use-)/],
  ["anthropic", /^claude-/],
  ["aws", /^(?:openai|(?:[a-z-]+\.)?anthropic)\./],
  ["deepseek", /^deepseek-/],
  ["google", /^gemini-/],
  ["mistral", /^(?:open-)?(?:mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|voxtral)-/],
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

/** The provider by its marks, else by the model's name. */
export const providerOf = (inputs: unknown, output: unknown): string | null => {
  if (text(get(output, "id"))?.startsWith("gen-") === true) return "openrouter"
  const choice = get(output, "choices", 0)
  const places = { output: output as Json, choice, usage: get(output, "usage") }
  for (const [provider, where, key] of marks) if ((get(places[where], key) ?? null) !== null) return provider
  return providerOfModel(inputs, output) ?? null
}
