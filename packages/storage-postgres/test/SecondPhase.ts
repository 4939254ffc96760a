/**
 * Stands between the coordinator of a cluster and one of its workers. Cuts connections in the second phase of commits: the coordinator
 * says that a commit has come to its end, and the worker has only prepared its part. Or stalls commits of the worker.
 */
import { CuttingProxy } from "@tachograph/testkit"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { PostgresStorage } from "../src/index.ts"

const secondPhase = Buffer.from("COMMIT PREPARED")

/** Settings of the coordinator that the proxy needs: it reads what passes, and nothing else has the worker commit. */
const settings = { "citus.node_conninfo": "sslmode=disable", "citus.recover_2pc_interval": "-1" }

interface Worker {
  readonly id: number
  readonly host: string
  readonly port: number
}

/** Changes the cluster until the scope closes. Needs a superuser. */
export const make = Effect.fnUntraced(function* (url: string) {
  const sql = yield* SqlClient.SqlClient
  const [worker] = yield* sql<Worker>`SELECT nodeid AS id, nodename AS host, nodeport AS port FROM pg_dist_node
    WHERE shouldhaveshards ORDER BY nodeport LIMIT 1`
  const { host, id, port } = worker!
  const listen = Effect.promise(() => CuttingProxy.start({ host, port, from: "client", at: secondPhase }))
  // The other nodes take note of it later, and statements that need them fail until then.
  const redirect = (toHost: string, toPort: number) =>
    Effect.andThen(
      sql`SELECT citus_update_node(${id}, ${toHost}, ${toPort})`,
      sql`SELECT start_metadata_sync_to_all_nodes()`
    )
  const reload = sql`SELECT pg_reload_conf()`
  const proxy = yield* Effect.acquireRelease(listen, ({ close }) => Effect.sync(close))
  yield* Effect.acquireRelease(
    Effect.forEach(Object.entries(settings), ([name, value]) => sql.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`)),
    () =>
      Effect.orDie(
        Effect.andThen(
          Effect.forEach(Object.keys(settings), (name) => sql.unsafe(`ALTER SYSTEM RESET ${name}`)),
          reload
        )
      )
  )
  yield* reload
  yield* Effect.acquireRelease(redirect("127.0.0.1", proxy.port), () => Effect.orDie(redirect(host, port)))
  const onWorker = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
    Effect.flatMap(SqlClient.SqlClient, use).pipe(
      Effect.provide(PostgresStorage.client({ url: Object.assign(new URL(url), { host: `${host}:${port}` }).href })),
      Effect.orDie
    )
  /** The worker's commits wait for a standby of this name, which does not exist. */
  const standby = (name: string) =>
    onWorker((sql) =>
      Effect.andThen(sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`), sql`SELECT pg_reload_conf()`)
    )
  /** How many of its backends wait for the standby, in a statement that begins so. */
  const waitingIn = (statement: string) =>
    onWorker((sql) =>
      Effect.map(
        sql<{ count: number }>`SELECT CAST(count(*) AS integer) AS count FROM pg_stat_activity
          WHERE wait_event = 'SyncRep' AND starts_with(query, ${statement})`,
        ([row]) => row!.count
      )
    )
  /** Another process of the worker takes note of the setting, at some time: until a commit of a record waits. The last statement waits until the end of the stall. */
  const untilStalled = Effect.gen(function* () {
    while ((yield* waitingIn("SELECT pg_logical_emit_message")) === 0) {
      yield* Effect.forkDetach(onWorker((sql) => sql`SELECT pg_logical_emit_message(true, 'stall', '')`))
      yield* Effect.sleep("100 millis")
    }
  })
  return {
    /** The worker's port, as the coordinator knows it. */
    port: proxy.port,
    /** Runs an effect while the second phase fails on the worker. */
    cut: <A, E, R>(use: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        Effect.sync(() => proxy.cut(Infinity)),
        () => use,
        () => Effect.sync(() => proxy.cut(0))
      ),
    /** Runs an effect while the worker ends no commit. */
    stall: <A, E, R>(use: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        Effect.andThen(standby("missing"), untilStalled),
        () => use,
        () => standby("")
      ),
    /** Closes the worker's connections when one of its commits waits. */
    dropCommitting: Effect.andThen(
      Effect.repeat(waitingIn("COMMIT"), { until: (count) => count > 0, schedule: Schedule.spaced("20 millis") }),
      Effect.sync(proxy.drop)
    ),
    /** Has the worker commit what it has prepared. Returns how many transactions that were. */
    recover: Effect.map(sql<{ count: number }>`SELECT recover_prepared_transactions() AS count`, ([row]) => row!.count)
  }
})
