/**
 * What a token cost in the calls of a session. The server says what each call cost, and not by which rates; but calls with the same
 * price are sums of the same four rates, so enough of them tell the rates. Where they do not, nothing is said.
 */
import type { Call } from "../../server/Types.ts"

/** Dollars for a token. Undefined where no call tells. */
export interface Rates {
  /** For a token of the input, neither read from the cache nor written to it. */
  readonly fresh: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
}

/** How far a cost may be from what the rates say, as a part of it: costs are rounded, and long calls may have other rates. */
const tolerance = 0.01

const tokensOf = (call: Call): ReadonlyArray<number> => {
  const read = call.cache_read_tokens ?? 0
  const write = call.cache_write_tokens ?? 0
  return [Math.max(0, (call.input_tokens ?? 0) - read - write), read, write, call.output_tokens ?? 0]
}

/** Solves `matrix` · x = `right` by elimination. Undefined if there is no single solution. */
const solve = (
  matrix: ReadonlyArray<ReadonlyArray<number>>,
  right: ReadonlyArray<number>
): ReadonlyArray<number> | undefined => {
  const rows = matrix.map((row, index) => [...row, right[index]!])
  const size = rows.length
  for (let column = 0; column < size; column++) {
    const pivot = rows
      .slice(column)
      .reduce((best, row) => (Math.abs(row[column]!) > Math.abs(best[column]!) ? row : best))
    if (Math.abs(pivot[column]!) < 1e-9) return undefined
    rows.splice(rows.indexOf(pivot), 1)
    rows.splice(column, 0, pivot)
    for (const row of rows) {
      if (row === pivot) continue
      const factor = row[column]! / pivot[column]!
      for (let at = column; at <= size; at++) row[at]! -= factor * pivot[at]!
    }
  }
  return rows.map((row, index) => row[size]! / row[index]!)
}

/** By least squares. `calls` have the same price. Undefined if their costs are no sums of the same rates. */
const fit = (calls: ReadonlyArray<Call>): Rates | undefined => {
  const tokens = calls.map(tokensOf)
  const costs = calls.map(({ cost_usd }) => Number(cost_usd))
  // Scaled to about 1, so that elimination loses no digits.
  const scales = [0, 1, 2, 3].map((kind) => Math.max(...tokens.map((each) => each[kind]!)))
  const used = [0, 1, 2, 3].filter((kind) => scales[kind]! > 0)
  const scaled = tokens.map((each) => used.map((kind) => each[kind]! / scales[kind]!))
  const sum = (of: (row: ReadonlyArray<number>, index: number) => number) =>
    scaled.reduce((total, row, index) => total + of(row, index), 0)
  const solved = solve(
    used.map((_, one) => used.map((_, other) => sum((row) => row[one]! * row[other]!))),
    used.map((_, one) => sum((row, index) => row[one]! * costs[index]!))
  )
  if (solved === undefined || solved.some((rate) => rate < 0)) return undefined
  const isSum = scaled.every((row, index) => {
    const expected = row.reduce((total, part, at) => total + part * solved[at]!, 0)
    return Math.abs(expected - costs[index]!) <= tolerance * costs[index]!
  })
  if (!isSum) return undefined
  const rate = (kind: number) => (used.includes(kind) ? solved[used.indexOf(kind)]! / scales[kind]! : undefined)
  return { fresh: rate(0), cacheRead: rate(1), cacheWrite: rate(2) }
}

/** By the name of the price. */
export const ratesOf = (calls: ReadonlyArray<Call>): ReadonlyMap<string, Rates> => {
  const priced = calls.filter(({ cost_usd, price }) => cost_usd !== null && price !== null && Number(cost_usd) > 0)
  const rates = new Map<string, Rates>()
  for (const [price, group] of Map.groupBy(priced, ({ price }) => price!)) {
    const found = fit(group)
    if (found !== undefined) rates.set(price, found)
  }
  return rates
}
