/** Rows that have a name and free text: an event that names one creates it without the text, which the first to put it gives. */
import { isFirst, type Named } from "@tachograph/core/domain/Named"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import * as Attempts from "../sql/Attempts.ts"

/** What a column of free text holds: nothing while it is only named. */
export const textOf = ({ isNamedOnly = false }: Named, text: string): string | null => (isNamedOnly ? null : text)

export const createdAt = ({ createdAt }: { readonly createdAt: DateTime.Utc }) => ({
  created_at: createdAt.epochMilliseconds
})

/**
 * Creates what does not exist, and gives what is only named its text: of several at a time, the first one does. Begins again
 * where the row was deleted meanwhile, as an erasure deletes a person.
 */
export const putFirst = Effect.fnUntraced(function* <A extends Named>(
  put: Named,
  steps: {
    readonly find: Effect.Effect<A | undefined, SqlError.SqlError>
    readonly create: Effect.Effect<unknown, SqlError.SqlError>
    readonly give: (found: A) => Effect.Effect<unknown, SqlError.SqlError>
  }
) {
  const attempt = Attempts.make("Creating a name")
  for (;;) {
    const found = yield* steps.find
    if (found !== undefined && !isFirst(put, found)) return found
    yield* attempt
    yield* found === undefined ? steps.create : steps.give(found)
  }
})

/** Runs its own transaction. */
export const create = (
  sql: SqlClient.SqlClient,
  kind: (typeof NumberedNames)["agents"],
  project_id: number,
  name: string,
  columns: Readonly<Record<string, unknown>>
) => TwoPhaseCommit.onAllNodes(sql, NumberedNames.ensure(sql, kind, project_id, new Map([[name, columns]])))
