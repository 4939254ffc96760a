/** Linux process information from `/proc`, and signals. */
import { readdirSync, readFileSync } from "node:fs"
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

/** The process and all its descendants. */
export const treeOf = (root: number): ReadonlyArray<number> => {
  const children = new Map<number, Array<number>>()
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    const parent = Number(field(statusOf(Number(name)), "PPid"))
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

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
