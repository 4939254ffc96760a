/**
 * Measures how many slow clients, which never finish their requests, affect other clients. Prints the latency of normal
 * requests without and with slow clients, and when the server disconnected the slow ones.
 *
 *   node src/SlowClients.ts [CLIENTS] [REQUESTS]
 */
import { spawn } from "node:child_process"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"

const [clients = 1_000, requests = 2_000, ...excess] = process.argv.slice(2).map(Number)
if (excess.length > 0 || ![clients, requests].every((count) => Number.isInteger(count) && count > 0)) {
  console.error(
    "node src/SlowClients.ts [CLIENTS] [REQUESTS]: expected up to two numbers of at least 1 (default: 1000 2000)"
  )
  process.exit(2)
}
const apiKey = "a key for the slow clients"

const main = fileURLToPath(new URL("src/main.ts", import.meta.resolve("@tachograph/server/package.json")))
const server = spawn(process.execPath, [main, "serve", "--port", "0", "--storage", "memory:"], {
  env: { ...process.env, TACHOGRAPH_API_KEY: apiKey },
  stdio: ["ignore", "pipe", "inherit"]
})
process.on("exit", () => server.kill())
const url = await new Promise<URL>((resolve) => {
  let output = ""
  server.stdout.on("data", (chunk) => {
    const match = /^Docs +(\S+)\/docs$/m.exec((output += chunk))
    if (match !== null) resolve(new URL(match[1]!))
  })
})

/** The sorted latencies of sequential requests on one connection (ms). */
const latencies = async (): Promise<ReadonlyArray<number>> => {
  const times: Array<number> = []
  for (let n = 0; n < requests; n++) {
    const started = performance.now()
    const response = await fetch(`${url}api/v1/agents`, {
      method: "PUT",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: `{"agent_name":"agent ${n}"}`
    })
    await response.text()
    times.push(performance.now() - started)
  }
  return times.sort((a, b) => a - b)
}

/** Sends a piece of a header or body every second. Resolves with the seconds until the server disconnects it. */
const slowClient = (n: number): Promise<number> =>
  new Promise((resolve) => {
    const started = performance.now()
    const socket = connect({ host: url.hostname, port: Number(url.port) })
    const head = `PUT /api/v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n`
    socket.on("connect", () => socket.write(n % 2 === 0 ? head : `${head}Content-Length: 100000\r\n\r\n{`))
    const drip = setInterval(() => socket.write(n % 2 === 0 ? "X: y\r\n" : " "), 1_000)
    const end = () => {
      clearInterval(drip)
      resolve((performance.now() - started) / 1_000)
    }
    socket.on("error", () => {})
    socket.on("close", end)
    socket.resume()
  })

const percentile = (sorted: ReadonlyArray<number>, quantile: number) =>
  sorted[Math.floor(sorted.length * quantile)] ?? NaN
const row = (name: string, times: ReadonlyArray<number>) =>
  console.log(
    `${name.padEnd(24)} p50 ${percentile(times, 0.5).toFixed(2)} ms   p99 ${percentile(times, 0.99).toFixed(2)} ms`
  )

await latencies()
const without = await latencies()
const slow = Array.from({ length: clients }, (_, n) => slowClient(n))
await new Promise((done) => setTimeout(done, 1_000))
const during = await latencies()
row("without slow clients", without)
row(`with ${clients} slow clients`, during)
console.log(`p99 with ÷ without: ${(percentile(during, 0.99) / percentile(without, 0.99)).toFixed(2)}`)
const durations = (await Promise.all(slow)).sort((a, b) => a - b)
console.log(`slow clients were disconnected after ${durations[0]!.toFixed(1)} to ${durations.at(-1)!.toFixed(1)} s`)
process.exit()
