/** Appends events of one project, within a transaction. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as DataModifyingWith from "../dialect/DataModifyingWith.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import type * as Projects from "../names/Projects.ts"
import * as CountedEvent from "../rollup/CountedEvent.ts"
import * as Derivation from "../rollup/Derivation.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import * as EventColumns from "../sql/EventColumns.ts"
import * as EventNumbers from "./EventNumbers.ts"
import * as EventRows from "./EventRows.ts"
import * as NewIds from "./NewIds.ts"
import * as NodeChecks from "./NodeChecks.ts"
import * as SessionCounters from "./SessionCounters.ts"
import type * as SharedPieces from "./SharedPieces.ts"

export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  derivation: Derivation.Derivation,
  agentVersions: AgentVersionNumbers.AgentVersions,
  pieces: SharedPieces.SharedPieces
) => {
  const space = SpaceCounters.make(sql, projects)
  const counters = SessionCounters.make(sql)
  const checkNodes = NodeChecks.make(sql, agentVersions)
  const newIds = NewIds.make(sql)
  const numbersOf = EventNumbers.make(sql, agentVersions)
  const packColumns = BulkValues.make(sql, BulkValues.named({ ...EventRows.packTypes, ...Bucket.types(sql) }))
  const eventColumns = BulkValues.make(sql, EventColumns.toInsert(sql))

  /** Returns the sessions that conflict, or the number of each event's session, and whether all rows are on the node of the sessions. */
  return Effect.fnUntraced(function* (
    batch: EventRows.Batch,
    existing: SharedPieces.Existing,
    missing: SharedPieces.Missing
  ) {
    const { events, project_id } = batch
    yield* newIds.checkOrder(project_id, events)
    const position = Derivation.areLate(events) ? yield* derivation.lock(project_id) : undefined
    const summaries = events.map(({ summary }) => summary)
    const { areNew, people, sessions, versions } = yield* numbersOf(project_id, events, summaries)

    const { conflicts, now } = yield* counters.add(project_id, sessions, events)
    if (conflicts.length > 0) return { conflicts, sessions: [], isOfOneNode: false }
    // Before what takes the longest: the ids are no older then than what came before.
    yield* newIds.checkAge(events, now)

    yield* checkNodes(project_id, summaries, { people, sessions, versions }, batch.kinds)

    const rows = EventRows.rowsOf(sql, batch, {
      session: ({ session }) => sessions.get(session)!,
      versions,
      person: ({ person }) => (person === null ? null : people.get(person)!)
    })
    const owners = events.map(({ pack, summary }) => ({
      session_number: sessions.get(summary.session)!,
      shared: pack.shared
    }))
    yield* pieces.own(project_id, owners, existing, missing, rows.increments)
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
    if (areNew) yield* TwoPhaseCommit.refuseInDoubt(sql)
    const isOfOneNode =
      !areNew &&
      owners.every(({ shared }) => shared.length === 0) &&
      position === undefined &&
      new Set(summaries.map(({ session }) => Bucket.laneOf(sql, session))).size === 1
    return { conflicts, sessions: owners.map(({ session_number }) => session_number), isOfOneNode }
  })
}
