/** What is done about an append that damaged rows stand in the way of. */
import { type ProjectId, SessionConflict } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import { isCorruption } from "../sql/SqlErrors.ts"
import * as CounterRepair from "./CounterRepair.ts"

/** The sessions of a project to which something is appended. */
export interface Sessions {
  readonly project: ProjectId
  readonly project_id: number
  readonly sessions: ReadonlyArray<string>
}

export const make = (sql: SqlClient.SqlClient) => {
  const { repair, repairStates } = CounterRepair.make(sql)

  /** After the error of a transaction. `replacing` is the same that reads no shared piece. */
  const afterDamage = Effect.fnUntraced(function* <A, E>(
    ofProjects: ReadonlyArray<Sessions>,
    error: SqlError.SqlError,
    replacing: Effect.Effect<A, E>
  ) {
    // The database cannot read a shared piece.
    if (isCorruption(error)) return yield* replacing
    if (error.reason._tag !== "UniqueViolation") return yield* error
    const repairs = Effect.forEach(ofProjects, ({ project_id, sessions }) => repair(project_id, sessions))
    const raised = yield* TwoPhaseCommit.onAllNodes(sql, repairs)
    if (raised.every((counters) => counters === 0)) return yield* error
    return yield* new SessionConflict({
      sessions: ofProjects.flatMap(({ project, sessions }) => sessions.map((session) => ({ project, session })))
    })
  })

  /** After a conflict, which a damaged state would always cause. */
  const afterConflict = (ofProjects: ReadonlyArray<Sessions>) =>
    Effect.forEach(ofProjects, ({ project_id, sessions }) => repairStates(project_id, sessions))

  return { afterDamage, afterConflict }
}

export type DamageRepair = ReturnType<typeof make>
