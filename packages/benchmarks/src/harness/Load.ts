/** Sends load to a server from another process: unique events of 4 KiB. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type * as Formats from "./Formats.ts"
import * as Recording from "./Recording.ts"

export type Load = {
  readonly url: string
  readonly seconds: number
  /** GET this path instead of sending events. */
  readonly get?: string
  /** Default: an event in each request. */
  readonly format?: Formats.Name
} & (
  | {
      /** Closed loop by autocannon: each connection waits for its response. */
      readonly connections: number
    }
  | {
      /** Open loop: requests per second, independent of the responses. */
      readonly rate: number
    }
)

export interface LoadResult {
  /** Responses with status 200, and how many of them came in a second. */
  readonly accepted: number
  readonly perSecond: number
  /** Responses with status 503. */
  readonly refusedPerSecond: number
  /** Requests with another status or without a response. */
  readonly failed: number
  /** Latency of responses with status 200 (ms). */
  readonly median: number
  readonly percentile99: number
  /** Latency of responses with status 503 to an open loop (ms). */
  readonly refusedPercentile99: number
  /** Requests that reused a body, because there were too few. */
  readonly repeated: number
}

let child: ChildProcess | undefined

/** One process for all loads, because generating the bodies takes a while. It exits with this process. */
const startLoader = async (): Promise<ChildProcess> => {
  if (child === undefined) {
    const script = fileURLToPath(new URL("LoadProcess.ts", import.meta.url))
    child = fork(script, [await Recording.fingerprintId()], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      // JSON has no NaN, which is the latency without responses.
      serialization: "advanced"
    })
    child.unref()
    child.channel?.unref()
  }
  return child
}

export const run = async (load: Load): Promise<LoadResult> => {
  const loader = await startLoader()
  const controller = new AbortController()
  const { signal } = controller
  // The channel keeps this process alive while it waits for the result.
  loader.channel?.ref()
  loader.send(load)
  const [{ error, result }] = (await Promise.race([
    once(loader, "message", { signal }),
    once(loader, "exit", { signal }).then(() => [{ error: "the load process exited" }])
  ])) as [{ readonly result?: LoadResult; readonly error?: string }]
  controller.abort()
  loader.channel?.unref()
  if (result === undefined) throw new Error(`The load on ${load.url} failed: ${error}`)
  return result
}
