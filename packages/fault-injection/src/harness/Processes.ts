/** Linux process information from `/proc`, and signals. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { setTimeout as wait } from "node:timers/promises"

const statusOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8")
  } catch {
    return ""
  }
}

const field = (status: string, name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1] ?? ""

/** Resident memory in bytes. */
export const memoryOf = (pid: number): number => Number.parseInt(field(statusOf(pid), "VmRSS")) * 1024

const all = (): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/** The process and all its descendants. */
export const treeOf = (root: number): ReadonlyArray<number> => {
  const children = new Map<number, Array<number>>()
  for (const pid of all()) {
    const parent = Number(field(statusOf(pid), "PPid"))
    children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

/** The processes whose working directory is a folder, as that of a PostgreSQL server's is its data. */
export const workingIn = (folder: string): ReadonlyArray<number> =>
  all().filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder
    } catch {
      return false
    }
  })

const isAlive = (pid: number): boolean => {
  const state = field(statusOf(pid), "State")
  return state !== "" && !state.startsWith("Z")
}

export const signal = (pids: ReadonlyArray<number>, name: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // The process has exited already.
    }
  }
}

/** Waits until all processes have exited. */
export const exited = async (pids: ReadonlyArray<number>): Promise<void> => {
  while (pids.some(isAlive)) await wait(5)
}
