/** Servers under the same load, turn by turn, each time in a process of its own that has been warmed up. */
import * as Load from "../harness/Load.ts"
import { decimal, integer, median, print, progress, spread, times } from "../harness/Table.ts"
import type { Options } from "./Options.ts"
import type { Contender } from "./Servers.ts"

/** Seconds of load before what is measured, at most. */
const warmUpSeconds = 10

type Key = "perSecond" | "median"

/** For so many seconds. */
const measure = async (
  { open }: Contender,
  { connections, get }: Comparison,
  seconds: number
): Promise<Load.Loaded> => {
  const load = { connections, ...(get === undefined ? {} : { get }) }
  const { close, server } = await open()
  try {
    await Load.run({ url: server.url, ...load, seconds: Math.min(warmUpSeconds, 2 * seconds) })
    const loaded = await Load.run({ url: server.url, ...load, seconds })
    const wrong = loaded.failed + loaded.refusedPerSecond
    if (wrong > 0) throw new Error(`Not every request was answered 200: ${JSON.stringify(loaded)}`)
    return loaded
  } finally {
    await close()
  }
}

/** The ratio of the medians, and between which values that of each turn lies. */
export const ratioOf = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): string => {
  const ratios = a.map((value, turn) => value / b[turn]!)
  return `${times(median(a) / median(b))} (${decimal(Math.min(...ratios))}–${decimal(Math.max(...ratios))})`
}

export interface Comparison {
  readonly title: string
  readonly connections: number
  /** A path that is asked for, where no events are sent. */
  readonly get?: string
  /** The last one is what the others are compared with. */
  readonly contenders: ReadonlyArray<Contender>
  /** What is compared, and what is asked of it. */
  readonly key: Key
  readonly asked: string
  readonly notes?: ReadonlyArray<string>
}

export const compare = async (options: Options, comparison: Comparison): Promise<void> => {
  const { asked, connections, contenders, key, notes = [], title } = comparison
  const taken = contenders.map(() => [] as Array<Load.Loaded>)
  for (let run = 1; run <= options.runs; run++) {
    for (const [index, contender] of contenders.entries()) {
      progress(`${title}: ${contender.name}, ${run} of ${options.runs}`)
      taken[index]!.push(await measure(contender, comparison, options.seconds))
    }
  }
  const of = (index: number, what: keyof Load.Loaded) => taken.at(index)!.map((loaded) => loaded[what])
  const repeated = Math.max(...taken.flat().map((loaded) => loaded.repeated))
  print({
    title,
    columns: ["server", "requests a second", "ms, median", "ms, 99th percentile", "÷ the last", "asked"],
    rows: contenders.map(({ name }, index) => {
      const isLast = index === contenders.length - 1
      return [
        name,
        spread(of(index, "perSecond"), 0),
        spread(of(index, "median"), 2),
        spread(of(index, "percentile99"), 1),
        isLast ? "" : ratioOf(of(index, key), of(-1, key)),
        index === 0 ? asked : ""
      ]
    }),
    notes: [
      `${comparison.get === undefined ? "Bodies of 4 KB" : `GET ${comparison.get}`}, connections: ${connections}. Medians of ${options.runs} (range), turn by turn, ${options.seconds} s each, a new ` +
        "process each time. What is divided is " +
        (key === "perSecond" ? "requests a second." : "the median latency."),
      ...notes,
      ...(repeated === 0 ? [] : [`There were too few bodies: up to ${integer(repeated)} of them were sent again.`])
    ]
  })
}
