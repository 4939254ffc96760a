/**
 * A `SqlClient` over `node:sqlite`: one connection, used by one fiber at a time. Transactions start with BEGIN IMMEDIATE,
 * which takes the write lock: a lock that is only needed later could not be waited for.
 */
import { type AtOnce, Migrations } from "@tachograph/storage-sql"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlError, Statement } from "effect/sql"
import { DatabaseSync } from "node:sqlite"
import * as DatabaseFile from "./file/DatabaseFile.ts"
import * as OpenFiles from "./file/OpenFiles.ts"
import { nativeWaitMs, SqliteConnection, whileLocked } from "./SqliteConnection.ts"
import { toSqlError } from "./SqliteErrors.ts"

/** A client with what only SQLite has. */
export interface SqliteClient extends AtOnce.AtOnceClient {
  /** Throws if the path leads to another file than the open one, or to none, or if the file was changed or its log truncated. */
  readonly checkFile: () => void
  /** The same as a `ConnectionError`, which it is also while the disk does not take what was committed. */
  readonly verifyFile: Effect.Effect<void, SqlError.SqlError>
  /** Undefined for a database without a file of its own. */
  readonly file: OpenFiles.OpenFile | undefined
}

export const SqliteClient = Context.Service<SqliteClient>("tachograph/storage-sqlite/SqliteClient")

export interface SqliteClientConfig {
  /** A path, or `:memory:`. Creates the file, with mode 0600, if it does not exist. */
  readonly filename: string
  /** Milliseconds that a statement waits for another connection's lock. 5,000 by default. */
  readonly busyTimeout?: number | undefined
  /** Opens an existing file, and changes nothing in it. False by default. */
  readonly readOnly?: boolean | undefined
}

const defaultBusyTimeoutMs = 5_000

/** A file of SQLite belongs to one program. That of another one stays as it is: not even WAL mode is set in it. */
const refuseOtherTables = (database: DatabaseSync): void => {
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  if (names.length > 0 && !names.some(({ name }) => name === Migrations.table)) throw Migrations.foreign
}

const open = (filename: string, readOnly: boolean) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        DatabaseFile.refuseOther(filename)
        if (!readOnly) DatabaseFile.create(filename)
        const name = readOnly ? DatabaseFile.readOnlyName(filename) : filename
        const database = new DatabaseSync(name, { timeout: nativeWaitMs, readOnly })
        try {
          DatabaseFile.refuseForeignLog(database)
          refuseOtherTables(database)
          if (readOnly) return { database, file: undefined, files: DatabaseFile.open(database, filename, true) }
          // WAL mode persists in the file. Setting it takes a lock that SQLite does not wait for.
          const [{ journal_mode: mode }] = database.prepare("PRAGMA journal_mode").all() as [{ journal_mode: string }]
          if (mode !== "wal") database.exec("PRAGMA journal_mode = WAL")
          // A commit is on the disk when it returns, and survives a power failure.
          database.exec("PRAGMA synchronous = FULL")
          // Overwrites deleted content with zeros.
          database.exec("PRAGMA secure_delete = ON")
          // Keeps statement journals out of files: they may hold text that is being erased.
          database.exec("PRAGMA temp_store = MEMORY")
          // The log is copied into the file after a look at the file, by this client.
          database.exec("PRAGMA wal_autocheckpoint = 0")
          const path = database.location()
          const files = DatabaseFile.open(database, filename, false)
          return { database, files, file: path === null ? undefined : OpenFiles.acquire(path) }
        } catch (error) {
          database.close()
          throw error
        }
      },
      catch: (cause) => toSqlError(cause, "connect")
    }),
    ({ file, files }) =>
      Effect.sync(() => {
        files.close()
        file?.release()
      })
  )

export const make = Effect.fnUntraced(function* ({
  busyTimeout = defaultBusyTimeoutMs,
  filename,
  readOnly = false
}: SqliteClientConfig): Effect.fn.Return<SqliteClient, SqlError.SqlError, Scope.Scope | Reactivity.Reactivity> {
  const { database, file, files } = yield* Effect.retry(open(filename, readOnly), whileLocked(busyTimeout))
  const connection = new SqliteConnection(database, busyTimeout, files)
  if (!readOnly) connection.healLeftLog()
  const semaphore = yield* Semaphore.make(1)
  const { acquirer, borrower, isTransaction, onCommitFailure, transactionAcquirer } = SqlClient.makeSqliteAcquirers({
    connection: Effect.succeed(connection),
    semaphore,
    isTransaction: (each) => each.isTransaction
  })
  const client = yield* SqlClient.make({
    acquirer,
    borrower,
    transactionAcquirer,
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    spanAttributes: [["db.system.name", "sqlite"]],
    beginTransaction: "BEGIN IMMEDIATE",
    prepareTransactionControls: true,
    onCommitFailure,
    isTransaction,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
  const checkFile = () => {
    files.verify()
    if (!connection.isTransaction) files.verifyLog()
  }
  return Object.assign(client, {
    // Fibers that wait for the connection go first.
    transactAtOnce: <A>(body: AtOnce.Body<A>, flushesLater: boolean) =>
      Effect.runSync(
        semaphore.withPermitsIfAvailable(1)(Effect.sync(() => connection.transactAtOnce(body, flushesLater)))
      ).pipe(Option.getOrUndefined),
    flush: connection.flush,
    file,
    checkFile,
    verifyFile: Effect.try({
      try: () => {
        checkFile()
        connection.verifyFlushed()
      },
      catch: (cause) => toSqlError(cause, "verify")
    })
  })
})

export const layer = (config: SqliteClientConfig): Layer.Layer<SqliteClient | SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effectContext(
    Effect.map(make(config), (client) =>
      Context.make(SqlClient.SqlClient, client).pipe(Context.add(SqliteClient, client))
    )
  ).pipe(Layer.provide(Reactivity.layer))
