/** Loads servers, in a process of its own: `LoadProcess.ts FINGERPRINT_ID`. One load at a time. */
import autocannon from "autocannon"
import { Bodies } from "./Bodies.ts"
import type { Load, Loaded } from "./Load.ts"
import * as OpenLoop from "./OpenLoop.ts"
import * as Recording from "./Recording.ts"
import { median } from "./Table.ts"

const [fingerprintId = ""] = process.argv.slice(2)
const bodies = new Bodies(fingerprintId)

/** Bodies that are made for every second of a load; a server that takes more of them gets some again. */
const bodiesPerSecond = 12_000

/** No server answers more than so many a second over one connection. */
const bodiesPerConnection = 2_000

/** Before a load counts that is not asked for by those who get answers, in seconds: its connections have to be opened. */
const leadIn = 3

/** As many requests as so many connections get answered, one after the other: the bodies that were made, or none. */
const closedLoop = async (url: string, connections: number, seconds: number, made: ReadonlyArray<Buffer>) => {
  const statuses = new Map<number, number>()
  const latencies: Array<number> = []
  let clients = 0
  let started = performance.now()
  const { errors } = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url,
        method: made.length === 0 ? "GET" : "POST",
        headers: Recording.headers,
        connections,
        duration: seconds,
        sampleInt: 100,
        // Every connection has its share of the bodies, and no two send the same.
        setupClient: (client) => {
          if (made.length === 0) return
          const offset = clients++
          client.setRequests(
            made.filter((_, index) => index % connections === offset).map((body) => ({ body, method: "POST" }))
          )
        }
      },
      (error, result) => (error ? reject(error as Error) : resolve(result))
    )
    instance.on("start", () => {
      started = performance.now()
    })
    instance.on("response", (_client, status, _bytes, milliseconds) => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 200) latencies.push(milliseconds)
    })
  })
  return { statuses, latencies, failed: errors, elapsed: (performance.now() - started) / 1_000 }
}

const wanted = (load: Load): number =>
  "rate" in load
    ? load.rate * (leadIn + load.seconds)
    : load.seconds * Math.min(bodiesPerSecond, bodiesPerConnection * load.connections)

const run = async (load: Load): Promise<Loaded> => {
  const { seconds } = load
  const url = new URL(load.get ?? "/api/v1/events", load.url).href
  const made = load.get === undefined ? bodies.next(wanted(load)) : []
  const { elapsed, failed, latencies, statuses }: OpenLoop.Answers =
    "rate" in load
      ? await OpenLoop.run({ url, headers: Recording.headers, bodies: made, rate: load.rate, leadIn, seconds })
      : await closedLoop(url, load.connections, seconds, made)
  const sorted = latencies.toSorted((a, b) => a - b)
  const answered = Array.from(statuses.values()).reduce((sum, count) => sum + count, 0)
  const refused = statuses.get(503) ?? 0
  return {
    perSecond: sorted.length / elapsed,
    refusedPerSecond: refused / elapsed,
    failed: answered - sorted.length - refused + failed,
    median: sorted.length === 0 ? NaN : median(sorted),
    percentile99: sorted[Math.floor(0.99 * sorted.length)] ?? NaN,
    repeated: made.length === 0 ? 0 : Math.max(0, answered - made.length)
  }
}

process.on("message", (load: Load) => {
  run(load).then(
    (loaded) => process.send?.({ loaded }),
    (error) => process.send?.({ error: String(error) })
  )
})
process.once("disconnect", () => process.exit(0))
