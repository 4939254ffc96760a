import { setTimeout as wait } from "node:timers/promises"
import type { Fault } from "../harness/Trial.ts"

/** Limit of the time from the database's first connection to the first 200 (ms). */
const maxRecoveryMs = 5_000

/** Pause after a refused event (ms). While the database is down all are refused, which takes processor time. */
const pauseMs = 100

export const postgresKill9: Fault = {
  name: "postgres-kill9",
  promise:
    "PostgreSQL is killed under load; every acknowledged event is stored, and the first 200 comes within 5 s of its recovery",
  storages: ["postgres"],
  rounds: 10,
  run: async (trial) => {
    if (trial.store.kind !== "postgres") return
    const { postgres } = trial.store
    const recoveries: Array<number> = []
    const server = await trial.serve()
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const load = await trial.load(server, { name: `round ${round}`, clients: 32, pauseMs })
      await load.acknowledged(random(1, 200))
      await wait(random(0, 30))
      await postgres.kill()
      await wait(random(0, 1_000))
      await postgres.start()
      const recoveredAt = performance.now()
      await load.acknowledged(1)
      const recovery = performance.now() - recoveredAt
      recoveries.push(recovery)
      trial.expect(recovery <= maxRecoveryMs, `round ${round}: the first 200 came after ${Math.round(recovery)} ms`)
      await load.acknowledged(50)
      trial.sent(await load.stop())
    })
    trial.note(`the first 200 came up to ${Math.round(Math.max(...recoveries))} ms after recovery`)
  }
}
