/** Compares servers under the same load: interleaved, each time in a new process that has been warmed up. */
import * as Load from "../harness/Load.ts"
import { decimal, integer, median, print, progress, spread, times } from "../harness/Table.ts"
import type { Options } from "./Options.ts"
import { type Contender, using } from "./Servers.ts"

/** Maximum duration of the warm-up (s). */
const maxWarmUpSeconds = 10

type Key = "perSecond" | "median"

/** A load that the server accepts whole, or else an error. */
export const accepted = async (load: Load.Load): Promise<Load.LoadResult> => {
  const result = await Load.run(load)
  if (result.failed + result.refusedPerSecond > 0) {
    throw new Error(`Not every response had status 200: ${JSON.stringify(result)}`)
  }
  return result
}

const measure = (contender: Contender, { connections, get }: Comparison, seconds: number): Promise<Load.LoadResult> =>
  using(contender, async ({ server: { url } }) => {
    const load = { url, connections, ...(get === undefined ? {} : { get }) }
    await Load.run({ ...load, seconds: Math.min(maxWarmUpSeconds, 2 * seconds) })
    return accepted({ ...load, seconds })
  })

/** The ratio of the medians, and the range of the ratios of each run. */
export const ratioOf = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): string => {
  const ratios = a.map((value, run) => value / b[run]!)
  return `${times(median(a) / median(b))} (${decimal(Math.min(...ratios))}–${decimal(Math.max(...ratios))})`
}

export interface Comparison {
  readonly title: string
  readonly connections: number
  /** GET this path instead of sending events. */
  readonly get?: string
  /** The last one is the baseline. */
  readonly contenders: ReadonlyArray<Contender>
  /** The compared value. */
  readonly key: Key
  /** The required ratio. */
  readonly target: string
  readonly notes?: ReadonlyArray<string>
}

export const compare = async (options: Options, comparison: Comparison): Promise<void> => {
  const { connections, contenders, key, notes = [], target, title } = comparison
  const results = contenders.map(() => [] as Array<Load.LoadResult>)
  for (let run = 1; run <= options.runs; run++) {
    for (const [index, contender] of contenders.entries()) {
      progress(`${title}: ${contender.name}, ${run} of ${options.runs}`)
      results[index]!.push(await measure(contender, comparison, options.seconds))
    }
  }
  const of = (index: number, field: keyof Load.LoadResult) => results.at(index)!.map((result) => result[field])
  const repeated = Math.max(...results.flat().map((result) => result.repeated))
  print({
    title,
    columns: ["server", "requests/s", "median ms", "p99 ms", "ratio", "target"],
    rows: contenders.map(({ name }, index) => {
      const isLast = index === contenders.length - 1
      return [
        name,
        spread(of(index, "perSecond"), 0),
        spread(of(index, "median"), 2),
        spread(of(index, "percentile99"), 1),
        isLast ? "" : ratioOf(of(index, key), of(-1, key)),
        index === 0 ? target : ""
      ]
    }),
    notes: [
      `${comparison.get === undefined ? "Bodies of 4 KB" : `GET ${comparison.get}`}, ${connections} connections. Medians of ${options.runs} (range), interleaved, ${options.seconds} s each, a new ` +
        "process each time. The ratio to the last line is that of " +
        (key === "perSecond" ? "requests/s." : "the median latency."),
      ...notes,
      ...(repeated === 0 ? [] : [`There were too few bodies: up to ${integer(repeated)} were sent again.`])
    ]
  })
}
