/** Where an answer has its usage. */
import type { Json } from "../Format.ts"
import { get, isObject, list } from "../json/Read.ts"
import { type Counts, countsOf, isCounting } from "./Counts.ts"

/** Beside the answer, and within it. Groq has it apart in a stream, and Moonshot in a choice. */
const placesIn = (output: unknown): ReadonlyArray<Json | undefined> => [
  get(output, "usageMetadata"),
  get(output, "usage_metadata"),
  get(output, "x_groq", "usage"),
  ...list(get(output, "choices")).flatMap((choice) => [get(choice, "usage"), get(choice, "message", "usage")]),
  get(output, "amazon-bedrock-invocationMetrics")
]

export interface AnswerUsage {
  readonly usage: Json | undefined
  readonly counts: Counts
}

/** The usage of an answer: the first that counts anything, else the first. */
export const usageIn = (output: unknown): AnswerUsage => {
  const usage = get(output, "usage")
  const found = { usage, counts: countsOf(usage) }
  if (isCounting(found.counts)) return found
  const others = placesIn(output)
    .filter(isObject)
    .map((other) => ({ usage: other as Json, counts: countsOf(other) }))
  return others.find(({ counts }) => isCounting(counts)) ?? (isObject(usage) ? found : (others[0] ?? found))
}
