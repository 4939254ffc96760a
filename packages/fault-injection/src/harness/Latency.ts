/** Response times (ms). */

export interface Summary {
  readonly count: number
  readonly median: number
  readonly p99: number
  readonly max: number
}

export const summary = (times: ReadonlyArray<number>): Summary => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (quantile: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))] ?? 0)
  return { count: sorted.length, median: at(0.5), p99: at(0.99), max: at(1) }
}

export const text = ({ count, max, median, p99 }: Summary): string =>
  `${count} × median ${median}, p99 ${p99}, max ${max} ms`
