/** The example's programs as processes of their own. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it, vi } from "vitest"

const program = (name: string) => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url))
const key = "a key of the example's own"
const cwd = mkdtempSync(join(tmpdir(), "tachograph-"))
let child: ChildProcess
let url: string

/** The program is given its port, so one that is free is found first. */
const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })

beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const env = { ...process.env, TACHOGRAPH_API_KEY: key, PORT: String(port) }
  child = spawn(process.execPath, [program("main")], { cwd, env, stdio: "inherit" })
  await vi.waitFor(() => fetch(url), { timeout: 10_000 })
})

afterAll(() => {
  child.kill("SIGKILL")
  rmSync(cwd, { recursive: true })
})

it("answers its own routes, and Tachograph's beside them", async () => {
  const text = async (path: string, headers = {}) => (await fetch(url + path, { headers })).text()
  expect(await text("/")).toBe("Hello from my own server\n")
  expect(await text("/api/v1/anything-else")).toBe("Hello from my own server\n")
  expect(await text("/api/v1/events")).toBe(`{"type":"unauthorized"}`)
  expect(await text("/api/v1/events", { authorization: `Bearer ${key}` })).toBe(`{"events":[],"next_cursor":null}`)
})

it("records in process, and says what cannot be recorded", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program("record")], { cwd })
  const [event, ...complaints] = stdout.trimEnd().split("\n")
  expect(event).toContain(`"inputs":{"model":"m","messages":[{"role":"user","content":"Hello"}]},"output":{`)
  expect(complaints).toEqual(["properties", "fingerprint_id", "session"].map((name) => `body.${name}: Field required`))
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
