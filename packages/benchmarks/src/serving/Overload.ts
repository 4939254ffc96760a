/** What a server still does when three times as much is asked of it as it can do. */
import * as Databases from "../harness/Databases.ts"
import * as Load from "../harness/Load.ts"
import { integer, print, progress, spread } from "../harness/Table.ts"
import { ratioOf } from "./Comparison.ts"
import type { Options } from "./Options.ts"
import * as Servers from "./Servers.ts"

/** With how many connections the peak is looked for. */
const connectionCounts = [16, 64, 128]

/** How much more is asked than the peak. */
const excess = 3

interface Run {
  readonly peak: number
  readonly asked: number
  readonly overloaded: Load.Loaded
}

const measure = async ({ open }: Servers.Contender, seconds: number): Promise<Run> => {
  const { close, server } = await open()
  try {
    const speeds: Array<number> = []
    for (const connections of connectionCounts) {
      await Load.run({ url: server.url, connections, seconds: 1 })
      speeds.push((await Load.run({ url: server.url, connections, seconds })).perSecond)
    }
    const peak = Math.max(...speeds)
    const rate = Math.round(excess * peak)
    return { peak, asked: rate, overloaded: await Load.run({ url: server.url, seconds, rate }) }
  } finally {
    await close()
  }
}

export const overload = async (options: Options): Promise<void> => {
  const url = options.postgres?.url
  const contenders = [
    Servers.ours("SQLite", Databases.sqlite),
    ...(url === undefined ? [] : [Servers.ours("Postgres", () => Databases.postgres(url))])
  ]
  const taken = contenders.map(() => [] as Array<Run>)
  for (let run = 1; run <= options.runs; run++) {
    for (const [index, contender] of contenders.entries()) {
      progress(`overload: ${contender.name}, ${run} of ${options.runs}`)
      taken[index]!.push(await measure(contender, options.seconds))
    }
  }
  print({
    title: "Three times the load that saturates it",
    columns: [
      "in",
      "peak, 200 a second",
      "asked a second",
      "then 200 a second",
      "503 a second",
      "other answers or none, in all",
      "ms to a 200, median",
      "then ÷ peak",
      "asked"
    ],
    rows: contenders.map(({ name }, index) => {
      const runs = taken[index]!
      const peaks = runs.map(({ peak }) => peak)
      const goodput = runs.map(({ overloaded }) => overloaded.perSecond)
      return [
        name,
        spread(peaks, 0),
        spread(
          runs.map(({ asked }) => asked),
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
        ratioOf(goodput, peaks),
        "≥ 0.8×"
      ]
    }),
    notes: [
      `The peak is the best of ${connectionCounts.join(", ")} connections, ${options.seconds} s each. Then the same server is sent ${excess} times as ` +
        `much, whatever it answers, for ${options.seconds} s that count and some before them. Medians of ${options.runs} (range). Bodies of 4 KB.`
    ]
  })
}
