/** Several worker processes on one port, over Postgres. */
import { HttpClient } from "@tachograph/testkit"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { beforeAll, describe, expect, inject, it } from "vitest"
import packageJson from "../../package.json" with { type: "json" }
import { runInProcess, serveInProcess } from "../CommandLine.ts"
import { stall, untilRefused } from "../RawSocket.ts"
import { type Options, run, type Running, serve, temporaryFolder } from "../TachographProcess.ts"

const apiKey = "a key for several workers"

/** A URL with a new schema. */
const storage = () => {
  const url = new URL(inject("postgresUrl"))
  url.searchParams.set("schema", `test_${randomBytes(8).toString("hex")}`)
  url.searchParams.set("pool_size", "4")
  return url.href
}

const args = ["--port", "0", "--workers", "2"]

const start = async (options: Options = {}) => {
  const env = { TACHOGRAPH_API_KEY: apiKey, TACHOGRAPH_STORAGE: storage(), ...options.env }
  const server = await serve(args, { ...options, env })
  return { env, server, client: HttpClient.open(server.url, apiKey) }
}

interface Line {
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
}

const logged = (server: Running, message?: string): ReadonlyArray<Line> =>
  server
    .output()
    .stderr.split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => message === undefined || line.message === message)

const ready = "A worker is ready"
const replaced = "A worker exited and is replaced"

/** The pids of all processes that a worker has had. */
const pids = (server: Running, worker: number) =>
  logged(server, ready)
    .filter(({ annotations }) => annotations["worker"] === worker)
    .map(({ annotations }) => annotations["pid"] as number)

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))

/** Pause of a client after an event while it is slow, and after a failure, in ms. */
const pauseMs = 100

/**
 * Four clients that record without pauses, until `slow`, which leaves the processors to processes that start. Every tenth
 * request closes its connection.
 */
const load = async (client: HttpClient.Client) => {
  const { body } = await client.put("/api/v1/fingerprints", fingerprint)
  const acknowledged: Array<string> = []
  const failures: Array<unknown> = []
  let isSlow = false
  let stopped = false
  const clients = Array.from({ length: 4 }, async (_, session) => {
    for (let n = 0; !stopped; n++) {
      const properties = { api: "aisdk", inputs: { messages: [{ n, session }] }, output: { n } }
      const event = { event_name: "llm", fingerprint_id: body.fingerprint_id, session: `s${session}`, properties }
      const headers: Record<string, string> = n % 10 === 0 ? { connection: "close" } : {}
      const answer = await client
        .call("POST", "/api/v1/events", event, headers)
        .catch((error: unknown) => error as Error)
      const isAcknowledged = !(answer instanceof Error) && answer.status === 200
      if (isAcknowledged) acknowledged.push(answer.body.event_id)
      else failures.push(answer)
      if (isSlow || !isAcknowledged) await pause(pauseMs)
    }
  })
  return {
    acknowledged,
    failures,
    /** Waits until more than 20 further events are acknowledged. */
    enough: () => {
      const before = acknowledged.length
      return expect.poll(() => acknowledged.length - before).toBeGreaterThan(20)
    },
    slow: () => {
      isSlow = true
    },
    stop: async () => {
      stopped = true
      await Promise.all(clients)
    }
  }
}

/** The ids of the events that cannot be read. */
const unreadable = async (client: HttpClient.Client, ids: ReadonlyArray<string>) => {
  const left = new Set(ids)
  expect(left.size).toBe(ids.length)
  for (let page = ""; ;) {
    const { body, status } = await client.get(`/api/v1/events?limit=1000${page}`)
    expect(status).toBe(200)
    for (const { event_id: id } of body.events) left.delete(id)
    if (body.next_cursor === null) return [...left]
    page = `&cursor=${encodeURIComponent(body.next_cursor)}`
  }
}

/** No keep-alive: the connection might belong to the worker that is stopped. */
const close = { connection: "close" }

const fingerprint = { language: "c", language_version: "1", system: "linux" }

/** The series of one scrape, by name and labels. A new connection lets any worker answer. */
const scrape = async (client: HttpClient.Client) => {
  const { status, text } = await client.call("GET", "/metrics", undefined, close)
  expect(status).toBe(200)
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]))
}

/** The series of a scrape that both workers answered: one that does not answer for a second is missing. */
const scrapeBoth = async (client: HttpClient.Client) => {
  let series: Awaited<ReturnType<typeof scrape>> = new Map()
  await expect.poll(async () => (series = await scrape(client)).get("tachograph_workers_missing")).toBe(0)
  return series
}

describe("Two workers over Postgres", () => {
  it("share a port chosen by the system, print the same as one process, both serve requests, and exit when the primary is killed", async () => {
    const { client, env, server } = await start({ env: { TACHOGRAPH_API_KEY: "", TACHOGRAPH_LOG_LEVEL: "debug" } })
    await expect.poll(() => server.output().stdout).toContain("Viewer")
    expect(
      server
        .output()
        .stdout.split("\n")
        .map((line) => line.slice(0, 7).trim())
    ).toEqual(["Tachogr", "Storage", "Docs", "API key", "Viewer", ""])
    expect(server.output().stdout).not.toMatch(/tg_[0-9A-Za-z]{33}/)
    const key = (await runInProcess(["keys", "create", "--scope", "admin"], env)).stdout.trim()
    const { port } = new URL(server.url)
    expect(Number(port)).toBeGreaterThan(0)
    const own = HttpClient.open(server.url, key)
    const statuses: Array<number> = []
    const answering = async () => {
      const answers = Array.from({ length: 10 }, () => own.call("GET", "/api/v1/events", undefined, close))
      for (const { status } of await Promise.all(answers)) statuses.push(status)
      const answered = logged(server).filter(({ annotations }) => annotations["status"] === 200)
      return new Set(answered.map(({ annotations }) => annotations["worker"]))
    }
    // On a busy machine one worker may take a burst of connections before the other one runs.
    await expect.poll(answering).toEqual(new Set([1, 2]))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect((await client.get("/api/v1/events")).status).toBe(401)
    const all = [...pids(server, 1), ...pids(server, 2)]
    expect(all.filter(isAlive)).toHaveLength(2)
    await server.stop("SIGKILL")
    await expect.poll(() => all.filter(isAlive), { timeout: 5_000 }).toEqual([])
  })

  it("are replaced with increasing delays while one fails during startup, and take the signals of one second for one", async () => {
    const marker = join(temporaryFolder(), "fail")
    const fail = `import { existsSync } from "node:fs"; if (/:2,/.test(process.env.TACHOGRAPH_WORKER) && existsSync(${JSON.stringify(marker)})) process.exit(7)`
    const preload = `--import=data:text/javascript,${encodeURIComponent(fail)}`
    const { client, server } = await start({ env: { NODE_OPTIONS: preload } })
    writeFileSync(marker, "")
    process.kill(pids(server, 2)[0]!, "SIGKILL")
    await expect.poll(() => logged(server, replaced).length).toBeGreaterThan(3)
    expect(logged(server, replaced).slice(0, 4)).toMatchObject([
      { annotations: { worker: 2, reason: "killed by SIGKILL", wait: "0 ms" } },
      { annotations: { worker: 2, reason: "exit code 7", wait: "100 ms" } },
      { annotations: { worker: 2, reason: "exit code 7", wait: "200 ms" } },
      { annotations: { worker: 2, reason: "exit code 7", wait: "400 ms" } }
    ])
    expect((await client.get("/api/v1/events")).status).toBe(200)
    rmSync(marker)
    await expect.poll(() => pids(server, 2)).toHaveLength(2)

    // A terminal or a supervisor signals every process, and npm passes that on: it is one signal.
    const stalled = await stall(server.url, apiKey)
    for (const worker of [1, 2]) process.kill(pids(server, worker).at(-1)!, "SIGINT")
    void server.stop("SIGINT")
    void server.stop("SIGINT")
    await untilRefused(server.url)
    await sleep(1_100)
    const all = [...pids(server, 1), ...pids(server, 2)]
    expect([server.isRunning(), all.some(isAlive)]).toEqual([true, true])
    // A later one is another.
    expect((await server.stop()).code).toBe(1)
    await expect.poll(() => all.filter(isAlive), { timeout: 5_000 }).toEqual([])
    await stalled.finished
  })
})

describe("Two workers with clients", () => {
  let started: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    started = await start()
  })

  it("return the metrics of all workers at /metrics, also when one is stopped", async () => {
    const { client, server } = started
    const { body } = await client.call("PUT", "/api/v1/fingerprints", fingerprint, close)
    const send = async (n: number) => {
      const properties = { api: "aisdk", inputs: { n }, output: {} }
      const event = { event_name: "llm", fingerprint_id: body.fingerprint_id, session: `s${n}`, properties }
      const { body: answer, status } = await client.call("POST", "/api/v1/events", event, close)
      expect([status, answer.type]).toEqual([200, undefined])
    }
    // The first ones load what a worker needs to record.
    for (let n = 0; n < 8; n++) await send(n)
    await Promise.all(Array.from({ length: 32 }, (_, n) => send(8 + n)))
    // A worker that does not answer for a second is missing.
    let scrapes: Array<Awaited<ReturnType<typeof scrape>>> = []
    const missing = async () => {
      scrapes = await Promise.all(Array.from({ length: 6 }, () => scrape(client)))
      return Math.max(...scrapes.map((series) => series.get("tachograph_workers_missing")!))
    }
    await expect.poll(missing).toBe(0)
    for (const series of scrapes) {
      expect(series.get("tachograph_events_total")).toBe(40)
      expect(series.get("tachograph_workers")).toBe(2)
      expect(series.get("tachograph_storage_pool_size")).toBe(8)
      expect(series.get('tachograph_http_request_seconds_count{method="POST"}')).toBe(40)
      expect(series.get(`tachograph_build_info{version="${packageJson.version}"}`)).toBe(1)
    }

    // A worker that does not respond: its counters are still included, its gauges are not.
    const [stopped] = pids(server, 1)
    process.kill(stopped!, "SIGSTOP")
    const without = await scrape(client)
    expect(without.get("tachograph_events_total")).toBe(40)
    expect(without.get("tachograph_workers")).toBe(1)
    expect(without.get("tachograph_workers_missing")).toBe(1)
    expect(without.get("tachograph_storage_pool_size")).toBe(4)

    process.kill(stopped!, "SIGCONT")
    await expect.poll(missing).toBe(0)
  })

  it("lose no acknowledged event when one is killed and replaced, and nothing that a scrape has shown", async () => {
    const { client, server } = started
    const clients = await load(client)
    // Requests that the clients do not make.
    const puts = 'tachograph_http_request_seconds_count{method="PUT"}'
    await Promise.all(Array.from({ length: 20 }, () => client.call("PUT", "/api/v1/fingerprints", fingerprint, close)))
    const counted = (await scrapeBoth(client)).get(puts)
    expect(counted).toBeGreaterThan(20)
    await clients.enough()
    const [killed] = pids(server, 2)
    process.kill(killed!, "SIGKILL")
    clients.slow()
    await expect.poll(() => pids(server, 2)).toHaveLength(2)
    await clients.enough()
    await clients.stop()
    expect(logged(server, replaced)).toMatchObject([{ annotations: { worker: 2, reason: "killed by SIGKILL" } }])
    expect(pids(server, 1)).toHaveLength(1)
    expect((await scrapeBoth(client)).get(puts)).toBe(counted)
    expect(await unreadable(client, clients.acknowledged)).toEqual([])
  })

  it("are renewed one by one on SIGHUP, without a failed request and with all that was counted", async () => {
    const { client, server } = started
    const counted = (await scrapeBoth(client)).get("tachograph_events_total")!
    const clients = await load(client)
    await clients.enough()
    const before = { log: logged(server), pids: [1, 2].map((worker) => pids(server, worker)) }
    process.kill(server.pid, "SIGHUP")
    clients.slow()
    const renewed = () => [1, 2].map((worker) => pids(server, worker).length - before.pids[worker - 1]!.length)
    await expect.poll(renewed).toEqual([1, 1])
    await clients.enough()
    await clients.stop()
    expect(clients.failures).toEqual([])
    expect(
      logged(server)
        .slice(before.log.length)
        .map(({ message }) => message)
    ).toEqual([ready, ready])
    // A worker sends what it has counted since the last scrape before it exits.
    const renewedMetrics = await scrapeBoth(client)
    expect(renewedMetrics.get("tachograph_events_total")).toBe(counted + clients.acknowledged.length)
    expect(renewedMetrics.get("tachograph_workers")).toBe(2)
    expect(await unreadable(client, clients.acknowledged)).toEqual([])
  })

  it("lose no acknowledged event when every process is signalled, and exit soon with code 0", async () => {
    const { client, env, server } = started
    const clients = await load(client)
    await clients.enough()
    const before = performance.now()
    for (const worker of [1, 2]) process.kill(pids(server, worker).at(-1)!, "SIGTERM")
    expect(await server.stop()).toMatchObject({ code: 0, signal: null })
    expect(performance.now() - before).toBeLessThan(20_000)
    await clients.stop()
    for (const worker of [1, 2]) expect(pids(server, worker).filter(isAlive)).toEqual([])
    const reader = HttpClient.open(await serveInProcess([], "1 minute", env), apiKey)
    expect(await unreadable(reader, clients.acknowledged)).toEqual([])
  })
})

describe("Two workers that cannot start", () => {
  const expectOneLine = async (options: Options, given: ReadonlyArray<string>, line: string) => {
    const env = { TACHOGRAPH_API_KEY: apiKey, TACHOGRAPH_STORAGE: storage(), ...options.env }
    const { code, stderr, stdout } = await run(["serve", ...given], { ...options, env })
    expect(stderr.split("\n").filter((text) => !text.startsWith("{"))).toEqual([line, ""])
    expect([code, stdout]).toEqual([1, ""])
  }

  it("report once why the storage cannot be opened", async () => {
    const TACHOGRAPH_STORAGE = "postgres://me:secret@127.0.0.1:1/nowhere"
    const line = "tachograph: Cannot open the storage (Postgres, 127.0.0.1:1/nowhere): connect ECONNREFUSED 127.0.0.1:1"
    await expectOneLine({ env: { TACHOGRAPH_STORAGE } }, args, line)
  })

  it("report once that the port is taken", async () => {
    const other = createServer()
    await new Promise<void>((done) => other.listen(0, "127.0.0.1", done))
    const { port } = other.address() as AddressInfo
    const line = `tachograph: Cannot listen on 127.0.0.1:${port}: the port is taken; choose another with --port, or 0 for any`
    await expectOneLine({}, ["--port", String(port), "--workers", "2"], line)
    other.close()
  })

  it("report once that one exited during startup", async () => {
    const fail = "if (/:2,/.test(process.env.TACHOGRAPH_WORKER)) process.exit(7)"
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(fail)}`
    await expectOneLine({ env: { NODE_OPTIONS } }, args, "tachograph: Worker 2 exited during startup: exit code 7")
  })
})
