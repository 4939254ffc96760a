/** What long reads take from recording. */
import * as Databases from "../harness/Databases.ts"
import * as Load from "../harness/Load.ts"
import * as Readers from "../harness/Readers.ts"
import * as Recording from "../harness/Recording.ts"
import * as Serve from "../harness/Serve.ts"
import { clientOf } from "../harness/Servers.ts"
import { decimal, integer, median, print, progress, spread } from "../harness/Table.ts"
import { ratioOf } from "./Comparison.ts"
import * as FilledStore from "./FilledStore.ts"
import type { Options } from "./Options.ts"

/** Events of the store, unless fewer are asked for. */
const maxEvents = 400_000

const readers = 8

const largeEvents = 10
const largeEventBytes = 1_000_000

/** With this many connections the server is saturated. */
const connections = 64

/** More than the load at a fixed rate opens: by default it would leave none for the readers. */
const maxConnections = ["--max-connections", "10000"]

interface Contender {
  readonly name: string
  readonly options: ReadonlyArray<string>
  readonly kind: Readers.Reading["kind"]
}

const withoutThread = [...maxConnections, "--thread", "no"]

const contenders: ReadonlyArray<Contender> = [
  { name: `${readers} clients`, options: maxConnections, kind: "pages" },
  { name: `${readers} clients, \`--thread no\``, options: withoutThread, kind: "pages" },
  { name: "an export", options: maxConnections, kind: "export" },
  { name: "a search", options: maxConnections, kind: "search" }
]

const largeBody = (fingerprintId: string, n: number) => {
  // Text that repeats itself would be read in no time.
  const text = Array.from({ length: largeEventBytes / 10 }, () => Math.random().toString(36).slice(2, 11)).join(" ")
  const properties = { api: "openai-responses", inputs: { text }, output: {} }
  return Buffer.from(
    JSON.stringify({ event_name: "llm", fingerprint_id: fingerprintId, session: `large ${n}`, properties })
  )
}

interface Run {
  readonly alone: Load.LoadResult
  readonly beside: Load.LoadResult
  readonly halfAlone: Load.LoadResult
  readonly halfBeside: Load.LoadResult
  readonly reads: ReadonlyArray<Readers.ReadersResult>
}

const measure = async (url: string, seconds: number, reading: Readers.Reading): Promise<Run> => {
  const reads: Array<Readers.ReadersResult> = []
  const beside = async (load: Load.Load) => {
    const started = Readers.start(url, reading)
    const result = await Load.run(load)
    reads.push(await started.stop())
    return result
  }
  await Load.run({ url, connections, seconds: 2 })
  const saturating = { url, connections, seconds }
  const alone = await Load.run(saturating)
  const saturated = await beside(saturating)
  const half = { url, rate: Math.round(alone.perSecond / 2), seconds }
  return {
    alone,
    beside: saturated,
    halfAlone: await Load.run(half),
    halfBeside: await beside(half),
    reads
  }
}

/** Records the large events, unless the store has them. */
const recordLarge = async (url: string): Promise<ReadonlyArray<string>> => {
  const client = clientOf(url)
  await client.put("/api/v1/fingerprints", Recording.fingerprint)
  const ids: Array<string> = []
  for (let n = 0; n < largeEvents; n++) {
    const body = await client.post("/api/v1/events", largeBody(await Recording.fingerprintId(), n))
    ids.push((JSON.parse(body.toString()) as { readonly event_id: string }).event_id)
  }
  client.close()
  return ids
}

export const reads = async (options: Options): Promise<void> => {
  const events = Math.min(options.events, maxEvents)
  const makers = [
    Databases.sqlite,
    ...(options.postgres === undefined ? [] : [() => Databases.postgres(options.postgres!.url)])
  ]
  const rows: Array<ReadonlyArray<string>> = []
  for (const make of makers) {
    const store = await FilledStore.open(make, events)
    const results = contenders.map(() => [] as Array<Run>)
    for (let run = 1; run <= options.runs; run++) {
      for (const [index, { kind, name, options: flags }] of contenders.entries()) {
        progress(`reads: ${store.kind}, ${name}, ${run} of ${options.runs}`)
        const served = await Serve.serve(Databases.urlOf(store), flags)
        try {
          const largeEvents = await recordLarge(served.url)
          const reading = kind === "pages" ? { kind, clients: readers, largeEvents } : { kind }
          results[index]!.push(await measure(served.url, options.seconds, reading))
        } finally {
          await served.stop()
        }
      }
    }
    for (const [index, { name, options: flags }] of contenders.entries()) {
      const runs = results[index]!
      const of = (key: Exclude<keyof Run, "reads">, field: "perSecond" | "percentile99") =>
        runs.map((run) => run[key][field])
      const all = runs.flatMap((run) => run.reads)
      rows.push([
        `${store.kind}, ${name}`,
        spread(of("alone", "perSecond"), 0),
        spread(of("beside", "perSecond"), 0),
        ratioOf(of("beside", "perSecond"), of("alone", "perSecond")),
        flags === withoutThread ? "" : "≥ 0.7×",
        spread(of("halfAlone", "percentile99"), 1),
        spread(of("halfBeside", "percentile99"), 1),
        ratioOf(of("halfBeside", "percentile99"), of("halfAlone", "percentile99")),
        flags === withoutThread ? "" : "≤ 1.5×",
        integer(median(all.map(({ pages }) => pages))),
        integer(median(all.map(({ largeEvents }) => largeEvents))),
        decimal(median(all.map(({ exported }) => exported)) / 1e6, 1),
        decimal(Math.max(...all.map(({ longestMs }) => longestMs)) / 1_000, 1)
      ])
    }
  }
  print({
    title: "Recording beside reads",
    columns: [
      "beside",
      "events/s alone",
      "beside",
      "ratio",
      "target",
      "half the load: p99 ms alone",
      "beside",
      "ratio",
      "target",
      "pages read",
      "large events read",
      "MB exported",
      "longest read, s"
    ],
    rows,
    notes: [
      `Bodies of 4 KB into a store of ${integer(events)} events, over ${connections} connections, and at half the rate that these reach. ${readers} clients ` +
        `page through the store, 100 events a page, and read an event of ${integer(largeEventBytes)} bytes after every fifth page; one client exports ` +
        "everything again and again, or searches everything for a word that occurs nowhere. Their process has a lower priority. " +
        `Medians of ${options.runs} (range), ${options.seconds} s each, interleaved. What was read is that of one load.`
    ]
  })
}
