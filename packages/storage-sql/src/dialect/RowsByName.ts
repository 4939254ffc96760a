/** Rows that a list of names or ids selects from a unique index. */
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "./Bucket.ts"
import * as BulkValues from "./BulkValues.ts"

interface Selection {
  readonly table: string
  readonly columns: Statement.Fragment
  /** The columns of the index that precede the name. */
  readonly isOfParent: Statement.Fragment
  readonly name: string
  /** The type of the names, for Postgres. */
  readonly type: BulkValues.Type
  /** A fragment of `Locks`; may be empty. */
  readonly lock: Statement.Fragment
}

/**
 * One index lookup per name. Postgres is made to by a lateral join: it cannot estimate the length of an array parameter,
 * and for a long one would scan all rows of the parent. A distributed database does not pass such a join on to a node.
 */
export const select = <Row extends object>(
  sql: SqlClient.SqlClient,
  { columns, isOfParent, lock, name, table, type }: Selection,
  names: ReadonlyArray<BulkValues.Value>
): Statement.Statement<Row> =>
  sql.onDialectOrElse({
    pg: () =>
      Bucket.isDistributed(sql)
        ? sql<Row>`SELECT ${columns} FROM ${sql(table)} WHERE ${isOfParent}
            AND ${BulkValues.isAmong(sql, name, type, names)} ${lock}`
        : sql<Row>`
      SELECT matching.* FROM unnest(${BulkValues.array(sql, type, names)}) AS wanted (name) CROSS JOIN LATERAL (
        SELECT ${columns} FROM ${sql(table)} WHERE ${isOfParent} AND ${sql(name)} = wanted.name LIMIT 1 ${lock}) AS matching`,
    orElse: () => sql<Row>`
      SELECT ${columns} FROM ${sql(table)} WHERE ${isOfParent} AND ${sql.in(name, names)} ${lock}`
  })
