/** A storage in a file of SQLite that ends, exhausts or stops the thread that it is on when it is asked for certain agents. */
import { inModule, Storage } from "@tachograph/core"
import { SqliteStorage } from "@tachograph/storage-sqlite"
import { Effect, Layer } from "effect"
import { isMainThread } from "node:worker_threads"

/** How long the agent `stop` stops the thread (ms). */
const stoppedMs = 3_000

const exhaust = () => {
  const held: Array<ReadonlyArray<number>> = []
  for (;;) held.push(Array.from({ length: 100_000 }, Math.random))
}

const stop = (ms?: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const acts: Readonly<Record<string, () => void>> = {
  exit: () => process.exit(3),
  exhaust,
  stop: () => stop(stoppedMs),
  // After the answer, and for ever.
  freeze: () => void setTimeout(stop, 50)
}

export const open = (filename: string) => {
  const fragile = Effect.map(Storage, (storage) =>
    Storage.of({
      ...storage,
      getAgent: (project, name) => {
        if (!isMainThread) acts[name]?.()
        return storage.getAgent(project, name)
      }
    })
  )
  const layer = Layer.effect(Storage, fragile).pipe(Layer.provide(SqliteStorage.layer({ filename })))
  return inModule(layer, { url: import.meta.url, name: "open", args: [filename] })
}
