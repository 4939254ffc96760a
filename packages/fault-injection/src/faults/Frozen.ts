import { DatabaseSync } from "node:sqlite"
import { setTimeout as wait } from "node:timers/promises"
import * as HealthProbe from "../harness/HealthProbe.ts"
import * as Latency from "../harness/Latency.ts"
import type { Entry } from "../harness/Ledger.ts"
import * as Processes from "../harness/Processes.ts"
import type { PostgresStore, SqliteStore } from "../harness/Store.ts"
import type { Fault } from "../harness/Trial.ts"

const MiB = 1024 ** 2

/** Default capacity of the server's queue (bytes), by which its memory may grow. */
const queueBytes = 32 * MiB

/** Allowed memory growth beside the queue (bytes): sockets, requests that are being read, uncollected garbage. */
const overheadBytes = 64 * MiB

/**
 * The clients together send twice what the queue holds, in bodies of 270 KB. A refused client pauses, so that the server
 * gets most of the processor time.
 */
const load = { clients: 512, size: 30_000, pauseMs: 3_000 }

/** Limits of the 99th percentile (ms). */
const limitsMs = { health: 100, refusal: 1_000 }

/** Blocks all writes until the returned function is called. */
const freeze = (store: PostgresStore | SqliteStore): (() => void) => {
  if (store.kind === "postgres") {
    store.postgres.freeze()
    return store.postgres.thaw
  }
  const database = new DatabaseSync(store.file, { timeout: 5_000 })
  database.exec("BEGIN IMMEDIATE")
  return () => database.close()
}

/** Acknowledged events to wait for before and after. */
const minAcknowledged = 100

/** Response times of refused events, by reason. */
const refusals = (entries: ReadonlyArray<Entry>) => {
  const times = new Map<string, Array<number>>()
  for (const { ms, outcome } of entries) {
    if (outcome.kind === "refused") times.set(outcome.reason, [...(times.get(outcome.reason) ?? []), ms])
  }
  return times
}

export const frozen: Fault = {
  name: "frozen",
  promise:
    "the database is frozen for 30 s; memory stays bounded, /health responds, excess events are refused, the server recovers",
  storages: ["sqlite", "postgres"],
  rounds: 1,
  run: async (trial) => {
    const { store } = trial
    if (store.kind === "citus") return
    const server = await trial.serve()
    const idle = Processes.memoryOf(server.pid)
    await trial.eachRound(async (round) => {
      const memory = { base: 0, peak: 0 }
      let phase: keyof typeof memory = "base"
      const sampler = setInterval(() => {
        memory[phase] = Math.max(memory[phase], Processes.memoryOf(server.pid))
      }, 50)
      const clients = await trial.load(server, { name: `round ${round}`, ...load })
      // The baseline is the memory under this load while the database works.
      await clients.acknowledged(minAcknowledged)
      const healthBefore = HealthProbe.start(server.url)
      await wait(Math.min(15_000, 500 * trial.seconds))
      const normalTimes = Latency.summary(await healthBefore.stop())
      const before = clients.entries.length
      const thaw = freeze(store)
      phase = "peak"
      const health = HealthProbe.start(server.url)
      await wait(trial.seconds * 1_000)
      const healthTimes = Latency.summary(await health.stop())
      const after = clients.entries.length
      thaw()
      const thawedAt = performance.now()
      await clients.acknowledged(1)
      const recovery = performance.now() - thawedAt
      await clients.acknowledged(minAcknowledged)
      clearInterval(sampler)
      const entries = await clients.stop()

      const inMiB = (bytes: number) => `${Math.round(bytes / MiB)} MiB`
      trial.note(`${before} events were answered before the freeze, ${after - before} during it`)
      trial.note(
        `memory: ${inMiB(idle)} idle, ${inMiB(memory.base)} under load before the freeze, ${inMiB(memory.peak)} at the peak`
      )
      trial.note(`/health ${Latency.text(normalTimes)} before the freeze, ${Latency.text(healthTimes)} during it`)
      const whileFrozen = refusals(entries.slice(before, after))
      for (const [reason, times] of whileFrozen) {
        trial.note(`refused while frozen: ${reason}, ${Latency.text(Latency.summary(times))}`)
      }
      trial.note(`the first 200 came ${Math.round(recovery)} ms after the thaw`)
      trial.expect(
        memory.peak <= memory.base + queueBytes + overheadBytes,
        `memory grew from ${inMiB(memory.base)} to ${inMiB(memory.peak)}`
      )
      trial.expect(healthTimes.p99 <= limitsMs.health, `/health took ${healthTimes.p99} ms (p99)`)
      const overloaded = Latency.summary(whileFrozen.get("503 overloaded") ?? [])
      trial.expect(overloaded.count > 0, "no event was refused as overloaded: the queue was never full")
      trial.expect(overloaded.p99 <= limitsMs.refusal, `refusals took ${overloaded.p99} ms (p99)`)
      trial.sent(entries)
    })
  }
}
