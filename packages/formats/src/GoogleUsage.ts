/** How Google counts tokens, in both of its formats. */
import type { Facts, Json } from "./Format.ts"
import { count, get, isEmpty, sum, text } from "./json/Read.ts"

type Tokens = Pick<
  Facts,
  "input_tokens" | "output_tokens" | "cache_read_tokens" | "cache_write_tokens" | "reasoning_tokens"
>

export interface Counts {
  readonly input: Json | undefined
  readonly toolUse: Json | undefined
  readonly cached: Json | undefined
  readonly output: Json | undefined
  readonly thoughts: Json | undefined
  readonly total: Json | undefined
}

/**
 * Google counts thoughts beside the output, and what its tools read beside the input. A count of zero it may leave out: where
 * it says neither output nor thoughts, the total does. What it writes to a cache it does not count.
 */
export const tokensOf = (counts: Counts): Tokens => {
  const [prompt, total, thoughts] = [count(counts.input), count(counts.total), count(counts.thoughts)]
  const input = prompt === null ? null : sum(prompt, count(counts.toolUse))
  const output = sum(count(counts.output), thoughts)
  return {
    input_tokens: input,
    output_tokens: output ?? (total === null || input === null ? null : count(total - input)),
    cache_read_tokens: count(counts.cached),
    cache_write_tokens: null,
    reasoning_tokens: thoughts
  }
}

/** The tokens of a modality in lists of counts by modality; null where none is counted. */
export const tokensOfModality = (
  modality: "AUDIO" | "IMAGE" | "VIDEO",
  ...details: ReadonlyArray<Json | undefined>
): number | null => {
  const all = details.flatMap((each) => (Array.isArray(each) ? (each as ReadonlyArray<Json>) : []))
  const found = all.filter((item) => text(get(item, "modality"))?.toUpperCase() === modality)
  return sum(...found.map((item) => count(get(item, "tokenCount") ?? get(item, "token_count") ?? get(item, "tokens"))))
}

/** Google bills each query of an answer once, however often it was made. */
export const distinct = (queries: ReadonlyArray<Json>): number =>
  new Set(queries.filter((query) => !isEmpty(query)).map((query) => JSON.stringify(query))).size
