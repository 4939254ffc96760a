/** The example as a process of its own: its own routes answer, and Tachograph's beside them. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const key = "a key of the example's own"
const cwd = mkdtempSync(join(tmpdir(), "tachograph-"))
let child: ChildProcess
let url: string

// Stands for the provider; no two JSON writers would write this.
const answer = `{"id": "resp_1",  "model":"gpt-5-mini", "status":"completed", "temperature": 1.0}`
const asked: Array<string> = []
const provider = createServer(async (request, response) => {
  asked.push(Buffer.concat(await request.toArray()).toString())
  response.writeHead(200, { "content-type": "application/json" }).end(answer)
}).listen(0, "127.0.0.1")

beforeAll(async () => {
  const { port } = provider.address() as AddressInfo
  const openai = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: "sk" }
  const env = { ...process.env, ...openai, TACHOGRAPH_API_KEY: key, PORT: "0" }
  child = spawn(process.execPath, [main], { cwd, env, stdio: ["ignore", "pipe", "inherit"] })
  url = await new Promise((resolve, reject) => {
    let output = ""
    child.stdout!.on("data", (chunk) => {
      const match = /(http:\/\/127.0.0.1:\d+)\D/.exec((output += chunk))
      if (match !== null) resolve(match[1]!)
    })
    child.once("exit", (code) => reject(new Error(`The example ended with ${code}`)))
  })
}, 30_000)

afterAll(() => {
  child.kill("SIGKILL")
  provider.close()
  rmSync(cwd, { recursive: true })
})

const call = async (path: string, method = "GET", body: string | null = null, authorization = `Bearer ${key}`) => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization, "content-type": "application/json" },
    body
  })
  return { status: response.status, text: await response.text() }
}

it("answers its own routes, and Tachograph's beside them", async () => {
  expect(await call("/")).toEqual({ status: 200, text: "Hello from Effect\n" })
  expect(await call("/none")).toMatchObject({ status: 404 })
  expect(await call("/tachograph/api/v1/events", "GET", null, "none")).toEqual({
    status: 401,
    text: `{"type":"unauthorized"}`
  })
})

it("records what its own route asks a model, to the byte", async () => {
  const question = JSON.stringify({ session: "s", question: "Why?" })
  expect(await call("/chat", "POST", question)).toEqual({ status: 200, text: answer })
  const { events } = JSON.parse((await call("/tachograph/api/v1/events?session=s")).text)
  expect(events).toMatchObject([{ model: "gpt-5-mini", stop_reason: "completed" }])
  const { text } = await call(`/tachograph/api/v1/events/${events[0].event_id}`)
  expect(text).toContain(`"inputs":${asked[0]},"output":${answer}}`)
})

it("answers though a call could not be recorded", async () => {
  const question = JSON.stringify({ session: "", question: "Why?" })
  expect(await call("/chat", "POST", question)).toEqual({ status: 200, text: answer })
})

it("closes the storage and ends with 0 when it is told to", async () => {
  const log = join(cwd, "tachograph.db-wal")
  expect(existsSync(log)).toBe(true)
  const ended = once(child, "exit")
  child.kill()
  expect(await ended).toEqual([0, null])
  // SQLite takes it away when the file is closed in order.
  expect(existsSync(log)).toBe(false)
})
