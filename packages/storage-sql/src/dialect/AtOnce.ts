/** Clients that run their statements at once, in the thread of the caller: SQLite's. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"

/** Runs a statement, and returns its rows. Throws what the database says. */
export type RunAtOnce = (
  text: string,
  parameters: ReadonlyArray<unknown>
) => ReadonlyArray<Readonly<Record<string, unknown>>>

/** What a transaction does. Undefined, also if it throws, is nothing: it is rolled back. */
export type Body<A> = (run: RunAtOnce) => A | undefined

/** What was committed. */
export interface Committed<A> {
  readonly value: A
  /** Succeeds when it is on the disk; it is there already if undefined. */
  readonly onDisk: Effect.Effect<void, SqlError.SqlError> | undefined
}

/**
 * Commits what a body does in a transaction of its own. With `flushesLater`, others can use the connection while the disk takes what was
 * committed, and see it already.
 */
type Transact = <A>(body: Body<A>, flushesLater: boolean) => Committed<A> | undefined

export interface AtOnceConnection extends SqlConnection.Connection {
  /** Calls the body again while others hold the lock. */
  readonly transact: (...args: Parameters<Transact>) => Effect.Effect<Committed<unknown> | undefined, SqlError.SqlError>
}

export interface AtOnceClient extends SqlClient.SqlClient {
  /** Undefined also while others use the connection, or hold the lock. Throws a `SqlError` if the commit fails. */
  readonly transactAtOnce: Transact
  /** Succeeds when all that was committed is on the disk. */
  readonly flush: Effect.Effect<void, SqlError.SqlError>
}

/** Waits for the connection, for the lock and for the disk. */
export const transact = <A>(
  sql: SqlClient.SqlClient,
  body: Body<A>,
  flushesLater: boolean
): Effect.Effect<A | undefined, SqlError.SqlError> =>
  Effect.scoped(
    Effect.flatMap(sql.reserve, (connection) => (connection as AtOnceConnection).transact(body, flushesLater))
  ).pipe(Effect.flatMap((committed) => Effect.as(committed?.onDisk ?? Effect.void, committed?.value as A | undefined)))
