/** The example as a process of its own: its own routes answer, and Tachograph's beside them. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it, vi } from "vitest"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
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
  child = spawn(process.execPath, [main], { cwd, env, stdio: "inherit" })
  await vi.waitFor(() => fetch(url), { timeout: 10_000 })
})

afterAll(async () => {
  await new Promise((done) => child.once("exit", done).kill())
  rmSync(cwd, { recursive: true })
})

it("answers its own routes, and Tachograph's beside them", async () => {
  const text = async (path: string, headers = {}) => (await fetch(url + path, { headers })).text()
  expect(await text("/")).toBe("Hello from my own server\n")
  expect(await text("/api/v1/anything-else")).toBe("Hello from my own server\n")
  expect(await text("/api/v1/events")).toBe(`{"type":"unauthorized"}`)
  expect(await text("/api/v1/events", { authorization: `Bearer ${key}` })).toBe(`{"events":[],"next_cursor":null}`)
})
