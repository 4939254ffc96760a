import { inModule } from "@tachograph/core"
import * as DatabaseFile from "./file/DatabaseFile.ts"
import * as SqliteStorage from "./SqliteStorage.ts"

export * as Backup from "./Backup.ts"
export * as ReplacedFile from "./ReplacedFile.ts"
export * as SqliteClient from "./SqliteClient.ts"
export { SqliteStorage }

/** The storage for `createTachograph`: `sqlite("tachograph.db")`. Throws a `TypeError` if the path is missing or empty. */
export const sqlite = (filename: string) => {
  // SQLite takes an empty name for a temporary file, which it deletes on closing.
  if (typeof filename !== "string" || filename === "") throw new TypeError("Expected the path of a file for SQLite")
  return inModule(SqliteStorage.layer({ filename }), {
    url: import.meta.url,
    name: "sqlite",
    // What is in memory has one connection only.
    reading: DatabaseFile.isPath(filename) ? "sqliteReadOnly" : undefined,
    args: [filename]
  })
}

/** An existing file, for what only reads. */
export const sqliteReadOnly = (filename: string) => SqliteStorage.layerReadOnly({ filename })
