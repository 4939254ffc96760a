/**
 * Appends events by prepared statements that run one after the other within one transaction, where the database has no round trips
 * to save. `AppendInOneStatement` is its counterpart for Postgres.
 */
import type { AppendEvent } from "@tachograph/core"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as AtOnce from "../dialect/AtOnce.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as CommitOrder from "../dialect/CommitOrder.ts"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import type * as EventKinds from "../names/EventKinds.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import type * as Projects from "../names/Projects.ts"
import * as Derivation from "../rollup/Derivation.ts"
import * as EventColumns from "../sql/EventColumns.ts"
import * as SessionSizes from "../space/SessionSizes.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import * as EventRows from "./EventRows.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as NewIds from "./NewIds.ts"
import * as SessionCounters from "./SessionCounters.ts"

interface Names {
  readonly projects: Projects.Projects
  readonly kinds: EventKinds.EventKinds
  readonly agentVersions: AgentVersionNumbers.AgentVersions
}

/**
 * The body of a transaction, which returns the number of each event's session. Undefined, as what the body returns, if the batch needs
 * `AppendEvents`. `now` is in epoch milliseconds.
 */
const bodies = (
  sql: SqlClient.SqlClient,
  versions: AgentVersionNumbers.AgentVersions
): ((batch: EventRows.Batch, now: number) => AtOnce.Body<ReadonlyArray<number>> | undefined) => {
  const packs = BulkValues.ofOneRow(
    sql,
    BulkValues.named(EventRows.packTypes),
    (row, names) => sql`INSERT INTO packs ${names} ${row}`
  )
  const events = BulkValues.ofOneRow(
    sql,
    EventColumns.toInsert(sql),
    (row, names) => sql`INSERT INTO events ${names} ${row}`
  )
  const increments = BulkValues.ofOneRow(sql, SessionCounters.incrementColumns, (row, names) =>
    SessionCounters.update(sql, sql`WITH increment ${names} AS (${row})`, sql.literal(""))
  )
  const space = SpaceCounters.ofOneRow(sql)
  const takeKeys = IdempotencyKeys.atOnce(sql)
  const sessions = NumberedNames.atOnce(sql, NumberedNames.sessions)
  const people = NumberedNames.atOnce(sql, NumberedNames.people)

  /** Creates those that the client takes for new. Undefined if one exists: it was created meanwhile. */
  const sessionsOf = (run: AtOnce.RunAtOnce, project_id: number, batch: ReadonlyArray<AppendEvent>) => {
    const numbers = new Map<string, number>()
    const created = new Set<string>()
    for (const { pack, summary } of batch) {
      if (pack.session === undefined) created.add(summary.session)
      else numbers.set(summary.session, pack.session.number)
    }
    if (created.size === 0) return numbers
    const added = sessions.create(run, project_id, created)
    if (added === undefined) return undefined
    for (const [name, number] of added) numbers.set(name, number)
    return numbers
  }

  const appendTo = (run: AtOnce.RunAtOnce, batch: EventRows.Batch, now: number) => {
    const { project_id } = batch
    const newest = CommitOrder.newestIn(run(...CommitOrder.selectNewest(sql, project_id, now).compile()))
    if (!NewIds.areAbove(batch.events, newest) || !takeKeys(run, project_id, batch.events)) return undefined
    const names = people.find(
      run,
      project_id,
      batch.events.flatMap(({ summary: { person } }) => person ?? [])
    )
    const numbers = sessionsOf(run, project_id, batch.events)
    if (names === undefined || numbers === undefined) return undefined

    const counted = SessionCounters.incrementsOf(project_id, numbers, batch.events)
    if (counted.conflicts.length > 0) return undefined
    for (const increment of counted.increments) {
      const [updated] = run(increments.text, increments.values(increment))
      if (updated === undefined) return undefined
      if (!updated["is_ranked"]) {
        run(...SessionSizes.ranking(sql, project_id, [increment.session_number]).compile())
      }
    }
    const rows = EventRows.rowsOf(sql, batch, {
      session: ({ session }) => numbers.get(session)!,
      versions: (summary) => versions.cached(project_id, summary)!,
      person: ({ person }) => (person === null ? null : names.get(person)!)
    })
    for (const row of rows.packs) run(packs.text, packs.values(row))
    for (const row of rows.events) run(events.text, events.values(row))
    for (const row of rows.increments.rowsOf(project_id)) run(space.ofSessions.text, space.ofSessions.values(row))
    for (const row of rows.increments.agentRowsOf(project_id)) run(space.ofAgents.text, space.ofAgents.values(row))
    return batch.events.map(({ summary }) => numbers.get(summary.session)!)
  }

  const isKnown =
    (project_id: number) =>
    ({ pack, summary }: AppendEvent) =>
      pack.shared.length === 0 && versions.cached(project_id, summary) !== undefined

  return (batch, now) =>
    batch.events.every(isKnown(batch.project_id)) ? (run) => appendTo(run, batch, now) : undefined
}

/** To wait for the disk on another thread takes longer, so that one event alone is not made to. */
const flushesLater = ({ events }: EventRows.Batch): boolean => events.length > 1

export const make = (sql: SqlClient.SqlClient, names: Names & { readonly clock: Clock.Clock }) => {
  const { agentVersions, clock, kinds, projects } = names
  const bodyOf = bodies(sql, agentVersions)

  /** New events of one project, with their numbers; undefined if the process does not know all that they name. */
  const knownBatch = (events: ReadonlyArray<AppendEvent>): EventRows.Batch | undefined => {
    const [first] = events
    const project_id = first && projects.cached(first.project)
    if (project_id === undefined || events.some(({ project }) => project !== first!.project)) return undefined
    const numbers = Derivation.areLate(events) ? undefined : kinds.cached(project_id, events)
    return numbers && { project_id, events, kinds: numbers }
  }

  return {
    /** As `AppendInOneStatement`. */
    append: (batch: EventRows.Batch): Effect.Effect<ReadonlyArray<number> | undefined, SqlError.SqlError> => {
      const body = bodyOf(batch, clock.currentTimeMillisUnsafe())
      return body === undefined ? Effect.undefined : AtOnce.transact(sql, body, flushesLater(batch))
    },
    /** Undefined also if the connection is in use, or the lock is held. Throws a `SqlError` if the commit fails. */
    appendAtOnce: (events: ReadonlyArray<AppendEvent>) => {
      const batch = knownBatch(events)
      const body = batch && bodyOf(batch, clock.currentTimeMillisUnsafe())
      return body && (sql as AtOnce.AtOnceClient).transactAtOnce(body, flushesLater(batch))
    }
  }
}
