/** Migrates the tables. Each migration runs once, under a lock, even if several processes start at the same time. */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import initial from "./migrations/0001Initial.ts"

/** Forward only: released migrations are never edited. */
const migrations = { "0001_initial": initial }

const table = "tachograph_migrations"

/** Returns the migrations that it ran; none if the tables are up to date. */
export const run = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table })

const outOfDate = (cause?: unknown) =>
  new Migrator.MigrationError({
    kind: "BadState",
    message: "the tables are not up to date; run `tachograph migrate` first",
    cause
  })

/** Fails if the tables are not up to date. Changes nothing, for a role without the right to. */
export const check = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const expected = Object.keys(migrations).length
  const rows = yield* sql<{ migration_id: number }>`SELECT migration_id FROM ${sql(table)}`.pipe(
    Effect.mapError((error) => (error.reason._tag === "ConnectionError" ? error : outOfDate(error)))
  )
  if (rows.length < expected) return yield* outOfDate()
})
