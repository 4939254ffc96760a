/** Polls a route, `/health` by default, in a thread of its own, because busy clients would delay its measurements. */
import { parentPort, Worker, workerData } from "node:worker_threads"

/** Pause between a response and the next request (ms). */
const pauseMs = 20

export interface HealthProbe {
  /** The response times (ms). A failed request or a status other than 200 counts as infinity. */
  readonly stop: () => Promise<ReadonlyArray<number>>
}

export const start = (url: string, path = "/health"): HealthProbe => {
  const worker = new Worker(new URL(import.meta.url), { workerData: { healthProbe: `${url}${path}` } })
  return {
    stop: async () => {
      const times = new Promise<ReadonlyArray<number>>((resolve, reject) =>
        worker.once("message", resolve).once("error", reject)
      )
      worker.postMessage("stop")
      return times
    }
  }
}

const probe = async (url: string): Promise<void> => {
  const times: Array<number> = []
  let isRunning = true
  parentPort!.once("message", () => (isRunning = false))
  while (isRunning) {
    const startedAt = performance.now()
    const isHealthy = await fetch(url).then(
      async (response) => (await response.text()) !== "" && response.ok,
      () => false
    )
    times.push(isHealthy ? performance.now() - startedAt : Number.POSITIVE_INFINITY)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  parentPort!.postMessage(times)
}

if (workerData?.healthProbe !== undefined) await probe(workerData.healthProbe)
