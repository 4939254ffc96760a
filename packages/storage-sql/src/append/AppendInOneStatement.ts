/**
 * Appends, in one statement of Postgres, events whose sessions, agents and people are all there already, as nearly all are.
 * Asking and answering for each step of a transaction would take longer than the steps.
 *
 * What somebody else changes meanwhile is seen: the statement's snapshot may be older than the rows that it waits for, but
 * Postgres computes `is_expected` anew of a row that it had to wait for, and an update follows its row to the newest version.
 * That is how it reads rows at the level READ COMMITTED; at stricter ones it fails, and is tried again.
 */
import type { AppendEvent } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as EventRows from "./EventRows.ts"
import * as BulkValues from "../sql/BulkValues.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import * as SessionCounters from "./SessionCounters.ts"
import * as Usage from "../usage/Usage.ts"

export interface KnownEvents {
  /**
   * Whether they are appended. If not, nothing is; then it takes the steps of a transaction, which also tell what is not as
   * expected.
   */
  readonly append: (project_id: number, events: ReadonlyArray<AppendEvent>) => Effect.Effect<boolean, SqlError.SqlError>
}

// A person's number is what the statement finds; it is given the name.
const { person_number: _, ...ownTypes } = EventRows.eventTypes
const eventTypes = { ...ownTypes, person_id: "varchar" } as const satisfies BulkValues.Types

const appendingIn = (
  sql: SqlClient.SqlClient,
  versions: AgentVersionNumbers.AgentVersions,
  rowsOf: EventRows.RowsOf
): KnownEvents["append"] => {
  const moveColumns = BulkValues.make(sql, SessionCounters.moveTypes)
  const packColumns = BulkValues.make(sql, EventRows.packTypes)
  const eventColumns = BulkValues.make(sql, eventTypes)
  const ownColumns = sql.literal(Object.keys(ownTypes).join(", "))
  const usageColumns = BulkValues.make(sql, Usage.usageTypes)

  /** What is not there yet has to be created; what is shared, or under a key, may be there already. */
  const isKnown = (project_id: number, { idempotency, pack, summary }: AppendEvent): boolean =>
    pack.session !== undefined &&
    pack.shared.length === 0 &&
    idempotency === undefined &&
    versions.known(project_id, summary) !== undefined

  return Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<AppendEvent>) {
    if (events.length > BulkValues.rowsAtOnce || !events.every((event) => isKnown(project_id, event))) return false
    const sessions = new Map(events.map(({ pack, summary }) => [summary.session, pack.session!.number] as const))
    const { moved, moves } = SessionCounters.movesOf(project_id, sessions, events)
    if (moved.length > 0) return false
    const people = Array.from(new Set(events.flatMap(({ summary: { person } }) => person ?? [])))
    const rows = rowsOf(project_id, events, {
      session: ({ session }) => sessions.get(session)!,
      versions: (summary) => versions.known(project_id, summary)!,
      person: () => null
    })

    // Locks are taken in the order of every transaction: people, sessions by their numbers, usage.
    const areAllMoved = sql`(SELECT count(*) FROM moved) = ${moves.length}`
    const found =
      yield* sql`WITH held AS MATERIALIZED (${NumberedNames.findEach(sql, NumberedNames.people, { project_id }, people)}
      ), move ${moveColumns.names} AS (${moveColumns.of(moves)}
      ), locked AS MATERIALIZED (
        SELECT move.*, sessions.generation = move.generation AND sessions.packs = move.packs AS is_expected
        FROM move JOIN sessions ON ${SessionCounters.isTheirs(sql)}
        WHERE (SELECT count(*) FROM held) = ${people.length}
        ORDER BY sessions.session_number FOR UPDATE OF sessions
      ), moved AS (
        UPDATE sessions SET ${SessionCounters.added(sql)} FROM locked AS move
        WHERE ${SessionCounters.isTheirs(sql)}
          AND (SELECT count(*) FROM locked WHERE is_expected) = ${moves.length}
        RETURNING sessions.session_number
      ), added_packs AS (
        INSERT INTO packs ${packColumns.names}
        SELECT * FROM (${packColumns.of(rows.packs)}) AS added WHERE ${areAllMoved}
      ), added_events AS (
        INSERT INTO events (${ownColumns}, person_number)
        SELECT ${ownColumns}, held.number FROM (${eventColumns.of(rows.events)}) AS added ${eventColumns.names}
        LEFT JOIN held ON held.name = added.person_id WHERE ${areAllMoved}
      ), added_usage AS (
        INSERT INTO storage_usage ${usageColumns.names}
        SELECT * FROM (${usageColumns.of(rows.tally.rowsOf(project_id))}) AS added WHERE ${areAllMoved} ${Usage.onConflict(sql)}
      ) SELECT session_number FROM moved`
    if (found.length === 0 || found.length === moves.length) return found.length > 0
    return yield* Effect.die(new Error(`Of ${moves.length} sessions that were locked, ${found.length} were updated`))
  })
}

/** Other databases take steps always. */
export const make = (
  sql: SqlClient.SqlClient,
  versions: AgentVersionNumbers.AgentVersions,
  rowsOf: EventRows.RowsOf
): KnownEvents => ({
  append: sql.onDialectOrElse({
    pg: () => appendingIn(sql, versions, rowsOf),
    orElse: () => () => Effect.succeed(false)
  })
})
