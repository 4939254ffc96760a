/**
 * Appends events in one statement of Postgres if their sessions, agents and people all exist, which is nearly always so.
 * The round trips of the transaction in `AppendEvents` would take longer than its statements.
 *
 * Concurrent changes are seen although the statement's snapshot may be older than the rows that it locks: at the level READ
 * COMMITTED, Postgres evaluates `is_expected` again for a row that it had to wait for, and an update follows a row to its
 * newest version. At stricter levels the statement fails and is retried.
 * https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
 */
import type { AppendEvent } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import * as EventColumns from "../sql/EventColumns.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import * as EventRows from "./EventRows.ts"
import * as NewIds from "./NewIds.ts"
import * as SessionCounters from "./SessionCounters.ts"

/**
 * Returns the number of each event's session; undefined if nothing was appended. Then the transaction of `AppendEvents` has to do it,
 * which also finds out what conflicts.
 */
export const make = (
  sql: SqlClient.SqlClient,
  versions: AgentVersionNumbers.AgentVersions
): ((batch: EventRows.Batch) => Effect.Effect<ReadonlyArray<number> | undefined, SqlError.SqlError>) => {
  // The statement looks up the number of a person, so it takes the name.
  const { person_number: _, ...columns } = EventColumns.toInsert(sql)
  const columnNames = sql.literal(Object.keys(columns).join(", "))
  const incrementColumns = BulkValues.make(sql, SessionCounters.incrementColumns)
  const packColumns = BulkValues.make(sql, BulkValues.named({ ...EventRows.packTypes, ...Bucket.types(sql) }))
  const eventColumns = BulkValues.make(sql, {
    ...columns,
    person_id: { type: "varchar", value: ({ summary }: EventColumns.NumberedEvent) => summary.person }
  })
  const space = SpaceCounters.statements(sql)
  const { isYoung } = NewIds.make(sql)

  /** False for an event that creates a name, shares a piece or has an idempotency key: each takes a step of its own. */
  const isSimple = (project_id: number, { idempotency, pack, summary }: AppendEvent): boolean =>
    pack.session !== undefined &&
    pack.shared.length === 0 &&
    idempotency === undefined &&
    versions.cached(project_id, summary) !== undefined

  return Effect.fnUntraced(function* (batch: EventRows.Batch) {
    const { events, project_id } = batch
    if (events.length > BulkValues.maxRows || !events.every((event) => isSimple(project_id, event))) return undefined
    const sessions = new Map(events.map(({ pack, summary }) => [summary.session, pack.session!.number] as const))
    const { conflicts, increments } = SessionCounters.incrementsOf(project_id, sessions, events)
    if (conflicts.length > 0) return undefined
    const people = Array.from(new Set(events.flatMap(({ summary: { person } }) => person ?? [])))
    const rows = EventRows.rowsOf(sql, batch, {
      session: ({ session }) => sessions.get(session)!,
      versions: (summary) => versions.cached(project_id, summary)!,
      person: () => null
    })

    // Locks in the order of every transaction: people, sessions by their numbers, usage of sessions, usage of agents.
    const areAllUpdated = sql`(SELECT count(*) FROM updated) = ${increments.length}`
    const updated =
      yield* sql`WITH person AS MATERIALIZED (${NumberedNames.select(sql, NumberedNames.people, project_id, people)}
      ), increment ${incrementColumns.names} AS (${incrementColumns.of(increments)}
      ), locked AS MATERIALIZED (
        SELECT increment.*,
          sessions.generation = increment.generation AND sessions.packs = increment.packs AS is_expected
        FROM increment JOIN sessions ON ${SessionCounters.isIncremented(sql)}
        WHERE (SELECT count(*) FROM person) = ${people.length} AND ${isYoung(events)}
        ORDER BY sessions.session_number FOR UPDATE OF sessions
      ), updated AS (
        UPDATE sessions SET ${SessionCounters.incremented(sql)} FROM locked AS increment
        WHERE ${SessionCounters.isIncremented(sql)}
          AND (SELECT count(*) FROM locked WHERE is_expected) = ${increments.length}
        RETURNING sessions.session_number
      ), added_packs AS (
        INSERT INTO packs ${packColumns.names}
        SELECT * FROM (${packColumns.of(rows.packs)}) AS added WHERE ${areAllUpdated}
      ), added_events AS (
        INSERT INTO events (${columnNames}, person_number)
        SELECT ${columnNames}, person.number FROM (${eventColumns.of(rows.events)}) AS added ${eventColumns.names}
        LEFT JOIN person ON person.name = added.person_id WHERE ${areAllUpdated}
      ), added_usage AS (
        ${space.ofSessions(rows.increments.rowsOf(project_id), areAllUpdated)} RETURNING 1
      ), added_agent_usage AS (
        ${space.ofAgents(rows.increments.agentRowsOf(project_id), sql`${areAllUpdated} AND (SELECT count(*) FROM added_usage) > 0`)}
      ) SELECT session_number FROM updated`
    if (updated.length === 0) return undefined
    if (updated.length === increments.length) return events.map(({ pack }) => pack.session!.number)
    return yield* Effect.die(new Error(`${increments.length} sessions were locked, but ${updated.length} were updated`))
  })
}
