/** Leases: a name has at most one holder at a time, across all processes. */
import * as Clock from "effect/Clock"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"

export const make = (sql: SqlClient.SqlClient) => {
  const takeLease = Effect.fn("SqlStorage.takeLease")(function* (name: string, holder: string, until: DateTime.Utc) {
    const row = { lease_name: name, holder, expires_at: until.epochMilliseconds }
    const taken = yield* sql`INSERT INTO leases ${sql.insert(row)} ON CONFLICT (lease_name) DO UPDATE
      SET holder = excluded.holder, expires_at = excluded.expires_at
      WHERE leases.holder = excluded.holder OR leases.expires_at < ${yield* Clock.currentTimeMillis}
      RETURNING holder`
    return taken.length > 0
  })
  return { takeLease }
}
