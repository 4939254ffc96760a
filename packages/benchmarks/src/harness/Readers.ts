/** Clients that page through a store and read large events, in a process of their own. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { setPriority } from "node:os"
import { fileURLToPath } from "node:url"

export interface ReadersResult {
  readonly pages: number
  readonly largeEvents: number
  /** The longest of them (ms). */
  readonly longestMs: number
}

/** The readers' own work yields to that of the load. */
const niceness = 10

/** Reads until `stop`. `largeEvents` are the ids of events. */
export const start = (url: string, clients: number, largeEvents: ReadonlyArray<string>) => {
  const script = fileURLToPath(new URL("ReadersProcess.ts", import.meta.url))
  const child = fork(script, [url, String(clients), ...largeEvents], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  setPriority(child.pid!, niceness)
  return {
    stop: async (): Promise<ReadersResult> => {
      child.send("stop")
      const [result] = (await once(child, "message")) as [ReadersResult]
      child.kill()
      return result
    }
  }
}
