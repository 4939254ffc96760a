/** Brings the tables up to date: each migration runs once, under a lock, however many processes start together. */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import initial from "./migrations/0001Initial.ts"

/** Forward only: a migration that was released is never edited. */
const migrations = { "0001_initial": initial }

const table = "tachograph_migrations"

/** Answers what it ran, which is nothing where the tables are up to date. */
export const run = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table })

const outOfDate = (cause?: unknown) =>
  new Migrator.MigrationError({
    kind: "BadState",
    message: "the tables are not up to date; run `tachograph migrate` first",
    cause
  })

/** Changes nothing; fails where the tables are not up to date. For a role that may not change them. */
export const check = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const wanted = Object.keys(migrations).length
  const rows = yield* sql<{ migration_id: number }>`SELECT migration_id FROM ${sql(table)}`.pipe(
    Effect.mapError((error) => (error.reason._tag === "ConnectionError" ? error : outOfDate(error)))
  )
  if (rows.length < wanted) return yield* outOfDate()
})
