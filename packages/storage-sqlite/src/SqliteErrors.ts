/** The errors of `node:sqlite` and of files, as those of `effect/sql`. */
import { SqlError } from "effect/sql"
import { FileReplaced } from "./file/FileReplaced.ts"

/** Effect's classifier takes only the violation of a unique index for one, and not that of a primary key. */
const violationOfKey = 1555
const violationOfIndex = 2067

/** The primary result code SQLITE_IOERR: the disk has failed. */
export const failed = 10

/** The primary result code SQLITE_FULL: the disk has no room. */
export const full = 13

/** The result code SQLITE_IOERR_FSYNC: the disk did not take what was written. */
export const notFlushed = 1034

/** SQLite's primary result codes for a database that is unusable at present: https://sqlite.org/rescode.html */
const unusable = new Set([8 /* READONLY */, failed, 11 /* CORRUPT */, full, 26 /* NOTADB */])

/** The error of a failure of `node:sqlite`, or of a file. */
export const toSqlError = (cause: unknown, operation: string): SqlError.SqlError => {
  // node:sqlite calls the extended result code `errcode`; Effect's classifier reads `errno`.
  const { errcode, syscall } = cause as { readonly errcode?: unknown; readonly syscall?: unknown }
  const errno = errcode === violationOfKey ? violationOfIndex : errcode
  const message = cause instanceof Error ? cause.message : "SQLite failed"
  const isOfFile = cause instanceof FileReplaced || syscall !== undefined
  if (isOfFile || (typeof errno === "number" && unusable.has(errno & 0xff))) {
    return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation }) })
  }
  const coded = typeof errno === "number" ? Object.assign(new Error(message, { cause }), { errno }) : cause
  return new SqlError.SqlError({ reason: SqlError.classifySqliteError(coded, { message, operation }) })
}
