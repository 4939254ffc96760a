/** Load on a server, from another process: events of 4 KB, no two the same. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import * as Recording from "./Recording.ts"

export type Load = {
  readonly url: string
  readonly seconds: number
  /** A path that is asked for, where no events are sent. */
  readonly get?: string
} & (
  | {
      /** Each of them sends one request after the other, by autocannon. */
      readonly connections: number
    }
  | {
      /** Requests a second, whatever is answered. */
      readonly rate: number
    }
)

export interface Loaded {
  /** Requests that were answered 200. */
  readonly perSecond: number
  /** Answered 503. */
  readonly refusedPerSecond: number
  /** All that was answered anything else, or not at all. */
  readonly failed: number
  /** Milliseconds of what was answered 200. */
  readonly median: number
  readonly percentile99: number
  /** Bodies that were sent more than once, for want of others. */
  readonly repeated: number
}

let child: ChildProcess | undefined

/** One process for all loads, because it takes a while to make the bodies; it ends with this one. */
const loading = async (): Promise<ChildProcess> => {
  if (child === undefined) {
    const script = fileURLToPath(new URL("LoadProcess.ts", import.meta.url))
    child = fork(script, [await Recording.fingerprintId()], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      // In JSON there is no NaN, which is the latency of nothing.
      serialization: "advanced"
    })
    child.unref()
    child.channel?.unref()
  }
  return child
}

export const run = async (load: Load): Promise<Loaded> => {
  const loader = await loading()
  const waiting = new AbortController()
  const { signal } = waiting
  // Waited for, it keeps this process alive.
  loader.channel?.ref()
  loader.send(load)
  const [{ error, loaded }] = (await Promise.race([
    once(loader, "message", { signal }),
    once(loader, "exit", { signal }).then(() => [{ error: "autocannon's process has ended" }])
  ])) as [{ readonly loaded?: Loaded; readonly error?: string }]
  waiting.abort()
  loader.channel?.unref()
  if (loaded === undefined) throw new Error(`The load on ${load.url} failed: ${error}`)
  return loaded
}
