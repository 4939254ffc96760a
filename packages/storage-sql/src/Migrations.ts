/** Runs the migrations when a storage opens, and decides which stores this version may open. Several processes can start at once. */
import * as Effect from "effect/Effect"
import { Migrator, SqlClient } from "effect/sql"
import initial from "./migrations/0001Initial.ts"
import recorded from "./migrations/0002Recorded.ts"
import auditLog from "./migrations/0003AuditLog.ts"
import statedCost from "./migrations/0004StatedCost.ts"
import callTimes from "./migrations/0005CallTimes.ts"
import partlyPriced from "./migrations/0006PartlyPriced.ts"
import waitingParts from "./migrations/0007WaitingParts.ts"
import steps from "./migrations/0008Steps.ts"
import failures from "./migrations/0009Failures.ts"
import sessionFigures from "./migrations/0010SessionFigures.ts"

/**
 * Forward only: released migrations are never edited. The database keeps the names. One that begins with `compatible_`, such as
 * `0009_compatible_index`, tells the versions before it that they may go on reading and writing the tables without losing anything.
 */
const migrations = {
  "0001_initial": initial,
  "0002_recorded": recorded,
  "0003_audit_log": auditLog,
  "0004_stated_cost": statedCost,
  "0005_call_times": callTimes,
  "0006_partly_priced": partlyPriced,
  "0007_waiting_parts": waitingParts,
  "0008_steps": steps,
  "0009_failures": failures,
  "0010_session_figures": sessionFigures
}

/** The names of all migrations, in their order. */
export const names: ReadonlyArray<string> = Object.keys(migrations)

/** The name of a migration, as in the list. */
export const nameOf = (id: number, name: string): string => `${String(id).padStart(4, "0")}_${name}`

export const table = "tachograph_migrations"

const refuse = (message: string) => new Migrator.MigrationError({ kind: "BadState", message })

const outOfDate = refuse("the tables are not up to date; run `tachograph migrate` first")

/** For what opens a file of SQLite, which belongs to one program. A schema in Postgres may be shared. */
export const foreign = refuse("the file has the tables of another program, and none of Tachograph")

const tooNew = (name: string) =>
  refuse(
    `a later version of Tachograph has migrated the tables (${name}); run that version, or restore a backup that was made ` +
      "before: docs/upgrade.md"
  )

/** Errors that do not mean that the table is missing. */
const passes: ReadonlySet<string> = new Set(["AuthorizationError", "ConnectionError", "LockTimeoutError"])

const isCompatible = (name: string) => name.startsWith("compatible_")

/**
 * The names of the migrations that the tables lack; all of them where there are no tables. Fails if a later version has
 * changed them so that this one must not use them. Changes nothing, for a role without the right to.
 */
export const pending = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ migration_id: number; name: string }>`SELECT migration_id, name FROM ${sql(table)}`.pipe(
    Effect.catch((error) => (passes.has(error.reason._tag) ? Effect.fail(error) : Effect.succeed([])))
  )
  const applied = new Map(rows.map(({ migration_id: id, name }) => [nameOf(id, name), name]))
  const later = Array.from(applied).find(([full, name]) => !names.includes(full) && !isCompatible(name))
  if (later !== undefined) return yield* tooNew(later[0])
  return names.filter((name) => !applied.has(name))
})

/** Fails if the tables are not up to date, or if this version must not use them. */
export const check = Effect.flatMap(pending, (missing) => (missing.length > 0 ? Effect.fail(outOfDate) : Effect.void))

/**
 * Returns the names of the migrations that it ran; none if the tables are up to date. It only looks at them then, which a distributed
 * database can do while a node is down.
 */
export const run = Effect.flatMap(pending, (missing) =>
  missing.length === 0
    ? Effect.succeed([])
    : Effect.map(Migrator.make({})({ loader: Migrator.fromRecord(migrations), table }), (ran) =>
        ran.map(([id, name]) => nameOf(id, name))
      )
)
