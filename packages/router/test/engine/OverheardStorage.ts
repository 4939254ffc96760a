/** A storage in a file of SQLite that writes all that its threads are sent into another file. */
import { inModule } from "@tachograph/core"
import { SqliteStorage } from "@tachograph/storage-sqlite"
import { appendFileSync } from "node:fs"
import { parentPort } from "node:worker_threads"

const listen = (overheard: string) => {
  parentPort?.on("message", (items: unknown) => appendFileSync(overheard, JSON.stringify(items)))
}

export const open = (filename: string, overheard: string) => {
  listen(overheard)
  const layer = SqliteStorage.layer({ filename })
  return inModule(layer, { url: import.meta.url, name: "open", reading: "openReading", args: [filename, overheard] })
}

/** @public */
export const openReading = (filename: string, overheard: string) => {
  listen(overheard)
  return SqliteStorage.layerReadOnly({ filename })
}
