/** Process that sends load to servers, one load at a time: `LoadProcess.ts FINGERPRINT_ID`. */
import autocannon from "autocannon"
import { Bodies } from "./Bodies.ts"
import { formats, type Format } from "./Formats.ts"
import type { Load, LoadResult } from "./Load.ts"
import * as OpenLoop from "./OpenLoop.ts"
import * as Recording from "./Recording.ts"
import { median } from "./Table.ts"

const [fingerprintId = ""] = process.argv.slice(2)
const bodies = new Bodies(fingerprintId)

/** Bodies generated for each second of a load. If the server accepts more, bodies are reused. */
const bodiesPerSecond = 12_000

/** The same for each connection: no server responds faster on one connection. */
const bodiesPerConnection = 2_000

/** Warm-up of an open-loop load (s), before responses are counted. */
const leadIn = 3

/** Sends requests over `connections` connections, each waiting for its response. Without bodies it sends GET. */
const closedLoop = async (
  url: string,
  connections: number,
  seconds: number,
  headers: Readonly<Record<string, string>>,
  requests: ReadonlyArray<Buffer>
) => {
  const statuses = new Map<number, number>()
  const latencies: Array<number> = []
  let clients = 0
  let started = performance.now()
  const { errors } = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url,
        method: requests.length === 0 ? "GET" : "POST",
        headers,
        connections,
        duration: seconds,
        sampleInt: 100,
        // Each connection gets its own share of the bodies.
        setupClient: (client) => {
          if (requests.length === 0) return
          const offset = clients++
          client.setRequests(
            requests.filter((_, index) => index % connections === offset).map((body) => ({ body, method: "POST" }))
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
  return { statuses, latencies, refusedLatencies: [], failed: errors, elapsed: (performance.now() - started) / 1_000 }
}

const bodyCount = (load: Load): number =>
  "rate" in load
    ? load.rate * (leadIn + load.seconds)
    : load.seconds * Math.min(bodiesPerSecond, bodiesPerConnection * load.connections)

const percentile99 = (sorted: ReadonlyArray<number>): number => sorted[Math.floor(0.99 * sorted.length)] ?? NaN

const run = async (load: Load): Promise<LoadResult> => {
  const { seconds } = load
  const format: Format = formats[load.format ?? "event"]
  const url = new URL(load.get ?? format.path, load.url).href
  const headers = { ...Recording.headers, "content-type": format.contentType }
  const requests = load.get === undefined ? format.requestsOf(bodies.next(bodyCount(load))) : []
  const { elapsed, failed, latencies, refusedLatencies, statuses }: OpenLoop.Responses =
    "rate" in load
      ? await OpenLoop.run({ url, headers, bodies: requests, rate: load.rate, leadIn, seconds })
      : await closedLoop(url, load.connections, seconds, headers, requests)
  const sorted = latencies.toSorted((a, b) => a - b)
  const responses = Array.from(statuses.values()).reduce((sum, count) => sum + count, 0)
  const refused = statuses.get(503) ?? 0
  return {
    accepted: sorted.length,
    perSecond: sorted.length / elapsed,
    refusedPerSecond: refused / elapsed,
    failed: responses - sorted.length - refused + failed,
    median: sorted.length === 0 ? NaN : median(sorted),
    percentile99: percentile99(sorted),
    refusedPercentile99: percentile99(refusedLatencies.toSorted((a, b) => a - b)),
    repeated: requests.length === 0 ? 0 : Math.max(0, responses - requests.length)
  }
}

process.on("message", (load: Load) => {
  run(load).then(
    (result) => process.send?.({ result }),
    (error) => process.send?.({ error: String(error) })
  )
})
process.once("disconnect", () => process.exit(0))
