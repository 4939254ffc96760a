/** Migrates the tables. Each migration runs once, under a lock, even if several processes start at the same time. */
import * as Effect from "effect/Effect"
import { Migrator, SqlClient } from "effect/sql"
import initial from "./migrations/0001Initial.ts"
import recorded from "./migrations/0002Recorded.ts"
import auditLog from "./migrations/0003AuditLog.ts"

/** Forward only: released migrations are never edited. */
const migrations = { "0001_initial": initial, "0002_recorded": recorded, "0003_audit_log": auditLog }

export const table = "tachograph_migrations"

const outOfDate = (cause?: unknown) =>
  new Migrator.MigrationError({
    kind: "BadState",
    message: "the tables are not up to date; run `tachograph migrate` first",
    cause
  })

export const foreign = new Migrator.MigrationError({
  kind: "BadState",
  message: "the file has the tables of another program, and none of Tachograph"
})

/** SQLite files belong to one program. A schema in Postgres may be shared. */
const hasOtherTables = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    sqlite: () =>
      Effect.map(
        sql`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name <> ${table} LIMIT 1`,
        (rows) => rows.length > 0
      ),
    orElse: () => Effect.succeed(false)
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
    Effect.catch((error) =>
      passes.has(error.reason._tag)
        ? Effect.fail(error)
        : Effect.flatMap(hasOtherTables(sql), (isForeign) => Effect.fail(isForeign ? foreign : outOfDate(error)))
    )
  )
  const later = rows.length - Object.keys(migrations).length
  return later < 0 ? yield* outOfDate() : later
})

/**
 * Returns the migrations that it ran; none if the tables are up to date. It only looks at them then, which a distributed database can
 * do while a node is down.
 */
export const run = check.pipe(
  Effect.as<ReadonlyArray<readonly [id: number, name: string]>>([]),
  Effect.catchIf(
    (error): error is Migrator.MigrationError => error instanceof Migrator.MigrationError && error !== foreign,
    () => Migrator.make({})({ loader: Migrator.fromRecord(migrations), table })
  )
)

/** As `check`, but fails also if a later version has migrated the tables, for what must know everything that they hold. */
export const checkSame = Effect.flatMap(check, (later) => (later > 0 ? Effect.fail(tooNew) : Effect.void))
