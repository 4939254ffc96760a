/** The server under test: a process that can be killed and restarted on the same storage. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Processes from "./Processes.ts"

export interface Options {
  /** A shell command, to which `serve` and its options are appended. */
  readonly command: string
  readonly storage: string
  readonly key: string
  /** Prefix of the command, e.g. `strace`. */
  readonly wrapper?: string
  readonly env?: Readonly<Record<string, string>>
}

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Time from the signal to the exit. */
  readonly ms: number
}

export interface Server {
  readonly url: string
  readonly key: string
  readonly pid: number
  readonly log: () => string
  /** Sends SIGKILL to all its processes. */
  readonly kill: () => Promise<Exit>
  /** Sends SIGTERM, and SIGKILL after 60 s. */
  readonly stop: () => Promise<Exit>
}

/** The server exited, or timed out, before it listened. */
export class NotStarted extends Error {}

const main = fileURLToPath(new URL("src/main.ts", import.meta.resolve("@tachograph/server/package.json")))

export const defaultCommand = `"${process.execPath}" "${main}"`

const timeoutsMs = { start: 120_000, stop: 60_000 }

const groups = new Set<number>()
process.prependListener("exit", () => Processes.signal([...groups], "SIGKILL"))

export const start = async ({ command, env = {}, key, storage, wrapper = "" }: Options): Promise<Server> => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(TACHOGRAPH_|NODE_OPTIONS$)/.test(name))
  // `exec` replaces the shell with the server. `detached` creates a process group for everything that it starts.
  const child = spawn("/bin/sh", ["-c", `exec ${wrapper} ${command} serve --port 0`], {
    env: { ...Object.fromEntries(inherited), TACHOGRAPH_API_KEY: key, TACHOGRAPH_STORAGE: storage, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  })
  const pid = child.pid!
  groups.add(-pid)
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk))
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk))
  let signaledAt = performance.now()
  const exited = new Promise<Exit>((resolve) =>
    child.once("exit", (code, signal) => {
      Processes.signal([-pid], "SIGKILL")
      groups.delete(-pid)
      resolve({ code, signal, ms: performance.now() - signaledAt })
    })
  )
  const terminate = (name: NodeJS.Signals, target: number) => {
    if (!groups.has(-pid)) return exited
    signaledAt = performance.now()
    Processes.signal([target], name)
    const timer = setTimeout(() => Processes.signal([-pid], "SIGKILL"), timeoutsMs.stop)
    return exited.finally(() => clearTimeout(timer))
  }
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      void terminate("SIGKILL", -pid)
      reject(new NotStarted(`The server did not listen within ${timeoutsMs.start} ms: ${stderr}`))
    }, timeoutsMs.start)
    child.stdout.on("data", () => {
      // The server prints this line last.
      const match = /^Docs +(http:\/\/\S+)\/docs$/m.exec(stdout)
      if (match === null) return
      clearTimeout(timer)
      resolve(match[1]!)
    })
    void exited.then(({ code, signal }) => {
      clearTimeout(timer)
      reject(new NotStarted(`The server exited with ${code ?? signal}: ${stderr.trim()}`))
    })
  })
  return {
    url,
    key,
    pid,
    log: () => stderr,
    kill: () => terminate("SIGKILL", -pid),
    stop: () => terminate("SIGTERM", pid)
  }
}
