/** What a server does that has no file handle left before its first event, and when it has some again. */
import { execFile } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { json } from "node:stream/consumers"
import { promisify } from "node:util"
import { expect, it, vi } from "vitest"
import { serve } from "../TachographProcess.ts"

const apiKey = "a key for the last handle"

/** Sends over the one connection of an agent, which needs no new one. */
const clientOf = (url: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, keepAliveMsecs: 60_000 })
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" }
    const sent = request(`${url}${path}`, { method, agent, headers })
    sent.end(body && JSON.stringify(body))
    const [response] = await once(sent, "response")
    const isJson = response.headers["content-type"]?.startsWith("application/json")
    const content: any = isJson ? await json(response) : (response.resume(), await once(response, "end"), undefined)
    return { status: response.statusCode as number, body: content }
  }
  return { send, close: () => agent.destroy() }
}

const threadsOf = (pid: number): string =>
  readdirSync(`/proc/${pid}/task`)
    .map((task) => readFileSync(`/proc/${pid}/task/${task}/comm`, "utf8"))
    .join("")

/** Sets how many files a process may have open. Those that it has open already stay so. */
const limitFiles = (pid: number, files: number) =>
  promisify(execFile)("prlimit", [`--pid=${pid}`, `--nofile=${files}:`])

/** Each is loaded, or has a part that is, when it is first asked for. */
const reads = [
  "/viewer/",
  "/docs",
  "/openapi.json",
  "/api/v1/sessions",
  "/api/v1/sessions/s/messages",
  "/api/v1/usage",
  "/api/v1/search?q=é",
  "/api/v1/export"
]

it.runIf(process.platform === "linux")("records, and does what it could not do as soon as it can", async () => {
  const env = { TACHOGRAPH_API_KEY: apiKey }
  const server = await serve(["--port", "0"], { env })
  const { close, send } = clientOf(server.url)
  const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
  const { fingerprint_id } = (await send("PUT", "/api/v1/fingerprints", fingerprint)).body
  const usage = { input_tokens: 1_000, output_tokens: 0 }
  const properties = { api: "provider2-messages", inputs: { model: "claude-sonnet-4-5" }, output: { usage } }
  const record = async () => {
    const event = { event_name: "llm", fingerprint_id, session: "s", properties }
    const { body, status } = await send("POST", "/api/v1/events", event)
    expect(status).toBe(200)
    const { cost_usd, unpriced } = (await send("GET", `/api/v1/events/${body.event_id}`)).body
    return [cost_usd, unpriced]
  }

  await limitFiles(server.pid, 3)
  expect([await record(), await record()]).toEqual(Array(2).fill([null, "unknown-model"]))
  for (const path of reads)
    expect([path, (await send("GET", path)).status]).toEqual([path, expect.toBeOneOf([200, 503])])
  expect((await send("GET", "/viewer/")).body).toEqual({ type: "overloaded" })
  expect(threadsOf(server.pid)).not.toContain("tachograph read")
  await limitFiles(server.pid, 1024)

  expect(await record()).toEqual(["0.003", null])
  for (const path of reads) expect([path, (await send("GET", path)).status]).toEqual([path, 200])
  await vi.waitFor(
    async () => {
      await send("GET", "/api/v1/sessions")
      expect(threadsOf(server.pid)).toContain("tachograph read")
    },
    { timeout: 60_000, interval: 500 }
  )
  // By its rules an event says that its cost is still to be computed.
  const { events_by_rules, rules } = (await send("GET", "/api/v1/me")).body
  expect(events_by_rules).toEqual(
    expect.arrayContaining([
      { rules, events: 1 },
      { rules: expect.stringMatching(/^\d+, prices not loaded$/), events: 2 }
    ])
  )
  close()
  const { code, stderr } = await server.stop()
  expect(code).toBe(0)
  expect(stderr.match(/The price list cannot be loaded yet/g)).toHaveLength(1)
  expect(stderr).not.toMatch(/failed unexpectedly|has died/)
})
