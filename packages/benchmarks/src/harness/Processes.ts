/** Child processes that send their URL to this process and exit with it. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"

/** NaN on systems without `/proc`. */
interface Usage {
  /** Bytes written to disk. */
  readonly written: number
  /** CPU time of all threads (ms). */
  readonly cpu: number
}

export interface Running {
  readonly url: string
  /** The process's resource usage so far. */
  readonly usage: () => Usage
  readonly stop: () => Promise<void>
}

const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    return ""
  }
}

/** Linux counts CPU time in ticks of 10 ms. */
const msPerTick = 10

export const usageOf = (pid: number): Usage => {
  const [, written = NaN] = /^write_bytes: (\d+)$/m.exec(read(pid, "io")) ?? []
  // The fields follow the process name, which may contain anything. The 12th and 13th are ticks in user and kernel mode.
  const [user = NaN, system = NaN] = read(pid, "stat").split(") ").at(-1)!.split(" ").slice(11, 13)
  return { written: Number(written), cpu: (Number(user) + Number(system)) * msPerTick }
}

/** CPU time of the children of a process that have ended (ms), and of theirs. */
export const ofEnded = (pid: number): number => {
  const [user = NaN, system = NaN] = read(pid, "stat").split(") ").at(-1)!.split(" ").slice(13, 15)
  return (Number(user) + Number(system)) * msPerTick
}

/** A field of `/proc/PID/status`, or of the sums of its mappings, converted from kB to bytes. */
export const memoryOf = (pid: number, field: "VmRSS" | "VmHWM" | "Pss"): number => {
  const file = field === "Pss" ? "smaps_rollup" : "status"
  const [, kilobytes = NaN] = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(read(pid, file)) ?? []
  return Number(kilobytes) * 1024
}

/** `wrapper` is a command that runs Node, such as `strace` and its options. */
export const start = async (
  script: URL,
  args: ReadonlyArray<string>,
  wrapper: ReadonlyArray<string> = []
): Promise<Running> => {
  const [execPath = process.execPath, ...execArgv] = [...wrapper, process.execPath]
  const child = fork(fileURLToPath(script), args, {
    // Standard output has the tables.
    stdio: ["ignore", 2, "inherit", "ipc"],
    execPath,
    execArgv
  })
  const exited = once(child, "exit")
  const failed = exited.then(() => {
    throw new Error(`${basename(script.pathname)} exited`)
  })
  failed.catch(() => {})
  const [{ url }] = (await Promise.race([once(child, "message"), failed])) as [{ readonly url: string }]
  return {
    url,
    usage: () => usageOf(child.pid!),
    stop: async () => {
      if (child.connected) child.disconnect()
      await exited
    }
  }
}
