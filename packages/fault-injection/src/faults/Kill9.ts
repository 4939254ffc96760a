import { setTimeout as wait } from "node:timers/promises"
import type { Fault } from "../harness/Trial.ts"

export const kill9: Fault = {
  name: "kill9",
  promise: "the server is killed under load; every acknowledged event is stored once and completely",
  storages: ["sqlite", "postgres", "citus"],
  rounds: 50,
  run: async (trial) => {
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const server = await trial.serve()
      const load = await trial.load(server, { name: `round ${round}`, clients: 32 })
      await load.acknowledged(random(1, 200))
      await wait(random(0, 30))
      await server.kill()
      trial.sent(await load.stop())
    })
  }
}
