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

const tooNew = new Migrator.MigrationError({
  kind: "BadState",
  message: "a later version of Tachograph has migrated the tables; run the command of that version"
})

/** Errors that do not mean that the table is missing. */
const passes: ReadonlySet<string> = new Set(["AuthorizationError", "ConnectionError"])

/**
 * Fails if the tables are not up to date. Changes nothing, for a role without the right to. Returns how many migrations of
 * later versions the tables have.
 */
export const check = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ migration_id: number }>`SELECT migration_id FROM ${sql(table)}`.pipe(
    Effect.mapError((error) => (passes.has(error.reason._tag) ? error : outOfDate(error)))
  )
  const later = rows.length - Object.keys(migrations).length
  return later < 0 ? yield* outOfDate() : later
})

/** As `check`, but fails also if a later version has migrated the tables, for what must know everything that they hold. */
export const checkSame = Effect.flatMap(check, (later) => (later > 0 ? Effect.fail(tooNew) : Effect.void))
