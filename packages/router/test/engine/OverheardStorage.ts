/** A storage in a file of SQLite that writes all that its thread is sent into another file. */
import { inModule } from "@tachograph/core"
import { SqliteStorage } from "@tachograph/storage-sqlite"
import { appendFileSync } from "node:fs"
import { parentPort } from "node:worker_threads"

export const open = (filename: string, overheard: string) => {
  parentPort?.on("message", (items: unknown) => appendFileSync(overheard, JSON.stringify(items)))
  const layer = SqliteStorage.layer({ filename })
  return inModule(layer, { url: import.meta.url, name: "open", args: [filename, overheard] })
}
