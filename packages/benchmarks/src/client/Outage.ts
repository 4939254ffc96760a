/** What an application notices, and what is lost, while the server is away, restarts, and refuses. */
import { createApi } from "@tachograph/client/api"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as Databases from "../harness/Databases.ts"
import * as Processes from "../harness/Processes.ts"
import * as Recording from "../harness/Recording.ts"
import * as Serve from "../harness/Serve.ts"
import { decimal, integer, print, progress } from "../harness/Table.ts"
import * as Application from "./Application.ts"
import { percentile, providerMs } from "./Measures.ts"

/** Calls at once: few enough that what waits stays below the bounds of the recorder: 10,000 events, 64 MiB. */
const inFlight = 32

const awaySeconds = 30
const refusingSeconds = 5

type Answerer = (message: IncomingMessage, response: ServerResponse) => void

const refuse =
  (status: number, headers: Readonly<Record<string, string>>): Answerer =>
  (message, response) => {
    message.resume()
    response.writeHead(status, { "content-type": "application/json", ...headers }).end('{"type":"overloaded"}')
  }

/** Stands before the server, so that the application's recorder has one address over its restarts. */
const startGate = async () => {
  let answer: Answerer = (_message, response) => response.destroy()
  const gate = createServer((message, response) => answer(message, response))
  await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve))
  const { port } = gate.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    answerBy: (by: Answerer) => (answer = by),
    passTo: (url: string) => {
      const { hostname, port: target } = new URL(url)
      answer = (message, response) => {
        const { headers, method, url: path } = message
        const sent = request({ hostname, port: target, method, path, headers }, (received) => {
          response.writeHead(received.statusCode!, received.headers)
          received.pipe(response)
        })
        sent.on("error", () => response.destroy())
        message.pipe(sent)
      }
    },
    /** Connections are refused until `open`. */
    shut: () =>
      new Promise<void>((resolve) => {
        gate.close(() => resolve())
        gate.closeAllConnections()
      }),
    open: () => new Promise<void>((resolve) => gate.listen(port, "127.0.0.1", resolve))
  }
}

export const outage = async (): Promise<void> => {
  const [apiKey = ""] = Recording.apiKeys
  const database = Databases.sqlite()
  let served = await Serve.serve(Databases.urlOf(database))
  const provider = await Processes.start(new URL("../baselines/Provider.ts", import.meta.url), [String(providerMs)])
  const gate = await startGate()
  gate.passTo(served.url)
  const rows: Array<ReadonlyArray<string>> = []
  let asked = 0
  let summary = ""
  try {
    const plain = await Application.start(provider.url)
    const recording = await Application.start(provider.url, gate.url, apiKey)
    const phase = async (name: string, seconds: number) => {
      progress(`client-outage: ${name}`)
      // At the same time, so that what else the machine does meets both.
      const [without, { durations }] = await Promise.all([
        plain.load(inFlight, seconds),
        recording.load(inFlight, seconds)
      ])
      asked += durations.length
      const p99 = [without.durations, durations].map((values) => percentile(values, 0.99))
      rows.push([name, integer(durations.length), ...p99.map((ms) => decimal(ms, 1)), decimal(p99[1]! - p99[0]!, 1)])
    }
    await phase("the server is there", 5)
    await gate.shut()
    await served.stop()
    await phase(`it is away for ${awaySeconds} s`, awaySeconds)
    served = await Serve.serve(Databases.urlOf(database))
    gate.passTo(served.url)
    await gate.open()
    await phase("it is back", 5)
    gate.answerBy(refuse(503, { "retry-after": "1" }))
    await phase("it answers 503, Retry-After: 1", refusingSeconds)
    gate.answerBy(refuse(429, { "retry-after": "2" }))
    await phase("it answers 429, Retry-After: 2", refusingSeconds)
    const { url } = served
    gate.passTo(url)
    await phase("it is back", 5)
    const counters = await recording.flush()
    const sessions = new Map<string, number>()
    for await (const { session } of createApi({ url, apiKey }).listEvents.each({ limit: 1_000 })) {
      sessions.set(session, (sessions.get(session) ?? 0) + 1)
    }
    const stored = Array.from(sessions.values()).reduce((sum, count) => sum + count, 0)
    const twice = Array.from(sessions.values()).filter((count) => count > 1).length
    summary =
      `${integer(asked)} calls were made, ${integer(asked - sessions.size)} of them lost, ${integer(twice)} recorded twice; ` +
      `${integer(stored)} events are stored. Counters of the recorder: ${JSON.stringify(counters)}.`
    if (sessions.size !== asked || stored !== asked) process.exitCode = 1
    await plain.stop()
    await recording.stop()
  } finally {
    await gate.shut().catch(() => {})
    await served.stop()
    await provider.stop()
    await database.remove()
  }
  print({
    title: "An application that records while the server fails",
    columns: ["", "calls", "p99 without recording, ms", "p99 recording, ms", "added"],
    rows,
    notes: [
      `${inFlight} calls at once of an application that records, and of one beside it that does not, to a provider that answers after ${providerMs} ms. ${summary} The exit code is 1 if a call was lost or ` +
        "recorded twice."
    ]
  })
}
