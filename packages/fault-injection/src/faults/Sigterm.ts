import { setTimeout as wait } from "node:timers/promises"
import type { Fault } from "../harness/Trial.ts"

/** In milliseconds; whoever starts servers kills them later. */
const longestEnd = 20_000

export const sigterm: Fault = {
  name: "sigterm",
  promise: "SIGTERM under load; exit 0 within 20 s, and every acknowledged event is there",
  storages: ["sqlite", "postgres"],
  rounds: 20,
  run: async (trial) => {
    const ends: Array<number> = []
    let server = await trial.serve()
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const load = await trial.load(server, { name: `round ${round}`, clients: 32 })
      await load.acknowledged(random(1, 200))
      await wait(random(0, 30))
      const ending = server.stop()
      // Some go on sending, as if nothing had happened.
      await wait(random(0, 2_000))
      const entries = await load.stop()
      const { code, ms, signal } = await ending
      ends.push(ms)
      trial.expect(code === 0, `round ${round}: it ended with ${code ?? signal}: ${server.log()}`)
      trial.expect(ms <= longestEnd, `round ${round}: it took ${Math.round(ms)} ms to end`)
      server = await trial.serve()
      trial.sent(entries)
    })
    trial.note(`took up to ${Math.round(Math.max(...ends))} ms to end`)
  }
}
