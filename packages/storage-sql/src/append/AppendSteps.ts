/** Appends groups of steps of one project, in one transaction. */
import { type AppendSteps, type ProjectId, SessionConflict } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as DataModifyingWith from "../dialect/DataModifyingWith.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import type * as Projects from "../names/Projects.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import type * as DamageRepair from "./DamageRepair.ts"
import * as EventNumbers from "./EventNumbers.ts"
import * as NodeChecks from "./NodeChecks.ts"
import * as SessionCounters from "./SessionCounters.ts"
import type * as SharedPieces from "./SharedPieces.ts"
import * as StepConflicts from "./StepConflicts.ts"
import * as StepRows from "./StepRows.ts"

interface Parts {
  readonly projects: Projects.Projects
  readonly agentVersions: AgentVersionNumbers.AgentVersions
  readonly pieces: SharedPieces.SharedPieces
  readonly repairs: DamageRepair.DamageRepair
}

export const make = (sql: SqlClient.SqlClient, { agentVersions, pieces, projects, repairs }: Parts) => {
  const space = SpaceCounters.make(sql, projects)
  const counters = SessionCounters.make(sql)
  const checkConflicts = StepConflicts.make(sql)
  const checkNodes = NodeChecks.make(sql, agentVersions)
  const numbersOf = EventNumbers.make(sql, agentVersions)
  const packColumns = BulkValues.make(sql, BulkValues.named({ ...StepRows.packTypes, ...Bucket.types(sql) }))
  const stepColumns = BulkValues.make(sql, BulkValues.named({ ...StepRows.stepTypes, ...Bucket.types(sql) }))

  /** Returns whether all rows are on one node. */
  const appendIn = Effect.fnUntraced(function* (
    project: ProjectId,
    project_id: number,
    groups: ReadonlyArray<AppendSteps>,
    existing: SharedPieces.Existing,
    missing: SharedPieces.Missing
  ) {
    const appended = groups.map((group) => ({ pack: group.pack, summary: group }))
    const { areNew, ...numbers } = yield* numbersOf(project_id, appended, groups)
    const { conflicts } = yield* counters.add(project_id, numbers.sessions, appended)
    if (conflicts.length > 0) {
      return yield* new SessionConflict({ sessions: conflicts.map((session) => ({ project, session })) })
    }
    yield* checkConflicts(project_id, groups, numbers.sessions)
    yield* checkNodes(project_id, groups, numbers)

    const { increments, packs, steps } = StepRows.rowsOf(sql, project_id, groups, numbers)
    const owners = groups.map(({ pack, session }) => ({
      session_number: numbers.sessions.get(session)!,
      shared: pack.shared
    }))
    yield* pieces.own(project_id, owners, existing, missing, increments)
    yield* DataModifyingWith.asOneStatement(sql, [
      ...BulkValues.chunks(packs).map(
        (chunk) => sql`INSERT INTO packs ${packColumns.names} ${packColumns.toInsert(chunk)}`
      ),
      ...BulkValues.chunks(steps).map(
        (chunk) => sql`INSERT INTO steps ${stepColumns.names} ${stepColumns.toInsert(chunk)}`
      ),
      ...space.additions(project_id, increments)
    ])
    // Searches look for what is in packs without events, as they do after an erasure.
    for (const number of numbers.sessions.values()) {
      yield* sql`UPDATE sessions SET pending_sweep = -1
        WHERE ${Bucket.isOfSession(sql, project_id, number)} AND pending_sweep = 0`
    }
    yield* space.addToProject(project_id, increments)
    if (areNew) yield* TwoPhaseCommit.refuseInDoubt(sql)
    const lanes = new Set(groups.map(({ session }) => Bucket.laneOf(sql, session)))
    return !areNew && lanes.size === 1 && owners.every(({ shared }) => shared.length === 0)
  })

  return Effect.fn("SqlStorage.appendSteps")(function* (project: ProjectId, groups: ReadonlyArray<AppendSteps>) {
    const project_id = yield* projects.findOrCreate(project)
    const ofProject = [{ project, project_id, sessions: Array.from(new Set(groups.map(({ session }) => session))) }]
    const shared = groups.flatMap(({ pack }) => pack.shared)
    const missing = new Map([[project_id, yield* pieces.prepare(project_id, shared)]])
    const append = (...how: readonly [SharedPieces.Existing, SharedPieces.Missing]) =>
      TwoPhaseCommit.transaction(sql, appendIn(project, project_id, groups, ...how), (isOfOneNode) => isOfOneNode)
    yield* append("compare", missing).pipe(
      Effect.catchTag("SqlError", (error) => repairs.afterDamage(ofProject, error, append("replace", new Map()))),
      // Those that are there are acknowledged again.
      Effect.tapErrorTag("step-conflict", () => Dialects.of(sql).waitUntilKept),
      Effect.tapErrorTag("session-conflict", () => repairs.afterConflict(ofProject))
    )
  })
}
