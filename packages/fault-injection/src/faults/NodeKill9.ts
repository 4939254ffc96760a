import { setTimeout as wait } from "node:timers/promises"
import type { Node } from "../harness/Citus.ts"
import type { Fault } from "../harness/Trial.ts"

/** Pause after a refused event (ms). While a node is down many are refused, which takes processor time. */
const pauseMs = 100

export const nodeKill9: Fault = {
  name: "node-kill9",
  promise:
    "a node of a cluster is killed under load, then the coordinator; every acknowledged event is stored once, and the sessions of the other nodes are recorded on",
  storages: ["citus"],
  rounds: 5,
  run: async (trial) => {
    if (trial.store.kind !== "citus") return
    const { coordinator, workers } = trial.store.cluster
    trial.after(() => [coordinator, ...workers].forEach((node) => node.launch()))
    const servers = [await trial.serve(), await trial.serve()]
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const loads = await Promise.all(
        servers.map((server, n) => trial.load(server, { name: `round ${round}, server ${n}`, clients: 16, pauseMs }))
      )
      const acknowledged = (count: number) => Promise.all(loads.map((load) => load.acknowledged(count)))
      const kill = async (node: Node) => {
        await acknowledged(random(1, 50))
        await wait(random(0, 30))
        await node.kill()
        await Promise.all(loads.map((load) => load.refused(1)))
      }
      await kill(workers[random(0, workers.length - 1)]!)
      await acknowledged(10)
      await Promise.all(workers.map((worker) => worker.start()))
      await kill(coordinator)
      await coordinator.start()
      await acknowledged(50)
      for (const load of loads) trial.sent(await load.stop())
    })
  }
}
