/** Ends the process if its event loop does not turn any more: a statement of the database may not end. Runs in its own thread. */
import { isMainThread, parentPort, Worker } from "node:worker_threads"

export interface Watchdog {
  /** Says what runs now, and how to repeat it. */
  readonly next: (what: string) => void
  readonly stop: () => Promise<void>
}

/** Longer than any round takes on a busy machine. */
const limitMs = 300_000

export const start = (): Watchdog => {
  const worker = new Worker(new URL(import.meta.url))
  worker.unref()
  return {
    next: (what) => worker.postMessage(what),
    stop: async () => void (await worker.terminate())
  }
}

const watch = (port: NonNullable<typeof parentPort>) => {
  let timer: NodeJS.Timeout | undefined
  port.on("message", (what: string) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      process.stderr.write(`Does not end within ${limitMs / 1_000} s: ${what}\n`, () =>
        process.kill(process.pid, "SIGKILL")
      )
    }, limitMs)
  })
}

if (!isMainThread && parentPort !== null) watch(parentPort)
