/** Throughput at three times the load that saturates the server. */
import * as Databases from "../harness/Databases.ts"
import * as Load from "../harness/Load.ts"
import { maxConnections } from "../harness/OpenLoop.ts"
import { integer, print, progress, spread } from "../harness/Table.ts"
import { ratioOf } from "./Comparison.ts"
import type { Options } from "./Options.ts"
import * as Servers from "./Servers.ts"

/** Numbers of connections with which the peak throughput is measured. */
const connectionCounts = [16, 64, 128]

/** Offered load, as a multiple of the peak. */
const loadFactor = 3

interface Run {
  readonly peak: number
  readonly offered: number
  readonly overloaded: Load.LoadResult
}

const measure = async ({ open }: Servers.Contender, seconds: number): Promise<Run> => {
  const { close, server } = await open()
  try {
    const rates: Array<number> = []
    for (const connections of connectionCounts) {
      await Load.run({ url: server.url, connections, seconds: 1 })
      rates.push((await Load.run({ url: server.url, connections, seconds })).perSecond)
    }
    const peak = Math.max(...rates)
    const rate = Math.round(loadFactor * peak)
    return { peak, offered: rate, overloaded: await Load.run({ url: server.url, seconds, rate }) }
  } finally {
    await close()
  }
}

export const overload = async (options: Options): Promise<void> => {
  const url = options.postgres?.url
  // More than the client opens.
  const settings = ["--max-connections", String(2 * maxConnections)]
  const contenders = [
    Servers.served("SQLite", Databases.sqlite, settings),
    ...(url === undefined ? [] : [Servers.served("Postgres", () => Databases.postgres(url), settings)])
  ]
  const results = contenders.map(() => [] as Array<Run>)
  for (let run = 1; run <= options.runs; run++) {
    for (const [index, contender] of contenders.entries()) {
      progress(`overload: ${contender.name}, ${run} of ${options.runs}`)
      results[index]!.push(await measure(contender, options.seconds))
    }
  }
  print({
    title: "Overload: three times the saturating load",
    columns: [
      "storage",
      "peak 200/s",
      "offered/s",
      "200/s under overload",
      "503/s",
      "other or no responses",
      "median ms of 200",
      "p99 ms of 503",
      "overload ÷ peak",
      "target"
    ],
    rows: contenders.map(({ name }, index) => {
      const runs = results[index]!
      const peaks = runs.map(({ peak }) => peak)
      const goodput = runs.map(({ overloaded }) => overloaded.perSecond)
      return [
        name,
        spread(peaks, 0),
        spread(
          runs.map(({ offered }) => offered),
          0
        ),
        spread(goodput, 0),
        spread(
          runs.map(({ overloaded }) => overloaded.refusedPerSecond),
          0
        ),
        integer(runs.reduce((sum, { overloaded }) => sum + overloaded.failed, 0)),
        spread(
          runs.map(({ overloaded }) => overloaded.median),
          0
        ),
        spread(
          runs.map(({ overloaded }) => overloaded.refusedPercentile99),
          0
        ),
        ratioOf(goodput, peaks),
        "≥ 0.8×"
      ]
    }),
    notes: [
      `The peak is the best of ${connectionCounts.join(", ")} connections, ${options.seconds} s each. Then the same server gets ${loadFactor} times as ` +
        `many requests, independent of its responses, for ${options.seconds} s after a warm-up. Medians of ${options.runs} (range). Bodies of 4 KB.`
    ]
  })
}
