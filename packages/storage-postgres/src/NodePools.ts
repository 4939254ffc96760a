/**
 * Connections to the node that takes writes. Which one that is changes with a failover: the URL may name several hosts, and another
 * node may be behind the name of one. So each new connection is asked whether its node only reads. While no other can be had, such a
 * connection is used for reads, for a second; then a new one is made, which looks the name up again. Where a node begins to
 * refuse writes, none of the connections that were made before is used again.
 */
import * as PgPool from "@effect/sql-pg/PgPool"
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { SqlConnection, SqlError } from "effect/sql"
import { readsOnly, Session } from "./Session.ts"

/** How long a connection is used whose node only reads, before it is tried again whether one takes writes (ms). */
const readingMs = 1_000

/** One host of the URL. */
interface Host {
  readonly pool: PgPool.PgPool
  /** Raised when the node that it leads to has refused a write. */
  generation: number
}

/** What is known of a connection. */
interface Known {
  readonly host: Host
  readonly generation: number
  readonly session: Session
  /** The time until which it may be used (ms): without end if its node takes writes. */
  until: number
  /** Why its node only reads. */
  reason: string | undefined
}

export interface NodePoolsOptions {
  /** One for each host, in the order in which they are tried. */
  readonly configs: ReadonlyArray<PgPool.Config>
  /** Whether to fail rather than to read from a node that only reads. */
  readonly onlyWritable: boolean
  /** Whether the connections may not write anyhow, so that only a standby is a node that only reads. */
  readonly readOnly: boolean
  /** How long BEGIN, COMMIT and ROLLBACK take at most; undefined where there is no limit. */
  readonly controlTimeoutMs: number | undefined
}

const standby =
  "the database is a standby, which only reads: it is used when it is promoted, or when the URL leads to the primary"
const readOnlyByDefault =
  "the database only reads: default_transaction_read_only is on, for the server, the database or the role"

/** What no statement returns. */
const notTaken: unique symbol = Symbol("a connection that has to be looked for")

type Taking<A> = Effect.Effect<A, SqlError.SqlError, Scope.Scope>

/** The node of a connection has refused a write. Known of it is only what was new. Returns why, where that is known. */
const refuse = (known: Known): string | undefined => {
  if (known.until === Number.POSITIVE_INFINITY && known.generation === known.host.generation) {
    known.until = 0
    known.host.generation++
  }
  return known.reason
}

export const make = Effect.fnUntraced(function* (options: NodePoolsOptions) {
  const { configs, controlTimeoutMs, onlyWritable, readOnly } = options
  const clock = yield* Clock.Clock
  const hosts = yield* Effect.forEach(configs, (config) =>
    Effect.map(PgPool.make(config), (pool): Host => ({ pool, generation: 0 }))
  )
  const connections = new WeakMap<PgConnection, Known>()
  let current = hosts[0]!

  const isUsable = (known: Known) =>
    known.generation === known.host.generation &&
    (known.until === Number.POSITIVE_INFINITY || clock.currentTimeMillisUnsafe() < known.until)

  /** Asks whether the node only reads. */
  const ask = Effect.fnUntraced(function* (known: Known) {
    const [row] = yield* known.session.execute(
      "SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS read_only",
      [],
      undefined
    )
    const { read_only, standby: isStandby } = row as { readonly standby: boolean; readonly read_only: string }
    known.reason = undefined
    if (isStandby) known.reason = standby
    else if (read_only === "on" && !readOnly) known.reason = readOnlyByDefault
    if (known.reason === undefined) known.until = Number.POSITIVE_INFINITY
    else refuse(known)
  })

  /** Takes a connection of a host. A new one whose node only reads is not usable yet. */
  const connect = (host: Host): Taking<Known> =>
    Effect.flatMap(host.pool.get, (connection) => {
      const known = connections.get(connection)
      if (known !== undefined) {
        return isUsable(known) ? Effect.succeed(known) : Effect.andThen(host.pool.invalidate(connection), connect(host))
      }
      const { generation } = host
      const session = new Session(connection, () => refuse(made))
      const made: Known = { host, generation, session, until: 0, reason: undefined }
      connections.set(connection, made)
      return Effect.as(ask(made), made)
    })

  /** Tries the other hosts too. `first` is what became of a connection of `host`. */
  const search = Effect.fnUntraced(function* (host: Host, first: Exit.Exit<Known, SqlError.SqlError>) {
    const scope = yield* Scope.Scope
    let reading = first
    for (const other of hosts) {
      if (other === host) continue
      const own = yield* Scope.fork(scope)
      const exit = yield* Effect.exit(Scope.provide(connect(other), own))
      if (Exit.isSuccess(exit) && isUsable(exit.value)) {
        current = other
        return exit.value
      }
      if (Exit.isSuccess(exit) && Exit.isFailure(reading)) reading = exit
      else yield* Scope.close(own, exit)
    }
    const known = yield* reading
    if (onlyWritable) return yield* readsOnly(known.reason!)
    known.until = clock.currentTimeMillisUnsafe() + readingMs
    current = known.host
    return known
  })

  const get: Taking<Known> = Effect.suspend(() => {
    const host = current
    return Effect.matchCauseEffect(connect(host), {
      onFailure: (cause) => (hosts.length === 1 ? Effect.failCause(cause) : search(host, Exit.failCause(cause))),
      onSuccess: (known) => (isUsable(known) ? Effect.succeed(known) : search(host, Exit.succeed(known)))
    })
  })

  const getFor = <A, E, R>(body: (session: Session) => Effect.Effect<A, E, R>) =>
    Effect.scoped(Effect.flatMap(get, ({ session }) => body(session)))

  /** Lends a connection to one statement: without a scope, unless it has to be looked for. */
  const use: SqlConnection.Borrower = <A, E, R>(body: (session: Session) => Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      let isTaken = false
      const run = current.pool.use((connection): Effect.Effect<A | typeof notTaken, E, R> => {
        const known = connections.get(connection)
        if (known === undefined || !isUsable(known)) return Effect.succeed(notTaken)
        isTaken = true
        return body(known.session)
      })
      return Effect.matchCauseEffect(run, {
        onFailure: (cause) => (isTaken || hosts.length === 1 ? Effect.failCause(cause) : getFor(body)),
        onSuccess: (value) => (value === notTaken ? getFor(body) : Effect.succeed(value))
      })
    })

  return {
    get: Effect.map(get, ({ session }) => session),
    /** For a transaction. */
    reserve: Effect.flatMap(get, (known) =>
      Effect.map(known.session.connection.pin, (pinned) => new Session(pinned, () => refuse(known), controlTimeoutMs))
    ),
    use,
    /** Fails if the node only reads. */
    ping: Effect.scoped(
      Effect.flatMap(get, (known) =>
        Effect.andThen(
          ask(known),
          Effect.suspend(() => (known.reason === undefined ? Effect.void : Effect.fail(readsOnly(known.reason))))
        )
      )
    )
  }
})
