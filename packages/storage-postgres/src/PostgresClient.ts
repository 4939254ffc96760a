/** The client of `effect/sql` over the pools of the nodes. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import * as NodePools from "./NodePools.ts"
import * as Session from "./Session.ts"

/** Asks the database, in one statement, whether it takes writes; fails if it does not. */
export class Ping extends Context.Service<Ping, { readonly ping: Effect.Effect<void, SqlError.SqlError> }>()(
  "@tachograph/storage-postgres/Ping"
) {}

export const layer = (
  options: NodePools.NodePoolsOptions
): Layer.Layer<SqlClient.SqlClient | Ping, SqlError.SqlError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const pools = yield* NodePools.make(options)
      const sql = yield* SqlClient.make({
        acquirer: pools.get,
        borrower: pools.use,
        transactionAcquirer: pools.reserve,
        compiler: PgClient.makeCompiler(),
        driver: "pg",
        spanAttributes: [["db.system.name", "postgresql"]],
        prepareTransactionControls: true,
        commit: Session.commit,
        releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
      })
      return Context.make(SqlClient.SqlClient, sql).pipe(Context.add(Ping, Ping.of({ ping: pools.ping })))
    })
  ).pipe(Layer.provide(Reactivity.layer))
