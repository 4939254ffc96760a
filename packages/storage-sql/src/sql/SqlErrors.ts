/** Translates the database's errors into the storage's. No other module does. */
import { Damage, Errors } from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import { SqlError } from "effect/sql"
import * as SqlFailure from "../SqlFailure.ts"

/** Errors that may go away without a change: the database is unreachable or busy, or aborted this transaction. */
const transient: ReadonlySet<SqlError.SqlErrorReason["_tag"]> = new Set([
  "ConnectionError",
  "AuthenticationError",
  "LockTimeoutError",
  "StatementTimeoutError",
  "DeadlockError",
  "SerializationError"
])

/**
 * SQLSTATEs of such errors that have no reason of their own: insufficient resources, operator intervention, system errors,
 * and a read-only server. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const transientState = /^(53|57|58|25006)/

/**
 * What Citus says, without a SQLSTATE of its own, where a node dies: what libpq says of the connection that was lost during a
 * statement, or that a commit may not have come to its end.
 */
const lostNode =
  /^(SSL (SYSCALL )?error|SSL connection has been closed|server closed the connection|could not (receive|send) data|no connection to the server|connection not open|could not commit transaction for shard|failure on connection marked as essential)/

/**
 * Whether the tables are others than when this process opened them: a migration was run meanwhile, or `tachograph migrate --distribute`,
 * whose tables have a column `bucket` and do not support some statements for others.
 */
const isOfChangedTables = ({ reason }: SqlError.SqlError, isDistributed: boolean): boolean => {
  const { code, column, message } = (reason.cause ?? {}) as Readonly<Record<"code" | "column" | "message", unknown>>
  if (code === "0A000") return !isDistributed || String(message).startsWith("cached plan must not change")
  return !isDistributed && code === "23502" && column === "bucket"
}

/** Whether the error may go away without a change. */
export const isTransient = ({ reason }: SqlError.SqlError): boolean => {
  if (transient.has(reason._tag)) return true
  const { code, message } = (reason.cause ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  return transientState.test(String(code)) || (code === "XX000" && lostNode.test(String(message)))
}

/** Rows that are not what was written, as an error of the database. */
export const damage = (message: string): SqlError.SqlError =>
  SqlFailure.make(SqlError.ConnectionError, "read", new Damage(message))

/** What SQLite says of a name that a statement of this version knows, and that damage to the schema has changed. */
const unknownName = /^no such (?:table|column|index): |^table \w+ has no column named /

/** SQLite's SQLITE_CORRUPT, Postgres' data_corrupted and index_corrupted, and `damage`. */
export const isCorruption = ({ reason }: SqlError.SqlError): boolean => {
  if (reason.cause instanceof Damage || unknownName.test(reason.message)) return true
  const { code, errcode } = (reason.cause ?? {}) as { readonly code?: unknown; readonly errcode?: unknown }
  return (typeof errcode === "number" && (errcode & 0xff) === 11) || code === "XX001" || code === "XX002"
}

/** SQLite's SQLITE_FULL: the disk has no room. */
export const isFull = (error: unknown): error is SqlError.SqlError => {
  if (!SqlError.isSqlError(error)) return false
  const { errcode } = (error.reason.cause ?? {}) as { readonly errcode?: unknown }
  return typeof errcode === "number" && (errcode & 0xff) === 13
}

/** Whether it is the database that finds this, and not what reads the rows. */
export const isMalformed = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && isCorruption(error) && !(error.reason.cause instanceof Damage)

/** For operations that read stored texts: dies with `Damage` if the database finds its own files damaged. */
export const corruptionAsDamage = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchIf(
    effect,
    (error) => SqlError.isSqlError(error) && isCorruption(error),
    (error) => Effect.die(new Damage((error as unknown as SqlError.SqlError).message, { cause: error }))
  )

/** The database's errors in a cause. After a failed rollback they are defects. */
const sqlErrors = (cause: Cause.Cause<unknown>): ReadonlyArray<SqlError.SqlError> =>
  cause.reasons.flatMap((reason) => {
    if (reason._tag === "Fail" && SqlError.isSqlError(reason.error)) return [reason.error]
    if (reason._tag === "Die" && SqlError.isSqlError(reason.defect)) return [reason.defect]
    return []
  })

/** The database's files stay corrupt: what says so is told apart from an outage. */
const causeOf = (error: SqlError.SqlError): unknown =>
  isCorruption(error) ? new Damage(error.message, { cause: error }) : error

/** Whether the database aborted a transaction in favour of another one: it has changed nothing. */
const isConflict = (error: unknown): boolean =>
  SqlError.isSqlError(error) && (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")

const conflictRetry = {
  while: isConflict,
  schedule: Schedule.jittered(Schedule.exponential("10 millis")),
  times: 4
}

/** The first attempt, which nearly always succeeds, costs no schedule. */
const retryingConflicts = <A, E, R>(transaction: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchIf(transaction, isConflict, () => Effect.delay(Effect.retry(transaction, conflictRetry), "10 millis"))

/**
 * Runs an operation of the storage for at most `timeoutMs`. A transient error becomes `StorageUnavailable`; any other one
 * means that a statement is wrong, and becomes a defect. Where the database finds its own files damaged, the cause is `Damage`.
 * `isDistributed` says whether the statements were made for distributed tables.
 */
export const translate = <A, E, R>(
  effect: Effect.Effect<A, E | SqlError.SqlError, R>,
  timeoutMs?: number,
  isDistributed = false
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Errors.StorageUnavailable, R> => {
  const retried = retryingConflicts(effect as Effect.Effect<A, SqlError.SqlError, R>).pipe(
    Effect.catchCause((cause) => {
      if (sqlErrors(cause).some((error) => isOfChangedTables(error, isDistributed))) {
        const message = "The tables were changed since this server was started, which must be started again"
        return Effect.fail(new Errors.StorageUnavailable({ cause: new Error(message, { cause: Cause.squash(cause) }) }))
      }
      const error = sqlErrors(cause).find((each) => isTransient(each) || isCorruption(each))
      if (error !== undefined) return Effect.fail(new Errors.StorageUnavailable({ cause: causeOf(error) }))
      return Cause.hasFails(cause) && sqlErrors(cause).length > 0
        ? Effect.die(Cause.squash(cause))
        : Effect.failCause(cause as Cause.Cause<never>)
    })
  )
  const bounded = timeoutMs === undefined ? retried : withTimeout(retried, timeoutMs)
  return bounded as Effect.Effect<A, Exclude<E, SqlError.SqlError> | Errors.StorageUnavailable, R>
}

/**
 * Returns at the timeout even if the work cannot be interrupted yet: the driver has to reach the database to cancel a
 * statement, which takes arbitrarily long while the database is frozen or disconnected. The work ends in the background.
 */
const withTimeout = <A, E, R>(work: Effect.Effect<A, E, R>, timeoutMs: number) =>
  Effect.flatMap(Effect.forkDetach(work), (fiber) =>
    Fiber.join(fiber).pipe(
      Effect.timeoutOrElse({
        duration: timeoutMs,
        orElse: () =>
          Effect.fail(
            new Errors.StorageUnavailable({ cause: new Error(`The database did not answer within ${timeoutMs} ms`) })
          )
      }),
      Effect.ensuring(Effect.sync(() => fiber.interruptUnsafe()))
    )
  )
