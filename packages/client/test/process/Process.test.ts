import { execFile } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { createRecorder, type Drop } from "../../src/index.ts"
import { json, type Provider, startProvider } from "../Provider.ts"
import { chat, messages } from "../sdk/Wire.ts"
import { apiKey, refuse, type Server, startServer } from "../Server.ts"
import { copyOfClient, start, startRegistered, temporaryFolder } from "./Child.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
  provider.answer = json(chat.answer)
})

const recordingEnvironment = (url: string) => ({
  PROVIDER_URL: provider.url,
  TACHOGRAPH_URL: url,
  TACHOGRAPH_API_KEY: apiKey,
  TACHOGRAPH_AGENT: "chat"
})

const COPY = await copyOfClient()

describe("node --import @tachograph/client/register", () => {
  it("records an application that knows nothing of it, before the process ends", async () => {
    const server = await startServer()
    const child = await startRegistered("Chat.ts", recordingEnvironment(server.url))
    expect((await child.lines.next()).value).toBe(chat.answer.id)
    expect(await child.end()).toEqual({ code: 0, signal: null, errors: "" })
    const [event] = await server.events()
    expect(event).toMatchObject({ agent: "chat", properties: { inputs: chat.request, output: chat.answer } })
    expect(event!.text).not.toContain("sk-planted-key")
  })

  it("says what is missing, and lets the application run", async () => {
    const child = await startRegistered("Chat.ts", { PROVIDER_URL: provider.url, TACHOGRAPH_URL: "" })
    expect((await child.lines.next()).value).toBe(chat.answer.id)
    expect(await child.end()).toEqual({
      code: 0,
      signal: null,
      errors: "Tachograph: nothing is recorded, because TACHOGRAPH_URL and TACHOGRAPH_API_KEY are missing.\n"
    })
  })

  it.each([
    ["TACHOGRAPH_URL", "nonsense", "nothing is recorded: TACHOGRAPH_URL: expected http://… or https://…\n"],
    ["TACHOGRAPH_URL", "http://user:planted-password@127.0.0.1", "nothing is recorded: TACHOGRAPH_URL: expected"],
    ["TACHOGRAPH_API_KEY", "planted\nkey of twenty characters", "nothing is recorded: TACHOGRAPH_API_KEY: expected"],
    ["TACHOGRAPH_EXIT_MS", "5s", "nothing is recorded: TACHOGRAPH_EXIT_MS: expected a time in ms from 0 on"],
    ["TACHOGRAPH_EXIT_MS", " ", "nothing is recorded: TACHOGRAPH_EXIT_MS: expected a time in ms from 0 on"],
    ["TACHOGRAPH_REDACT", "/dev/null", "nothing is recorded: TACHOGRAPH_REDACT: it has no patterns"],
    [
      "TACHOGRAPH_REDACT",
      "/planted",
      "nothing is recorded: TACHOGRAPH_REDACT: expected the path of a file with patterns"
    ],
    // Node's own `mkdir` would never return.
    ["TACHOGRAPH_SPOOL", "/proc/none/spool", "the spool cannot be used"],
    ["TACHOGRAPH_SPOOL", "/dev/null/spool", "the spool cannot be used"]
  ])("says what is wrong with %s (%#), and lets the application run and end", async (name, value, said) => {
    const server = await startServer()
    const environment = { ...recordingEnvironment(server.url), [name]: value }
    const child = await startRegistered("Chat.ts", environment)
    expect((await child.lines.next()).value).toBe(chat.answer.id)
    const { code, errors } = await child.end()
    expect(code).toBe(0)
    expect(errors).toContain(said)
    expect(errors).not.toContain("planted")
    // Without a folder, calls wait in memory.
    expect(await server.events()).toHaveLength(name === "TACHOGRAPH_SPOOL" ? 1 : 0)
  })

  it.each([
    [401, "unauthorized", "(refused): URL refused the key in TACHOGRAPH_API_KEY.\n"],
    [403, "forbidden", "(refused): URL refused the key in TACHOGRAPH_API_KEY, which needs the scope record.\n"]
  ])("says what is wrong where it is answered %i, and speaks of no recorder", async (status, type, said) => {
    const server = await startServer()
    server.intercept = refuse(status, type)
    const child = await startRegistered("Chat.ts", recordingEnvironment(server.url))
    const { code, errors } = await child.end()
    expect([code, errors]).toEqual([0, `Tachograph: a call is not recorded ${said.replace("URL", server.url)}`])
  })

  it("says which variable was meant", async () => {
    const server = await startServer()
    const environment = { ...recordingEnvironment(server.url), TACHOGRAPH_AGNET: "x", TACHOGRAPH_PORT: "5" }
    const child = await startRegistered("Chat.ts", environment)
    const { errors } = await child.end()
    expect(errors).toBe("Tachograph: TACHOGRAPH_AGNET is not known (did you mean TACHOGRAPH_AGENT?).\n")
    expect(await server.events()).toHaveLength(1)
  })

  it("says at the end how many calls were lost", async () => {
    const server = await startServer()
    server.intercept = refuse(401, "unauthorized")
    const child = await startRegistered("Chat.ts", { ...recordingEnvironment(server.url), CALLS: "3" })
    const { errors } = await child.end()
    expect(errors).toContain("Tachograph: calls that are not recorded: 3 (refused).\n")
  })

  it("leaves the end of the process alone where TACHOGRAPH_EXIT_MS is 0", async () => {
    const server = await startServer()
    server.intercept = (_request, response) => {
      response.destroy()
      return true
    }
    const environment = { ...recordingEnvironment(server.url), TACHOGRAPH_EXIT_MS: "0" }
    const child = await startRegistered("Chat.ts", environment)
    expect(await child.end()).toMatchObject({
      code: 0,
      errors: "Tachograph: a call is not recorded (exit): the process ended before it was sent.\n"
    })
    // The process does not wait for a second attempt.
    expect(server.requests).toHaveLength(1)
  })

  it("records under the beginning of a name that is too long", async () => {
    const server = await startServer()
    const environment = { ...recordingEnvironment(server.url), TACHOGRAPH_AGENT: "x".repeat(300) }
    const child = await startRegistered("Chat.ts", environment)
    expect((await child.lines.next()).value).toBe(chat.answer.id)
    expect(await child.end()).toEqual({ code: 0, signal: null, errors: "" })
    const [event] = await server.events()
    expect(event!.agent).toMatch(/^x{190}-[\da-f]{64}$/)
  })

  it("sends what waits before SIGTERM ends the process", async () => {
    const server = await startServer()
    let receive = () => {}
    const received = new Promise<void>((resolve) => (receive = resolve))
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    server.intercept = (request, response) => {
      if (request.url !== "/api/v1/fingerprints") return false
      server.intercept = () => false
      receive()
      void released.then(() => response.writeHead(503, { "retry-after": "0" }).end())
      return true
    }
    const child = await startRegistered("Chat.ts", { ...recordingEnvironment(server.url), WAIT: "1" })
    await child.lines.next()
    await received
    child.kill("SIGTERM")
    await sleep(100)
    // As npm passes on what a terminal has sent already.
    child.kill("SIGTERM")
    await sleep(100)
    release()
    expect(await child.end()).toMatchObject({ code: null, signal: "SIGTERM" })
    expect(await server.events()).toHaveLength(1)
  })

  it("sends what waits each time that the process could end", async () => {
    const server = await startServer()
    const seen = new Set<unknown>()
    server.intercept = (request, response) => {
      const key = request.headers["idempotency-key"]
      if (request.url !== "/api/v1/events" || seen.has(key)) return false
      seen.add(key)
      return refuse(503, "overloaded", { "retry-after": "0.05" })(request, response)
    }
    const child = await start("Again.ts", { URL: server.url, KEY: apiKey })
    expect(await child.end()).toEqual({ code: 0, signal: null, errors: "" })
    expect((await server.events()).map(({ properties }) => properties.inputs["n"])).toEqual([0, 1, 2])
  })

  it("leaves a signal to the application that handles it", async () => {
    const server = await startServer()
    const environment = { ...recordingEnvironment(server.url), WAIT: "1", HANDLE: "1" }
    const child = await startRegistered("Chat.ts", environment)
    await child.lines.next()
    child.kill("SIGTERM")
    expect(await child.end()).toMatchObject({ code: 7 })
  })
})

describe("a process that ends with a call under way", () => {
  const begin = async (env: Readonly<Record<string, string>>, intercept: Server["intercept"] = () => false) => {
    const server = await startServer()
    server.intercept = intercept
    const streaming = await startProvider()
    streaming.answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(messages.chunks.slice(0, 4).join(""))
    }
    const child = await start("Ending.ts", { PROVIDER_URL: streaming.url, URL: server.url, KEY: apiKey, ...env })
    expect(Number((await child.lines.next()).value)).toBeGreaterThan(0)
    return { child, server }
  }
  const rest = async (lines: AsyncIterator<string>) => {
    const all: Array<string> = []
    for (let next = await lines.next(); !next.done; next = await lines.next()) all.push(next.value)
    return all
  }
  const partly = { content: [{ type: "text", text: "Grüße" }], error: { type: "exit" } }

  it.each<[string, Record<string, string>, ReadonlyArray<string>]>([
    ["alone", {}, []],
    ["beside signal-exit", { SIGNAL_EXIT: "1" }, ["signal-exit: SIGTERM"]],
    ["beside another copy of the client", { COPY }, []],
    ["with one of the AI SDK", { AISDK: "1" }, []],
    ["beside both", { SIGNAL_EXIT: "1", COPY }, ["signal-exit: SIGTERM"]]
  ])("is ended by SIGTERM, %s, and the call is recorded as far as it came", async (_name, env, printed) => {
    const { child, server } = await begin(env)
    child.kill("SIGTERM")
    expect(await rest(child.lines)).toEqual(printed)
    expect(await child.end()).toMatchObject({ code: null, signal: "SIGTERM", errors: "" })
    const outputs = (await server.events()).map(({ properties }) => properties.output)
    expect(outputs).toHaveLength(env["COPY"] === undefined && env["AISDK"] === undefined ? 1 : 2)
    expect(outputs.some(({ content, error }) => content === undefined && error !== undefined)).toBe("AISDK" in env)
    expect(outputs).toContainEqual(
      expect.objectContaining({ content: partly.content, error: expect.objectContaining(partly.error) })
    )
  })

  it("is ended by SIGTERM beside a call that cannot be written, which is counted", async () => {
    const { child, server } = await begin({ AISDK: "odd" })
    child.kill("SIGTERM")
    expect(await rest(child.lines)).toEqual(["lost: unreadable"])
    expect(await child.end()).toMatchObject({ code: null, signal: "SIGTERM", errors: "" })
    expect(await server.events()).toHaveLength(1)
  })

  it.each([
    ["", {}],
    [", and where its end is left alone", { EXIT_MS: "0" }]
  ])("counts what waits too, where the application ends it at once%s", async (_name, env) => {
    const { child } = await begin({ EXIT: "1", COPY, AISDK: "1", ...env }, () => true)
    // An event of the other copy, a call, and one of the AI SDK.
    expect(await rest(child.lines)).toEqual(Array(3).fill("lost: exit"))
    expect(await child.end()).toMatchObject({ code: 9, signal: null })
  })

  it("counts what waits, where it is ended by SIGTERM and the server does not answer", async () => {
    const { child } = await begin({ EXIT_MS: "1", COPY, AISDK: "1" }, () => true)
    child.kill("SIGTERM")
    expect(await rest(child.lines)).toEqual(Array(3).fill("lost: exit"))
    expect(await child.end()).toMatchObject({ code: null, signal: "SIGTERM" })
  })

  it("is ended by SIGTERM at once where its end is left alone", async () => {
    const { child, server } = await begin({ EXIT_MS: "0" })
    child.kill("SIGTERM")
    expect(await child.end()).toMatchObject({ code: null, signal: "SIGTERM" })
    expect(await server.events()).toEqual([])
  })

  it.each<[string, Record<string, string>, number]>([
    ["a handler", { HANDLE: "1" }, 7],
    ["a handler, and signal-exit", { HANDLE: "1", SIGNAL_EXIT: "1" }, 7],
    ["a handler that takes itself off", { ONCE: "1" }, 8],
    ["a handler that takes itself off before all others", { FIRST: "1" }, 8],
    ["an exit of its own", { EXIT: "1" }, 9]
  ])("is left to the application that has %s, and the call is counted", async (_name, env, code) => {
    const { child, server } = await begin(env)
    if (env["EXIT"] === undefined) child.kill("SIGTERM")
    expect(await rest(child.lines)).toContain("lost: exit")
    expect(await child.end()).toMatchObject({ code, signal: null })
    expect(await server.events()).toEqual([])
  })
})

describe("a process that ends by itself while the server does not answer", () => {
  it("waits no longer than exitMs for an attempt", async () => {
    const server = await startServer()
    let isFirst = true
    // The first attempt fails, so that the next one is made as the process ends.
    server.intercept = (_request, response) => {
      if (isFirst) response.destroy()
      isFirst = false
      return true
    }
    const child = await start("Idle.ts", { URL: server.url, KEY: apiKey, EXIT_MS: "1" })
    // The attempt may take ten minutes.
    expect(await child.end()).toMatchObject({ code: 6, signal: null })
    expect(await child.lines.next()).toMatchObject({ value: "could end" })
  })

  it("ends no later because it handles a signal", async () => {
    const server = await startServer()
    server.intercept = (_request, response) => {
      response.destroy()
      return true
    }
    const child = await start("Idle.ts", { URL: server.url, KEY: apiKey, EXIT_MS: "600000", WAIT: "1" })
    expect((await child.lines.next()).value).toBe("waits")
    child.kill("SIGTERM")
    expect((await child.lines.next()).value).toBe("could end")
    child.kill("SIGKILL")
    await child.end()
  })
})

describe("a spool", () => {
  const open = (url: string, spool: string, drops: Array<Drop> = []) =>
    createRecorder({ url, apiKey, spool, onDrop: (drop) => void drops.push(drop) })

  it("is said to be on disk only where all of it is", async () => {
    const server = await startServer()
    const spool = temporaryFolder()
    server.intercept = refuse(503, "overloaded")
    const program = fileURLToPath(new URL("Spooling.ts", import.meta.url))
    const env = { URL: server.url, KEY: apiKey, SPOOL: spool, SIZE: "20000", NODE_DISABLE_COMPILE_CACHE: "1" }
    // The system writes as much as it may of a file, and says how much, as where a disk fills up.
    const limited = ["-c", 'ulimit -f 8 && exec "$0" "$1"', process.execPath, program]
    const ended = promisify(execFile)("sh", limited, { env: { ...process.env, ...env } })
    await expect(ended).rejects.toMatchObject({ code: 1, stdout: "", stderr: /Calls that are not on disk: 1/ })
    expect(readdirSync(spool)).toEqual([])
  })

  it("keeps what was said to be spooled over kill -9, and the next process sends it once", async () => {
    const server = await startServer()
    const spool = temporaryFolder()
    // Half of the answers are lost, so that events are recorded whose files remain.
    let requests = 0
    server.intercept = (request, response) => {
      if (request.url?.startsWith("/api/v1/events") === true && requests++ % 2 === 0)
        response.writeHead = (() => response.destroy()) as never
      return false
    }
    const child = await start("Spooling.ts", { URL: server.url, KEY: apiKey, SPOOL: spool })
    let told = -1
    while (told < 40) told = Number((await child.lines.next()).value)
    child.kill("SIGKILL")
    await child.end()
    for (let next = await child.lines.next(); !next.done; next = await child.lines.next()) told = Number(next.value)
    server.intercept = () => false

    const drops: Array<Drop> = []
    const recorder = open(server.url, spool, drops)
    expect(await recorder.flush()).toBe(true)
    const numbers = (await server.events())
      .map(({ properties }) => Number(properties.inputs["n"]))
      .sort((a, b) => a - b)
    expect(numbers.slice(0, told + 1)).toEqual(Array.from({ length: told + 1 }, (_, n) => n))
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(drops).toEqual([])
    expect(readdirSync(spool).filter((name) => name.endsWith(".event"))).toEqual([])
  })

  it.each([
    ["by itself", {}, { code: 0, signal: null }],
    ["by SIGTERM", { WAIT: "1" }, { code: null, signal: "SIGTERM" }]
  ])("does not hold up a process that ends %s while the key is refused", async (_name, env, end) => {
    const server = await startServer()
    server.intercept = refuse(401, "unauthorized")
    const spool = temporaryFolder()
    const child = await start("Refused.ts", { URL: server.url, KEY: apiKey, SPOOL: spool, ...env })
    expect((await child.lines.next()).value).toBe("spooled")
    if ("WAIT" in env) child.kill("SIGTERM")
    // It would wait for ten minutes.
    expect(await child.end()).toMatchObject(end)
    expect(readdirSync(spool)).toHaveLength(50)
    server.intercept = () => false
    expect(await open(server.url, spool).flush()).toBe(true)
    expect(await server.events()).toHaveLength(50)
  })

  it.each([
    ["error", 1],
    ["exit", 3]
  ])("gets what is an event already as the process ends at once, by an %s", async (ENDING, code) => {
    const server = await startServer()
    const spool = temporaryFolder()
    const child = await start("Crashing.ts", { URL: server.url, KEY: apiKey, SPOOL: spool, ENDING })
    expect(await child.lines.next()).toMatchObject({ value: "lost: exit" })
    expect((await child.lines.next()).done).toBe(true)
    expect(await child.end()).toMatchObject({ code, signal: null })
    expect(readdirSync(spool).filter((name) => name.endsWith(".event"))).toHaveLength(5)
    expect(await open(server.url, spool).flush()).toBe(true)
    expect((await server.events()).map(({ properties }) => properties.inputs["n"]).sort()).toEqual([0, 1, 2, 3, 4])
  })

  it("holds more than may wait in memory, and no credential", async () => {
    const server = await startServer()
    const spool = temporaryFolder()
    let isAway = true
    server.intercept = (_request, response) => {
      if (isAway) response.destroy()
      return isAway
    }
    const recorder = createRecorder({ url: server.url, apiKey, spool, maxEvents: 3 })
    provider.answer = json({ error: { message: "Wrong key sk-planted-key", type: "invalid" } }, 401)
    for (let n = 0; n < 10; n++) {
      const headers = { authorization: "Bearer sk-planted-key" }
      const body = JSON.stringify({ ...chat.request, user: String(n) })
      await (await recorder.fetch(`${provider.url}/v1/chat/completions`, { method: "POST", headers, body })).text()
    }
    provider.answer = json(chat.answer)
    await recorder.spooled()
    const files = readdirSync(spool)
    expect(files).toHaveLength(10)
    for (const file of files) {
      const content = readFileSync(join(spool, file), "utf8")
      expect(content).toContain("Wrong key [redacted]")
      for (const key of ["sk-planted-key", apiKey]) expect(content).not.toContain(key)
    }
    expect(recorder.counters()).toMatchObject({ waiting: 3, heldBytes: 0, dropped: {} })
    isAway = false
    expect(await recorder.flush()).toBe(true)
    expect(await server.events()).toHaveLength(10)
    expect(readdirSync(spool)).toEqual([])
  })

  it("that cannot be written leaves events in memory, which is a warning and no loss", async () => {
    const server = await startServer()
    const folder = temporaryFolder()
    const file = join(folder, "file")
    writeFileSync(file, "")
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    const drops: Array<Drop> = []
    const recorder = open(server.url, file, drops)
    for (let n = 0; n < 2; n++) recorder.record({ api: "aisdk", inputs: { n }, output: {}, session: "s" })
    expect(await recorder.flush()).toBe(true)
    expect(await server.events()).toHaveLength(2)
    expect(drops).toEqual([])
    expect(recorder.counters()).toMatchObject({ recorded: 2, sent: 2, dropped: {} })
    const said = warn.mock.calls.map(([text]) => String(text)).filter((text) => text.includes(folder))
    expect(said).toMatchObject([expect.stringContaining("the spool cannot be used")])
    warn.mockRestore()
  })
})
