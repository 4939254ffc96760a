/** Servers over one database: what one does while another holds a transaction. */
import type { Storage as StorageService } from "@tachograph/core"
import { Storage } from "@tachograph/core"
import { SqlStorage } from "@tachograph/storage-sql"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type PostgresConfig, PostgresStorage } from "../src/index.ts"

export interface Server {
  readonly sql: SqlClient.SqlClient
  readonly storage: StorageService["Service"]
}

/** Runs a body with two servers: the client and the storage of each. */
export const withServers = (
  schema: () => Promise<PostgresConfig>,
  body: (one: Server, two: Server) => Effect.Effect<unknown, unknown>
): Promise<unknown> =>
  Effect.gen(function* () {
    const config = yield* Effect.promise(schema)
    const built = Layer.build(SqlStorage.layerNoMigrations().pipe(Layer.provideMerge(PostgresStorage.client(config))))
    const server = Effect.map(built, (context) => ({
      sql: Context.get(context, SqlClient.SqlClient),
      storage: Context.get(context, Storage)
    }))
    yield* body(yield* server, yield* server)
  }).pipe(Effect.scoped, Effect.runPromise)

/** Runs `first` in a transaction of a server, and `second` before that commits: until it has ended, or waits for it. */
export const whileHeld = <A, B>(
  { sql }: Server,
  first: Effect.Effect<A, unknown>,
  second: Effect.Effect<B, unknown>
): Effect.Effect<readonly [A, B], unknown> =>
  Effect.gen(function* () {
    const held = yield* Deferred.make<number>()
    const release = yield* Deferred.make<void>()
    const transaction = yield* Effect.forkChild(
      sql.withTransaction(
        Effect.gen(function* () {
          const result = yield* first
          const [row] = yield* sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
          yield* Deferred.succeed(held, row!.pid)
          yield* Deferred.await(release)
          return result
        })
      )
    )
    const pid = yield* Deferred.await(held)
    const other = yield* Effect.forkChild(second)
    const isWaiting: Effect.Effect<boolean, SqlError.SqlError> = Effect.map(
      sql`SELECT 1 FROM pg_stat_activity WHERE ${pid} = ANY(pg_blocking_pids(pid))`,
      (rows) => rows.length > 0
    )
    while (other.pollUnsafe() === undefined && !(yield* isWaiting)) yield* Effect.sleep(5)
    yield* Deferred.succeed(release, undefined)
    return [yield* Fiber.join(transaction), yield* Fiber.join(other)] as const
  })
