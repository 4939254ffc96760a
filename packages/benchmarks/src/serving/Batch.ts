/** What a batch of events costs by its size, and which part of it is the database's. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { performance } from "node:perf_hooks"
import { SqliteStorage } from "@tachograph/storage-sqlite"
import { Bodies } from "../harness/Bodies.ts"
import * as Processes from "../harness/Processes.ts"
import * as Recording from "../harness/Recording.ts"
import * as Table from "../harness/Table.ts"
import type { Options } from "./Options.ts"

const sizes = [1, 2, 4, 8, 64]

/** Events that are recorded before the batches that are measured. */
const warmUpEvents = 2_000

interface Parts {
  commitMs: number
  statementsMs: number
}

/** Adds up the time within SQLite, in which this thread waits for it. Returns a function that ends this. */
const watchSqlite = (parts: Parts): (() => void) => {
  const { all, run } = StatementSync.prototype
  const { exec } = DatabaseSync.prototype
  const timed = <Self, Args extends ReadonlyArray<never>, A>(
    call: (this: Self, ...args: Args) => A,
    partOf: (...args: Args) => keyof Parts
  ) =>
    function (this: Self, ...args: Args): A {
      const startedMs = performance.now()
      try {
        return call.apply(this, args as never)
      } finally {
        parts[partOf(...args)] += performance.now() - startedMs
      }
    }
  StatementSync.prototype.all = timed(all, () => "statementsMs")
  StatementSync.prototype.run = timed(run as never, () => "statementsMs")
  DatabaseSync.prototype.exec = timed(exec, (sql: string) => (sql === "COMMIT" ? "commitMs" : "statementsMs"))
  return () => {
    Object.assign(StatementSync.prototype, { all, run })
    DatabaseSync.prototype.exec = exec
  }
}

interface Measured extends Parts {
  readonly batches: number
  readonly elapsedMs: number
  readonly activeMs: number
  readonly processorMs: number
  readonly writtenBytes: number
}

const measure = async (
  recording: Recording.Recording,
  bodies: Bodies,
  size: number,
  seconds: number
): Promise<Measured> => {
  const parts = { commitMs: 0, statementsMs: 0 }
  const unwatch = watchSqlite(parts)
  const written = Processes.usageOf(process.pid).written
  const processor = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  const startedMs = performance.now()
  let batches = 0
  while (performance.now() - startedMs < seconds * 1_000) {
    for (const chunk of chunksOf(bodies.next(640), size)) {
      await Promise.all(chunk.map(recording.record))
      batches++
    }
  }
  const elapsedMs = performance.now() - startedMs
  unwatch()
  const { system, user } = process.cpuUsage(processor)
  const activeMs = performance.eventLoopUtilization(loop).active
  const writtenBytes = Processes.usageOf(process.pid).written - written
  return { ...parts, batches, elapsedMs, activeMs, processorMs: (system + user) / 1_000, writtenBytes }
}

const chunksOf = (bodies: ReadonlyArray<Buffer>, size: number) =>
  Array.from({ length: bodies.length / size }, (_, n) => bodies.slice(n * size, (n + 1) * size))

export const batch = async ({ runs, seconds }: Options): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-batch-"))
  const storage = SqliteStorage.layer({ filename: join(folder, "batch.db") })
  const recording = await Recording.open(storage, { thread: false })
  try {
    const bodies = new Bodies(await Recording.fingerprintId())
    for (const body of bodies.next(warmUpEvents)) await recording.record(body)
    const rows: Array<ReadonlyArray<string>> = []
    for (const size of sizes) {
      const all: Array<Measured> = []
      for (let run = 0; run < runs; run++) {
        Table.progress(`batches of ${size}, ${run + 1} of ${runs}`)
        all.push(await measure(recording, bodies, size, seconds))
      }
      const perBatch = (of: (each: Measured) => number) =>
        Table.spread(
          all.map((each) => of(each) / each.batches),
          3
        )
      rows.push([
        String(size),
        perBatch((each) => each.elapsedMs),
        perBatch((each) => each.commitMs),
        perBatch((each) => each.statementsMs),
        perBatch((each) => each.activeMs - each.commitMs - each.statementsMs),
        perBatch((each) => each.elapsedMs - each.activeMs),
        perBatch((each) => each.processorMs / size),
        perBatch((each) => each.writtenBytes / 1_000 / size)
      ])
    }
    Table.print({
      title: "A batch by its size, SQLite",
      columns: [
        "events",
        "ms",
        "COMMIT",
        "statements",
        "JavaScript",
        "waiting",
        "processor per event",
        "KB written per event"
      ],
      rows,
      notes: [
        "Milliseconds of a batch, in one process with the storage in the same thread, without sockets. What is derived in the " +
          "background is part of it. A single event waits for the disk in its COMMIT; several are waited for beside other work, of " +
          "which there is none here."
      ]
    })
  } finally {
    await recording.close()
    rmSync(folder, { recursive: true })
  }
}
