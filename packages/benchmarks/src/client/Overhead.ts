/** What recording costs an application: its calls a second and its processor time, with the tap and without. */
import * as Databases from "../harness/Databases.ts"
import * as Processes from "../harness/Processes.ts"
import * as Recording from "../harness/Recording.ts"
import * as Serve from "../harness/Serve.ts"
import { decimal, integer, median, print, progress, spread, times } from "../harness/Table.ts"
import type { Options } from "../serving/Options.ts"
import * as Application from "./Application.ts"
import { percentile, providerMs } from "./Measures.ts"

const inFlight = 64

/** Streams of each application, of which the first tenth is the warm-up. */
const streams = 330

/** The time to the first chunk of a stream, of each application (ms): one stream after the other, by turns. */
const firstChunks = async (applications: ReadonlyArray<Application.Application>) => {
  const times: ReadonlyArray<Array<number>> = applications.map(() => [])
  for (let n = 0; n < streams; n++) {
    for (const [index, application] of applications.entries()) {
      const ms = await application.stream()
      if (n >= streams / 10) times[index]!.push(ms)
    }
  }
  return times
}

export const overhead = async ({ runs, seconds }: Options): Promise<void> => {
  const [apiKey = ""] = Recording.apiKeys
  const database = Databases.sqlite()
  const served = await Serve.serve(Databases.urlOf(database))
  const provider = await Processes.start(new URL("../baselines/Provider.ts", import.meta.url), [String(providerMs)])
  const sides = [
    { name: "without", perSecond: [] as Array<number>, cpuMs: [] as Array<number>, p99: [] as Array<number> },
    { name: "with the tap", perSecond: [] as Array<number>, cpuMs: [] as Array<number>, p99: [] as Array<number> }
  ]
  const dropped: Array<string> = []
  let firstChunkMs: ReadonlyArray<ReadonlyArray<number>> = []
  try {
    const applications = [
      await Application.start(provider.url),
      await Application.start(provider.url, served.url, apiKey)
    ]
    // Run 0 is the warm-up.
    for (let run = 0; run <= runs; run++) {
      progress(`client: ${run} of ${runs}`)
      for (const [index, application] of applications.entries()) {
        const { cpuMs, durations, perSecond } = await application.load(inFlight, seconds)
        const counters = await application.flush()
        if (counters !== undefined) dropped.splice(0, 1, JSON.stringify(counters))
        if (run === 0) continue
        const side = sides[index]!
        side.perSecond.push(perSecond)
        side.cpuMs.push(cpuMs)
        side.p99.push(percentile(durations, 0.99))
      }
    }
    progress("client: streams")
    firstChunkMs = await firstChunks(applications)
    for (const application of applications) await application.stop()
  } finally {
    await served.stop()
    await provider.stop()
    await database.remove()
  }
  const [without, tapped] = sides.map(({ cpuMs, p99, perSecond }) => [perSecond, cpuMs, p99].map(median))
  print({
    title: "An application that records with the client",
    columns: ["", "calls/s", "CPU ms a call", "p99, ms"],
    rows: [
      ...sides.map(({ cpuMs, name, p99, perSecond }) => [name, spread(perSecond), spread(cpuMs, 2), spread(p99)]),
      [
        "÷",
        `${times(tapped![0]! / without![0]!)} (≥ 0.95×)`,
        times(tapped![1]! / without![1]!),
        times(tapped![2]! / without![2]!)
      ]
    ],
    notes: [
      `${integer(inFlight)} calls at once of 3 kB each, to a provider that answers after ${providerMs} ms; the recorder is ` +
        `\`tachograph serve\` on SQLite. Medians of ${runs} turns of ${decimal(seconds, 0)} s, lowest and highest in brackets. CPU is ` +
        `of the application, sending included. Counters of the recorder: ${dropped.join("")}.`
    ]
  })
  const [p50, p99] = [0.5, 0.99].map((part) => firstChunkMs.map((times) => percentile(times, part)))
  const added = ([direct, recorded]: ReadonlyArray<number>) =>
    `${recorded! < direct! ? "−" : "+"} ${decimal(Math.abs(recorded! - direct!), 2)}`
  print({
    title: "The first chunk of a stream, with the client and without",
    columns: ["", "median, ms", "p99, ms"],
    rows: [
      ...sides.map(({ name }, index) => [name, decimal(p50![index]!, 2), decimal(p99![index]!, 2)]),
      ["added", added(p50!), added(p99!)]
    ],
    notes: [
      `${firstChunkMs[0]!.length} streams of 200 chunks each, one after the other, with and without the tap by turns.`
    ]
  })
}
