import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished, vi } from "vitest"

const methodFor = (path: string, body: string | undefined) => {
  if (body === undefined) return "GET"
  return path.endsWith("/fingerprints") ? "PUT" : "POST"
}

/** Below the ports that systems give to whoever asks for any: other servers of the tests do not take it meanwhile. */
const ports = { from: 10_000, count: 6_000 }

/** Finds a free port, because the programs take their port from the environment. */
const freePort = async (): Promise<number> => {
  const port = ports.from + Math.floor(Math.random() * ports.count)
  const probe = createServer().listen(port, "127.0.0.1")
  const isFree = await once(probe, "listening").then(
    () => true,
    () => false
  )
  await new Promise((done) => probe.close(done))
  return isFree ? port : freePort()
}

export type Program = Awaited<ReturnType<typeof run>>

/** Runs an example's program in a new folder, until `stop` or the end of the test. `onFinished` registers the cleanup. */
export const run = async (
  program: URL,
  env: Record<string, string>,
  onFinished: (cleanup: () => Promise<void>) => void = onTestFinished
) => {
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
  onFinished(async () => {
    child.kill("SIGKILL")
    await ended
    rmSync(cwd, { recursive: true })
  })
  await vi.waitFor(() => fetch(url, { headers: { connection: "close" } }), { timeout: 60_000 })
  if (child.exitCode !== null) throw new Error(`The program ended with ${child.exitCode}: ${output}`)

  return {
    cwd,
    url,
    output: () => output,
    /** `token` is a token of the application, or an API key. */
    call: async (path: string, token: string, body?: string) => {
      // An open connection would keep the program from exiting.
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", connection: "close" }
      const method = methodFor(path, body)
      const response = await fetch(url + path, { method, headers, body: body ?? null })
      return { status: response.status, text: await response.text() }
    },
    /** Sends SIGTERM and returns the exit code. */
    stop: async () => {
      child.kill("SIGTERM")
      return (await ended)[0] as number | null
    }
  }
}
