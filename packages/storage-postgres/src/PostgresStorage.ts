/** Storage in Postgres: any number of processes over one database. */
import * as PgClient from "@effect/sql-pg/PgClient"
import type { Storage } from "@tachograph/core"
import { Migrations, SqlStorage } from "@tachograph/storage-sql"
import { Effect, Layer, Redacted } from "effect"
import { type Migrator, SqlClient, SqlError } from "effect/sql"

export interface PostgresConfig {
  /** `postgres://user:password@host:port/database?sslmode=verify-full`. */
  readonly url: string | Redacted.Redacted
  /** The schema of the tables, created if it does not exist. The role's own search path unless given. */
  readonly schema?: string | undefined
  /** Connections at once. 10 unless given. */
  readonly maxConnections?: number | undefined
  /** How long connecting may take, in milliseconds. The URL's `connect_timeout`, or 5,000, unless given. */
  readonly connectTimeout?: number | undefined
  /**
   * How long any one operation may take, in milliseconds, waiting for a connection included; then its statement is cut and
   * it fails as `storage-unavailable`. 10,000 unless given.
   */
  readonly operationTimeout?: number | undefined
  /** What the database's own views call this client. `tachograph` unless given. */
  readonly applicationName?: string | undefined
  /**
   * Set where a pooler in transaction mode, such as PgBouncer, stands in between: then nothing is prepared, and nothing is
   * set for a session. A `schema` must then come from the role's search path.
   */
  readonly pooler?: boolean | undefined
}

const defaults = { maxConnections: 10, operationTimeout: 10_000 }

/** Bytes of one message from the server: a row holds a whole event, which may be as large as a body. */
const maxMessageSize = 1024 ** 3

/**
 * Batches of events in flight: while one waits for the database's disk, the other is on its way. More of them would be
 * smaller, and cost more than they gain.
 */
const appendConcurrency = 2

/** `schema` becomes the search path, in which an identifier is quoted. */
const quoted = (identifier: string) => `"${identifier.replaceAll('"', '""')}"`

export const client = (config: PostgresConfig): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> => {
  const { operationTimeout = defaults.operationTimeout, pooler = false, schema } = config
  if (pooler && schema !== undefined) {
    const message = "Behind a pooler the schema cannot be set: give the role a search_path instead"
    return Layer.effectContext(
      Effect.fail(
        new SqlError.SqlError({
          reason: new SqlError.ConnectionError({ cause: new Error(message), message, operation: "connect" })
        })
      )
    )
  }
  return PgClient.layer({
    url: typeof config.url === "string" ? Redacted.make(config.url) : config.url,
    maxConnections: config.maxConnections ?? defaults.maxConnections,
    connectTimeout: config.connectTimeout,
    applicationName: config.applicationName ?? "tachograph",
    maxMessageSize,
    prepare: !pooler,
    startupParameters: pooler
      ? {}
      : {
          statement_timeout: String(operationTimeout),
          idle_in_transaction_session_timeout: String(operationTimeout),
          // Rows are locked where it matters; a stricter default of the database's would only make transactions give way.
          default_transaction_isolation: "read committed",
          ...(schema === undefined ? {} : { search_path: quoted(schema) })
        }
  })
}

/** Looks first: to create what is there already, Postgres asks for a right that the schema's owner need not have. */
const createSchema = Effect.fnUntraced(function* (schema: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`
  if (found.length > 0) return
  yield* sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`.pipe(
    // Processes that start together meet in the catalogue's unique index; whoever lost finds it there.
    Effect.retry({ while: (error) => error.reason._tag === "UniqueViolation", times: 3 })
  )
})

/** Brings the tables up to date and answers what it ran. No statement of it is cut: waiting for the lock takes what it takes. */
export const migrate = (config: PostgresConfig) =>
  Effect.andThen(config.schema === undefined ? Effect.void : createSchema(config.schema), Migrations.run).pipe(
    Effect.provide(client({ ...config, operationTimeout: 0, maxConnections: 1 }))
  )

/** Connects, over tables that are up to date: for a role that may not change them. */
export const layerNoMigrations = (
  config: PostgresConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  SqlStorage.layerNoMigrations({
    connections: config.maxConnections ?? defaults.maxConnections,
    operationTimeoutMs: config.operationTimeout ?? defaults.operationTimeout,
    appendConcurrency
  }).pipe(Layer.provide(client(config)))

/** Connects, and brings the tables up to date. */
export const layer = (config: PostgresConfig): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  layerNoMigrations(config).pipe(Layer.provide(Layer.effectDiscard(migrate(config))))
