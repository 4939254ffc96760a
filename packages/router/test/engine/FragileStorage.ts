/** A storage in a file of SQLite that ends, exhausts or stops the thread that it is on when it is asked for certain agents. */
import { inModule, Storage } from "@tachograph/core"
import { SqliteStorage } from "@tachograph/storage-sqlite"
import { Effect, Layer } from "effect"
import { appendFileSync, existsSync } from "node:fs"
import { isMainThread } from "node:worker_threads"

const held: Array<ReadonlyArray<number>> = []

/** Holds 8 MB more for each of them. */
const hold = (arrays: number) => {
  const array = Array.from({ length: 1_000_000 }, () => 1.5)
  for (let n = 0; n < arrays; n++) held.push(array.slice())
}

const stop = (ms?: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** Where the agent `hold` stops the thread until this file exists. */
export const releaseOf = (filename: string) => `${filename}.release`

/** Where each request for the agent `note` leaves a point. */
export const notesOf = (filename: string) => `${filename}.notes`

const actsOf = (filename: string): Readonly<Record<string, () => void>> => ({
  exit: () => process.exit(3),
  exhaust: () => hold(Infinity),
  // More than the tests allow a thread, and less than what ends it at once.
  swell: () => hold(30),
  hold: () => {
    while (!existsSync(releaseOf(filename))) stop(20)
  },
  note: () => appendFileSync(notesOf(filename), "."),
  // After the answer, and for ever.
  freeze: () => void setTimeout(stop, 50)
})

/** Acts when a certain agent is asked for, by its name, or its events, or has an event. */
const fragile = (filename: string) =>
  Effect.map(Storage, (storage) => {
    const acts: Readonly<Record<string, () => void>> = isMainThread ? {} : actsOf(filename)
    return Storage.of({
      ...storage,
      appendEvents: (events) => {
        for (const { summary } of events) acts[summary.agent]?.()
        return storage.appendEvents(events)
      },
      getAgent: (project, name) => {
        acts[name]?.()
        return storage.getAgent(project, name)
      },
      listEvents: (project, query) => {
        if (query.agent !== undefined) acts[query.agent]?.()
        return storage.listEvents(project, query)
      }
    })
  })

/** `reading` is the name of the export for reads. */
export const open = (filename: string, reading?: string) =>
  inModule(Layer.effect(Storage, fragile(filename)).pipe(Layer.provide(SqliteStorage.layer({ filename }))), {
    url: import.meta.url,
    name: "open",
    reading,
    args: [filename]
  })

/** @public */
export const openReading = (filename: string) =>
  Layer.effect(Storage, fragile(filename)).pipe(Layer.provide(SqliteStorage.layerReadOnly({ filename })))

/** Cannot be opened. @public */
export const openMissing = (filename: string) => SqliteStorage.layerReadOnly({ filename: `${filename}.missing` })
