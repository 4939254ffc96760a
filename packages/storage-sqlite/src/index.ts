import * as SqliteStorage from "./SqliteStorage.ts"

export * as SqliteClient from "./SqliteClient.ts"
export { SqliteStorage }

/** The storage for `createTachograph`: `sqlite("tachograph.db")`. Throws a TypeError where that is no path. */
export const sqlite = (filename: string) => {
  // To SQLite, no name is a file that is gone when it is closed.
  if (typeof filename !== "string" || filename === "") throw new TypeError("Expected the path of a file for SQLite")
  return SqliteStorage.layer({ filename })
}
