/** What an update costs the indexes of columns that it sets to the values that they have. */
import type { SqlClient } from "effect/sql"

/** Postgres leaves such an index alone. SQLite writes it whenever a column of it is set. */
export const areOnlyForChanges = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ pg: () => true, orElse: () => false })
