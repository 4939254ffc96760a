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
const queueBound = 32 * MiB

/**
 * Beside it, in bytes: what a request is until it is in the queue, its sockets, and what was freed and not yet collected.
 */
const slack = 64 * MiB

/**
 * All clients together ask for twice what the queue takes, in bodies of 270 KB. Whoever is refused comes back after a pause
 * that leaves this machine's processors to the server.
 */
const load = { clients: 512, size: 30_000, pause: 3_000 }

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

/** Acknowledged events that are waited for, before and after. */
const enough = 100

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
    const idle = Processes.memoryOf(server.pid)
    await trial.eachRound(async (round) => {
      const memory = { base: 0, peak: 0 }
      let watched: keyof typeof memory = "base"
      const watch = setInterval(() => {
        memory[watched] = Math.max(memory[watched], Processes.memoryOf(server.pid))
      }, 50)
      const clients = await trial.load(server, { name: `round ${round}`, ...load })
      // What this load takes of a server whose database is well is the base.
      await clients.acknowledged(enough)
      const healthBefore = HealthProbe.start(server.url)
      await wait(Math.min(15_000, 500 * trial.seconds))
      const wellTimes = Latency.summary(await healthBefore.stop())
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
      await clients.acknowledged(enough)
      clearInterval(watch)
      const entries = await clients.stop()

      const inMiB = (bytes: number) => `${Math.round(bytes / MiB)} MiB`
      trial.note(`${before} events were sent before, ${after - before} answered while it was frozen`)
      trial.note(
        `memory ${inMiB(idle)} idle, ${inMiB(memory.base)} under this load before, ${inMiB(memory.peak)} at most`
      )
      trial.note(`/health ${Latency.text(wellTimes)} before, ${Latency.text(healthTimes)} while it was frozen`)
      const whileFrozen = refusals(entries.slice(before, after))
      for (const [why, times] of whileFrozen) {
        trial.note(`refused while it was frozen: ${why}, ${Latency.text(Latency.summary(times))}`)
      }
      trial.note(`the first 200 came ${Math.round(recovery)} ms after it thawed`)
      trial.expect(
        memory.peak <= memory.base + queueBound + slack,
        `memory grew from ${inMiB(memory.base)} to ${inMiB(memory.peak)}`
      )
      trial.expect(healthTimes.p99 <= limits.health, `/health took ${healthTimes.p99} ms`)
      const overloaded = Latency.summary(whileFrozen.get("503 overloaded") ?? [])
      trial.expect(overloaded.count > 0, "nothing was too much: the queue was never full")
      trial.expect(overloaded.p99 <= limits.refusal, `refusals took ${overloaded.p99} ms`)
      trial.sent(entries)
    })
  }
}
