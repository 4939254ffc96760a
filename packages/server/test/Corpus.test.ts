/**
 * Hostile requests over the wire: none may be answered with a 5xx, hang or end the server; what is accepted is read back
 * to the byte, and what is refused leaves no row behind.
 *
 *   npm run corpus                    a hundred thousand of them
 *   CORPUS_SEED=1 npm run corpus      the same again
 */
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import { HttpClient } from "@tachograph/testkit"
import { expect, it } from "vitest"
import { type HostileRequest, hostileRequests } from "./HostileRequests.ts"
import { serve, temporaryFolder } from "./TachographProcess.ts"

const count = Number(process.env["CORPUS_REQUESTS"] ?? 18_000)
const seed = Number(process.env["CORPUS_SEED"] ?? Date.now() % 2 ** 31)
const apiKey = "a key for hostile requests"

/** Requests under way at once, and the milliseconds after which one has hung. */
const concurrency = 16
const patience = 20_000

interface Target {
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends the target; answers how many events and fingerprints it holds. */
  readonly end: () => Promise<{ readonly events: number; readonly fingerprints: number }>
}

const survive = async (target: Target) => {
  const call = (request: HostileRequest) =>
    target.fetch(
      new Request(`http://localhost${request.path}`, {
        method: request.method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(request.contentType === undefined ? {} : { "content-type": request.contentType })
        },
        body: request.body ?? null,
        signal: AbortSignal.timeout(patience)
      })
    )
  const put = async (path: string, body: string) =>
    (await call({ method: "PUT", path, body: new TextEncoder().encode(body), contentType: "application/json" })).json()

  await put("/api/v1/agents", `{"agent_name":"bot"}`)
  await put("/api/v1/people", `{"person_id":"p1"}`)
  const fingerprint: any = await put("/api/v1/fingerprints", `{"language":"l","language_version":"v","system":"s"}`)

  const statuses = new Map<number, number>()
  const accepted = { events: 0, fingerprints: new Set<string>([fingerprint.fingerprint_id]) }
  const wrong: Array<string> = []

  const tryOne = async (request: HostileRequest) => {
    const response = await call(request)
    const text = await response.text()
    const { status } = response
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const complain = (what: string) => {
      const sent = `${request.method} ${request.path} ${Buffer.from(request.body ?? []).toString("latin1")}`
      wrong.push(`${what}: ${sent} → ${status} ${text}`.slice(0, 2_000))
    }
    if (status >= 500) complain("A server error")
    if (status >= 500 || request.method === "HEAD" || (request.method === "OPTIONS" && status === 204)) return
    if (status !== 200) {
      const body: any = JSON.parse(text)
      if (typeof body.type !== "string" && !Array.isArray(body.detail)) complain("An error without a type")
      return
    }
    if (request.method === "PUT" && request.path.endsWith("/fingerprints")) {
      accepted.fingerprints.add(JSON.parse(text).fingerprint_id)
    }
    if (request.method !== "POST") return
    accepted.events++
    if (request.payload === undefined) return
    const { event_id: id } = JSON.parse(text)
    const read = await (await call({ method: "GET", path: `/api/v1/events/${id}` })).text()
    if (!read.includes(request.payload)) complain("Not read back as it was sent")
  }

  const requests = hostileRequests(fingerprint.fingerprint_id, seed)
  let started = 0
  const worker = async () => {
    while (started < count && wrong.length === 0) {
      started++
      const { value } = requests.next() as { value: HostileRequest }
      await tryOne(value).catch((error) => wrong.push(`${error}: ${value.method} ${value.path}`))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  expect(wrong).toEqual([])
  expect((await call({ method: "GET", path: "/health" })).status).toBe(200)
  expect(await target.end()).toEqual({ events: accepted.events, fingerprints: accepted.fingerprints.size })
  // Both kinds were among them, or nothing was shown.
  expect(accepted.events).toBeGreaterThan(100)
  expect(statuses.get(422)).toBeGreaterThan(1_000)
}

const rowsOf = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = (table: string) => (database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n
  expect(rows("packs")).toBe(rows("events"))
  // Nothing stands alone that only a refused event named.
  const orphans = `SELECT count(*) AS n FROM sessions s WHERE NOT EXISTS (
    SELECT 1 FROM events e WHERE e.project_id = s.project_id AND e.session_number = s.session_number)`
  expect(database.prepare(orphans).get()).toEqual({ n: 0 })
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" })
  const counts = { events: rows("events"), fingerprints: rows("fingerprints") }
  database.close()
  return counts
}

const timeout = 60_000 + count * 10

it(`a server survives ${count} hostile requests, seed ${seed}`, { timeout }, async () => {
  const cwd = temporaryFolder()
  const env = { TACHOGRAPH_API_KEY: apiKey }
  const server = await serve(["--port", "0", "--storage", "sqlite:corpus.db"], { cwd, env })
  await survive({
    fetch: HttpClient.at(server.url),
    end: async () => {
      expect((await server.stop()).code).toBe(0)
      return rowsOf(join(cwd, "corpus.db"))
    }
  })
})

it(`the fetch handler survives ${count} hostile requests, seed ${seed}`, { timeout }, async () => {
  const file = join(temporaryFolder(), "corpus.db")
  const tachograph = await createTachograph({ storage: sqlite(file), apiKeys: [apiKey] })
  await survive({
    fetch: tachograph.fetch,
    end: async () => {
      await tachograph.close()
      return rowsOf(file)
    }
  })
})
