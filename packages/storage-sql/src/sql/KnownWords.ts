/**
 * Words that providers use for every call. A column holds one character in place of each, and any other word behind a `=`. A
 * character belongs to its word for ever.
 */
type Characters = Readonly<Record<string, string>>

/** As price lists name them. */
const ofProviders: Characters = {
  openai: "A",
  anthropic: "B",
  google: "C",
  azure: "D",
  aws: "E",
  openrouter: "F",
  groq: "G",
  mistral: "H",
  deepseek: "I",
  "x-ai": "J",
  together: "K",
  perplexity: "L",
  fireworks: "M",
  cohere: "N",
  cerebras: "O",
  huggingface: "P",
  moonshotai: "Q",
  zai: "R"
}

const ofStopReasons: Characters = {
  stop: "A",
  end_turn: "B",
  tool_calls: "C",
  tool_use: "D",
  STOP: "E",
  completed: "F",
  length: "G",
  max_tokens: "H",
  MAX_TOKENS: "I",
  incomplete: "J",
  max_output_tokens: "K",
  "tool-calls": "L",
  requires_action: "M",
  stop_sequence: "N",
  content_filter: "O",
  "content-filter": "P",
  refusal: "Q",
  pause_turn: "R",
  SAFETY: "S",
  function_call: "T",
  failed: "U",
  error: "V"
}

const other = "="

export interface KnownWords {
  readonly encode: (word: string) => string
  /** Throws for what `encode` does not return. */
  readonly decode: (stored: string) => string
}

const make = (characters: Characters): KnownWords => {
  const stored = new Map(Object.entries(characters))
  const words = new Map(Array.from(stored, ([word, character]) => [character, word]))
  return {
    encode: (word) => stored.get(word) ?? other + word,
    decode: (text) => {
      const word = text.startsWith(other) ? text.slice(1) : words.get(text)
      if (word === undefined) throw new Error("A column holds no known word")
      return word
    }
  }
}

export const providers = make(ofProviders)

export const stopReasons = make(ofStopReasons)
