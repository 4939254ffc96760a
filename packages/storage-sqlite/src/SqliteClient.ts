/**
 * A `SqlClient` over `node:sqlite`: one connection, used by one fiber at a time. Transactions start with BEGIN IMMEDIATE,
 * which takes the write lock: a lock that is only needed later could not be waited for.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementResultingChanges } from "node:sqlite"
import { Migrations } from "@tachograph/storage-sql"
import * as ColumnTypes from "./ColumnTypes.ts"
import * as DatabaseFile from "./file/DatabaseFile.ts"
import { FileReplaced } from "./file/FileReplaced.ts"
import * as Header from "./file/Header.ts"
import * as OpenFiles from "./file/OpenFiles.ts"

/** A client with what only SQLite has. */
export interface SqliteClient extends SqlClient.SqlClient {
  /** Throws if the path leads to another file than the open one, or to none, or if the file was changed or its log truncated. */
  readonly checkFile: () => void
  /** The same as a `ConnectionError`. */
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

/** Milliseconds that SQLite itself waits for a lock. It blocks the thread while it does, so this is short. */
const nativeWaitMs = 2

/** Milliseconds between two attempts to get a lock, in which the event loop runs. */
const pauseMs = 10

/** Prepared statements in the cache, which evicts the least recently used one. */
const maxStatements = 256

/** Retries while another connection holds the lock. Only for what has no effect when it fails. */
const whileLocked = (busyTimeout: number) => ({
  while: (error: SqlError.SqlError) => error.reason._tag === "LockTimeoutError",
  schedule: Schedule.spaced(pauseMs),
  times: Math.ceil(busyTimeout / (pauseMs + nativeWaitMs))
})

/** Effect's classifier takes only the violation of a unique index for one, and not that of a primary key. */
const violationOfKey = 1555
const violationOfIndex = 2067

const full = 13

/** SQLite's primary result codes for a database that is unusable at present: https://sqlite.org/rescode.html */
const unusable = new Set([8 /* READONLY */, 10 /* IOERR */, 11 /* CORRUPT */, full, 26 /* NOTADB */])

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

/** Statements that commit nothing, whether or not a transaction is open. */
const commitsNothing = /^\s*(?:SELECT|PRAGMA|BEGIN|SAVEPOINT|RELEASE|ROLLBACK)\b/i

const readsOnly = /^\s*(?:SELECT|PRAGMA)\b/i

const copiesLog = /^\s*PRAGMA wal_checkpoint\b/i

/** Statements that get a transaction of their own, where there is none. */
const changesRows = /^\s*(?:INSERT|UPDATE|DELETE|CREATE|DROP|ALTER)\b/i

/** Statements whose changes SQLite counts. */
const isCounted = /^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE|BEGIN|COMMIT|SAVEPOINT|RELEASE|ROLLBACK)\b/i

const commits = /^\s*COMMIT\b/i

/** Frames in the log from which on a transaction copies it into the file: as SQLite would, but only after a look at the file. */
const checkpointFrames = 1_000

const select = /^\s*SELECT\b/i

const isTooLarge = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | null)?.code === "ERR_OUT_OF_RANGE"

/** Only damage makes an integer larger than a `number` can represent. It is rounded, so that the row is read and found damaged. */
const round = (rows: ReadonlyArray<Record<string, SQLOutputValue>>): void => {
  for (const row of rows) {
    for (const name in row) {
      const value = row[name]
      if (typeof value === "bigint") row[name] = Number(value)
    }
  }
}

/** Parameters of a statement that stay in memory, outside of V8's heap, until it runs again (bytes). */
const maxKeptBytes = 16 * 1024

const isLarge = (params: ReadonlyArray<unknown>): boolean => {
  let bytes = 0
  for (const value of params) {
    if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length
  }
  return bytes > maxKeptBytes
}

interface Prepared {
  /** Returns the rows, with values of their columns' types. */
  readonly all: (params: ReadonlyArray<unknown>) => ReadonlyArray<Record<string, SQLOutputValue>>
  readonly run: (params: ReadonlyArray<unknown>) => StatementResultingChanges
}

const prepare = (database: DatabaseSync, sql: string): Prepared => {
  const statement = database.prepare(sql)
  const convert = ColumnTypes.converterOf(statement)
  // Without rows there is no integer that may be too large. A statement that writes must not run again when it has returned one.
  const canRepeat = select.test(sql) || statement.columns().length === 0
  const withBigInts = (values: ReadonlyArray<SQLInputValue>) => {
    statement.setReadBigInts(true)
    try {
      const rows = statement.all(...values)
      round(rows)
      return rows
    } finally {
      statement.setReadBigInts(false)
    }
  }
  const read = (values: ReadonlyArray<SQLInputValue>) => {
    if (!canRepeat) return withBigInts(values)
    try {
      return statement.all(...values)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      return withBigInts(values)
    }
  }
  /** SQLite keeps its copies of the parameters until others are bound. An iterator binds its own, here none, and runs nothing. */
  const releasing = <A>(params: ReadonlyArray<unknown>, body: (values: ReadonlyArray<SQLInputValue>) => A): A => {
    try {
      return body(params as ReadonlyArray<SQLInputValue>)
    } finally {
      if (isLarge(params)) statement.iterate()
    }
  }
  return {
    all: (params) => {
      const rows = releasing(params, read)
      convert(rows)
      return rows
    },
    run: (params) => releasing(params, (values) => statement.run(...values))
  }
}

class SqliteConnection implements SqlConnection.Connection {
  readonly #statements = new Map<string, Prepared>()
  readonly database: DatabaseSync
  readonly #whileLocked: ReturnType<typeof whileLocked>
  readonly #files: DatabaseFile.OpenFiles
  /** Rows that the connection had changed when it wrote the last stamp. */
  #stampedChanges = 0
  /** Whether a statement has failed because the disk is full. */
  #isFull = false
  /** Whether something else was changed since. */
  #hasUncounted = false

  constructor(database: DatabaseSync, busyTimeout: number, files: DatabaseFile.OpenFiles) {
    this.database = database
    this.#whileLocked = whileLocked(busyTimeout)
    this.#files = files
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql)
    if (prepared === undefined) {
      prepared = prepare(this.database, sql)
      if (this.#statements.size >= maxStatements) {
        this.#statements.delete(this.#statements.keys().next().value!)
      }
    } else {
      this.#statements.delete(sql)
    }
    this.#statements.set(sql, prepared)
    return prepared
  }

  #run<A>(sql: string, body: () => A): Effect.Effect<A, SqlError.SqlError> {
    const once = Effect.try({
      try: () => {
        // It was closed because the file was changed, which this says.
        if (!this.database.isOpen) this.#files.verifyContent()
        if (this.isTransaction) {
          if (commits.test(sql)) this.#stampChanges()
          else if (!isCounted.test(sql)) this.#hasUncounted = true
        } else if (!readsOnly.test(sql)) {
          this.#files.verifyLog()
          // What is copied from the log makes room in it.
          if (this.#isFull) this.#copyLog(1)
          this.#isFull = false
        } else if (copiesLog.test(sql)) this.#files.verifyContent()
        const result = !this.isTransaction && changesRows.test(sql) ? this.#inTransaction(body) : body()
        if (this.isTransaction) return result
        // After the commit, and before anyone learns of it: a file that was replaced in between does not have it.
        if (commitsNothing.test(sql)) this.#files.verifyContent()
        else {
          this.#files.verify()
          this.#copyLog()
        }
        return result
      },
      catch: (cause) => {
        this.#isFull ||= ((cause as { readonly errcode?: unknown }).errcode as number) === full
        return toSqlError(cause, "execute")
      }
    })
    // A transaction has the lock already.
    return Effect.suspend(() => (this.isTransaction ? once : Effect.retry(once, this.#whileLocked)))
  }

  /** A file that was changed past SQLite has no connection any more. */
  get isTransaction(): boolean {
    return this.database.isOpen && this.database.isTransaction
  }

  #numberOf(sql: string): number {
    const [row] = this.#prepare(sql).all([])
    return row?.["number"] as number
  }

  /** Gives the transaction a stamp, if it changes anything. */
  #stampChanges(): void {
    const { stamp } = this.#files
    if (stamp === undefined) return
    const changes = this.#numberOf("SELECT total_changes() AS number")
    if (changes === this.#stampedChanges && !this.#hasUncounted) return
    this.#stampedChanges = changes
    this.#hasUncounted = false
    const next = Header.next(this.#numberOf("SELECT application_id AS number FROM pragma_application_id"))
    this.database.exec(`PRAGMA application_id = ${next}`)
    stamp(next)
  }

  /** A statement that commits by itself would have no stamp. */
  #inTransaction<A>(body: () => A): A {
    this.database.exec("BEGIN IMMEDIATE")
    try {
      const result = body()
      this.#hasUncounted = true
      this.#stampChanges()
      this.database.exec("COMMIT")
      return result
    } catch (error) {
      if (this.database.isTransaction) this.database.exec("ROLLBACK")
      throw error
    }
  }

  #copyLog(minFrames = checkpointFrames): void {
    if (this.#files.stamp === undefined || this.#files.frames() < minFrames) return
    try {
      this.database.exec("PRAGMA wal_checkpoint(PASSIVE)")
    } catch {
      // It is tried again after the next commit, which does not need it.
    }
    this.#files.verifyContent()
  }

  execute: SqlConnection.Connection["execute"] = (sql, params, transformRows) =>
    this.#run(sql, () => {
      const rows = this.#prepare(sql).all(params)
      return transformRows === undefined ? rows : transformRows(rows)
    })

  executeUnprepared: SqlConnection.Connection["executeUnprepared"] = (sql, params, transformRows) =>
    this.#run(sql, () => {
      const rows = prepare(this.database, sql).all(params)
      return transformRows === undefined ? rows : transformRows(rows)
    })

  executeRaw: SqlConnection.Connection["executeRaw"] = (sql, params) =>
    this.#run(sql, () => this.#prepare(sql).run(params))

  executeValues: SqlConnection.Connection["executeValues"] = (sql, params) =>
    Effect.map(this.execute(sql, params, undefined), (rows) => rows.map((row) => Object.values(row as object)))

  executeValuesUnprepared: SqlConnection.Connection["executeValuesUnprepared"] = (sql, params) =>
    Effect.map(this.executeUnprepared(sql, params, undefined), (rows) =>
      rows.map((row) => Object.values(row as object))
    )

  executeStream: SqlConnection.Connection["executeStream"] = (sql, params, transformRows) =>
    Stream.unwrap(Effect.map(this.execute(sql, params, transformRows), (rows) => Stream.fromIterable(rows)))
}

/** Leaves the file of another program as it is. Migrations refuse one that is in WAL mode. */
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
          if (readOnly) return { database, file: undefined, files: DatabaseFile.open(database, filename) }
          // WAL mode persists in the file. Setting it takes a lock that SQLite does not wait for.
          const [{ journal_mode: mode }] = database.prepare("PRAGMA journal_mode").all() as [{ journal_mode: string }]
          if (mode !== "wal") {
            refuseOtherTables(database)
            database.exec("PRAGMA journal_mode = WAL")
          }
          // A commit is on the disk when it returns, and survives a power failure.
          database.exec("PRAGMA synchronous = FULL")
          // Overwrites deleted content with zeros.
          database.exec("PRAGMA secure_delete = ON")
          // Keeps statement journals out of files: they may hold text that is being erased.
          database.exec("PRAGMA temp_store = MEMORY")
          // The log is copied into the file after a look at the file, by this client.
          database.exec("PRAGMA wal_autocheckpoint = 0")
          const path = database.location()
          const files = DatabaseFile.open(database, filename)
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
    file,
    checkFile,
    verifyFile: Effect.try({ try: checkFile, catch: (cause) => toSqlError(cause, "verify") })
  })
})

export const layer = (config: SqliteClientConfig): Layer.Layer<SqliteClient | SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effectContext(
    Effect.map(make(config), (client) =>
      Context.make(SqlClient.SqlClient, client).pipe(Context.add(SqliteClient, client))
    )
  ).pipe(Layer.provide(Reactivity.layer))
