/** Who answered a call in a format of OpenAI's: many providers speak it, and most leave marks in what they answer. */
import type { Json } from "../Format.ts"
import { get, says, text } from "../json/Read.ts"

const mark = (provider: string, where: "choice" | "output" | "usage", key: string) => ({ provider, where, key })

/** Keys that only one provider has, by its name in price lists. The first mark that is there counts. */
const marks = [
  mark("openrouter", "choice", "native_finish_reason"),
  mark("azure", "output", "prompt_filter_results"),
  mark("azure", "output", "content_filters"),
  mark("azure", "choice", "content_filter_results"),
  mark("groq", "output", "x_groq"),
  mark("groq", "usage", "queue_time"),
  mark("deepseek", "usage", "prompt_cache_hit_tokens"),
  mark("x-ai", "usage", "cost_in_usd_ticks"),
  mark("x-ai", "usage", "num_sources_used"),
  mark("perplexity", "usage", "search_context_size"),
  mark("perplexity", "output", "search_results"),
  mark("together", "choice", "seed")
]

/** How the names begin of models that one provider gives to its own models and serves itself. */
const models: ReadonlyArray<readonly [provider: string, name: RegExp]> = [
  // Others serve `gpt-oss`.
  ["openai", /^(?:(?:ft:)?(?:gpt-(?!oss)|o\d(?:-|$))|chatgpt-|codex-|computer-use-)/],
  ["anthropic", /^claude-/],
  // Bedrock puts the maker before the name, and a region before that; a profile has an ARN.
  [
    "aws",
    /^(?:arn:aws[a-z-]*:bedrock:|(?:[a-z-]+\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot(?:ai)?|nvidia|openai|qwen|writer|zai)\.)/
  ],
  ["google", /^gemini-/],
  ["perplexity", /^sonar(?:-|$)/],
  ["x-ai", /^grok-/],
  // Of models whose weights anybody may serve, the names that only their makers use.
  ["deepseek", /^deepseek-(?:chat|reasoner)$/],
  ["mistral", /^(?:(?:mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|voxtral)-.*-latest|codestral-latest)$/],
  ["mistral", /^open-mi[sx]tral-/],
  ["moonshotai", /^(?:moonshot-v\d|kimi-latest$|kimi-.*-preview$)/]
]

/** Moonshot's is in the choice of a stream. */
const usageOf = (output: unknown): Json | undefined => get(output, "usage") ?? get(output, "choices", 0, "usage")

const idOf = (output: unknown): string => text(get(output, "id")) ?? ""

/** Models whose weights anybody may serve, and what an answer of their maker has that no other has. */
const openModels: ReadonlyArray<readonly [provider: string, name: RegExp, isOfMaker: (output: unknown) => boolean]> = [
  ["deepseek", /^deepseek-/, (output) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(idOf(output))],
  [
    "mistral",
    /^(?:mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|voxtral)-/,
    (output) => /^[\da-f]{32}$/.test(idOf(output))
  ],
  ["moonshotai", /^kimi-/, (output) => typeof get(usageOf(output), "cached_tokens") === "number"],
  // The time, and sixteen digits.
  ["zai", /^glm-/, (output) => /^(?:msg_)?20\d{12}[\da-f]{16}$/.test(idOf(output))]
]

/** Programs that serve models where they run, by what they say of themselves. */
const programOf = (output: unknown): string | null => {
  const fingerprint = text(get(output, "system_fingerprint"))
  if (fingerprint === "fp_ollama") return "ollama"
  if (fingerprint !== null && fingerprint === get(output, "model")) return "lmstudio"
  return typeof get(output, "timings", "predicted_ms") === "number" ? "llama.cpp" : null
}

const modelOf = (inputs: unknown, output: unknown): string =>
  text(get(output, "model")) ?? text(get(inputs, "model")) ?? ""

/** The provider of a model that only one serves under its name, or whose maker has left its mark. */
export const providerOfModel = (inputs: unknown, output: unknown): string | undefined => {
  const model = modelOf(inputs, output)
  const closed = models.find(([, name]) => name.test(model))
  return (closed ?? openModels.find(([, name, isOfMaker]) => name.test(model) && isOfMaker(output)))?.[0]
}

/** Whether anybody may serve a model, so that its name and format do not say who did. */
export const isOpenModel = (inputs: unknown, output: unknown): boolean => {
  const model = modelOf(inputs, output)
  return openModels.some(([, name]) => name.test(model))
}

/** The provider by its marks, else by the model's name. */
export const providerOf = (inputs: unknown, output: unknown): string | null => {
  if (idOf(output).startsWith("gen-")) return "openrouter"
  const program = programOf(output)
  if (program !== null) return program
  const choice = get(output, "choices", 0)
  const places = { output: output as Json, choice, usage: usageOf(output) }
  const left = marks.find(({ key, where }) => says(places[where], key))
  return left?.provider ?? providerOfModel(inputs, output) ?? null
}
