/** Tables and indexes as entries of the schema. */
import type { DatabaseSync } from "node:sqlite"

export interface Entry {
  readonly type: "table" | "index"
  readonly name: string
  readonly table: string
  readonly root: number
  /** Null for the index of a primary key, which its table's statement makes. */
  readonly sql: string | null
  /** Of its pages. */
  readonly kind: "table" | "index"
}

/** The tree of the schema itself. */
export const schema: Entry = {
  type: "table",
  name: "sqlite_schema",
  table: "sqlite_schema",
  root: 1,
  sql: null,
  kind: "table"
}

const kindOf = ({ sql, type }: Omit<Entry, "kind">) =>
  type === "index" || /\bWITHOUT\s+ROWID\s*$/i.test(sql ?? "") ? "index" : "table"

export const entriesOf = (database: DatabaseSync): ReadonlyArray<Entry> => {
  const rows = database
    .prepare(
      "SELECT type, name, tbl_name AS 'table', rootpage AS root, sql FROM sqlite_schema WHERE type IN ('table', 'index')"
    )
    .all() as unknown as ReadonlyArray<Omit<Entry, "kind">>
  return rows.map((row) => ({ ...row, kind: kindOf(row) }))
}

/** SQLITE_CORRUPT: https://sqlite.org/rescode.html */
export const isCorruption = (error: unknown): boolean => {
  const { errcode } = error as { readonly errcode?: unknown }
  return typeof errcode === "number" && (errcode & 0xff) === 11
}

/** Deletes entries, whose pages remain in the file and are used by nothing. */
export const forget = (database: DatabaseSync, names: ReadonlyArray<string>): void => {
  database.exec("PRAGMA writable_schema = ON")
  const deleteEntry = database.prepare("DELETE FROM sqlite_schema WHERE name = ?")
  for (const name of names) deleteEntry.run(name)
  database.exec("PRAGMA writable_schema = RESET")
}
