/** Clients that read from a server, in a process of their own. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { setPriority } from "node:os"
import { fileURLToPath } from "node:url"

/** What the clients read, again and again: pages of events and large events, an export of everything, or a search of everything. */
export type Reading =
  | { readonly kind: "pages"; readonly clients: number; readonly largeEvents: ReadonlyArray<string> }
  | { readonly kind: "export" }
  | { readonly kind: "search" }

export interface ReadersResult {
  /** Answers of lists and searches. */
  readonly pages: number
  readonly largeEvents: number
  /** Bytes of exports. */
  readonly exported: number
  /** The longest answer, but exports (ms). */
  readonly longestMs: number
}

/** The readers' own work yields to that of the load. */
const niceness = 10

/** Reads until `stop`. */
export const start = (url: string, reading: Reading) => {
  const script = fileURLToPath(new URL("ReadersProcess.ts", import.meta.url))
  const child = fork(script, [url, JSON.stringify(reading)], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
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
