import { HttpClient, RoundTrip } from "@tachograph/testkit"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { stall } from "../RawSocket.ts"
import { run, serve, temporaryFolder } from "../TachographProcess.ts"
import { expectUsageError, runInProcess, startServer } from "../CommandLine.ts"

const ownKey = "a key of my own making"
const keyPattern = /tg_[0-9A-Za-z]{33}/g

const get = async (url: string, key: string) => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, text: await response.text() }
}

describe("tachograph serve", () => {
  it.concurrent("prints no key where what it prints is kept, and says how to make one", async () => {
    const cwd = temporaryFolder()
    const server = await serve(["--port", "0"], { cwd })
    const line = "API key     none yet; make one: tachograph keys create --scope admin, on this storage\n"
    await vi.waitFor(() => expect(server.output().stdout).toContain(line), { timeout: 60_000 })
    const { stdout: key } = await run(["keys", "create", "--scope", "admin"], { cwd })
    expect((await get(`${server.url}/api/v1/events`, key.trim())).status).toBe(200)
    const { stderr, stdout } = await server.stop()
    expect(stdout + stderr).not.toMatch(keyPattern)
    expect(stdout).toContain(`Viewer      ${server.url}/viewer/\n`)
  })

  const onTerminal = it.runIf(process.platform === "linux").concurrent
  onTerminal(
    "prints its address, its storage, the URL of the docs and, on the first start only, a new key",
    async () => {
      const cwd = temporaryFolder()
      const first = await serve(["--port", "0"], { cwd, isOnTerminal: true })
      expect((await get(`${first.url}/health`, "")).status).toBe(200)
      await vi.waitFor(() => expect(first.output().stdout).toMatch(keyPattern), { timeout: 60_000 })
      const { stdout } = first.output()
      expect(stdout).toContain(`Tachograph  ${first.url}\n`)
      expect(stdout).toContain(`Storage     SQLite, ${join(cwd, "tachograph.db")}\n`)
      expect(stdout).toContain(`Docs        ${first.url}/docs\n`)
      const [key] = stdout.match(keyPattern)!
      await vi.waitFor(() => expect(first.output().stdout).toContain(`Viewer      ${first.url}/viewer/#key=${key}\n`), {
        timeout: 60_000
      })
      expect((await get(`${first.url}/api/v1/events`, key)).status).toBe(200)
      await first.stop()
      expect(existsSync(join(cwd, "tachograph.db"))).toBe(true)

      const second = await serve(["--port", "0"], { cwd, isOnTerminal: true })
      expect((await get(`${second.url}/api/v1/events`, key)).status).toBe(200)
      await vi.waitFor(() => expect(second.output().stdout).toContain(`Viewer      ${second.url}/viewer/\n`), {
        timeout: 60_000
      })
      expect(second.output().stdout).not.toMatch(keyPattern)
      await second.stop()
    }
  )

  it.concurrent("reads options from the environment, and prefers the command line", async () => {
    const env = {
      TACHOGRAPH_PORT: "0",
      TACHOGRAPH_STORAGE: "memory:",
      TACHOGRAPH_HOST: "localhost",
      TACHOGRAPH_UPSTREEM: "a=b"
    }
    const nextKey = "the key after my own one"
    const server = await serve(["--host", "127.0.0.1"], { env: { ...env, TACHOGRAPH_API_KEY: `${nextKey},${ownKey}` } })
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    for (const key of [nextKey, ownKey]) expect((await get(`${server.url}/api/v1/events`, key)).status).toBe(200)
    expect((await get(`${server.url}/api/v1/events`, `${nextKey},${ownKey}`)).status).toBe(401)
    await vi.waitFor(
      () => expect(server.output().stdout).toContain("API key     from TACHOGRAPH_API_KEY; has every scope\n"),
      { timeout: 60_000 }
    )
    const { stderr, stdout } = await server.stop()
    expect(stderr).toContain("TACHOGRAPH_UPSTREEM is not known (did you mean TACHOGRAPH_UPSTREAM?)")
    expect(stdout).toContain("memory")
    expect(stdout).not.toContain(ownKey)
    // With a configured key no other key is issued.
    expect(stdout).not.toMatch(keyPattern)
  })

  it.concurrent("records the same without a session cache, and shuts down in time on SIGINT although a client stalls", async () => {
    const env = { TACHOGRAPH_API_KEY: ownKey, TACHOGRAPH_SESSION_MEMORY: "0", TACHOGRAPH_RETAIN: "none" }
    const server = await serve(["--port", "0", "--storage", "memory:"], { env })
    const client = HttpClient.open(server.url, ownKey)
    const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
    const { body } = await client.put("/api/v1/fingerprints", fingerprint)
    const sent = await RoundTrip.send(client, RoundTrip.sampleRun(body.fingerprint_id))
    expect(await RoundTrip.differences(client, sent)).toEqual([])
    const stalled = await stall(server.url, ownKey)
    expect(await server.stop("SIGINT")).toMatchObject({ code: 0, signal: null })
    await stalled.finished
  })

  it.concurrent("acknowledges nothing, and is not ready, while its SQLite file is moved away, and shuts down on SIGHUP", async () => {
    const file = join(temporaryFolder(), "tachograph.db")
    const env = { TACHOGRAPH_API_KEY: ownKey, TACHOGRAPH_STORAGE: `sqlite:${file}` }
    const server = await serve(["--port", "0"], { env })
    const client = HttpClient.open(server.url, ownKey)
    const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
    const { body } = await client.put("/api/v1/fingerprints", fingerprint)
    const properties = { api: "aisdk", inputs: { n: 1 }, output: {} }
    const event = { event_name: "llm", fingerprint_id: body.fingerprint_id, session: "s", properties }
    const statuses = async () => [
      (await client.post("/api/v1/events", event)).status,
      (await client.get("/ready")).status,
      (await client.get("/health")).status
    ]
    expect(await statuses()).toEqual([200, 200, 200])
    renameSync(file, `${file}.moved`)
    expect(await statuses()).toEqual([503, 503, 200])
    expect((await client.post("/api/v1/events", event)).body).toEqual({ type: "storage-unavailable" })
    const removed = `${file} was removed while it was open`
    await vi.waitFor(() => expect(server.output().stderr).toContain(removed), { timeout: 60_000 })
    renameSync(`${file}.moved`, file)
    expect(await statuses()).toEqual([200, 200, 200])
    expect(await server.stop("SIGHUP")).toMatchObject({ code: 0, signal: null })
  })

  it.concurrent("prices calls and masks texts by files of the operator, also on the engine's thread", async () => {
    const folder = temporaryFolder()
    const file = join(folder, "prices.json")
    const price = { model: "my-model", input_mtok: 2, output_mtok: 4 }
    writeFileSync(file, JSON.stringify({ date: "2026-11-01", prices: [price] }))
    const env = { TACHOGRAPH_API_KEY: ownKey, TACHOGRAPH_STORAGE: `sqlite:${join(folder, "tachograph.db")}` }
    const patterns = join(folder, "patterns.txt")
    writeFileSync(patterns, "# of ours\nplanted-\\w+\n")
    const server = await serve(["--port", "0", "--prices", file, "--redact", patterns], { env })
    const client = HttpClient.open(server.url, ownKey)
    const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
    const { fingerprint_id } = (await client.put("/api/v1/fingerprints", fingerprint)).body
    const output = { model: "my-model", usage: { prompt_tokens: 100, completion_tokens: 10 }, choices: [] }
    const properties = { api: "provider1-chat-completions", inputs: { model: "my-model" }, output }
    const event = { event_name: "llm", fingerprint_id, session: "of planted-one", properties }
    const { event_id } = (await client.post("/api/v1/events", event)).body
    const masked = { session: "of [redacted]", recorded: { redacted: 1 } }
    expect((await client.get("/api/v1/events")).body.events[0]).toMatchObject(masked)
    // Dollars per million: 2 for input, and 4 for output.
    const priced = { cost_usd: "0.00024", price: "own:my-model", price_is_exact: true, unpriced: null }
    expect((await client.get(`/api/v1/events/${event_id}`)).body).toMatchObject(priced)
    expect((await client.get("/api/v1/events")).body.events[0]).toMatchObject(priced)
    expect((await client.get("/api/v1/me")).body.prices).toBe("2026-11-01 (own), 2026-09-23")
    expect((await server.stop()).code).toBe(0)
  })

  it.concurrent("logs one JSON object per line, with a request id and without keys and payloads", async () => {
    const env = { TACHOGRAPH_API_KEY: ownKey }
    const server = await serve(["--port", "0", "--storage", "memory:", "--log-level", "debug"], { env })
    const headers = { authorization: `Bearer ${ownKey}`, "content-type": "application/json" }
    const fingerprint = { language: "planted-1", language_version: "1", system: "planted-2" }
    const created = await fetch(`${server.url}/api/v1/fingerprints`, {
      method: "PUT",
      headers,
      body: JSON.stringify(fingerprint)
    })
    const event = {
      event_name: "llm",
      properties: { api: "aisdk", inputs: { secret: "planted-3" }, output: { secret: "planted-4" } },
      fingerprint_id: ((await created.json()) as { fingerprint_id: string }).fingerprint_id,
      session: "planted-5"
    }
    const answer = await fetch(`${server.url}/api/v1/events`, { method: "POST", headers, body: JSON.stringify(event) })
    expect(answer.status).toBe(200)
    await fetch(`${server.url}/api/v1/agents/planted-6`, { headers: { authorization: "Bearer planted-7" } })
    const { stderr } = await server.stop()
    const lines = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.length).toBeGreaterThan(2)
    expect(stderr).toContain(answer.headers.get("x-request-id"))
    expect(stderr).not.toContain("planted")
    expect(stderr).not.toContain(ownKey)
  })

  it("sends browsers from / to the viewer, unless it is off", async () => {
    const root = async (url: string, accept: string) => {
      const { headers, status } = await fetch(`${url}/`, { headers: { accept }, redirect: "manual" })
      return [status, headers.get("location")]
    }
    const on = await startServer(["--storage", "memory:"])
    expect(await root(on.url, "text/html,application/xhtml+xml")).toEqual([302, "viewer/"])
    expect(await root(on.url, "application/json")).toEqual([404, null])
    expect((await get(`${on.url}/viewer/`, "")).status).toBe(200)

    const off = await startServer(["--storage", "memory:", "--viewer", "off"])
    expect(await root(off.url, "text/html")).toEqual([404, null])
    for (const path of ["/viewer", "/viewer/"]) expect((await get(`${off.url}${path}`, "")).status).toBe(404)
    await vi.waitFor(() => expect(off.output().stdout).toContain("make one: set TACHOGRAPH_API_KEY\n"), {
      timeout: 60_000
    })
    await off.stop()
    expect(off.output().stdout).not.toContain("Viewer")
  })

  it("refuses files of the operator that are wrong, and says where", async () => {
    const folder = temporaryFolder()
    const [file, patterns] = [join(folder, "prices.json"), join(folder, "patterns.txt")]
    const served = ["serve", "--port", "0", "--storage", "memory:"]
    writeFileSync(patterns, "a\n\n(b")
    const refused = await runInProcess([...served, "--redact", patterns])
    expect([refused.code, refused.stdout]).toEqual([2, ""])
    expect(refused.stderr).toContain("patterns.txt cannot be used: line 3: a parenthesis is not closed")
    const missing = await runInProcess([...served, "--redact", join(folder, "none.txt")])
    expectUsageError(missing, "none.txt cannot be used: it does not exist")
    writeFileSync(
      file,
      JSON.stringify({ date: "2026-11-01", prices: [{ model: "my-model", input_mtok: -1, output_mtok: 4 }] })
    )
    const { code, stderr } = await runInProcess([...served, "--prices", file])
    expect(code).not.toBe(0)
    expect(stderr).toContain(
      "prices.json cannot be used: prices[0].input_mtok is not a number of dollars of at least 0"
    )
  })

  it("reports in one line that the port is taken, with exit code 1", async () => {
    const other = createServer()
    await new Promise<void>((done) => other.listen(0, "127.0.0.1", done))
    const { port } = other.address() as AddressInfo
    const { code, stderr, stdout } = await runInProcess(["serve", "--port", String(port), "--storage", "memory:"])
    other.close()
    expect(stderr).toBe(
      `tachograph: Cannot listen on 127.0.0.1:${port}: the port is taken; choose another with --port, or 0 for any\n`
    )
    expect([code, stdout]).toEqual([1, ""])
  })

  it.each([
    [["--port", "abc"], {}, `--port is "abc": expected a port, 0 to 65535`],
    [["--port", "65536"], {}, `--port is "65536": expected a port, 0 to 65535`],
    [[], { TACHOGRAPH_PORT: "-1" }, `TACHOGRAPH_PORT is "-1": expected a port, 0 to 65535`],
    [
      ["--storage", "mysql://me:secret@h/d"],
      {},
      `--storage is "mysql://…": expected memory:, sqlite:PATH or postgres://`
    ],
    [["--storage", "postgres://me:secret@h/d?pool_size=x"], {}, `--storage is "postgres://…": pool_size is "x"`],
    [["--storage", "postgres://me:secret@h/d?poolsize=5"], {}, `there is no parameter "poolsize"`],
    [["--storage", "sqlite:"], {}, `--storage is "sqlite:": expected memory:, sqlite:PATH or postgres://`],
    [["--host", "a b"], {}, `--host is "a b": expected an address or a host name`],
    [["--max-body", "many"], {}, `--max-body is "many": expected a number of bytes`],
    [["--max-other-body", "0"], {}, `--max-other-body is "0": expected a number of bytes up to 511MiB`],
    [[], { TACHOGRAPH_MAX_OTHER_BODY: "512MiB" }, `TACHOGRAPH_MAX_OTHER_BODY is "512MiB": expected a number of bytes`],
    [["--answer-timeout", "0s"], {}, `--answer-timeout is "0s": expected a time from 1s to 1h, such as 15s or 2m`],
    [[], { TACHOGRAPH_ANSWER_TIMEOUT: "2h" }, `TACHOGRAPH_ANSWER_TIMEOUT is "2h": expected a time from 1s to 1h`],
    [["--viewer", "maybe"], {}, `--viewer is "maybe": expected on or off`],
    [["--session-memory", "-1"], {}, `--session-memory is "-1": expected a number of bytes from 0 to 64GiB`],
    [["--session-memory", "65GiB"], {}, `--session-memory is "65GiB": expected a number of bytes from 0 to 64GiB`],
    [["--retain", "90"], {}, `--retain is "90": expected a time from 1h to 36500d, such as 12h or 90d, or none`],
    [["--retain", "0h"], {}, `--retain is "0h": expected a time from 1h to 36500d`],
    [[], { TACHOGRAPH_RETAIN: "36501d" }, `TACHOGRAPH_RETAIN is "36501d": expected a time from 1h to 36500d`],
    [["--backup-every", "12h"], {}, "--backup-every needs --backup"],
    [[], { TACHOGRAPH_BACKUP_KEEP: "3" }, "TACHOGRAPH_BACKUP_KEEP needs --backup"],
    [["--log-level", "loud"], {}, `--log-level is "loud": expected debug, info, warn, error, none`],
    [["--nothing"], {}, "Unrecognized flag: --nothing"],
    [["something"], {}, `Unexpected positional argument: "something"`],
    [
      [],
      { TACHOGRAPH_API_KEY: "nineteen characters" },
      "TACHOGRAPH_API_KEY is invalid: expected 20 characters or more"
    ],
    [[], { TACHOGRAPH_API_KEY: `${ownKey},` }, "TACHOGRAPH_API_KEY is invalid: expected 20 characters or more"]
  ])("rejects %j %j with one line and exit code 2", async (args, env, message) => {
    const finished = await runInProcess(["serve", ...args], env)
    expectUsageError(finished, message)
    expect(finished.stderr).not.toMatch(/secret|nineteen/)
  })

  it("shuts down soon although its clients are never idle", async () => {
    const server = await serve(["--port", "0", "--storage", "memory:"])
    let ended = false
    let answers = 0
    const clients = Array.from({ length: 8 }, async () => {
      while (!ended) {
        await fetch(`${server.url}/health`).then(
          (answer) => answer.text().then(() => answers++),
          () => new Promise((done) => setTimeout(done, 20))
        )
      }
    })
    await expect.poll(() => answers).toBeGreaterThan(80)
    const before = performance.now()
    expect((await server.stop()).code).toBe(0)
    // Less than the 8 s that a shutdown waits for requests in progress.
    expect(performance.now() - before).toBeLessThan(7_000)
    ended = true
    await Promise.all(clients)
  })

  it("reports in one line why the storage cannot be opened, with exit code 1", async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, "notes.txt"), "This is not a database, but it is as long as one.\n".repeat(20))
    mkdirSync(join(cwd, "folder"))
    const reasons = {
      "notes.txt": "not a SQLite database",
      folder: "is a folder. Name a file",
      "no/such.db": "must exist",
      "notes.txt/in.db": "be writable"
    }
    for (const [path, reason] of Object.entries(reasons)) {
      const { code, stderr, stdout } = await runInProcess([
        "serve",
        "--port",
        "0",
        "--storage",
        `sqlite:${join(cwd, path)}`
      ])
      expect(stderr.trimEnd().split("\n")).toHaveLength(1)
      expect(stderr).toContain(`Cannot open the storage (SQLite, ${join(cwd, path)})`)
      expect(stderr).toContain(reason)
      expect([code, stdout]).toEqual([1, ""])
    }
  })
})
