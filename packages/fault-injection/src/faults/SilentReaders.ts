import { connect, type Socket } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import * as HealthProbe from "../harness/HealthProbe.ts"
import * as Http from "../harness/Http.ts"
import * as Latency from "../harness/Latency.ts"
import * as Ledger from "../harness/Ledger.ts"
import * as Processes from "../harness/Processes.ts"
import type { Server } from "../harness/Server.ts"
import type { Fault } from "../harness/Trial.ts"

const MiB = 1024 ** 2

/** Allowed memory growth above a server that records, and has read nothing yet (bytes). */
const allowedBytes = 128 * MiB

/** Characters of each of nine messages: an event of 30 MB. */
const messageLength = 3_330_000

/** Events after which the heaps of a server that records have grown as far as they do. */
const warmUpEvents = 4_000

const silentCount = 100
const ordinaryCount = 24

/** How long the server waits for a reader. Less than its default, so that the fault takes less time. */
const answerTimeoutSeconds = 5

/** An ordinary reader tries again for this long. */
const patienceMs = 240_000

const inMiB = (bytes: number) => `${Math.round(bytes / MiB)} MiB`

/** Asks for an event, and reads nothing of the answer. */
const silent = ({ key, url }: Server, id: string): Socket => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) }).on("error", () => {})
  socket.pause().write(`GET /api/v1/events/${id} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${key}\r\n\r\n`)
  return socket
}

/** Bytes until the server closes the connection. */
const drained = (socket: Socket): Promise<number> =>
  new Promise((resolve) => {
    socket.on("data", () => {}).resume()
    socket.on("close", () => resolve(socket.bytesRead))
    // A refusal leaves the connection open.
    setTimeout(() => socket.destroy(), 1_000)
  })

export const silentReaders: Fault = {
  name: "silent-readers",
  promise:
    "100 clients ask for an event of 30 MB and read nothing, then 24 read it; memory stays bounded, and events are recorded",
  storages: ["sqlite", "postgres"],
  rounds: 1,
  run: async (trial) => {
    const writer = await trial.serve()
    const large = await trial.load(writer, { name: "large", clients: 1, size: messageLength })
    await large.acknowledged(1)
    const recorded = await large.stop()
    trial.sent(recorded)
    const { id } = Ledger.acknowledged(recorded)[0]!
    await writer.stop()

    const server = await trial.serve({ env: { TACHOGRAPH_ANSWER_TIMEOUT: `${answerTimeoutSeconds}s` } })
    const first = Http.open(server.url, server.key)
    for (let n = 0; n < 20; n++) await first.call("GET", "/api/v1/events?limit=1")
    first.close()
    // What recording takes is no growth by readers.
    const warmUp = await trial.load(server, { name: "warm-up", clients: 4 })
    await warmUp.acknowledged(warmUpEvents)
    trial.sent(await warmUp.stop())
    await trial.eachRound(async (round) => {
      const before = Processes.memoryOf(server.pid)
      let peak = 0
      const sampler = setInterval(() => (peak = Math.max(peak, Processes.memoryOf(server.pid))), 20)
      const report = async (who: string, health: HealthProbe.HealthProbe) => {
        const times = Latency.summary(await health.stop())
        trial.note(`${who}: memory ${inMiB(before)} before, ${inMiB(peak)} at the peak; /health ${Latency.text(times)}`)
        trial.expect(peak <= before + allowedBytes, `${who}: memory grew from ${inMiB(before)} to ${inMiB(peak)}`)
        trial.expect(times.max < Number.POSITIVE_INFINITY, `${who}: /health failed`)
        peak = 0
      }

      const silentHealth = HealthProbe.start(server.url)
      const load = await trial.load(server, { name: `round ${round}`, clients: 4 })
      const sockets = Array.from({ length: silentCount }, () => silent(server, id))
      await load.acknowledged(100)
      await wait(2 * answerTimeoutSeconds * 1_000)
      const bytes = await Promise.all(sockets.map(drained))
      const entries = await load.stop()
      trial.sent(entries)
      await report(`${silentCount} silent readers`, silentHealth)
      const whole = bytes.filter((read) => read > 9 * messageLength)
      trial.expect(whole.length === 0, `${whole.length} answers were held until their clients read them`)
      const begun = bytes.filter((read) => read > 10_000)
      trial.expect(begun.length > 0, "no answer was begun")
      const refused = entries.filter(({ outcome }) => outcome.kind === "refused")
      trial.expect(refused.length === 0, `${refused.length} events were refused while nothing was read`)

      const http = Http.open(server.url, server.key)
      const ordinaryHealth = HealthProbe.start(server.url)
      let refusals = 0
      const read = async (): Promise<void> => {
        const startedAt = performance.now()
        for (;;) {
          const { headers, status, text } = await http.call("GET", `/api/v1/events/${id}`)
          if (status === 200) return trial.expect(text.length > 9 * messageLength, "an event was read in part")
          trial.expect(text === '{"type":"overloaded"}', `a read was answered ${status} ${text.slice(0, 100)}`)
          if (performance.now() - startedAt > patienceMs) throw new Error("A reader was refused for too long")
          refusals++
          await wait(1_000 * Number(headers["retry-after"]))
        }
      }
      await Promise.all(Array.from({ length: ordinaryCount }, read))
      http.close()
      await report(`${ordinaryCount} ordinary readers, refused ${refusals} times`, ordinaryHealth)
      clearInterval(sampler)
    })
  }
}
