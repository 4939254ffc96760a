/** Asks a server for a small answer again and again, one request after the other. */
import { Agent, request } from "node:http"
import { setTimeout as wait } from "node:timers/promises"

/** Between an answer and the next request (ms). */
const pauseMs = 3

const get = (url: string, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { agent }, (response) => {
      response.resume()
      response.on("error", reject)
      response.on("end", () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`GET ${url} was answered with ${response.statusCode}`))
      })
    })
    outgoing.on("error", reject)
    outgoing.end()
  })

interface Probe {
  /** How long each answer took (ms), in ascending order. */
  readonly stop: () => Promise<ReadonlyArray<number>>
}

const start = (url: string): Probe => {
  const agent = new Agent({ keepAlive: true })
  const times: Array<number> = []
  let isRunning = true
  const probe = async () => {
    while (isRunning) {
      const startedAt = performance.now()
      await get(url, agent)
      times.push(performance.now() - startedAt)
      await wait(pauseMs)
    }
    agent.destroy()
  }
  const probing = probe()
  // Thrown again by `stop`.
  probing.catch(() => {})
  return {
    stop: async () => {
      isRunning = false
      await probing
      return times.sort((a, b) => a - b)
    }
  }
}

export const during = async (url: string, work: Promise<unknown>): Promise<ReadonlyArray<number>> => {
  const probe = start(url)
  await work
  return probe.stop()
}
