import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished, vi } from "vitest"

/** The programs are given their ports, so one that is free is found first. */
const freePort = async () => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  await new Promise((done) => probe.close(done))
  return port
}

/** Runs an example's program in a folder of its own, until it is told to end or the test is over. */
export const run = async (program: URL, env: Record<string, string>) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const cwd = mkdtempSync(join(tmpdir(), "tachograph-"))
  const child = spawn(process.execPath, [fileURLToPath(program)], {
    cwd,
    env: { ...process.env, ...env, PORT: String(port) }
  })
  let output = ""
  child.stdout.on("data", (chunk) => (output += chunk))
  child.stderr.on("data", (chunk) => (output += chunk))
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
    rmSync(cwd, { recursive: true })
  })
  await vi.waitFor(() => fetch(url, { headers: { connection: "close" } }), { timeout: 20_000 })

  return {
    cwd,
    url,
    output: () => output,
    /** `token` is the application's own, or an API key. */
    call: async (path: string, token: string, body?: string) => {
      // A connection that is kept would keep the program from ending.
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", connection: "close" }
      const method = body === undefined ? "GET" : path.endsWith("/fingerprints") ? "PUT" : "POST"
      const response = await fetch(url + path, { method, headers, body: body ?? null })
      return { status: response.status, text: await response.text() }
    },
    /** Tells it to end, and answers with what it did. */
    end: async () => {
      child.kill("SIGTERM")
      return (await ended)[0] as number | null
    }
  }
}
