/** What differs between databases: each has one such object, which says all of it. */
import type * as Effect from "effect/Effect"
import type { SqlError, Statement } from "effect/sql"
import type { Column, Type, Value } from "./Columns.ts"

/** UUIDs are of the type `uuid` in Postgres, 16 bytes elsewhere. Both sort like the UUID's text. */
export type StoredId = string | Uint8Array

/** The same types in the database's words. */
interface ColumnTypes {
  readonly bytes: string
  readonly text: string
}

/** Rows that a list of names or ids selects from a unique index. */
export interface Selection {
  readonly table: string
  readonly columns: Statement.Fragment
  /** The columns of the index that precede the name. */
  readonly isOfParent: Statement.Fragment
  readonly name: string
  /** The type of the names, for Postgres. */
  readonly type: Type
  /** A fragment of `Locks`; may be empty. */
  readonly lock: Statement.Fragment
}

/** The database's own check of a table and its indexes. */
export interface TableCheck {
  /** Selects the next name of a table after one. */
  readonly nextTable: (after: string) => Statement.Statement<{ readonly name: string }>
  /** Returns lines of text: a single `ok`, or what is wrong. */
  readonly check: (table: string) => Statement.Statement<{ readonly integrity_check: string }>
  /** How many values of each column have a type that the table does not declare for it. Reads the whole table, too. */
  readonly countOtherTypes: (
    table: string
  ) => Effect.Effect<ReadonlyArray<{ readonly column: string; readonly values: number }>, SqlError.SqlError>
}

type Rows = <Row>(columns: ReadonlyArray<Column<Row>>) => (rows: ReadonlyArray<Row>) => Statement.Fragment

export interface Dialect {
  /** Whether a transaction excludes all other writers from its start. Then there are no locks of rows, and none is needed. */
  readonly isSerial: boolean
  /** Whether an update leaves the indexes alone of columns that it sets to the values that they have. */
  readonly keepsUnchangedIndexes: boolean
  /** Whether a damaged column of bytes can hold text. */
  readonly canHoldText: boolean
  readonly types: ColumnTypes
  readonly toStoredId: (id: string) => StoredId

  /** Short rows in one statement, of which one event may bring 32,000. */
  readonly maxShortRows: number
  /** The values of rows: `VALUES …`, or as a `SELECT`. */
  readonly rows: Rows
  /** The same in a statement that inserts them. */
  readonly rowsToInsert: Rows
  /** True where a column has one of the values. */
  readonly isAmong: (column: string, type: Type, values: ReadonlyArray<Value>) => Statement.Fragment
  /** One index lookup per name. */
  readonly rowsByName: <Row extends object>(
    selection: Selection,
    names: ReadonlyArray<Value>
  ) => Statement.Statement<Row>

  /** The bytes of a column. */
  readonly bytes: (column: string) => string
  /** The bytes of a column, under the column's name. NULL if they are longer, and better read in slices. */
  readonly shortBytes: (column: string, maxBytes: number) => Statement.Fragment
  /** The time in an id (epoch ms). */
  readonly idMs: (id: Statement.Fragment) => Statement.Fragment
  /** The smallest id of a millisecond; of the first one for none. */
  readonly firstIdOf: (ms: Statement.Fragment) => Statement.Fragment

  /** Has a statement use an index of a table. Follows the table's name. */
  readonly useIndex: (index: string) => string
  /** Has a statement read a table without its indexes, but for the primary key. Follows the table's name. */
  readonly noIndex: string
  /** A column that no index leads to, also where a unique index is taken in spite of the hint. */
  readonly unindexed: (column: string) => string
  /** Queries to merge, each in the order and with the limit of `ending`, which also follows all of them. */
  readonly inOrder: (
    queries: ReadonlyArray<Statement.Fragment>,
    ending: Statement.Fragment
  ) => ReadonlyArray<Statement.Fragment>
  /**
   * Joins the rows of a table that belong to each row before it, in this order. Ends a statement:
   * `SELECT … FROM ranges ${dialect.joinEach("rollups", "r", columns, condition)}`.
   */
  readonly joinEach: (
    table: string,
    alias: string,
    columns: Statement.Fragment,
    condition: Statement.Fragment
  ) => Statement.Fragment

  /** Whether `WITH … AS (INSERT …)` makes several changes in one statement, and so in one round trip. */
  readonly changesInOneStatement: boolean
  /** Begins a transaction whose reads see one state of the database, whatever others commit meanwhile. */
  readonly beginSnapshot: Effect.Effect<void, SqlError.SqlError>
  /**
   * Waits until what others have committed is kept: by SQLite on the disk, by Postgres on the standbys too, where the replication is
   * synchronous. It is visible before, so what acknowledges what it only reads must wait for it.
   */
  readonly waitUntilKept: Effect.Effect<void, SqlError.SqlError>
  /**
   * The stripe of the current transaction. Counters that every append of a project adds to are kept in stripes, whose sum counts: a row
   * that is shared by all transactions would make each wait until the one before it is committed.
   */
  readonly stripe: string
  /** Undefined if the database has no such check. */
  readonly tableCheck: TableCheck | undefined
}
