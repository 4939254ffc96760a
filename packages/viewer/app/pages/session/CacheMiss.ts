/** What of a call could have come from the provider's cache and did not, why, and what that cost. */
import type { Call } from "../../server/Types.ts"

export interface CacheMiss {
  /** Tokens that the call before had sent already, and that were not read from the cache. */
  readonly tokens: number
  /** The first thing that differs from the call before; `time` where nothing does, and the pause was long. */
  readonly reason: "model" | "tools" | "instructions" | "parameters" | "time" | "unknown"
}

/** Fewer tokens are no miss: providers cache in blocks. */
const minTokens = 1_024

/** Caches are kept for five minutes, if nothing else is asked for (ms). */
const keptMs = 300_000

const reasonOf = (call: Call, parent: Call, gapMs: number): CacheMiss["reason"] => {
  // Each model has a cache of its own.
  if (call.model !== parent.model) return "model"
  // In the order in which providers read a call.
  if (call.tools_changed) return "tools"
  if (call.instructions_changed) return "instructions"
  if (call.parameters_changed) return "parameters"
  return gapMs > keptMs ? "time" : "unknown"
}

/**
 * The tokens that the call sent and its parent had sent, at most. Undefined where that is not known: one of the two does not say, or the
 * history was rewritten, and no field says how many tokens the messages have that were kept.
 */
export const sentBeforeOf = (call: Call, parent: Call): number | undefined =>
  call.input_tokens === null || parent.input_tokens === null || call.gone_messages.length > 0
    ? undefined
    : Math.min(parent.input_tokens, call.input_tokens)

/** Undefined if most of what could come from the cache did, or it is not known how much could. */
export const missOf = (call: Call, parent: Call | undefined, gapMs: number): CacheMiss | undefined => {
  if (parent === undefined || call.cache_read_tokens === null) return undefined
  const sentBefore = sentBeforeOf(call, parent)
  if (sentBefore === undefined) return undefined
  const tokens = sentBefore - call.cache_read_tokens
  if (tokens <= minTokens || sentBefore <= 2 * call.cache_read_tokens) return undefined
  return { tokens, reason: reasonOf(call, parent, gapMs) }
}

/** Dollars that the tokens cost more than from the cache, by the price list. Undefined where it does not say. */
export const lostOf = (miss: CacheMiss, call: Call): number | undefined => {
  const prices = call.input_prices
  if (prices === null || prices.cache_read_mtok === null) return undefined
  const written = Math.min(miss.tokens, call.cache_write_tokens ?? 0)
  const paid = written * prices.cache_write_mtok + (miss.tokens - written) * prices.input_mtok
  return (paid - miss.tokens * prices.cache_read_mtok) / 1e6
}
