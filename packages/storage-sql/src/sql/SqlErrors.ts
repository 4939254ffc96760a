/** The one place where a database's failures become the storage's. */
import { Errors } from "@tachograph/core"
import { Cause, Effect, Fiber, Predicate, Schedule } from "effect"
import { SqlError } from "effect/sql"

/** What may pass by itself: the database is away, busy, or chose this transaction to give way. */
const passing: ReadonlySet<SqlError.SqlErrorReason["_tag"]> = new Set([
  "ConnectionError",
  "AuthenticationError",
  "LockTimeoutError",
  "StatementTimeoutError",
  "DeadlockError",
  "SerializationError"
])

/**
 * The same, by SQLSTATE, where the reason does not say: insufficient resources, operator intervention, system errors, and
 * a server that has become read-only. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const passingState = /^(53|57|58|25006)/

const isPassing = ({ reason }: SqlError.SqlError): boolean =>
  passing.has(reason._tag) ||
  (Predicate.hasProperty(reason.cause, "code") && passingState.test(String(reason.cause.code)))

/** The database's errors in a cause. Where a transaction cannot even be rolled back, they stand there as defects. */
const sqlErrors = (cause: Cause.Cause<unknown>): ReadonlyArray<SqlError.SqlError> =>
  cause.reasons.flatMap((reason) => {
    const error = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
    return SqlError.isSqlError(error) ? [error] : []
  })

/** Two transactions were in each other's way: the one that gave way has done nothing, and tries again. */
const conflicts = {
  while: ({ reason }: SqlError.SqlError) => reason._tag === "DeadlockError" || reason._tag === "SerializationError",
  schedule: Schedule.jittered(Schedule.exponential("10 millis")),
  times: 5
}

/**
 * Runs one of the storage's verbs, for `deadline` milliseconds at the most. Anything else that a database says to our own
 * statements is a fault of ours, and so a defect.
 */
export const translate = <A, E, R>(
  effect: Effect.Effect<A, E | SqlError.SqlError, R>,
  deadline?: number
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Errors.StorageUnavailable, R> => {
  const retried = (effect as Effect.Effect<A, SqlError.SqlError, R>).pipe(
    Effect.retry({ ...conflicts, while: (error) => error._tag === "SqlError" && conflicts.while(error) }),
    Effect.catchCause((cause) => {
      const passed = sqlErrors(cause).find(isPassing)
      if (passed !== undefined) return Effect.fail(new Errors.StorageUnavailable({ cause: passed }))
      return Cause.hasFails(cause) && sqlErrors(cause).length > 0
        ? Effect.die(Cause.squash(cause))
        : Effect.failCause(cause as Cause.Cause<never>)
    })
  )
  const bounded = deadline === undefined ? retried : within(retried, deadline)
  return bounded as Effect.Effect<A, Exclude<E, SqlError.SqlError> | Errors.StorageUnavailable, R>
}

/**
 * Answers by the deadline, whatever becomes of the work: to cut it the driver must reach the database, and where that is
 * frozen or cut off nobody can be told to wait for it. The work is interrupted, and ends when it can.
 */
const within = <A, E, R>(work: Effect.Effect<A, E, R>, deadline: number) =>
  Effect.flatMap(Effect.forkDetach(work), (fiber) =>
    Fiber.join(fiber).pipe(
      Effect.timeoutOrElse({
        duration: deadline,
        orElse: () => Effect.fail(new Errors.StorageUnavailable({ cause: new Error(`No answer in ${deadline} ms`) }))
      }),
      Effect.ensuring(Effect.sync(() => fiber.interruptUnsafe()))
    )
  )
