/**
 * Whether a part of what went in or came out is counted within it or beside it. Providers and gateways differ, also for the same model: the
 * total tells.
 */

/** What was counted. A part is null or 0 where there is none. */
export interface Counted {
  readonly input: number | null
  readonly output: number | null
  readonly total: number | null
  readonly parts: Readonly<Record<Part, number | null>>
  /** Parts that stand beside, where the total does not say otherwise. */
  readonly usual: number
}

/** The parts, a bit each. */
export const bits = { read: 1, written: 2, reasoning: 4, toolUse: 8 } as const

export type Part = keyof typeof bits

/** Which parts are other than usual, the likelier first: who counts what was read from a cache beside it also counts so what was written. */
const readings = [0, 4, 3, 7, 8, 12, 11, 15, 1, 2, 5, 6, 9, 10, 13, 14]

/** The size of those parts of which a mask has the bit. */
const sizeOf = (parts: Counted["parts"], mask: number): number =>
  ((mask & bits.read) === 0 ? 0 : (parts.read ?? 0)) +
  ((mask & bits.written) === 0 ? 0 : (parts.written ?? 0)) +
  ((mask & bits.reasoning) === 0 ? 0 : (parts.reasoning ?? 0)) +
  ((mask & bits.toolUse) === 0 ? 0 : (parts.toolUse ?? 0))

const caches = bits.read | bits.written

/** Which parts stand beside their wholes. */
const besideOf = ({ input, output, total, parts, usual }: Counted): number => {
  /** No part is above its whole. */
  const fits = (mask: number) =>
    (input === null || sizeOf(parts, ~mask & caches) <= input) &&
    (output === null || sizeOf(parts, ~mask & bits.reasoning) <= output)
  const isAsked = total !== null && input !== null && output !== null
  const isTold = (mask: number) => total === (input ?? 0) + (output ?? 0) + sizeOf(parts, mask)
  if (fits(usual) && (!isAsked || isTold(usual))) return usual
  const told = isAsked ? readings.find((other) => fits(other ^ usual) && isTold(other ^ usual)) : undefined
  return (told ?? readings.find((other) => fits(other ^ usual)) ?? 0) ^ usual
}

/** All that went in, and all that came out. */
export const sumsOf = (counted: Counted) => {
  const { input, output, total, parts } = counted
  const beside = besideOf(counted)
  const allInput = input === null ? null : input + sizeOf(parts, beside & ~bits.reasoning)
  const allOutput = output === null ? null : output + sizeOf(parts, beside & bits.reasoning)
  if (total === null || allInput === null) return { input: allInput, output: allOutput }
  // What the total has beyond the sum came out, such as thoughts that are not named. Where the cache is counted beside the input it may be
  // a part of that.
  const rest = total - allInput - (allOutput ?? 0)
  const isOutput = allOutput === null ? rest >= 0 : rest > 0 && sizeOf(parts, beside & caches) === 0
  return { input: allInput, output: isOutput ? (allOutput ?? 0) + rest : allOutput }
}
