/**
 * Builds anew what is derived from other tables, where pages of it are no pages of a table any more: indexes, sums, and counters.
 * SQLite can neither drop nor rebuild such a tree, because it follows its pages to free them. So its entry in the schema is deleted,
 * and a new tree is made. The pages of the old one remain in the file, where a scrub overwrites them, unused until a `VACUUM`.
 */
import { contentBytesOf, contentBytesPrefix } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql"
import { DatabaseSync } from "node:sqlite"
import * as Scrub from "../scrub/Scrub.ts"
import type * as SqliteClient from "../SqliteClient.ts"
import * as SqliteErrors from "../SqliteErrors.ts"

/** An entry of the schema. */
interface Entry {
  readonly type: "table" | "index"
  readonly name: string
  readonly table: string
  readonly root: number
  /** Null for the index of a primary key, which its table's statement makes. */
  readonly sql: string | null
}

/** Tables that an erasure or a derivation changes, the small ones first. */
const tables = [
  ...[
    "rollups",
    "agent_usage",
    "storage_usage",
    "shared_piece_owners",
    "sessions",
    "people",
    "idempotency_keys",
    "events"
  ],
  ...["packs", "shared_pieces"]
]

/** How a table is filled from others: statements that run after it was made, and before the old one is forgotten. */
const refills: Readonly<Record<string, (old: string) => ReadonlyArray<string>>> = {
  // Events are added up again in the background.
  rollups: () => [],
  // The index by piece has all columns.
  shared_piece_owners: (old) => [
    `INSERT INTO shared_piece_owners (project_id, session_number, sha256)
      SELECT project_id, session_number, sha256 FROM ${old} INDEXED BY shared_piece_owners_by_piece`
  ],
  storage_usage: () => [
    `INSERT INTO storage_usage (project_id, session_number, agent_number, entries, sent_bytes, new_bytes, stored_bytes)
      SELECT project_id, session_number, agent_number, sum(entries), sum(sent), sum(new), sum(stored) FROM (
        SELECT project_id, session_number, agent_number, 1 AS entries, inputs_bytes + output_bytes AS sent, 0 AS new, 0 AS stored
        FROM events
        UNION ALL SELECT project_id, session_number, agent_number, 0, 0,
          content_bytes(substr(pack, 1, ${contentBytesPrefix})), octet_length(pack) FROM packs
        UNION ALL SELECT project_id, 0, 0, 1, 0, size, octet_length(piece) FROM shared_pieces)
      GROUP BY 1, 2, 3`
  ],
  agent_usage: () => [
    `INSERT INTO agent_usage (project_id, agent_number, rules, stripe, entries, sent_bytes, new_bytes, stored_bytes)
      SELECT e.project_id, e.agent_number, coalesce(ek.rules, ''), 0, count(*), sum(e.inputs_bytes + e.output_bytes), 0, 0
      FROM events e LEFT JOIN event_kinds ek ON ek.project_id = e.project_id AND ek.kind_number = e.kind_number
      GROUP BY 1, 2, 3`,
    `INSERT INTO agent_usage (project_id, agent_number, rules, stripe, entries, sent_bytes, new_bytes, stored_bytes)
      SELECT project_id, agent_number, '', 0, 0, 0, sum(new_bytes), sum(stored_bytes) FROM storage_usage
      WHERE session_number <> 0 GROUP BY 1, 2
      ON CONFLICT (project_id, agent_number, rules, stripe) DO UPDATE SET new_bytes = excluded.new_bytes,
        stored_bytes = excluded.stored_bytes`
  ]
}

const entriesOf = (database: DatabaseSync): ReadonlyArray<Entry> =>
  database
    .prepare(
      "SELECT type, name, tbl_name AS 'table', rootpage AS root, sql FROM sqlite_schema WHERE type IN ('table', 'index')"
    )
    .all() as unknown as ReadonlyArray<Entry>

/** Whether pages are no pages of a tree. Their content is not looked at. */
const hasCorruptPage = (database: DatabaseSync, { name }: Entry): boolean =>
  database.prepare("SELECT 1 FROM dbstat WHERE name = ? AND pagetype = 'corrupted' LIMIT 1").get(name) !== undefined

/** The trees of a table that SQLite's own check calls malformed, by their roots, or that have not what is in the rows. */
const malformedIn = (database: DatabaseSync, table: string, entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  let lines: string
  try {
    lines = (database.prepare(`PRAGMA integrity_check("${table}")`).all() as unknown as ReadonlyArray<object>)
      .map((row) => String(Object.values(row)[0]))
      .join("\n")
  } catch {
    return []
  }
  const roots = new Set(Array.from(lines.matchAll(/\btree (\d+)\b/gi), ([, root]) => Number(root)))
  const names = new Set(Array.from(lines.matchAll(/\bindex (\w+)/g), ([, name]) => name))
  return entries.filter(({ name, root }) => roots.has(root) || names.has(name))
}

const isRepairable = ({ name, type }: Entry): boolean => type === "index" || name in refills

const forget = (database: DatabaseSync, names: ReadonlyArray<string>): void => {
  database.exec("PRAGMA writable_schema = ON")
  const deleteEntry = database.prepare("DELETE FROM sqlite_schema WHERE name = ?")
  for (const name of names) deleteEntry.run(name)
  database.exec("PRAGMA writable_schema = RESET")
}

/** Makes a table anew, with its indexes. */
const rebuildTable = (database: DatabaseSync, { name, sql }: Entry, indexes: ReadonlyArray<Entry>): void => {
  const old = `${name}_damaged`
  // Changes the names in the schema, and no page of the table.
  database.exec("PRAGMA writable_schema = ON")
  database
    .prepare(
      "UPDATE sqlite_schema SET name = ?, tbl_name = ?, sql = replace(sql, ?, ?) WHERE type = 'table' AND name = ?"
    )
    .run(old, old, `TABLE ${name} `, `TABLE ${old} `, name)
  database
    .prepare("UPDATE sqlite_schema SET tbl_name = ?, sql = replace(sql, ?, ?) WHERE type = 'index' AND tbl_name = ?")
    .run(old, ` ON ${name} `, ` ON ${old} `, name)
  database.exec("PRAGMA writable_schema = RESET")
  database.exec(sql!)
  for (const statement of refills[name]!(old)) database.exec(statement)
  forget(database, [old, ...indexes.map((index) => index.name)])
  for (const index of indexes) if (index.sql !== null) database.exec(index.sql)
}

/** Gives the index of a primary key the tree of a new index, which has the same rows: no statement makes it alone. */
const replaceTree = (database: DatabaseSync, { name, table }: Entry): void => {
  const columns = database.prepare(`SELECT name FROM pragma_index_info(?) ORDER BY seqno`).all(name)
  const replacement = `${name.replace(/^sqlite_/, "")}_replacement`
  database.exec(
    `CREATE UNIQUE INDEX ${replacement} ON ${table} (${columns.map((column) => String(column["name"])).join(", ")})`
  )
  database.exec("PRAGMA writable_schema = ON")
  database
    .prepare("UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = ?) WHERE name = ?")
    .run(replacement, name)
  forget(database, [replacement])
}

const rebuild = (database: DatabaseSync, damaged: ReadonlyArray<Entry>, entries: ReadonlyArray<Entry>): void => {
  const damagedTables = new Set(damaged.filter(({ type }) => type === "table").map(({ name }) => name))
  for (const each of damaged) {
    if (each.type === "table") {
      const indexes = entries.filter(({ table, type }) => type === "index" && table === each.name)
      rebuildTable(database, each, indexes)
    } else if (!damagedTables.has(each.table)) {
      if (each.sql === null) replaceTree(database, each)
      else {
        forget(database, [each.name])
        database.exec(each.sql)
      }
    }
  }
}

/** How long it waits for others that write (ms). */
const lockWaitMs = 5_000

/** Returns what was built anew: nothing, if something else is damaged. */
const repair = (path: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(path, { timeout: lockWaitMs, defensive: false })
  try {
    database.exec("PRAGMA secure_delete = ON")
    database.function("content_bytes", { deterministic: true }, (beginning) =>
      beginning instanceof Uint8Array ? contentBytesOf(beginning) : 0
    )
    database.exec("BEGIN IMMEDIATE")
    const entries = entriesOf(database).filter(({ table }) => tables.includes(table))
    let damaged = entries.filter((entry) => isRepairable(entry) && hasCorruptPage(database, entry))
    for (const table of tables) {
      if (damaged.length > 0) break
      damaged = malformedIn(database, table, entries).filter(isRepairable)
    }
    rebuild(database, damaged, entries)
    if (damaged.length > 0) database.exec(Scrub.requestOfUnusedPages)
    database.exec("COMMIT")
    return damaged.map(({ name }) => name)
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK")
    throw error
  } finally {
    database.close()
  }
}

/** Blocks others that write meanwhile. */
export const of = (client: SqliteClient.SqliteClient): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> => {
  const { file } = client
  if (file === undefined) return Effect.succeed([])
  const run = Effect.try({
    try: () => {
      const rebuilt = repair(file.path)
      if (rebuilt.length > 0) Scrub.addUnusedPages(client)
      return rebuilt
    },
    catch: (cause) => SqliteErrors.toSqlError(cause, "repair")
  })
  // The client's other users wait for its connection instead of the lock.
  return Effect.scoped(Effect.andThen(client.reserve, run))
}
