/** The tokens of a usage, with one meaning in every format and dialect. */
import type { RequestBilling, Tokens } from "../Format.ts"
import { count, sum } from "../json/Read.ts"
import { bits, type Part, sumsOf } from "./Beside.ts"
import type { Counts } from "./Counts.ts"

export type BilledTokens = Omit<RequestBilling, "service_tier" | "uncounted" | `${string}_searches`>

/**
 * What a format calls its input, and counts so: `prompt` is all of it, and `input` too, unless it is `fresh`: without what stands in a
 * cache. The other name means what it means where it is at home.
 */
export type Whole = "prompt" | "input" | "fresh"

/** The largest: a count that is said under two names may be zero under one, which then was not filled in. */
const largest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other)

const add = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : one + other

/** The input, and whether it is without the cache where the cache has names of those who count so. */
const inputOf = ({ prompt, input }: Counts, whole: Whole) => {
  const isInput = input !== undefined && !(whole === "prompt" ? prompt : prompt && !input)
  return { input: isInput ? input : prompt, isFresh: isInput && whole !== "input" }
}

/** `total` is one that is truer than that of the counts. */
export const tokensOf = (counts: Counts, whole: Whole, total = counts.total): Tokens => {
  const { cached, read, written, created, reasoning, thoughts, toolUse } = counts
  const { input, isFresh } = inputOf(counts, whole)
  const cacheRead = largest(cached, read)
  // It is no less than its parts.
  const cacheWrite = largest(largest(written, created), add(counts.written5m, counts.written1h))
  const thought = largest(reasoning, thoughts)
  const usual =
    bits.toolUse |
    (isFresh && !cached ? bits.read : 0) |
    (isFresh && !written ? bits.written : 0) |
    (thoughts !== undefined && !reasoning ? bits.reasoning : 0)
  /** What is no count cannot be added. Within its whole it need not be. */
  const partOf = (part: Part, value: number | undefined) => ((usual & bits[part]) === 0 ? count(value) : (value ?? 0))
  const sums = sumsOf({
    input: input ?? (counts.fresh === undefined ? null : counts.fresh + (cacheRead ?? 0) + (cacheWrite ?? 0)),
    // Who counts thoughts beside the output leaves out an output of zero.
    output: counts.output ?? add(counts.spoken, reasoning) ?? (thoughts === undefined ? null : 0),
    total: count(total),
    parts: {
      read: partOf("read", cacheRead),
      written: partOf("written", cacheWrite),
      reasoning: partOf("reasoning", thought),
      toolUse: partOf("toolUse", toolUse)
    },
    usual
  })
  return {
    input_tokens: count(sums.input),
    output_tokens: count(sums.output),
    cache_read_tokens: count(cacheRead),
    cache_write_tokens: count(cacheWrite),
    reasoning_tokens: count(thought)
  }
}

/** Parts of the tokens that have prices of their own. */
export const billedOf = (counts: Counts): BilledTokens => ({
  cache_write_1h_tokens: count(counts.written1h),
  input_audio_tokens: count(add(counts.inputAudio, counts.toolUseAudio)),
  input_image_tokens: count(add(counts.inputImage, counts.toolUseImage)),
  input_video_tokens: count(add(counts.inputVideo, counts.toolUseVideo)),
  cache_audio_read_tokens: count(counts.readAudio),
  cache_image_read_tokens: count(counts.readImage),
  output_audio_tokens: count(counts.outputAudio),
  output_image_tokens: count(counts.outputImage),
  output_video_tokens: count(counts.outputVideo),
  citation_tokens: count(counts.citations)
})

/** The sums of what several requests counted. What none of them counted is null. */
export const sumOf = <A extends Readonly<Record<string, number | null>>>(all: ReadonlyArray<A>): A => {
  const [only = {} as A] = all
  const keys = Object.keys(only)
  return all.length <= 1
    ? only
    : (Object.fromEntries(keys.map((key) => [key, sum(...all.map((each) => each[key] as number | null))])) as A)
}
