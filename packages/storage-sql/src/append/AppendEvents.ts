/** Appends events, in one transaction. */
import { type AppendEvent, KeyConflict, type ProjectId, SessionConflict, type TakenKey } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as DataModifyingWith from "../dialect/DataModifyingWith.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as EventKinds from "../names/EventKinds.ts"
import * as NodeCopies from "../names/NodeCopies.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import * as PeopleInUse from "../names/PeopleInUse.ts"
import type * as Projects from "../names/Projects.ts"
import * as SessionNumbers from "../names/SessionNumbers.ts"
import * as EventColumns from "../sql/EventColumns.ts"
import * as CountedEvent from "../rollup/CountedEvent.ts"
import * as Derivation from "../rollup/Derivation.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import { isCorruption } from "../sql/SqlErrors.ts"
import * as AppendInOneStatement from "./AppendInOneStatement.ts"
import * as CounterRepair from "./CounterRepair.ts"
import * as EventRows from "./EventRows.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as NewIds from "./NewIds.ts"
import * as SessionCounters from "./SessionCounters.ts"
import * as SharedPieces from "./SharedPieces.ts"

/** In the order of the projects' numbers: all transactions lock in this order. */
type ByProject = ReadonlyArray<EventRows.Batch>

const sessionsOf = (events: ReadonlyArray<AppendEvent>): ReadonlyArray<string> =>
  Array.from(new Set(events.map(({ summary }) => summary.session)))

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects, derivation: Derivation.Derivation) => {
  const isDistributed = Bucket.isDistributed(sql)
  const pieces = SharedPieces.make(sql)
  const space = SpaceCounters.make(sql, projects)
  const keys = IdempotencyKeys.make(sql)
  const counters = SessionCounters.make(sql)
  const agentVersions = AgentVersionNumbers.make(sql)
  const kinds = EventKinds.make(sql)
  const copies = NodeCopies.make(sql)
  const newIds = NewIds.make(sql)
  const appendInOneStatement = AppendInOneStatement.make(sql, agentVersions)
  const { repair, repairStates } = CounterRepair.make(sql)

  const packColumns = BulkValues.make(sql, BulkValues.named({ ...EventRows.packTypes, ...Bucket.types(sql) }))
  const eventColumns = BulkValues.make(sql, EventColumns.toInsert(sql))

  /**
   * Appends events of one project, in a transaction. Returns the sessions that conflict, or the number of each event's session, and
   * whether all rows are on the node of the sessions.
   */
  const appendIn = Effect.fnUntraced(function* (
    batch: EventRows.Batch,
    existing: SharedPieces.Existing,
    missing: SharedPieces.Missing
  ) {
    const { events, project_id } = batch
    yield* newIds.checkOrder(project_id, events)
    const position = Derivation.areLate(events) ? yield* derivation.lock(project_id) : undefined
    const summaries = events.map(({ summary }) => summary)
    const people = new Map(
      summaries.flatMap(({ person, receivedAt }) =>
        person === null ? [] : [[person, { properties: null, created_at: receivedAt.epochMilliseconds }] as const]
      )
    )
    const expected = new Map<string, number>()
    const newSessions = new Map<string, NumberedNames.Columns>()
    for (const { pack, summary } of events) {
      if (pack.session === undefined) newSessions.set(summary.session, {})
      else expected.set(summary.session, pack.session.number)
    }
    // Reads first, then locks the project's row (agents, people, sessions) and after it the agents' rows (versions).
    const foundVersions = yield* agentVersions.find(project_id, summaries)
    const foundPeople = yield* NumberedNames.find(sql, NumberedNames.people, project_id, Array.from(people.keys()))
    const missingVersions = agentVersions.missingOf(summaries, foundVersions)
    const areNamesNew = missingVersions.length > 0 || foundPeople.size < people.size
    // Rather than wait for the project's row, which a transaction in doubt keeps locked.
    if (areNamesNew) yield* TwoPhaseCommit.refuseInDoubt(sql)
    const createdAgents = yield* agentVersions.createAgents(project_id, missingVersions, foundVersions)
    const personNumbers = yield* NumberedNames.ensure(sql, NumberedNames.people, project_id, people, foundPeople)
    const created = isDistributed
      ? yield* SessionNumbers.ensure(sql, project_id, Array.from(newSessions.keys()))
      : yield* NumberedNames.ensure(sql, NumberedNames.sessions, project_id, newSessions)
    const sessionNumbers = new Map([...expected, ...created])
    const versions = yield* agentVersions.createVersions(createdAgents)

    const { conflicts, now } = yield* counters.add(project_id, sessionNumbers, events)
    if (conflicts.length > 0) return { conflicts, sessions: [], isOfOneNode: false }
    // Before what takes the longest: the ids are no older then than what came before.
    yield* newIds.checkAge(events, now)

    if (isDistributed) {
      const uses = summaries.flatMap(({ person, session }) =>
        person === null ? [] : [{ session: sessionNumbers.get(session)!, person: personNumbers.get(person)! }]
      )
      yield* PeopleInUse.lock(sql, project_id, uses)
      yield* copies.check(
        project_id,
        summaries.map((summary, n) => ({
          ...versions(summary),
          session_number: sessionNumbers.get(summary.session)!,
          lane: Bucket.laneOf(sql, summary.session),
          kind_number: batch.kinds[n]!,
          isCommitted: agentVersions.cached(project_id, summary) !== undefined
        }))
      )
    }

    const rows = EventRows.rowsOf(sql, batch, {
      session: ({ session }) => sessionNumbers.get(session)!,
      versions,
      person: ({ person }) => (person === null ? null : personNumbers.get(person)!)
    })
    const owners = events.map(({ pack, summary }) => ({
      session_number: sessionNumbers.get(summary.session)!,
      shared: pack.shared
    }))
    yield* ownPieces(project_id, owners, existing, missing, rows.increments)
    yield* DataModifyingWith.asOneStatement(sql, [
      ...BulkValues.chunks(rows.packs).map(
        (chunk) => sql`INSERT INTO packs ${packColumns.names} ${packColumns.toInsert(chunk)}`
      ),
      ...BulkValues.chunks(rows.events).map(
        (chunk) => sql`INSERT INTO events ${eventColumns.names} ${eventColumns.toInsert(chunk)}`
      ),
      ...space.additions(project_id, rows.increments)
    ])
    yield* space.addToProject(project_id, rows.increments)
    if (position !== undefined) {
      yield* derivation.afterAppend(project_id, position, rows.events.map(CountedEvent.ofNumbered))
    }
    if (areNamesNew) yield* TwoPhaseCommit.refuseInDoubt(sql)
    const isOfOneNode =
      !areNamesNew &&
      owners.every(({ shared }) => shared.length === 0) &&
      position === undefined &&
      new Set(summaries.map(({ session }) => Bucket.laneOf(sql, session))).size === 1
    return { conflicts, sessions: owners.map(({ session_number }) => session_number), isOfOneNode }
  })

  /** Stores the shared pieces, and counts the new ones. */
  const ownPieces = Effect.fnUntraced(function* (
    project_id: number,
    owners: Parameters<typeof pieces.own>[1],
    existing: SharedPieces.Existing,
    missing: SharedPieces.Missing,
    increments: SpaceCounters.Increments
  ) {
    if (owners.every(({ shared }) => shared.length === 0)) return
    for (const piece of yield* pieces.own(project_id, owners, existing, missing)) {
      increments.add(SpaceCounters.ofPieces(sql, Bucket.ofPiece(piece.sha256)), {
        entries: 1,
        new_bytes: piece.size,
        stored_bytes: piece.bytes().length
      })
    }
  })

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
      const appended = yield* appendIn(batch, existing, missing)
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

  /** What to do about the error of a transaction that damaged rows stood in the way of. */
  const afterDamage = Effect.fnUntraced(function* (byProject: ByProject, error: SqlError.SqlError) {
    // The database cannot read a shared piece.
    if (isCorruption(error)) return yield* append(byProject, "replace")
    if (error.reason._tag !== "UniqueViolation") return yield* error
    const repairs = Effect.forEach(byProject, ({ events, project_id }) => repair(project_id, sessionsOf(events)))
    const raised = yield* TwoPhaseCommit.onAllNodes(sql, repairs)
    if (raised.every((counters) => counters === 0)) return yield* error
    return yield* new SessionConflict({
      sessions: byProject.flatMap(({ events }) =>
        sessionsOf(events).map((session) => ({ project: events[0]!.project, session }))
      )
    })
  })

  const tryOneStatement: typeof appendInOneStatement = (batch) =>
    Effect.catchIf(
      appendInOneStatement(batch),
      // Damage: the steps find it, too.
      ({ reason }) => reason._tag === "UniqueViolation",
      () => Effect.succeed(false)
    )

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
    if (isQuick && (yield* tryOneStatement(byProject[0]!))) {
      return events.map(({ pack }) => pack.session!.number)
    }
    const missing = new Map<number, ReadonlySet<string>>()
    for (const { events: group, project_id } of byProject) {
      const shared = group.flatMap(({ pack }) => pack.shared)
      if (shared.length > 0) missing.set(project_id, yield* pieces.prepare(project_id, shared))
    }
    if (missing.size > 0) yield* newIds.checkDelay(events)
    const sessions = yield* append(byProject, "compare", missing).pipe(
      Effect.catchTag("SqlError", (error) => afterDamage(byProject, error)),
      // The event that is there is acknowledged again.
      Effect.tapErrorTag("key-conflict", () => Dialects.of(sql).waitForStandbys),
      Effect.tapErrorTag("session-conflict", () =>
        Effect.forEach(byProject, ({ events, project_id }) => repairStates(project_id, sessionsOf(events)))
      )
    )
    return events.map((event) => sessions.get(event)!)
  })

  return { appendEvents }
}
