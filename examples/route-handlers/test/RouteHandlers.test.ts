/** The example as a process of its own: its own routes answer, and Tachograph's beside them. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const key = "a key of the example's own"
const cwd = mkdtempSync(join(tmpdir(), "tachograph-"))
let child: ChildProcess
let url: string

beforeAll(async () => {
  // Where TEST is set, h3 does not print where it listens.
  const env = { ...process.env, TACHOGRAPH_API_KEY: key, PORT: "0", TEST: "" }
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
  expect(await call("/")).toEqual({ status: 200, text: "Hello from h3\n" })
  expect(await call("/none")).toMatchObject({ status: 404 })
  expect(await call("/api/v1/events", "GET", null, "none")).toEqual({ status: 401, text: `{"type":"unauthorized"}` })
})

it("records an event, and gives it back to the byte", async () => {
  const runtime = `{"language": "typescript", "language_version": "7", "system": "linux"}`
  const { fingerprint_id } = JSON.parse((await call("/api/v1/fingerprints", "PUT", runtime)).text)
  const payload = `{"model":"m",  "temperature": 1.0}`
  const event = `{
    "event_name": "llm", "fingerprint_id": "${fingerprint_id}", "session": "s",
    "properties": {"api": "openai-responses", "inputs": ${payload}, "output": {}}
  }`
  const { event_id } = JSON.parse((await call("/api/v1/events", "POST", event)).text)
  expect((await call(`/api/v1/events/${event_id}`)).text).toContain(`"inputs":${payload},`)
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
