/** Loads servers with autocannon, in a process of its own: `LoadProcess.ts FINGERPRINT_ID`. One load at a time. */
import autocannon from "autocannon"
import { Bodies } from "./Bodies.ts"
import type { Load, Loaded } from "./Load.ts"
import * as Recording from "./Recording.ts"
import { median } from "./Table.ts"

const [fingerprintId = ""] = process.argv.slice(2)
const bodies = new Bodies(fingerprintId)

/** Bodies that are made for every second of a load; a server that takes more of them gets some again. */
const bodiesPerSecond = 12_000

const run = async ({ connections, path, rate, seconds, url }: Load): Promise<Loaded> => {
  const made = path === undefined ? bodies.next(bodiesPerSecond * seconds) : []
  const latencies: Array<number> = []
  let clients = 0
  let responses = 0
  let started = performance.now()
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url: new URL(path ?? "/api/v1/events", url).href,
        method: path === undefined ? "POST" : "GET",
        headers: Recording.headers,
        connections,
        duration: seconds,
        sampleInt: 100,
        ...(rate === undefined ? {} : { overallRate: rate, ignoreCoordinatedOmission: true }),
        // Every connection has its share of the bodies, and no two send the same.
        ...(path === undefined && {
          setupClient: (client) => {
            const offset = clients++
            client.setRequests(
              made.filter((_, index) => index % connections === offset).map((body) => ({ body, method: "POST" }))
            )
          }
        })
      },
      (error, result) => (error ? reject(error as Error) : resolve(result))
    )
    instance.on("start", () => {
      started = performance.now()
    })
    instance.on("response", (_client, status, _bytes, milliseconds) => {
      responses++
      if (status === 200) latencies.push(milliseconds)
    })
  })
  const elapsed = (performance.now() - started) / 1_000
  const sorted = latencies.sort((a, b) => a - b)
  return {
    perSecond: latencies.length / elapsed,
    refusedPerSecond: (result.statusCodeStats?.["503"]?.count ?? 0) / elapsed,
    failed: responses - latencies.length - (result.statusCodeStats?.["503"]?.count ?? 0) + result.errors,
    median: sorted.length === 0 ? NaN : median(sorted),
    mean: sorted.reduce((sum, each) => sum + each, 0) / sorted.length,
    percentile99: sorted[Math.floor(0.99 * sorted.length)] ?? NaN,
    repeated: path === undefined ? Math.max(0, responses - made.length) : 0
  }
}

process.on("message", (load: Load) => {
  run(load).then(
    (loaded) => process.send?.({ loaded }),
    (error) => process.send?.({ error: String(error) })
  )
})
process.once("disconnect", () => process.exit(0))
