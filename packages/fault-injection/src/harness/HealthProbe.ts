/** Asks `/health` over and over, in a thread of its own: what keeps the clients busy would delay its clock. */
import { parentPort, Worker, workerData } from "node:worker_threads"

/** Between an answer and the next question, in milliseconds. */
const pause = 20

export interface HealthProbe {
  /** Milliseconds of each answer; an answer that is none, or not 200, counts as infinitely late. */
  readonly stop: () => Promise<ReadonlyArray<number>>
}

export const start = (url: string): HealthProbe => {
  const worker = new Worker(new URL(import.meta.url), { workerData: { healthProbe: `${url}/health` } })
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
    const began = performance.now()
    const isWell = await fetch(url).then(
      async (response) => (await response.text()) !== "" && response.ok,
      () => false
    )
    times.push(isWell ? performance.now() - began : Number.POSITIVE_INFINITY)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  parentPort!.postMessage(times)
}

if (workerData?.healthProbe !== undefined) await probe(workerData.healthProbe)
