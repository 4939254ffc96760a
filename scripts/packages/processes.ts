/** Starts server processes and sends requests to them. */
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"
import { type AddressInfo, createServer } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import type { Send } from "./roundTrip.ts"

/** How long a process may take to answer, and to exit (ms). */
const timeoutMs = 20_000

/** A port that was free a moment ago. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

export interface Running {
  readonly child: ChildProcess
  /** Everything the process has written to standard output and standard error. */
  readonly output: () => string
  /** Aborts when `use` is no longer awaited. */
  readonly signal: AbortSignal
}

export interface Exit {
  readonly code: number | null
  /** The signal, or why the process could not be started. */
  readonly signal: string | null
}

/** Starts a process, runs `use` and sends SIGTERM. Returns how the process exited. */
export const withProcess = async (
  command: string,
  args: ReadonlyArray<string>,
  options: SpawnOptions,
  use: (running: Running) => Promise<void>
): Promise<Exit> => {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk))
  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: error.message }))
    child.once("exit", (code, signal) => resolve({ code, signal }))
  })
  const controller = new AbortController()
  const timeout = async (message: string): Promise<never> => {
    await wait(timeoutMs, undefined, { signal: controller.signal })
    throw new Error(message)
  }
  try {
    await Promise.race([
      use({ child, output: () => output, signal: controller.signal }),
      exited.then(({ code, signal }) => Promise.reject(new Error(`The process exited with ${code ?? signal}.`))),
      timeout(`The check took more than ${timeoutMs} ms.`)
    ])
    child.kill("SIGTERM")
    return await Promise.race([exited, timeout(`The process did not exit within ${timeoutMs} ms.`)])
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${[command, ...args].join(" ")}: ${message}\n${output}`, { cause: error })
  } finally {
    controller.abort()
    child.kill("SIGKILL")
  }
}

/** Polls until `probe` returns a value. Rejects when `signal` aborts. */
export const poll = async <A>(probe: () => Promise<A | undefined> | A | undefined, signal: AbortSignal): Promise<A> => {
  for (;;) {
    const value = await probe()
    if (value !== undefined) return value
    await wait(20, undefined, { signal })
  }
}

/** Sends requests to `url`. */
export const sendTo =
  (url: string, key: string): Send =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
    return { status: response.status, text: await response.text() }
  }
