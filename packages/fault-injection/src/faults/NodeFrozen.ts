import type { Fault } from "../harness/Trial.ts"

/** Pause after a refused event (ms). While a node is frozen many are refused, which takes processor time. */
const pauseMs = 100

/** Events to be acknowledged while a node is frozen. */
const minAcknowledged = 50

export const nodeFrozen: Fault = {
  name: "node-frozen",
  promise:
    "a node of a cluster answers nothing under load; the sessions of the other nodes are recorded on, and every acknowledged event is stored once",
  storages: ["citus"],
  rounds: 3,
  run: async (trial) => {
    if (trial.store.kind !== "citus") return
    const { workers } = trial.store.cluster
    trial.after(() => workers.forEach((node) => node.thaw()))
    const servers = [await trial.serve(), await trial.serve()]
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const node = workers[random(0, workers.length - 1)]!
      const loads = await Promise.all(
        servers.map((server, n) => trial.load(server, { name: `round ${round}, server ${n}`, clients: 16, pauseMs }))
      )
      const acknowledged = (count: number) => Promise.all(loads.map((load) => load.acknowledged(count)))
      await acknowledged(random(20, 50))
      node.freeze()
      await Promise.all(loads.map((load) => load.refused(1)))
      await acknowledged(minAcknowledged)
      node.thaw()
      await acknowledged(50)
      for (const load of loads) trial.sent(await load.stop())
    })
  }
}
