/** Programs in processes of their own, which say their URL to their parent and end with it. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"

/** NaN where the system does not say. */
interface Usage {
  /** Bytes that it has had written to disks. */
  readonly written: number
  /** Milliseconds of all its threads together. */
  readonly cpu: number
}

export interface Running {
  readonly url: string
  /** What the process has taken so far, as Linux counts it. */
  readonly used: () => Usage
  readonly stop: () => Promise<void>
}

const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    return ""
  }
}

/** Linux counts processor time in hundredths of a second. */
const millisecondsOfTick = 10

const usageOf = (pid: number): Usage => {
  const [, written = NaN] = /^write_bytes: (\d+)$/m.exec(read(pid, "io")) ?? []
  // Behind the name, which may hold anything: the 12th and 13th field are ticks in user and in kernel mode.
  const [user = NaN, system = NaN] = read(pid, "stat").split(") ").at(-1)!.split(" ").slice(11, 13)
  return { written: Number(written), cpu: (Number(user) + Number(system)) * millisecondsOfTick }
}

/** A field of `/proc/PID/status` that is told in kB, such as VmRSS, in bytes. */
export const memoryOf = (pid: number, field: "VmRSS" | "VmHWM"): number => {
  const [, kilobytes = NaN] = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(read(pid, "status")) ?? []
  return Number(kilobytes) * 1024
}

export const start = async (script: URL, args: ReadonlyArray<string>): Promise<Running> => {
  const child = fork(fileURLToPath(script), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  const ended = once(child, "exit")
  const failed = ended.then(() => {
    throw new Error(`${basename(script.pathname)} has ended`)
  })
  failed.catch(() => {})
  const [{ url }] = (await Promise.race([once(child, "message"), failed])) as [{ readonly url: string }]
  return {
    url,
    used: () => usageOf(child.pid!),
    stop: async () => {
      if (child.connected) child.disconnect()
      await ended
    }
  }
}
