/** The server under test: a process of its own, which is started, killed and started again over the same storage. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Processes from "./Processes.ts"

export interface Options {
  /** What a shell runs, with `serve` and its options behind it. */
  readonly command: string
  readonly storage: string
  readonly key: string
  /** Put before the command, as `strace` is. */
  readonly wrapper?: string
  readonly env?: Readonly<Record<string, string>>
}

interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Since it was asked to end, in milliseconds. */
  readonly ms: number
}

export interface Server {
  readonly url: string
  readonly key: string
  readonly pid: number
  readonly log: () => string
  /** SIGKILL, to all of its processes. */
  readonly kill: () => Promise<End>
  /** SIGTERM, and SIGKILL where that is not heeded for a minute. */
  readonly stop: () => Promise<End>
}

/** It ended before it listened. */
export class NotStarted extends Error {}

const main = fileURLToPath(new URL("src/main.ts", import.meta.resolve("@tachograph/server/package.json")))

export const defaultCommand = `"${process.execPath}" "${main}"`

/** In milliseconds. */
const patience = { start: 30_000, stop: 60_000 }

const groups = new Set<number>()
process.prependListener("exit", () => Processes.signal([...groups], "SIGKILL"))

export const start = async ({ command, env = {}, key, storage, wrapper = "" }: Options): Promise<Server> => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(TACHOGRAPH_|NODE_OPTIONS$)/.test(name))
  // `exec` makes the shell's process the server's; a group of its own holds whatever that starts.
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
  let asked = performance.now()
  const ended = new Promise<End>((resolve) =>
    child.once("exit", (code, signal) => {
      Processes.signal([-pid], "SIGKILL")
      groups.delete(-pid)
      resolve({ code, signal, ms: performance.now() - asked })
    })
  )
  const end = (name: NodeJS.Signals, target: number) => {
    if (!groups.has(-pid)) return ended
    asked = performance.now()
    Processes.signal([target], name)
    const late = setTimeout(() => Processes.signal([-pid], "SIGKILL"), patience.stop)
    return ended.finally(() => clearTimeout(late))
  }
  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => {
      void end("SIGKILL", -pid)
      reject(new NotStarted(`It did not listen within ${patience.start} ms: ${stderr}`))
    }, patience.start)
    child.stdout.on("data", () => {
      // The last line of every start.
      const match = /^Docs +(http:\/\/\S+)\/docs$/m.exec(stdout)
      if (match === null) return
      clearTimeout(late)
      resolve(match[1]!)
    })
    void ended.then(({ code, signal }) => {
      clearTimeout(late)
      reject(new NotStarted(`It ended with ${code ?? signal}: ${stderr.trim()}`))
    })
  })
  return { url, key, pid, log: () => stderr, kill: () => end("SIGKILL", -pid), stop: () => end("SIGTERM", pid) }
}
