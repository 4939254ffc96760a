/**
 * Rebuilds what is damaged: indexes that do not have what is in the rows, which SQLite refuses to change, and what is malformed. That is
 * only what is derived from other tables, unless an erasure needs it: damage must not stop one.
 */
import { OnRebuilt, type Rebuilt } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { type SqlClient, SqlError } from "effect/sql"
import { damage, isCorruption, isMalformed } from "./SqlErrors.ts"

/** SQLITE_CORRUPT_INDEX: https://sqlite.org/rescode.html */
const corruptIndex = 779

const isIndexCorruption = (error: unknown): boolean => {
  const { reason } = error as { readonly reason?: { readonly cause?: { readonly errcode?: unknown } } }
  return reason?.cause?.errcode === corruptIndex
}

/** Builds anew what is malformed; with `andTables`, also tables that are derived from nothing, without the rows that cannot be read. */
export type Repair = (andTables: boolean) => Effect.Effect<ReadonlyArray<Rebuilt>, SqlError.SqlError>

type Repairing = <A, E, R>(
  transaction: Effect.Effect<A, E | SqlError.SqlError, R>
) => Effect.Effect<A, E | SqlError.SqlError, R>

export interface Repairs {
  /** Repeats a transaction that failed because of them. Reads these tables whole, and blocks other writers meanwhile. */
  readonly repairing: (tables: ReadonlyArray<string>) => Repairing
  /** Repeats any operation of an erasure that failed because of damage. Others fail. */
  readonly whileErasing: Repairing
  /** Builds anew what is malformed, for an erasure that does not find what there should be. Does nothing if there is nothing to repair. */
  readonly search: Effect.Effect<void, SqlError.SqlError>
}

/** A repair leads to the next page that is malformed, at times. */
const maxRepairs = 10

const said = ({ lost, name }: Rebuilt): string => (lost === 0 ? name : `${name} (${lost} rows were lost)`)

export const make = (sql: SqlClient.SqlClient, repair: Repair): Repairs => {
  const reindex = Effect.fnUntraced(function* (tables: ReadonlyArray<string>) {
    for (const table of tables) yield* sql`REINDEX ${sql(table)}`
    yield* Effect.logWarning(`The indexes of ${tables.join(", ")} did not have what is in the rows, and were rebuilt`)
  })

  /** Returns whether something was built anew. Fails with the error if it cannot be. */
  const rebuild = Effect.fnUntraced(function* (error: SqlError.SqlError) {
    const onRebuilt = yield* OnRebuilt
    const rebuilt = yield* Effect.catch(repair(onRebuilt !== undefined), (cause) =>
      Effect.andThen(Effect.logWarning("What is malformed was not built anew", cause), Effect.fail(error))
    )
    if (rebuilt.length === 0) return false
    onRebuilt?.(rebuilt)
    yield* Effect.logWarning(`Pages were malformed. These were built anew: ${rebuilt.map(said).join(", ")}`)
    return true
  })
  const rebuildOr = (error: SqlError.SqlError, otherwise: Effect.Effect<void, SqlError.SqlError>) =>
    Effect.flatMap(rebuild(error), (isRebuilt) => (isRebuilt ? Effect.void : otherwise))
  const rebuildOrFail = (error: SqlError.SqlError) => rebuildOr(error, Effect.fail(error))

  const repeating =
    (
      isRepairable: (error: unknown) => boolean,
      repairOf: (error: SqlError.SqlError) => Effect.Effect<void, SqlError.SqlError>
    ): Repairing =>
    (transaction) => {
      const attempt = (left: number): typeof transaction =>
        left === 0
          ? transaction
          : Effect.catchIf(transaction, isRepairable, (error) =>
              Effect.andThen(
                repairOf(error as SqlError.SqlError),
                Effect.suspend(() => attempt(left - 1))
              )
            )
      return attempt(maxRepairs)
    }

  const repairing: Repairs["repairing"] = (tables) =>
    repeating(isMalformed, (error) =>
      isIndexCorruption(error)
        ? rebuildOr(
            error,
            Effect.catch(reindex(tables), () => Effect.fail(error))
          )
        : rebuildOrFail(error)
    )

  const isOfDamage = (error: unknown): boolean => SqlError.isSqlError(error) && isCorruption(error)
  const erasing = repeating(isOfDamage, rebuildOrFail)
  const whileErasing: Repairs["whileErasing"] = (operation) =>
    Effect.flatMap(OnRebuilt, (onRebuilt) => (onRebuilt === undefined ? operation : erasing(operation)))

  const search = Effect.ignore(rebuildOrFail(damage("An erasure does not find what there should be")))

  return { repairing, whileErasing, search }
}
