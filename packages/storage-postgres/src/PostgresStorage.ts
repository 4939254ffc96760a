/** Storage in Postgres. Any number of processes can share a database. */
import type { Storage } from "@tachograph/core"
import { Distribution, Migrations, SqlFailure, SqlStorage } from "@tachograph/storage-sql"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type Migrator, SqlClient, SqlError } from "effect/sql"
import * as Hosts from "./Hosts.ts"
import * as PostgresClient from "./PostgresClient.ts"

export interface PostgresConfig {
  /** `postgres://user:password@host:port/database?sslmode=verify-full`. Several hosts, as in `one:5432,two:5432`, are tried in order. */
  readonly url: string | Redacted.Redacted
  /** The schema of the tables, created if it does not exist. The role's search path by default. */
  readonly schema?: string | undefined
  /** 10 by default. */
  readonly maxConnections?: number | undefined
  /** Milliseconds to connect. The URL's `connect_timeout` by default, or 5,000. */
  readonly connectTimeout?: number | undefined
  /**
   * Milliseconds for an operation, including the wait for a connection. Then its statement is cancelled, and it fails as
   * `storage-unavailable`. 10,000 by default.
   */
  readonly operationTimeout?: number | undefined
  /** The client's name in the database's views. `tachograph` by default. */
  readonly applicationName?: string | undefined
  /**
   * Set it if the connection goes through a pooler in transaction mode, such as PgBouncer: then no statements are prepared
   * and no session parameters are set. Excludes `schema`; set the role's search path instead.
   */
  readonly pooler?: boolean | undefined
  /**
   * `any`, the default: while no host of the URL leads to a node that takes writes, reads are answered by one that only reads.
   * `read-write` and `primary`: then they fail too.
   */
  readonly targetSessionAttrs?: "any" | "primary" | "read-write" | undefined
}

const defaults = { maxConnections: 10, operationTimeout: 10_000 }

/** Milliseconds for an operation that no request waits for: counting the rows of a very long session takes some seconds. */
const readOnlyTimeoutMs = 60_000

/** Reads are processed on one thread, which a few connections keep busy. */
const readingConnections = 3

/** How long an idle connection waits before it asks whether the other end is still there (ms). A dead one is closed 10 s later. */
const keepAliveMs = 5_000

/** Connections that a process which serves opens at most: for its requests, and for its long reads. */
export const connectionsOf = ({ maxConnections = defaults.maxConnections }: PostgresConfig): number =>
  maxConnections + readingConnections

/** Maximum bytes of a message from the server. A row with a pack may be as large as a request body. */
const maxMessageSize = 1024 ** 3

/**
 * Batches of events that are appended concurrently: one is prepared and sent while the other waits for the database's disk.
 * With more, batches are smaller, which costs more than it gains.
 */
const appendConcurrency = 2

/** Quotes the schema for use as the search path. */
const quoted = (identifier: string) => `"${identifier.replaceAll('"', '""')}"`

/** With `readOnly`, no transaction writes, unless it goes through a pooler. */
export const client = (
  config: PostgresConfig & { readonly readOnly?: boolean }
): Layer.Layer<SqlClient.SqlClient | PostgresClient.Ping, SqlError.SqlError> => {
  const { operationTimeout = defaults.operationTimeout, pooler = false, readOnly = false, schema } = config
  if (pooler && schema !== undefined) {
    const message = "the schema cannot be set behind a pooler: set the role's search_path instead"
    return Layer.effectContext(Effect.fail(SqlFailure.make(SqlError.ConnectionError, "connect", message)))
  }
  const url = typeof config.url === "string" ? config.url : Redacted.value(config.url)
  const common = {
    maxConnections: config.maxConnections ?? defaults.maxConnections,
    connectTimeout: config.connectTimeout,
    keepAlive: keepAliveMs,
    applicationName: config.applicationName ?? "tachograph",
    maxMessageSize,
    prepare: !pooler,
    startupParameters: pooler
      ? {}
      : {
          statement_timeout: String(operationTimeout),
          idle_in_transaction_session_timeout: String(operationTimeout),
          // Locks on rows are sufficient. A stricter default of the database would only abort transactions.
          default_transaction_isolation: "read committed",
          ...(readOnly ? { default_transaction_read_only: "on" } : {}),
          ...(schema === undefined ? {} : { search_path: quoted(schema) })
        }
  }
  return PostgresClient.layer({
    configs: Hosts.urls(url).map((each) => ({ ...common, url: Redacted.make(each) })),
    onlyWritable: config.targetSessionAttrs !== undefined && config.targetSessionAttrs !== "any",
    readOnly,
    controlTimeoutMs: operationTimeout === 0 ? undefined : operationTimeout
  })
}

/** Fails if the database only reads, before anything of it is changed or served. */
const requireWritable = Effect.flatMap(PostgresClient.Ping, ({ ping }) => ping)

/** Checks first, because CREATE SCHEMA IF NOT EXISTS needs the right to create schemas even if the schema exists. */
const createSchema = Effect.fnUntraced(function* (schema: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`
  if (found.length > 0) return
  yield* sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`.pipe(
    // Processes that start at the same time can violate the catalogue's unique index; the retry finds the schema.
    Effect.retry({ while: (error) => error.reason._tag === "UniqueViolation", times: 3 })
  )
})

const migration = ({ schema }: PostgresConfig) =>
  requireWritable.pipe(
    Effect.andThen(schema === undefined ? Effect.void : createSchema(schema)),
    Effect.andThen(Migrations.run)
  )

const migrating = (config: PostgresConfig) => client({ ...config, operationTimeout: 0, maxConnections: 1 })

/** Migrates the tables, and returns the names of the migrations that it ran. Has no timeout: it waits for another process's migration. */
export const migrate = (config: PostgresConfig) => Effect.provide(migration(config), migrating(config))

/** What `migrate` would run. Changes nothing. */
export const pending = (config: PostgresConfig) =>
  Effect.provide(Migrations.pending, client({ ...config, maxConnections: 1, readOnly: true }))

/**
 * Migrates the tables, and distributes them over the nodes of a database with the extension Citus. Can be repeated. Fails, before it
 * changes anything, if they cannot be distributed, for example because there are sessions already. Servers notice it when they start.
 */
export const distribute = (config: PostgresConfig) =>
  Effect.provide(Distribution.run(migration(config)), migrating(config))

/** Connects. Fails if the tables are not up to date; changes none, so its role needs no right to. */
export const layerNoMigrations = (
  config: PostgresConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  Layer.unwrap(
    Effect.map(PostgresClient.Ping, ({ ping }) =>
      SqlStorage.layerNoMigrations({
        connections: config.maxConnections ?? defaults.maxConnections,
        operationTimeoutMs: config.operationTimeout ?? defaults.operationTimeout,
        appendConcurrency,
        ping
      }).pipe(Layer.provide(Layer.effectDiscard(ping)))
    )
  ).pipe(Layer.provide(client(config)))

const readOnly = (config: PostgresConfig, connections: number, operationTimeout: number) =>
  SqlStorage.layerNoMigrations({ connections, operationTimeoutMs: operationTimeout }).pipe(
    Layer.provide(client({ ...config, operationTimeout, maxConnections: connections, readOnly: true }))
  )

/**
 * Connects for what only reads, with one connection: its role needs no right to write. Fails if the tables are not up
 * to date. Operations that write fail.
 */
export const layerReadOnly = (
  config: PostgresConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  readOnly(config, 1, config.operationTimeout ?? readOnlyTimeoutMs)

/** The same for requests, which wait for at most the usual time, with a few connections. */
export const layerReading = (
  config: PostgresConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  readOnly(config, readingConnections, config.operationTimeout ?? defaults.operationTimeout)

/** Connects, and migrates the tables. */
export const layer = (config: PostgresConfig): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  layerNoMigrations(config).pipe(Layer.provide(Layer.effectDiscard(migrate(config))))
