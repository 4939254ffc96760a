/**
 * Copies the rows of a table whose pages are malformed into a new one: those of every page that can still be read, whether or not
 * others lead to it. One row at a time is in memory.
 */
import { sharedPieceChecksum } from "@tachograph/core"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import type { PageFile } from "./PageFile.ts"
import * as Row from "./Row.ts"
import * as Schema from "./Schema.ts"
import * as TreePage from "./TreePage.ts"
import type { Trees } from "./Trees.ts"

interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
  /** The place in the primary key, from 1. */
  readonly pk: number
}

type Values = ReadonlyArray<SQLInputValue>

type IsKnown = (row: ReadonlyMap<string, SQLInputValue>) => boolean

function* chain<A>(...all: ReadonlyArray<Iterable<A>>): Generator<A> {
  for (const each of all) yield* each
}

/** A row, or an entry of an index. */
interface Found {
  readonly values: Values
  /** Whether others lead to the same bytes: they belong to one of them. */
  readonly isShared: boolean
}

const columnsOf = (database: DatabaseSync, table: string): ReadonlyArray<Column> =>
  database
    .prepare('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?) ORDER BY cid')
    .all(table) as unknown as ReadonlyArray<Column>

/** The columns that an index has, in the order of its entries. Null is the rowid. */
const namesIn = (database: DatabaseSync, index: string): ReadonlyArray<string | null> =>
  database
    .prepare("SELECT name FROM pragma_index_xinfo(?) ORDER BY seqno")
    .all(index)
    .map(({ name }) => name as string | null)

/** Whether a column of this type can have the value. No row has others, unless it is damaged. */
const fits = ({ notnull, type }: Column, value: SQLInputValue): boolean => {
  if (value === null) return notnull === 0
  if (type === "BLOB") return typeof value === "object"
  if (/INT/.test(type)) return typeof value === "bigint"
  if (type === "REAL") return typeof value === "bigint" || typeof value === "number"
  return typeof value === "string"
}

/** Rows that were written before a column was added do not have it. */
const mayLack = ({ dflt_value, notnull }: Column): boolean => notnull === 0 || dflt_value !== null

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * A row without bytes that may be those of another one, of which an erasure would leave a copy. Undefined if nothing remains that anyone can
 * read. Packs are kept: a sweep deletes those whose checksum differs.
 */
const ofItsOwn = (table: string, values: Values): Values | undefined => {
  const last = values.at(-1)
  if (table === "shared_pieces") {
    const checksum = values.at(-2)
    return last instanceof Uint8Array && BigInt(sharedPieceChecksum(last)) === checksum ? values : undefined
  }
  // Metadata of an event, whose checksum differs then, and properties of a person, which are refused.
  return typeof last === "string" && !isJson(last) ? [...values.slice(0, -1), ""] : values
}

/** What is malformed has no row. */
const isFound = (find: StatementSync, values: Values): boolean => {
  try {
    return find.get(...values) !== undefined
  } catch (error) {
    if (!Schema.isCorruption(error)) throw error
    return false
  }
}

export class Salvage {
  readonly #database: DatabaseSync
  readonly #file: PageFile
  readonly #trees: Trees<Schema.Entry>
  /** Whether pages that nothing leads to are those of malformed tables and indexes, and not of former ones. */
  readonly #hasNoFormer: boolean

  constructor(database: DatabaseSync, file: PageFile, trees: Trees<Schema.Entry>, hasNoFormer: boolean) {
    this.#database = database
    this.#file = file
    this.#trees = trees
    this.#hasNoFormer = hasNoFormer
  }

  *#rowsIn(tree: Schema.Entry, page: number, isOwn: boolean): Generator<Found> {
    const bytes = this.#file.read(page)
    const { cells, isSound } = TreePage.parse(bytes, tree.kind)
    yield* this.#rowsOfCells(tree, cells)
    // Its type may be what is damaged.
    if (!isSound && isOwn) yield* this.#rowsOfCells(tree, TreePage.parse(bytes, tree.kind, { asLeaf: true }).cells)
  }

  *#rowsOfCells(tree: Schema.Entry, cells: ReadonlyArray<TreePage.Cell>): Generator<Found> {
    for (const cell of cells) {
      const overflow = this.#trees.overflowOf(tree, cell)
      const values = overflow && Row.decode(TreePage.contentOf(this.#file, cell, overflow.pages))
      if (values !== undefined) yield { values, isShared: overflow!.isShared }
    }
  }

  *#rowsOf(tree: Schema.Entry): Generator<Found> {
    for (const { isOwn, page } of this.#trees.pagesOf(tree)) yield* this.#rowsIn(tree, page, isOwn)
  }

  /** Those of pages that nothing leads to any more. They may have been deleted since in another copy of the page. */
  *#hiddenRowsOf(tree: Schema.Entry): Generator<Found> {
    if (!this.#hasNoFormer) return
    for (const page of this.#trees.lost()) yield* this.#rowsIn(tree, page, false)
  }

  /** Those of an index that was there when the transaction began, by the names of their columns. */
  *entriesOf(index: Schema.Entry): Generator<ReadonlyMap<string | null, SQLInputValue>> {
    const names = namesIn(this.#database, index.name)
    const byName = new Map(columnsOf(this.#database, index.table).map((column) => [column.name, column]))
    for (const { values } of chain(this.#rowsOf(index), this.#hiddenRowsOf(index))) {
      if (values.length !== names.length) continue
      const isEntry = values.every((value, at) => names[at] === null || fits(byName.get(names[at]!)!, value))
      if (isEntry) yield new Map(names.map((name, at) => [name, values[at]!]))
    }
  }

  /**
   * Fills the new table of the same name, which is empty. Passes the rows whose bytes others lead to as well. `isKnown` says whether an
   * index has a row: those come first, and of pages that nothing leads to only those.
   */
  copy(old: Schema.Entry, onShared: (values: Values) => void, isKnown?: IsKnown): void {
    const columns = columnsOf(this.#database, old.name)
    const byName = new Map(columns.map((column) => [column.name, column]))
    const stored =
      old.kind === "table"
        ? columns
        : namesIn(this.#database, `sqlite_autoindex_${old.name}_1`).map((name) => byName.get(name!)!)
    const inserts = new Map<number, StatementSync>()
    const insertOf = (count: number): StatementSync => {
      const names = stored.slice(0, count).map(({ name }) => name)
      const insert =
        inserts.get(count) ??
        this.#database.prepare(
          `INSERT OR IGNORE INTO ${old.name} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`
        )
      inserts.set(count, insert)
      return insert
    }
    const isRow = (values: Values): boolean =>
      values.length <= stored.length &&
      stored.slice(values.length).every(mayLack) &&
      // The page may be one of another table.
      values.every((value, at) => fits(stored[at]!, value))
    const put = ({ isShared, values }: Found): void => {
      const own = isShared ? ofItsOwn(old.name, values) : values
      if (own === undefined) return
      insertOf(own.length).run(...own)
      if (isShared) onShared(own)
    }
    const isIndexed = ({ values }: Found): boolean =>
      isKnown === undefined || isKnown(new Map(values.map((value, at) => [stored[at]!.name, value])))
    let others = 0
    for (const row of this.#rowsOf(old)) {
      if (!isRow(row.values)) continue
      if (isIndexed(row)) put(row)
      else others++
    }
    for (const row of this.#hiddenRowsOf(old)) if (isRow(row.values) && isIndexed(row)) put(row)
    // One whose key is damaged must not take the place of another one.
    if (others > 0) for (const row of this.#rowsOf(old)) if (isRow(row.values) && !isIndexed(row)) put(row)
  }

  /** Looks for rows in an index, which is not malformed, of the table as it was. */
  isIn(index: Schema.Entry): IsKnown {
    const names = namesIn(this.#database, index.name).filter((name) => name !== null)
    const find = this.#database.prepare(
      `SELECT 1 FROM ${index.table} INDEXED BY ${index.name} WHERE ${names.map((name) => `${name} IS ?`).join(" AND ")}`
    )
    const valuesOf = (row: ReadonlyMap<string, SQLInputValue>) => names.map((name) => row.get(name) ?? null)
    return (row) => isFound(find, valuesOf(row))
  }

  /**
   * The rows that an index leads to and the new table has not. Their primary key is in the index, or what else is unique. Not to be
   * changed while it is read.
   */
  *missing(index: Schema.Entry): Generator<ReadonlyMap<string | null, SQLInputValue>> {
    const named = namesIn(this.#database, index.name).filter((name) => name !== null)
    const key = this.#keyOf(index)
    yield* this.#without(index, key.every((name) => named.includes(name)) ? key : named)
  }

  /** Whether an index leads to a row that the table has not in which it is. */
  leadsToNoRow(index: Schema.Entry): boolean {
    const hasRowid = namesIn(this.#database, index.name).includes(null)
    return this.#without(index, hasRowid ? [null] : this.#keyOf(index)).next().done !== true
  }

  #keyOf({ table }: Schema.Entry): ReadonlyArray<string> {
    return columnsOf(this.#database, table).flatMap(({ name, pk }) => (pk === 0 ? [] : [name]))
  }

  /** Entries for which the table has no row with these columns. */
  *#without(
    index: Schema.Entry,
    names: ReadonlyArray<string | null>
  ): Generator<ReadonlyMap<string | null, SQLInputValue>> {
    const find = this.#database.prepare(
      `SELECT 1 FROM ${index.table} WHERE ${names.map((name) => `${name ?? "rowid"} IS ?`).join(" AND ")}`
    )
    for (const entry of this.entriesOf(index)) {
      const values = names.map((name) => entry.get(name)!)
      if (!isFound(find, values)) yield entry
    }
  }
}
