/** The driver's connection as one of `effect/sql`, which says when the database refuses a statement because it only reads. */
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type SqlConnection, SqlError } from "effect/sql"
import { SqlFailure } from "@tachograph/storage-sql"

/** SQLSTATE read_only_sql_transaction: of a standby, and where `default_transaction_read_only` is on. */
const readsOnlyState = "25006"

/** Looks the same to what follows, wherever it was found. */
export const readsOnly = (message: string): SqlError.SqlError =>
  SqlFailure.make(SqlError.ConnectionError, "execute", Object.assign(new Error(message), { code: readsOnlyState }))

const isReadsOnly = ({ reason }: SqlError.SqlError): boolean =>
  (reason.cause as { readonly code?: unknown } | null | undefined)?.code === readsOnlyState

type TransformRows = (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

const unanswered = (timeoutMs: number) =>
  Effect.fail(
    SqlFailure.make(SqlError.ConnectionError, "execute", `The database did not answer within ${timeoutMs} ms`)
  )

export class Session implements SqlConnection.Connection {
  readonly connection: PgConnection.PgConnection
  readonly #onReadsOnly: () => string | undefined
  readonly #controlTimeoutMs: number | undefined

  /**
   * `onReadsOnly` returns why the database only reads, where that is known. `controlTimeoutMs` is how long a statement of a transaction
   * takes that has no parameters, such as COMMIT.
   */
  constructor(
    connection: PgConnection.PgConnection,
    onReadsOnly: () => string | undefined,
    controlTimeoutMs?: number | undefined
  ) {
    this.connection = connection
    this.#onReadsOnly = onReadsOnly
    this.#controlTimeoutMs = controlTimeoutMs
  }

  /**
   * `effect/sql` lets nothing interrupt BEGIN, COMMIT and ROLLBACK. On a network that swallows them they would hold their connection
   * for as long as the system holds its socket, a quarter of an hour, and so would whoever closes the pool.
   */
  #bounded<A>(params: ReadonlyArray<unknown>, effect: Effect.Effect<A, SqlError.SqlError>) {
    const duration = this.#controlTimeoutMs
    if (duration === undefined || params.length > 0) return effect
    return Effect.timeoutOrElse(Effect.interruptible(effect), { duration, orElse: () => unanswered(duration) })
  }

  #noted<A>(effect: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> {
    return Effect.catch(effect, (error) => {
      if (!isReadsOnly(error)) return Effect.fail(error)
      const reason = this.#onReadsOnly()
      return Effect.fail(reason === undefined ? error : readsOnly(reason))
    })
  }

  #rows(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows, isPrepared: boolean) {
    const result = this.#noted(this.#bounded(params, this.connection.query(sql, params, isPrepared)))
    const rows = Effect.map(result, (each) => each.rows)
    return transformRows === undefined ? rows : Effect.map(rows, transformRows)
  }

  execute(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return this.#rows(sql, params, transformRows, true)
  }

  executeUnprepared(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return this.#rows(sql, params, transformRows, false)
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.#noted(this.#bounded(params, this.connection.query(sql, params)))
  }

  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return this.#noted(this.connection.queryValues(sql, params))
  }

  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return this.#noted(this.connection.queryValues(sql, params, false))
  }

  executeStream(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows) {
    const stream = this.connection.stream(sql, params)
    return transformRows === undefined
      ? stream
      : Stream.mapArray(stream, (rows) => transformRows(rows) as Arr.NonEmptyReadonlyArray<PgConnection.Row>)
  }
}

/** Postgres answers ROLLBACK to the COMMIT of a transaction in which a statement has failed. */
export const commit = (session: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(session.executeRaw("COMMIT", []), (result) =>
    (result as PgConnection.Result).command === "ROLLBACK"
      ? Effect.fail(SqlFailure.make(SqlError.UnknownError, "commit", "COMMIT has rolled back a failed transaction"))
      : Effect.void
  )
