import { setTimeout as wait } from "node:timers/promises"
import type { Fault } from "../harness/Trial.ts"

/** Limit of the time from SIGTERM to the exit (ms): less than the 30 s of Kubernetes. */
const maxShutdownMs = 20_000

export const sigterm: Fault = {
  name: "sigterm",
  promise: "SIGTERM under load; exit 0 within 20 s, and every acknowledged event is stored",
  storages: ["sqlite", "postgres"],
  rounds: 20,
  run: async (trial) => {
    const shutdownTimes: Array<number> = []
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const server = await trial.serve()
      const load = await trial.load(server, { name: `round ${round}`, clients: 32 })
      await load.acknowledged(random(1, 200))
      await wait(random(0, 30))
      const ending = server.stop()
      // The clients continue to send during the shutdown.
      await wait(random(0, 2_000))
      const entries = await load.stop()
      const { code, ms, signal } = await ending
      shutdownTimes.push(ms)
      trial.expect(code === 0, `round ${round}: the server exited with ${code ?? signal}: ${server.log()}`)
      trial.expect(ms <= maxShutdownMs, `round ${round}: the shutdown took ${Math.round(ms)} ms`)
      trial.sent(entries)
    })
    trial.note(`the shutdown took up to ${Math.round(Math.max(...shutdownTimes))} ms`)
  }
}
