/**
 * Builds anew the tables and indexes of which pages are malformed. SQLite can neither drop nor rebuild such a tree, because it follows
 * its pages to free them. So its entry in the schema is deleted, and a new tree is made. The pages of the old one remain in the file,
 * where a scrub overwrites them, unused until a `VACUUM`.
 *
 * Indexes, sums and counters are derived from other tables. All other tables are only built anew for an erasure: `Salvage` copies
 * their rows.
 */
import type { Rebuilt } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import * as Scrub from "../scrub/Scrub.ts"
import * as SqliteClient from "../SqliteClient.ts"
import * as Derived from "./Derived.ts"
import * as LostRows from "./LostRows.ts"
import * as PageFile from "./PageFile.ts"
import { Salvage } from "./Salvage.ts"
import { type Entry, entriesOf, forget, isCorruption, schema } from "./Schema.ts"
import { Trees } from "./Trees.ts"

/** Whose rows are copied, those first that others refer to. */
const salvaged = ["shared_piece_owners", "packs", "shared_pieces", "sessions", "people", "events", "idempotency_keys"]

/** What a scrub of unused pages has not yet overwritten may be rows that were erased. */
const isScrubbed = (database: DatabaseSync): boolean => {
  const [{ user_version }] = database.prepare("PRAGMA user_version").all() as [{ user_version: number }]
  return user_version !== Scrub.dueForUnusedPages
}

/**
 * The trees of a table that SQLite's own check calls malformed, by their roots, or that have not what is in the rows. The table itself,
 * if the check cannot read it, or if an index cannot be made of its rows.
 */
const inconsistentIn = (database: DatabaseSync, table: string, entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  let lines: string
  try {
    lines = (database.prepare(`PRAGMA integrity_check("${table}")`).all() as unknown as ReadonlyArray<object>)
      .map((row) => String(Object.values(row)[0]))
      .join("\n")
  } catch (error) {
    if (!isCorruption(error)) throw error
    return entries.filter(({ name }) => name === table)
  }
  const roots = new Set(Array.from(lines.matchAll(/\btree (\d+)\b/gi), ([, root]) => Number(root)))
  const names = new Set(Array.from(lines.matchAll(/\bindex (\w+)/g), ([, name]) => name))
  if (/\bnon-unique entry in index|\bnot in PRIMARY KEY order/.test(lines)) names.add(table)
  return entries.filter(({ name, root }) => roots.has(root) || names.has(name))
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

const countOf = (rows: Iterable<unknown>): number => {
  let count = 0
  for (const _ of rows) count++
  return count
}

const rebuildIndex = (database: DatabaseSync, index: Entry): void => {
  if (index.sql === null) return replaceTree(database, index)
  forget(database, [index.name])
  database.exec(index.sql)
}

class Repair {
  readonly #database: DatabaseSync
  readonly #file: PageFile.PageFile
  readonly #entries: ReadonlyArray<Entry>
  readonly #trees: Trees<Entry>
  readonly #salvage: Salvage
  readonly #isScrubbed: boolean
  readonly #rebuilt = new Map<string, number>()
  /** Sessions with packs of which others have the same bytes. */
  readonly #shared: Array<ReadonlyArray<SQLInputValue>> = []

  constructor(database: DatabaseSync, file: PageFile.PageFile) {
    this.#database = database
    this.#file = file
    this.#entries = entriesOf(database)
    this.#trees = new Trees(file, [...this.#entries, schema])
    this.#isScrubbed = isScrubbed(database)
    this.#salvage = new Salvage(database, file, this.#trees, this.#isScrubbed)
  }

  /** With `andTables`, also tables that are derived from nothing. */
  run(reader: DatabaseSync, andTables: boolean): ReadonlyArray<Rebuilt> {
    const damaged = this.#damaged(reader, andTables)
    const of = (type: Entry["type"]) => damaged.filter((entry) => entry.type === type)
    const damagedTables = of("table").map(({ name }) => name)
    const copied = salvaged.filter((name) => damagedTables.includes(name))
    for (const table of copied) this.#rebuilt.set(table, this.#rebuildSalvaged(reader, table))
    for (const index of of("index")) {
      if (damagedTables.includes(index.table)) continue
      rebuildIndex(this.#database, index)
      this.#rebuilt.set(index.name, 0)
    }
    const derived = Derived.tables.filter((name) => damagedTables.includes(name))
    for (const table of derived) {
      this.#renew(table)
      this.#rebuilt.set(table, 0)
    }
    if (copied.length === 0) for (const table of derived) Derived.fill(this.#database, table)
    else {
      LostRows.follow(this.#database, new Set(copied))
      for (const [project, session] of this.#shared) LostRows.requestSweep(this.#database, project!, session!)
      Derived.refillAll(this.#database)
    }
    return Array.from(this.#rebuilt, ([name, lost]) => ({ name, lost }))
  }

  /** `reader` is another connection: SQLite refuses to change the schema over one that has found something malformed. */
  #damaged(reader: DatabaseSync, andTables: boolean): ReadonlyArray<Entry> {
    const salvage = new Salvage(reader, this.#file, this.#trees, this.#isScrubbed)
    const leadsToNoRow = (index: Entry): boolean =>
      !this.#trees.malformed.has(this.#entryOf(index.table)) && salvage.leadsToNoRow(index)
    const tables = [...Derived.tables, ...(andTables ? salvaged : [])]
    const isRepairable = ({ name, type }: Entry) => type === "index" || tables.includes(name)
    const found = this.#found(reader, leadsToNoRow, andTables).filter(isRepairable)
    // An index of a table that has lost rows is all that says which: it is not made anew of what is left.
    const lacking = new Set(
      found.flatMap((entry) => (entry.type === "index" && leadsToNoRow(entry) ? [entry.table] : []))
    )
    return this.#entries.filter(({ name, table, type }) =>
      lacking.has(table) ? type === "table" && tables.includes(table) : found.some((each) => each.name === name)
    )
  }

  /** What is malformed; if nothing is, what SQLite's check finds in the first table that is not as it should be. */
  #found(reader: DatabaseSync, leadsToNoRow: (index: Entry) => boolean, andTables: boolean): ReadonlyArray<Entry> {
    const malformed = this.#entries.filter((entry) => this.#trees.malformed.has(entry))
    if (malformed.length > 0) return malformed
    for (const table of [...Derived.tables, ...salvaged]) {
      const inconsistent = inconsistentIn(reader, table, this.#entries)
      if (inconsistent.length > 0) return inconsistent
    }
    // The check does not see it of indexes that have not all rows.
    return andTables ? salvaged.flatMap((table) => this.#indexesOf(table)).filter(leadsToNoRow) : []
  }

  #entryOf(table: string): Entry {
    return this.#entries.find(({ name, type }) => type === "table" && name === table)!
  }

  #indexesOf(table: string): ReadonlyArray<Entry> {
    return this.#entries.filter((entry) => entry.type === "index" && entry.table === table)
  }

  /** Makes an empty table in the place of another, with its indexes. */
  #renew(table: string): void {
    const indexes = this.#indexesOf(table)
    forget(this.#database, [table, ...indexes.map(({ name }) => name)])
    this.#database.exec(this.#entryOf(table).sql!)
    for (const { sql } of indexes) if (sql !== null) this.#database.exec(sql)
  }

  /** Returns how many rows were lost, as far as an index tells. */
  #rebuildSalvaged(reader: DatabaseSync, table: string): number {
    const old = this.#entryOf(table)
    const indexes = this.#indexesOf(table)
    const isMalformed = (entry: Entry) => this.#trees.malformed.has(entry)
    if (isMalformed(old) && !this.#isScrubbed) {
      throw new Error("The pages of what was built anew before have not been overwritten yet")
    }
    // What an erasure must not delete is in these rows.
    const isOwners = table === "shared_piece_owners"
    if (isOwners && isMalformed(old) && indexes.some(isMalformed)) {
      throw new LostRows.Unrepairable("The table shared_piece_owners and its index are malformed")
    }
    const whole = indexes.find((index) => !isMalformed(index) && !/\bWHERE\b/i.test(index.sql ?? ""))
    const former = new Salvage(reader, this.#file, this.#trees, this.#isScrubbed)
    this.#renew(table)
    const onShared = (values: ReadonlyArray<SQLInputValue>) => {
      if (table === "packs") this.#shared.push(values.slice(0, 2))
    }
    this.#salvage.copy(old, onShared, whole && former.isIn(whole))
    let lost = 0
    if (!isOwners) for (const index of indexes) lost = Math.max(lost, countOf(this.#salvage.missing(index)))
    LostRows.restore[table]?.(this.#database, this.#salvage, indexes)
    return lost
  }
}

/** How long it waits for others that write (ms). */
const lockWaitMs = 5_000
/** How often, and after how many milliseconds, is tried again what readers of an older state of the file prevent. */
const readerRetries = 100
const readerWaitMs = 50
/** Its memory for pages. */
const cacheKib = 64 * 1024

/** Returns what was built anew: nothing, if something else is damaged. */
const repair = (path: string, descriptor: number, andTables: boolean): ReadonlyArray<Rebuilt> => {
  const database = new DatabaseSync(path, { timeout: lockWaitMs, defensive: false })
  const reader = new DatabaseSync(path)
  try {
    database.exec("PRAGMA secure_delete = ON")
    database.exec("PRAGMA temp_store = MEMORY")
    database.exec(`PRAGMA cache_size = -${cacheKib}`)
    Derived.define(database)
    database.exec("BEGIN IMMEDIATE")
    const rebuilt = new Repair(database, PageFile.open(database, path, descriptor)).run(reader, andTables)
    if (rebuilt.length > 0) database.exec(Scrub.requestOfUnusedPages)
    database.exec("COMMIT")
    return rebuilt
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK")
    throw error
  } finally {
    reader.close()
    database.close()
  }
}

/** Blocks others that write meanwhile. With `andTables`, rows that cannot be read are lost. */
export const of = (
  client: SqliteClient.SqliteClient
): ((andTables: boolean) => Effect.Effect<ReadonlyArray<Rebuilt>, SqlError.SqlError>) => {
  const { file } = client
  /** What cannot be built anew is not tried again by this process, as each attempt reads the file. */
  let unrepairable: SqlError.SqlError | undefined
  return (andTables) => {
    if (file === undefined) return Effect.succeed([])
    if (unrepairable !== undefined) return Effect.fail(unrepairable)
    const run = Effect.try({
      try: () => repair(file.path, file.descriptor(), andTables),
      catch: (cause) => {
        const error = SqliteClient.toSqlError(cause, "repair")
        if (cause instanceof LostRows.Unrepairable) unrepairable = error
        return error
      }
    })
    // The client's other users wait for its connection instead of the lock.
    const attempt = Effect.scoped(Effect.andThen(client.reserve, run))
    const again = (left: number): typeof attempt =>
      Effect.catchIf(
        attempt,
        ({ reason }) => reason.cause instanceof PageFile.Busy && left > 0,
        () =>
          Effect.andThen(
            Effect.promise(() => setTimeout(readerWaitMs)),
            again(left - 1)
          )
      )
    return again(readerRetries)
  }
}
