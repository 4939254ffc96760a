/**
 * Copies of a database file. The copy is made in one read transaction, which sees all that was committed before it began and nothing
 * later: without it, SQLite would begin again with each commit of another process.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql"
import { backup, DatabaseSync } from "node:sqlite"
import { closeSync, copyFileSync, constants, fchmodSync, fsyncSync, openSync } from "node:fs"
import { toSqlError } from "./SqliteErrors.ts"

/** A step reads a MiB of usual pages, on a thread of Node's pool. Between the steps the copy can be stopped. */
const pagesPerStep = 256

/** Creates a file that nobody else may read. Fails if there is one. */
const create = (path: string): void => {
  const descriptor = openSync(path, "wx", 0o600)
  try {
    fchmodSync(descriptor, 0o600)
  } finally {
    closeSync(descriptor)
  }
}

/** Waits until the file, or what a folder lists, is on the disk. */
export const flush = (path: string): void => {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes the database one file that needs no log beside it, with all that such a log has. */
const standAlone = (path: string): void => {
  const database = new DatabaseSync(path)
  try {
    database.exec("PRAGMA journal_mode = DELETE")
  } finally {
    database.close()
  }
  flush(path)
}

/** Runs what SQLite and the file system do, with their errors. */
export const attempt = <A>(operation: string, evaluate: () => A): Effect.Effect<A, SqlError.SqlError> =>
  Effect.try({ try: evaluate, catch: (cause) => toSqlError(cause, operation) })

/**
 * Copies a database that others may write meanwhile to a new file of mode 0600. `onStep` gets the part that is done, 0 to 1. Reads
 * and writes off this thread, in bounded memory. The log of the database keeps what is committed meanwhile.
 */
export const copy = (
  from: string,
  to: string,
  onStep: (part: number) => void
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const database = yield* Effect.acquireRelease(
        attempt("connect", () => new DatabaseSync(from, { readOnly: true, timeout: 5_000 })),
        (opened) => Effect.sync(() => opened.close())
      )
      yield* attempt("backup", () => {
        database.exec("BEGIN")
        database.prepare("SELECT 1 FROM sqlite_schema").all()
        create(to)
      })
      let isStopped = false
      const progress = ({ remainingPages, totalPages }: { totalPages: number; remainingPages: number }) => {
        if (isStopped) throw new Error("The backup was stopped")
        onStep(totalPages === 0 ? 1 : 1 - remainingPages / totalPages)
      }
      const running = backup(database, to, { rate: pagesPerStep, progress })
      yield* Effect.tryPromise({ try: () => running, catch: (cause) => toSqlError(cause, "backup") }).pipe(
        // The connection must stay open until the step that runs has ended.
        Effect.onInterrupt(() =>
          Effect.promise(() => {
            isStopped = true
            return running.catch(() => {})
          })
        )
      )
      yield* attempt("backup", () => standAlone(to))
    })
  )

/** Copies a backup that nobody writes to a new file of mode 0600. */
export const duplicate = (from: string, to: string): Effect.Effect<void, SqlError.SqlError> =>
  attempt("copy", () => {
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    const descriptor = openSync(to, "r")
    try {
      fchmodSync(descriptor, 0o600)
    } finally {
      closeSync(descriptor)
    }
    standAlone(to)
  })

/** What SQLite finds wrong with the pages and indexes of each table. */
export const problems = (path: string): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.acquireUseRelease(
    attempt("connect", () => new DatabaseSync(path, { readOnly: true })),
    (database) =>
      Effect.gen(function* () {
        const tables = yield* attempt(
          "check",
          () => database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as Array<{ name: string }>
        )
        const found: Array<string> = []
        for (const { name } of tables) {
          const rows = yield* attempt(
            "check",
            () =>
              database.prepare(`PRAGMA integrity_check("${name.replaceAll('"', '""')}")`).all() as Array<{
                integrity_check: string
              }>
          )
          found.push(...rows.map((row) => row.integrity_check).filter((text) => text !== "ok"))
          yield* Effect.yieldNow
        }
        return found
      }),
    (database) => Effect.sync(() => database.close())
  )
