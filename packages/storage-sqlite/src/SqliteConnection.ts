/** A connection of `effect/sql` over `node:sqlite`, which looks at its files beside each transaction. */
import type { AtOnce } from "@tachograph/storage-sql"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { SqlConnection, SqlError } from "effect/sql"
import { fdatasync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import type * as DatabaseFile from "./file/DatabaseFile.ts"
import * as Header from "./file/Header.ts"
import * as PreparedStatement from "./PreparedStatement.ts"
import { failed, full, notFlushed, toSqlError } from "./SqliteErrors.ts"

/** Milliseconds that SQLite itself waits for a lock. It blocks the thread while it does, so this is short. */
export const nativeWaitMs = 2

/** Milliseconds between two attempts to get a lock, in which the event loop runs. */
const pauseMs = 10

const isLocked = (error: SqlError.SqlError): boolean => error.reason._tag === "LockTimeoutError"

/** Retries while another connection holds the lock. Only for what has no effect when it fails. */
export const whileLocked = (busyTimeout: number) => ({
  while: isLocked,
  schedule: Schedule.spaced(pauseMs),
  times: Math.ceil(busyTimeout / (pauseMs + nativeWaitMs))
})

/** Prepared statements in the cache, which evicts the least recently used one. */
const maxStatements = 256

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

/** A disk that takes longer has failed, as far as anyone can tell (ms). */
const longFlushMs = 1_000

/** Every transaction gets a stamp, and nobody learns of it before the file was looked at. */
export class SqliteConnection implements AtOnce.AtOnceConnection {
  readonly #statements = new Map<string, PreparedStatement.PreparedStatement>()
  readonly database: DatabaseSync
  readonly #whileLocked: ReturnType<typeof whileLocked>
  readonly #files: DatabaseFile.OpenFiles
  /** Rows that the connection had changed when it wrote the last stamp. */
  #stampedChanges = 0
  /** Whether something else was changed since. */
  #hasUncounted = false
  /** Whether a statement has failed because the disk is full. */
  #isFull = false
  /** As the client has opened it. */
  #synchronous: "FULL" | "NORMAL" = "FULL"
  /** Whether the disk has failed to take the log. */
  #isUnflushed = false
  /** When the flush that is under way began. */
  #flushBeganMs: number | undefined
  /** One flush at a time: one that fails says so to one that waits. */
  readonly #flushing = Semaphore.makeUnsafe(1)

  constructor(database: DatabaseSync, busyTimeout: number, files: DatabaseFile.OpenFiles) {
    this.database = database
    this.#whileLocked = whileLocked(busyTimeout)
    this.#files = files
  }

  #prepare(sql: string): PreparedStatement.PreparedStatement {
    let prepared = this.#statements.get(sql)
    if (prepared === undefined) {
      prepared = PreparedStatement.prepare(this.database, sql)
      if (this.#statements.size >= maxStatements) {
        this.#statements.delete(this.#statements.keys().next().value!)
      }
    } else {
      this.#statements.delete(sql)
    }
    this.#statements.set(sql, prepared)
    return prepared
  }

  /** Runs a statement, or a body with a transaction of its own as if it were one that changes rows. Throws a `SqlError`. */
  #runAtOnce<A>(sql: string, body: () => A, flushesLater = false): A {
    try {
      // It was closed because the file was changed, which this says.
      if (!this.database.isOpen) this.#files.verifyContent()
      if (this.isTransaction) {
        if (commits.test(sql)) this.#stampChanges()
        else if (!isCounted.test(sql)) this.#hasUncounted = true
      } else if (!readsOnly.test(sql)) {
        this.#files.verifyLog()
        this.#synchronize(flushesLater ? "NORMAL" : "FULL")
        this.#heal()
        // What is copied from the log makes room in it.
        if (this.#isFull) this.#copyLog(1)
        this.#isFull = false
      } else if (copiesLog.test(sql)) this.#files.verifyContent()
      const result = !this.isTransaction && changesRows.test(sql) ? this.#inTransaction(body) : body()
      if (this.isTransaction) return result
      // After the commit, and before anyone learns of it: a file that was replaced in between does not have it.
      if (commitsNothing.test(sql)) this.#files.verifyContent()
      // What is flushed later is looked at after that.
      else if (!flushesLater) this.#afterCommit()
      return result
    } catch (cause) {
      const { errcode } = cause as { readonly errcode?: unknown }
      this.#isFull ||= errcode === full
      this.#isUnflushed ||= errcode === notFlushed
      throw toSqlError(cause, "execute")
    }
  }

  #run<A>(sql: string, body: () => A, flushesLater?: boolean): Effect.Effect<A, SqlError.SqlError> {
    const once = Effect.try({
      try: () => this.#runAtOnce(sql, body, flushesLater),
      catch: (error) => error as SqlError.SqlError
    })
    // A transaction has the lock already.
    return Effect.suspend(() =>
      this.isTransaction
        ? once
        : // The first attempt, which nearly always succeeds, costs no schedule.
          Effect.catchIf(once, this.#whileLocked.while, () => Effect.retry(once, this.#whileLocked))
    )
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
    try {
      this.database.exec("BEGIN IMMEDIATE")
      const result = body()
      if (result === undefined) {
        if (this.database.isTransaction) this.database.exec("ROLLBACK")
        return result
      }
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

  /** Whether a commit waits for the disk. Not to be called in a transaction, where it changes nothing. */
  #synchronize(mode: "FULL" | "NORMAL"): void {
    if (mode === this.#synchronous) return
    this.database.exec(`PRAGMA synchronous = ${mode}`)
    this.#synchronous = mode
  }

  /** Returns whether all of the log was copied, and nobody reads it any more. */
  #restartLog(): boolean {
    const [row] = this.#prepare("PRAGMA wal_checkpoint(RESTART)").all([])
    this.#files.verifyContent()
    return row?.["busy"] === 0
  }

  #afterCommit(): void {
    this.#files.verify()
    if (!this.isTransaction) this.#copyLog()
  }

  /**
   * Copies all of the log into the file, if the disk has not taken it. The next transaction begins the log anew. Throws where it fails, or
   * others still read what is in the log.
   */
  #heal(): void {
    if (!this.#isUnflushed) return
    if (!this.#restartLog()) {
      throw Object.assign(new Error("The disk has failed, and others read what is in the log"), { errcode: failed })
    }
    this.#isUnflushed = false
  }

  /** A process that was killed may have left in the log what the disk has not. Those that have the file open know of it themselves. */
  healLeftLog(): void {
    if (this.#files.frames() === 0) return
    try {
      this.#files.verifyContent()
      this.#restartLog()
    } catch {
      this.#isUnflushed = true
    }
  }

  /** Throws while the disk does not take the log, for longer than a write takes, or after it has failed and cannot be healed. */
  verifyFlushed(): void {
    const sinceMs = performance.now() - (this.#flushBeganMs ?? Number.POSITIVE_INFINITY)
    if (sinceMs > longFlushMs) {
      throw Object.assign(new Error("The disk takes nothing"), { errcode: failed })
    }
    if (!this.isTransaction) this.#heal()
  }

  /**
   * Waits until the disk has the log. Where that fails, the system takes for written what is not, and says so once to each descriptor that
   * is open: what is committed behind it would be lost with it. So this connection, and each other one that hears of it by a commit that
   * fails, commits nothing before all of the log has been copied into the file.
   */
  get flush(): Effect.Effect<void, SqlError.SqlError> {
    const { log } = this.#files
    if (log === undefined) return Effect.void
    const flush = Effect.callback<void, SqlError.SqlError>((resume) => {
      this.#flushBeganMs = performance.now()
      fdatasync(log, (error) => {
        this.#flushBeganMs = undefined
        resume(Effect.try({ try: () => this.#afterFlush(error), catch: (cause) => toSqlError(cause, "flush") }))
      })
    })
    return this.#flushing.withPermit(flush)
  }

  #afterFlush(error: Error | null): void {
    if (error !== null) this.#isUnflushed = true
    if (this.#isUnflushed) throw error ?? new Error("What comes before it is not on the disk")
    this.#afterCommit()
  }

  #bodyOf<A>(body: AtOnce.Body<A>): () => A | undefined {
    return () => {
      try {
        return body((sql, params) => this.#prepare(sql).allOrThrow(params))
      } catch {
        return undefined
      }
    }
  }

  #committed<A>(value: A | undefined, flushesLater: boolean): AtOnce.Committed<A> | undefined {
    return value === undefined ? undefined : { value, onDisk: flushesLater ? this.flush : undefined }
  }

  transact: AtOnce.AtOnceConnection["transact"] = (body, flushesLater) =>
    Effect.map(this.#run("INSERT", this.#bodyOf(body), flushesLater), (value) => this.#committed(value, flushesLater))

  transactAtOnce: AtOnce.AtOnceClient["transactAtOnce"] = (body, flushesLater) => {
    if (this.isTransaction) return undefined
    try {
      return this.#committed(this.#runAtOnce("INSERT", this.#bodyOf(body), flushesLater), flushesLater)
    } catch (error) {
      if (isLocked(error as SqlError.SqlError)) return undefined
      throw error
    }
  }

  execute: SqlConnection.Connection["execute"] = (sql, params, transformRows) =>
    this.#run(sql, () => {
      const rows = this.#prepare(sql).all(params)
      return transformRows === undefined ? rows : transformRows(rows)
    })

  executeUnprepared: SqlConnection.Connection["executeUnprepared"] = (sql, params, transformRows) =>
    this.#run(sql, () => {
      const rows = PreparedStatement.prepare(this.database, sql).all(params)
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
