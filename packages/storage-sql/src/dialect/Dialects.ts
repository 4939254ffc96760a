/** The dialect of a database: one object for each client, and another one since it is known to be distributed. */
import type { SqlClient } from "effect/sql"
import * as Bucket from "./Bucket.ts"
import type { Dialect } from "./Dialect.ts"
import * as Postgres from "./Postgres.ts"
import * as Sqlite from "./Sqlite.ts"

const single = new WeakMap<SqlClient.SqlClient, Dialect>()
const distributed = new WeakMap<SqlClient.SqlClient, Dialect>()

export const of = (sql: SqlClient.SqlClient): Dialect => {
  const isDistributed = Bucket.isDistributed(sql)
  const known = isDistributed ? distributed : single
  let dialect = known.get(sql)
  if (dialect === undefined) {
    const make = isDistributed
      ? Postgres.distributed
      : sql.onDialectOrElse({ pg: () => Postgres.make, orElse: () => Sqlite.make })
    known.set(sql, (dialect = make(sql)))
  }
  return dialect
}
