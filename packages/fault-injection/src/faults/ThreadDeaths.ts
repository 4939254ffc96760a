import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import * as HealthProbe from "../harness/HealthProbe.ts"
import * as Http from "../harness/Http.ts"
import type { Fault } from "../harness/Trial.ts"

const command = `"${process.execPath}" "${fileURLToPath(new URL("../harness/Host.ts", import.meta.url))}"`

/** A fingerprint that takes more memory than the thread has. */
const exhausting = (): string => {
  const packages = Array.from({ length: 1_000_000 }, (_, n) => `"package ${n}":"${n}.0.0"`)
  return `{"language":"typescript","language_version":"7","system":"linux","all_packages":{${packages.join(",")}}}`
}

/** How the thread is ended: with a request of its own, and the statuses that may answer it. It may be answered before the end. */
const ways = [
  { name: "exhausted", method: "PUT", path: "/api/v1/fingerprints", body: exhausting, expected: [200, 503] },
  { name: "terminated", method: "POST", path: "/own/terminate", body: () => "", expected: [200] }
]

export const threadDeaths: Fault = {
  name: "thread-deaths",
  promise:
    "the engine's thread of a host runs out of memory, or is ended, under load; the host's own route answers all the time",
  storages: ["sqlite", "postgres"],
  rounds: 50,
  run: async (trial) => {
    const host = await trial.serve({ command })
    /** On a new connection: the host closes one that was idle for some seconds. */
    const call = async (...args: Parameters<Http.Http["call"]>) => {
      const http = Http.open(host.url, host.key)
      try {
        return await http.call(...args)
      } catch (error) {
        throw new Error(`${args[0]} ${args[1]} was not answered: ${host.log()}`, { cause: error })
      } finally {
        http.close()
      }
    }
    const probe = HealthProbe.start(host.url, "/own")
    const threads = async () => Number((await call("GET", "/own/threads")).text)
    /** Under load the end follows within the next garbage collections. */
    const hasStarted = async (count: number) => {
      for (let n = 0; n < 300; n++) {
        if ((await threads()) >= count) return true
        await wait(100)
      }
      return false
    }
    const recoveries: Array<number> = []
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const { body, expected, method, name, path } = ways[round % ways.length]!
      const load = await trial.load(host, { name: `round ${round}`, clients: 16 })
      await load.acknowledged(random(1, 200))
      await wait(random(0, 30))
      const { status } = await call(method, path, body())
      trial.expect(expected.includes(status), `round ${round}: a request that ended the thread (${name}) got ${status}`)
      trial.expect(await hasStarted(round + 1), `round ${round}: the thread (${name}) was not followed by another`)
      const startedAt = performance.now()
      await load.acknowledged(16)
      recoveries.push(performance.now() - startedAt)
      trial.sent(await load.stop())
    })
    const started = await threads()
    trial.expect(started === trial.rounds + 1, `${started} threads were started in ${trial.rounds} rounds`)
    const times = await probe.stop()
    const failed = times.filter((ms) => ms === Number.POSITIVE_INFINITY).length
    trial.expect(failed === 0, `the host's own route failed ${failed} times of ${times.length}`)
    trial.note(`the host's own route answered ${times.length} times within ${Math.round(Math.max(...times))} ms`)
    trial.note(
      `16 events were acknowledged within ${Math.round(Math.max(...recoveries))} ms of the start of another thread`
    )
  }
}
