/** The priority of a thread. */
import { readlinkSync } from "node:fs"
import { setPriority } from "node:os"

/** Where both have work for one processor, this thread gets about a tenth of it. */
const niceness = 10

/** Lets the other threads of the process go first. Only Linux has a priority for each thread; elsewhere nothing changes. */
export const lower = (): void => {
  if (process.platform !== "linux") return
  try {
    // PID/task/TID
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), niceness)
  } catch {
    // Without /proc, or where it is forbidden.
  }
}
