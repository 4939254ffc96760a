/** Runs the command `tachograph` as a process, as a user does. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inject } from "vitest"
import { afterFile } from "../../../scripts/vitest/AfterFile.ts"

/** The bundle of the sources; it starts in a third of the time. */
const program = inject("tachographProgram")

/** What `npm start` runs. */
export const source = fileURLToPath(new URL("../src/main.ts", import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly pid: number
  /** The address that the server printed. */
  readonly url: string
  readonly output: () => { readonly stdout: string; readonly stderr: string }
  readonly isRunning: () => boolean
  readonly finished: Promise<Finished>
  readonly stop: (signal?: NodeJS.Signals) => Promise<Finished>
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The program to run instead of the bundle. */
  readonly main?: string
  /** Runs the command as the script `start` of a package, by npm, in a process group of its own, whose leader is npm. */
  readonly isByNpm?: boolean
  /** Runs the command on a terminal of its own, where all that it prints is in `stdout`. Its exit code is not known. */
  readonly isOnTerminal?: boolean
}

/** A new folder, removed after the test file. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-"))
  // A process that was killed just now may still write.
  afterFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** The words of a command line. */
const wordsOf = (args: ReadonlyArray<string>, cwd: string, options: Options) => {
  const { isByNpm, isOnTerminal, main = program } = options
  const words = [process.execPath, main, ...args]
  const script = `exec ${words.map((word) => `'${word}'`).join(" ")}`
  if (isOnTerminal === true) return ["script", "--quiet", "--flush", "--return", "--command", script, "/dev/null"]
  if (isByNpm !== true) return words
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ scripts: { start: script } }))
  return ["npm", "start"]
}

/** Starts a command. */
export const start = (args: ReadonlyArray<string>, options: Options) => {
  const { cwd = temporaryFolder(), env = {}, isByNpm = false } = options
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("TACHOGRAPH_"))
  const [command, ...rest] = wordsOf(args, cwd, options)
  const child = spawn(command!, rest, {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: isByNpm
  })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk))
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk))
  const finished = new Promise<Finished>((resolve) =>
    child.once("close", (code, signal) => {
      resolve({ code, signal, stdout, stderr })
    })
  )
  afterFile(() => {
    try {
      process.kill(isByNpm ? -child.pid! : child.pid!, "SIGKILL")
    } catch {
      // It has ended.
    }
  })
  // The lines of a terminal end differently.
  return { child, finished, output: () => ({ stdout: stdout.replaceAll("\r\n", "\n"), stderr }) }
}

/** Runs a command and waits for its exit. */
export const run = (args: ReadonlyArray<string>, options: Options = {}): Promise<Finished> =>
  start(args, options).finished

/** Starts a server and waits for the line with the URL of its docs, the last one that every start prints. */
export const serve = async (args: ReadonlyArray<string>, options: Options = {}): Promise<Running> => {
  const { child, finished, output } = start(["serve", ...args], options)
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.on("data", () => {
      const match = /^Docs +(http:\/\/\S+)\/docs$/m.exec(output().stdout)
      if (match !== null) resolve(match[1]!)
    })
    void finished.then(({ code, stderr }) => reject(new Error(`The server exited with ${code}: ${stderr}`)))
  })
  return {
    url,
    pid: child.pid!,
    output,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    finished,
    stop: (signal = "SIGTERM") => {
      child.kill(signal)
      return finished
    }
  }
}
