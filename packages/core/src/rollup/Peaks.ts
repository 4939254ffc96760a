/**
 * The largest figures of single calls among some, which lead to the slowest and the costliest ones. 0 where no call has the figure;
 * otherwise it is rounded up, plus 1.
 */
import type { Countable } from "./Countable.ts"

export interface Peaks {
  readonly durationMs: number
  /** Billionths of a dollar. */
  readonly cost: number
  readonly tokens: number
}

export const none: Peaks = { durationMs: 0, cost: 0, tokens: 0 }

const boundOf = (figure: number | null): number =>
  figure === null ? 0 : Math.min(Math.ceil(figure) + 1, Number.MAX_SAFE_INTEGER)

/** Input and output; null where a call says neither. */
export const tokensOf = ({ inputTokens, outputTokens }: Pick<Countable, "inputTokens" | "outputTokens">) =>
  inputTokens === null && outputTokens === null ? null : (inputTokens ?? 0) + (outputTokens ?? 0)

export const of = (event: Countable): Peaks => ({
  durationMs: boundOf(event.durationMs),
  cost: boundOf(event.costUsd),
  tokens: boundOf(tokensOf(event))
})

export const joined = (a: Peaks, b: Peaks): Peaks => ({
  durationMs: Math.max(a.durationMs, b.durationMs),
  cost: Math.max(a.cost, b.cost),
  tokens: Math.max(a.tokens, b.tokens)
})

const names = ["durationMs", "cost", "tokens"] as const

export const areSame = (a: Peaks, b: Peaks): boolean => names.every((name) => a[name] === b[name])

/** Whether some calls among others have a figure that is the largest of all. */
export const isReached = (all: Peaks, some: Peaks): boolean =>
  names.some((name) => some[name] > 0 && some[name] >= all[name])
