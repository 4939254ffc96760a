/** Times in ids, in statements. */
import type { SqlClient, Statement } from "effect/sql"

/** What follows the time in the smallest id of a millisecond. */
const rest = "70008000000000000000"

/** The time in an id (epoch ms). */
export const msOf = (sql: SqlClient.SqlClient, id: Statement.Fragment): Statement.Fragment =>
  sql.onDialectOrElse({
    pg: () => sql`('x' || left(replace(CAST(${id} AS text), '-', ''), 12))::bit(48)::bigint`,
    // A hexadecimal number of JSON5, with a digit if there is no id.
    orElse: () => sql`(('0x0' || hex(substr(${id}, 1, 6))) ->> '$')`
  })

/** The smallest id of a millisecond; of the first one for none. */
export const firstIdOf = (sql: SqlClient.SqlClient, ms: Statement.Fragment): Statement.Fragment =>
  sql.onDialectOrElse({
    pg: () => sql`CAST(lpad(to_hex(greatest(0, ${ms})), 12, '0') || ${sql.literal(`'${rest}'`)} AS uuid)`,
    orElse: () => sql`unhex(printf('%012x', max(0, ${ms})) || ${sql.literal(`'${rest}'`)})`
  })
