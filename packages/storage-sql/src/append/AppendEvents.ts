/** Appends events, or steps, in one transaction. */
import { type AppendEvent, KeyConflict, type ProjectId, SessionConflict, type TakenKey } from "@tachograph/core"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Dialects from "../dialect/Dialects.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as EventKinds from "../names/EventKinds.ts"
import type * as Projects from "../names/Projects.ts"
import * as Derivation from "../rollup/Derivation.ts"
import { isCorruption } from "../sql/SqlErrors.ts"
import * as AppendAtOnce from "./AppendAtOnce.ts"
import * as AppendInOneStatement from "./AppendInOneStatement.ts"
import * as AppendSteps from "./AppendSteps.ts"
import * as AppendToProject from "./AppendToProject.ts"
import * as DamageRepair from "./DamageRepair.ts"
import type * as EventRows from "./EventRows.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as NewIds from "./NewIds.ts"
import * as SharedPieces from "./SharedPieces.ts"

/** In the order of the projects' numbers: all transactions lock in this order. */
type ByProject = ReadonlyArray<EventRows.Batch>

const sessionsOf = ({ events, project_id }: EventRows.Batch): DamageRepair.Sessions => ({
  project: events[0]!.project,
  project_id,
  sessions: Array.from(new Set(events.map(({ summary }) => summary.session)))
})

export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  derivation: Derivation.Derivation,
  clock: Clock.Clock
) => {
  const pieces = SharedPieces.make(sql)
  const keys = IdempotencyKeys.make(sql)
  const agentVersions = AgentVersionNumbers.make(sql)
  const kinds = EventKinds.make(sql)
  const newIds = NewIds.make(sql)
  const { changesInOneStatement, isSerial } = Dialects.of(sql)
  const inOneStatement = AppendInOneStatement.make(sql, agentVersions)
  const atOnce = AppendAtOnce.make(sql, { projects, kinds, agentVersions, clock })
  const appendToProject = AppendToProject.make(sql, projects, derivation, agentVersions, pieces)
  const repairs = DamageRepair.make(sql)
  const { afterConflict, afterDamage } = repairs
  const appendSteps = AppendSteps.make(sql, { projects, agentVersions, pieces, repairs })

  const appendInSteps = Effect.fnUntraced(function* (
    byProject: ByProject,
    existing: SharedPieces.Existing,
    missing: SharedPieces.Missing = new Map()
  ) {
    const taken: Array<TakenKey> = []
    for (const { events, project_id } of byProject) taken.push(...(yield* keys.take(project_id, events)))
    if (taken.length > 0) return yield* new KeyConflict({ taken })

    const sessions = new Map<AppendEvent, number>()
    let isOfOneNode = byProject.length === 1
    const conflicts: Array<{ readonly project: ProjectId; readonly session: string }> = []
    for (const batch of byProject) {
      const { events } = batch
      const appended = yield* appendToProject(batch, existing, missing)
      isOfOneNode &&= appended.isOfOneNode
      for (const session of appended.conflicts) conflicts.push({ project: events[0]!.project, session })
      for (const [index, number] of appended.sessions.entries()) sessions.set(events[index]!, number)
    }
    // Fails, to roll back the events of the other projects.
    return conflicts.length > 0 ? yield* new SessionConflict({ sessions: conflicts }) : { sessions, isOfOneNode }
  })

  const append = (...args: Parameters<typeof appendInSteps>) =>
    Effect.map(
      TwoPhaseCommit.transaction(sql, appendInSteps(...args), ({ isOfOneNode }) => isOfOneNode),
      ({ sessions }) => sessions
    )

  /** Undefined if nothing was appended, for whatever reason: the steps do it, or say why not. */
  const tryQuickly = (batch: EventRows.Batch): Effect.Effect<ReadonlyArray<number> | undefined, SqlError.SqlError> => {
    if (isSerial) return atOnce.append(batch)
    if (!changesInOneStatement) return Effect.undefined
    return Effect.catchIf(
      inOneStatement(batch),
      // Damage: the steps find it, too.
      (error) => error.reason._tag === "UniqueViolation" || isCorruption(error),
      () => Effect.undefined
    )
  }

  const appendEvents = Effect.fn("SqlStorage.appendEvents")(function* (events: ReadonlyArray<AppendEvent>) {
    const grouped = new Map<number, Array<AppendEvent>>()
    for (const event of events) {
      const project_id = yield* projects.findOrCreate(event.project)
      const group = grouped.get(project_id)
      if (group === undefined) grouped.set(project_id, [event])
      else group.push(event)
    }
    const byProject: Array<EventRows.Batch> = []
    for (const [project_id, group] of Array.from(grouped).sort(([a], [b]) => a - b)) {
      byProject.push({ project_id, events: group, kinds: yield* kinds.ensureAll(project_id, group) })
    }
    const isQuick = byProject.length === 1 && !Derivation.areLate(events)
    const appended = isQuick ? yield* tryQuickly(byProject[0]!) : undefined
    if (appended !== undefined) return appended
    const missing = new Map<number, ReadonlySet<string>>()
    for (const { events: group, project_id } of byProject) {
      const shared = group.flatMap(({ pack }) => pack.shared)
      if (shared.length > 0) missing.set(project_id, yield* pieces.prepare(project_id, shared))
    }
    if (missing.size > 0) yield* newIds.checkDelay(events)
    const sessions = yield* append(byProject, "compare", missing).pipe(
      Effect.catchTag("SqlError", (error) =>
        afterDamage(byProject.map(sessionsOf), error, append(byProject, "replace"))
      ),
      // The event that is there is acknowledged again.
      Effect.tapErrorTag("key-conflict", () => Dialects.of(sql).waitUntilKept),
      Effect.tapErrorTag("session-conflict", () => afterConflict(byProject.map(sessionsOf)))
    )
    return events.map((event) => sessions.get(event)!)
  })

  return { appendSteps, appendEvents, appendAtOnce: isSerial ? atOnce.appendAtOnce : undefined }
}
