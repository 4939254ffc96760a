/**
 * A program that has Tachograph embedded, and a route of its own. It starts and prints as `tachograph serve` does. `/own/terminate`
 * ends the thread that was started last, and `/own/threads` says how many were started.
 */
import { createTachograph } from "@tachograph/router"
import { postgres } from "@tachograph/storage-postgres"
import { sqlite } from "@tachograph/storage-sqlite"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Worker } from "node:worker_threads"

const { TACHOGRAPH_API_KEY: key = "", TACHOGRAPH_STORAGE: storage = "" } = process.env

/** Enough for the modules and some events (MiB). */
const heapMib = 96

/** More than a thread of this size can read (bytes). */
const maxOtherBody = 64 * 1024 * 1024

const threads: Array<Worker> = []
process.on("worker", (worker: Worker) => threads.push(worker))

const tachograph = await createTachograph({
  storage: storage.startsWith("sqlite:") ? sqlite(storage.slice("sqlite:".length)) : postgres(storage),
  apiKeys: [key],
  maxOtherBody,
  thread: { heapMib, maxDeaths: Infinity }
})

const server = createServer((request, response) => {
  if (request.url === "/own/terminate") void threads.at(-1)?.terminate()
  if (request.url?.startsWith("/own") === true) return response.end(String(threads.length))
  return tachograph.node(request, response)
})
server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  console.log(`Docs        ${url}/docs`)
})
process.once("SIGTERM", async () => {
  server.close()
  await tachograph.close()
  process.exit(0)
})
