/**
 * Sends hostile requests. None may cause a 5xx, a timeout or the end of the server; each accepted event is returned byte for
 * byte, and a rejected request leaves no row behind.
 *
 *   npm run corpus                          sends 100,000 requests instead of 600, with every text of the lists
 *   TACHOGRAPH_TEST_SEED=7 npm run corpus   repeats a run
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as wait } from "node:timers/promises"
import { join } from "node:path"
import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import { HttpClient, TestSeed } from "@tachograph/testkit"
import { expect, it, onTestFinished } from "vitest"
import { type HostileRequest, hostileRequests } from "./HostileRequests.ts"
import { serve, temporaryFolder } from "./TachographProcess.ts"

const count = Number(process.env["CORPUS_REQUESTS"] ?? 600)
const { seed } = TestSeed
const apiKey = "a key for hostile requests"

/** Maximum number of requests in flight. */
const concurrency = 16

/** A request without a response has failed after this time, in ms. */
const timeoutMs = 20_000

interface Target {
  readonly client: HttpClient.Client
  /** Stops the target and returns the numbers of stored events and fingerprints. */
  readonly stop: () => Promise<{ readonly events: number; readonly fingerprints: number }>
}

const attack = async (target: Target) => {
  const call = ({ body, contentType, method, path }: HostileRequest) => {
    const answer = target.client.call(method, path, body, {
      "x-tachograph-key": apiKey,
      ...(contentType === undefined ? {} : { "content-type": contentType })
    })
    let timer: NodeJS.Timeout
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs)
    })
    return Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }
  const put = async (path: string, body: string) =>
    (await call({ method: "PUT", path, body: new TextEncoder().encode(body), contentType: "application/json" })).body

  await put("/api/v1/agents", `{"agent_name":"bot"}`)
  await put("/api/v1/people", `{"person_id":"p1"}`)
  const fingerprint: any = await put("/api/v1/fingerprints", `{"language":"l","language_version":"v","system":"s"}`)

  const statuses = new Map<number, number>()
  const accepted = { events: 0, fingerprints: new Set<string>([fingerprint.fingerprint_id]) }
  const problems: Array<string> = []

  const tryOne = async (request: HostileRequest) => {
    let { status, text } = await call(request)
    // On a busy machine, at times the queue is too slow. Nothing was stored.
    for (let left = 100; left > 0 && status === 503 && text.includes('"overloaded"'); left--) {
      await wait(50)
      ;({ status, text } = await call(request))
    }
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const report = (problem: string) => {
      const sent = `${request.method} ${request.path} ${Buffer.from(request.body ?? []).toString("latin1")}`
      problems.push(`${problem}: ${status} ${text.slice(0, 1_000)} to ${sent}`.slice(0, 2_000))
    }
    if (status >= 500) report("Server error")
    if (status >= 500 || request.method === "HEAD" || (request.method === "OPTIONS" && status === 204)) return
    if (status === 200 && request.path.startsWith("/proxy/")) {
      // What passed is recorded without credentials, so it is counted and not compared.
      if (request.method !== "POST") return
      accepted.events++
      accepted.fingerprints.add("the proxy's")
      return
    }
    if (status !== 200) {
      const body: any = JSON.parse(text)
      if (typeof body.type !== "string" && !Array.isArray(body.detail)) report("Error without a type")
      return
    }
    if (request.method === "PUT" && request.path.endsWith("/fingerprints")) {
      accepted.fingerprints.add(JSON.parse(text).fingerprint_id)
    }
    if (request.method !== "POST") return
    accepted.events++
    if (request.payload === undefined) return
    const { event_id: id } = JSON.parse(text)
    const event = await call({ method: "GET", path: `/api/v1/events/${id}` })
    if (!event.text.includes(request.payload)) report("Payload changed")
  }

  const requests = hostileRequests(fingerprint.fingerprint_id, seed, count)
  let sent = 0
  const worker = async () => {
    while (sent < count && problems.length === 0) {
      sent++
      const { value } = requests.next() as { value: HostileRequest }
      await tryOne(value).catch((error) => problems.push(`${error}: ${value.method} ${value.path}`))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  expect(problems).toEqual([])
  expect((await call({ method: "GET", path: "/health" })).status).toBe(200)
  expect(await target.stop()).toEqual({ events: accepted.events, fingerprints: accepted.fingerprints.size })
  // The run proves little unless many requests were accepted and many rejected.
  expect(accepted.events).toBeGreaterThan(count / 50)
  expect(statuses.get(422)).toBeGreaterThan(count / 20)
}

const rowsOf = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = (table: string) => (database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n
  expect(rows("packs")).toBe(rows("events"))
  // A rejected event must not leave its session behind.
  const orphans = `SELECT count(*) AS n FROM sessions s WHERE NOT EXISTS (
    SELECT 1 FROM events e WHERE e.project_id = s.project_id AND e.session_number = s.session_number)`
  expect(database.prepare(orphans).get()).toEqual({ n: 0 })
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" })
  const counts = { events: rows("events"), fingerprints: rows("fingerprints") }
  database.close()
  return counts
}

const timeout = 60_000 + count * 10

/** A provider behind the proxy, as options of both targets. */
const provider = async () => {
  const server = createServer((request, response) => request.resume().once("end", () => response.end("{}")))
  // On a busy machine a request could meet the end of a connection that was idle.
  server.keepAliveTimeout = 0
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it(`a server handles ${count} hostile requests, seed ${seed}`, { timeout }, async () => {
  const cwd = temporaryFolder()
  const env = { TACHOGRAPH_API_KEY: apiKey }
  const proxy = ["--proxy", "--upstream", `local=${await provider()}`]
  const server = await serve(["--port", "0", "--storage", "sqlite:corpus.db", ...proxy], { cwd, env })
  await attack({
    client: HttpClient.open(server.url, apiKey),
    stop: async () => {
      expect((await server.stop()).code).toBe(0)
      return rowsOf(join(cwd, "corpus.db"))
    }
  })
})

it(`the fetch handler handles ${count} hostile requests, seed ${seed}`, { timeout }, async () => {
  const file = join(temporaryFolder(), "corpus.db")
  const tachograph = await createTachograph({
    storage: sqlite(file),
    apiKeys: [apiKey],
    proxy: { upstreams: { local: await provider() } }
  })
  await attack({
    client: HttpClient.make(tachograph.fetch, apiKey),
    stop: async () => {
      await tachograph.close()
      return rowsOf(file)
    }
  })
})
