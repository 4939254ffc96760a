/**
 * Long columns of bytes. The client of Postgres collects a row in a buffer that doubles while the row arrives, and returns views of
 * it: a long row leaves several times its size for V8 to collect. So it is read in slices, each a row of its own. The client of
 * SQLite returns bytes that are alone in their memory.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Dialects from "../dialect/Dialects.ts"

/** Columns with more bytes are read in slices, which takes another round trip. */
const maxShortBytes = 64 * 1024

/** Several fit into the buffer of the client (64 KiB), which does not grow then (bytes). */
const sliceBytes = 16 * 1024

/** The bytes of a column, under the column's name; NULL if they are long. */
export const selectShort = (sql: SqlClient.SqlClient, column: string): Statement.Fragment =>
  Dialects.of(sql).shortBytes(column, maxShortBytes)

interface Slice<Key> {
  readonly key: Key
  /** Bytes of the whole column. */
  readonly bytes: number
  /** Where the slice begins in it. */
  readonly start: number
  readonly slice: Uint8Array
}

/** A row's key, and its bytes, alone in their memory. */
export interface LongRow<Key> {
  readonly key: Key
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** The rows of a table of Postgres, from one snapshot and in no order. `identify` tells their keys apart. */
export const read = <Key>(
  sql: SqlClient.SqlClient,
  table: string,
  columns: { readonly key: string; readonly bytes: string },
  where: Statement.Fragment,
  identify: (key: Key) => string
): Effect.Effect<ReadonlyArray<LongRow<Key>>, SqlError.SqlError> =>
  Effect.suspend(() => {
    const rows = new Map<string, LongRow<Key>>()
    const bytes = sql(columns.bytes)
    const step = sql.literal(String(sliceBytes))
    const slices = sql<Slice<Key>>`SELECT ${sql(columns.key)} AS key, octet_length(${bytes}) AS bytes, start,
        substring(${bytes} FROM start + 1 FOR ${step}) AS slice
      FROM ${sql(table)}, generate_series(0, greatest(octet_length(${bytes}) - 1, 0), ${step}) AS start
      WHERE ${where}`
    const add = ({ bytes, key, slice, start }: Slice<Key>) => {
      const name = identify(key)
      const row = rows.get(name) ?? { key, bytes: new Uint8Array(bytes) }
      rows.set(name, row)
      row.bytes.set(slice, start)
    }
    return Effect.map(
      Stream.runForEachArray(slices.stream, (some) => Effect.sync(() => some.forEach(add))),
      () => Array.from(rows.values())
    )
  })
