/**
 * Words that providers use for every call. A column holds one character in place of each, and any other word behind a `=`.
 * The position is what is stored: words are only ever appended.
 */

/** As price lists name them. */
export const providers = [
  "openai",
  "anthropic",
  "google",
  "azure",
  "aws",
  "openrouter",
  "groq",
  "mistral",
  "deepseek",
  "x-ai",
  "together",
  "perplexity",
  "fireworks",
  "cohere",
  "cerebras",
  "huggingface",
  "moonshotai",
  "zai"
]

export const stopReasons = [
  "stop",
  "end_turn",
  "tool_calls",
  "tool_use",
  "STOP",
  "completed",
  "length",
  "max_tokens",
  "MAX_TOKENS",
  "incomplete",
  "max_output_tokens",
  "tool-calls",
  "requires_action",
  "stop_sequence",
  "content_filter",
  "content-filter",
  "refusal",
  "pause_turn",
  "SAFETY",
  "function_call",
  "failed",
  "error"
]

const firstCode = "A".charCodeAt(0)
const other = "="

export const encode = (known: ReadonlyArray<string>, word: string): string => {
  const position = known.indexOf(word)
  return position === -1 ? other + word : String.fromCharCode(firstCode + position)
}

/** Throws for what `encode` does not return. */
export const decode = (known: ReadonlyArray<string>, stored: string): string => {
  if (stored.startsWith(other)) return stored.slice(1)
  const word = stored.length === 1 ? known[stored.charCodeAt(0) - firstCode] : undefined
  if (word === undefined) throw new Error("A column holds no known word")
  return word
}
