/**
 * Appending in one statement, for Postgres: what most events are, whose session, agent and person are there already. To ask
 * and to answer for each step of a transaction takes longer than the steps.
 */
import type { AppendEvent } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type * as AgentVersions from "./AgentVersions.ts"
import * as EventRows from "./EventRows.ts"
import * as ManyRows from "./ManyRows.ts"
import * as SessionCounters from "./SessionCounters.ts"
import * as Usage from "./Usage.ts"

export interface KnownEvents {
  /**
   * Whether they are appended. If not, nothing is; then it takes the steps of a transaction, which also tell what is not as
   * expected.
   */
  readonly append: (project_id: number, events: ReadonlyArray<AppendEvent>) => Effect.Effect<boolean, SqlError.SqlError>
}

/** Here, a person goes by the name: the number is what the statement finds. */
const eventTypes = { ...EventRows.eventTypes, person_number: "varchar" } as const satisfies ManyRows.Types

const appendingIn = (
  sql: SqlClient.SqlClient,
  versions: AgentVersions.AgentVersions,
  rowsOf: EventRows.RowsOf
): KnownEvents["append"] => {
  const moveColumns = ManyRows.make(sql, SessionCounters.types)
  const packColumns = ManyRows.make(sql, EventRows.packTypes)
  const eventColumns = ManyRows.make(sql, eventTypes)
  const usageColumns = ManyRows.make(sql, Usage.types)
  const eventValues = sql.literal(
    Object.keys(eventTypes)
      .map((name) => (name === "person_number" ? "held.person_number" : `t.${name}`))
      .join(", ")
  )

  /** What there is no number for yet has to be created; what is unique has to be asked for first. */
  const isKnown = (project_id: number, { idempotency, pack, summary }: AppendEvent): boolean =>
    pack.session !== undefined &&
    pack.shared.length === 0 &&
    idempotency === undefined &&
    versions.known(project_id, summary) !== undefined

  return Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<AppendEvent>) {
    if (events.length > ManyRows.rowsAtOnce || !events.every((event) => isKnown(project_id, event))) return false
    const sessions = new Map(events.map(({ pack, summary }) => [summary.session, pack.session!.number] as const))
    const { moved, moves } = SessionCounters.movesOf(project_id, sessions, events)
    if (moved.length > 0) return false
    const people = Array.from(new Set(events.flatMap(({ summary: { person } }) => person ?? [])))
    const rows = rowsOf(project_id, events, {
      session: ({ session }) => sessions.get(session)!,
      versions: (summary) => versions.known(project_id, summary)!,
      person: (person) => person
    })

    const isDone = sql`(SELECT count(*) FROM moved) = ${moves.length}`
    const statement = sql`WITH held AS MATERIALIZED (
        SELECT found.* FROM unnest(${ManyRows.array(sql, "varchar", people)}) AS wanted (person_id) CROSS JOIN LATERAL (
          SELECT person_id, person_number FROM people
          WHERE project_id = ${project_id} AND person_id = wanted.person_id LIMIT 1 FOR KEY SHARE) AS found
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
        INSERT INTO packs ${packColumns.names} SELECT * FROM (${packColumns.of(rows.packs)}) AS t WHERE ${isDone}
      ), added_events AS (
        INSERT INTO events ${eventColumns.names}
        SELECT ${eventValues} FROM (${eventColumns.of(rows.events)}) AS t ${eventColumns.names}
        LEFT JOIN held ON held.person_id = t.person_number WHERE ${isDone}
      ), added_usage AS (
        INSERT INTO storage_usage ${usageColumns.names}
        SELECT * FROM (${usageColumns.of(rows.tally.rowsOf(project_id))}) AS t WHERE ${isDone} ${Usage.onConflict(sql)}
      ) SELECT session_number FROM moved`
    const [text, parameters] = statement.compile()
    // On a connection of its own: others, who share one, would wait for the commit.
    const done = yield* Effect.scoped(
      Effect.flatMap(sql.reserve, (connection) => connection.execute(text, parameters, undefined))
    )
    return done.length > 0
  })
}

export const make = (
  sql: SqlClient.SqlClient,
  versions: AgentVersions.AgentVersions,
  rowsOf: EventRows.RowsOf
): KnownEvents => ({
  append: sql.onDialectOrElse({
    pg: () => appendingIn(sql, versions, rowsOf),
    orElse: () => () => Effect.succeed(false)
  })
})
