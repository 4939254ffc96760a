/**
 * Stands between the coordinator of a cluster and one of its workers, and cuts connections in the second phase of commits: the
 * coordinator says that a commit has come to its end, and the worker has only prepared its part.
 */
import { CuttingProxy } from "@tachograph/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const secondPhase = Buffer.from("COMMIT PREPARED")

/** Settings of the coordinator that the proxy needs: it reads what passes, and nothing else has the worker commit. */
const settings = { "citus.node_conninfo": "sslmode=disable", "citus.recover_2pc_interval": "-1" }

interface Worker {
  readonly id: number
  readonly host: string
  readonly port: number
}

/** Changes the cluster until the scope closes. Needs a superuser. */
export const make = Effect.gen(function* () {
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
    /** Has the worker commit what it has prepared. Returns how many transactions that were. */
    recover: Effect.map(sql<{ count: number }>`SELECT recover_prepared_transactions() AS count`, ([row]) => row!.count)
  }
})
