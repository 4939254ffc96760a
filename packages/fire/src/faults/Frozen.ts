import { DatabaseSync } from "node:sqlite"
import { setTimeout as wait } from "node:timers/promises"
import * as HealthProbe from "../harness/HealthProbe.ts"
import * as Latency from "../harness/Latency.ts"
import type { Entry } from "../harness/Ledger.ts"
import * as Processes from "../harness/Processes.ts"
import type { Store } from "../harness/Store.ts"
import type { Fault } from "../harness/Trial.ts"

const MiB = 1024 ** 2

/** What the server's queue takes by default, in bytes: the bound that its memory may grow by. */
const queueBound = 64 * MiB

/**
 * Beside it, in bytes: what a request is until it is in the queue, its sockets, and what was freed and not yet collected.
 */
const slack = 192 * MiB

/** Requests that are open at once ask for twice what the queue takes: bodies of 270 KB. */
const load = { clients: 512, size: 30_000 }

/** In milliseconds, at the 99th percentile. */
const limits = { health: 100, refusal: 1_000 }

/** Nobody can write until it is let go. */
const freeze = (store: Store): (() => void) => {
  if (store.kind === "postgres") {
    store.postgres.freeze()
    return store.postgres.thaw
  }
  const database = new DatabaseSync(store.file, { timeout: 5_000 })
  database.exec("BEGIN IMMEDIATE")
  return () => database.close()
}

const refusals = (entries: ReadonlyArray<Entry>) => {
  const times = new Map<string, Array<number>>()
  for (const { ms, outcome } of entries) {
    if (outcome.is === "refused") times.set(outcome.why, [...(times.get(outcome.why) ?? []), ms])
  }
  return times
}

export const frozen: Fault = {
  name: "frozen",
  promise:
    "the database is frozen for 30 s; memory stays bounded, /health answers, what is too much is refused, it recovers",
  storages: ["sqlite", "postgres"],
  rounds: 1,
  run: async (trial) => {
    const server = await trial.serve()
    await trial.eachRound(async (round) => {
      const memory = { base: 0, peak: 0 }
      let watched: keyof typeof memory = "base"
      const watch = setInterval(() => {
        memory[watched] = Math.max(memory[watched], Processes.memoryOf(server.pid))
      }, 50)
      const clients = await trial.load(server, { name: `round ${round}`, isPatient: true, ...load })
      // What this load takes of a server whose database is well is the base.
      await clients.acknowledged(load.clients)
      await wait(1_000)
      const before = clients.entries.length
      const thaw = freeze(trial.store)
      watched = "peak"
      const health = HealthProbe.start(server.url)
      await wait(trial.seconds * 1_000)
      const healthTimes = Latency.summary(await health.stop())
      const after = clients.entries.length
      thaw()
      const began = performance.now()
      await clients.acknowledged(1)
      const recovery = performance.now() - began
      await clients.acknowledged(load.clients)
      clearInterval(watch)
      const entries = await clients.stop()

      const inMiB = (bytes: number) => `${Math.round(bytes / MiB)} MiB`
      trial.note(`${before} events were sent before, ${after - before} answered while it was frozen`)
      trial.note(`memory ${inMiB(memory.base)} before, ${inMiB(memory.peak)} at most`)
      trial.note(`/health ${Latency.text(healthTimes)}`)
      for (const [why, times] of refusals(entries.slice(before, after))) {
        trial.note(`refused while it was frozen: ${why}, ${Latency.text(Latency.summary(times))}`)
      }
      trial.note(`the first 200 came ${Math.round(recovery)} ms after it thawed`)
      trial.expect(
        memory.peak <= memory.base + queueBound + slack,
        `memory grew from ${inMiB(memory.base)} to ${inMiB(memory.peak)}`
      )
      trial.expect(healthTimes.p99 <= limits.health, `/health took ${healthTimes.p99} ms`)
      const overloaded = Latency.summary(refusals(entries.slice(before, after)).get("503 overloaded") ?? [])
      trial.expect(overloaded.count > 0, "nothing was too much: the queue was never full")
      trial.expect(overloaded.p99 <= limits.refusal, `refusals took ${overloaded.p99} ms`)
      await trial.check(server, entries)
    })
  }
}
