/**
 * Appends events in one statement of Postgres if their agents and people exist, which is nearly always so, and creates sessions. The
 * round trips of the transaction in `AppendEvents` would take longer than its statements.
 *
 * Concurrent changes are seen although the statement's snapshot may be older than the rows that it locks: at the level READ
 * COMMITTED, Postgres evaluates `is_expected` again for a row that it had to wait for, and an update follows a row to its
 * newest version. A session that another transaction has created meanwhile violates the index of their names, which undoes all. At stricter
 * levels the statement fails and is retried.
 * https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
 */
import type { AppendEvent } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import * as EventColumns from "../sql/EventColumns.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import * as EventRows from "./EventRows.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as NewIds from "./NewIds.ts"
import * as SessionCounters from "./SessionCounters.ts"

interface Batch extends EventRows.Batch {
  /** Sessions to create. Their numbers are negative: they are to be added to the number that the project has next. */
  readonly created: number
  readonly sessions: ReadonlyMap<string, number>
  readonly increments: ReturnType<typeof SessionCounters.incrementsOf>["increments"]
  readonly people: ReadonlyArray<string>
  readonly rows: ReturnType<typeof EventRows.rowsOf>
}

/** Undefined if an event creates a name of another kind, shares a piece or conflicts: each takes a step of its own. */
const prepare = (
  sql: SqlClient.SqlClient,
  versions: AgentVersionNumbers.AgentVersions,
  batch: EventRows.Batch
): Batch | undefined => {
  const { events, project_id } = batch
  const isSimple = ({ pack, summary }: AppendEvent) =>
    pack.shared.length === 0 && versions.cached(project_id, summary) !== undefined
  if (events.length > BulkValues.maxRows || !events.every(isSimple)) return undefined
  const { created, sessions } = numbersOf(events)
  const { conflicts, increments } = SessionCounters.incrementsOf(project_id, sessions, events)
  const isConflict = increments.some(({ packs, session_number }) => session_number < 0 && packs > 0)
  if (isConflict || conflicts.length > 0) return undefined
  const people = Array.from(new Set(events.flatMap(({ summary: { person } }) => person ?? [])))
  const rows = EventRows.rowsOf(sql, batch, {
    session: ({ session }) => sessions.get(session)!,
    versions: (summary) => versions.cached(project_id, summary)!,
    person: () => null
  })
  return { ...batch, created, sessions, increments, people, rows }
}

const numbersOf = (events: ReadonlyArray<AppendEvent>): Pick<Batch, "created" | "sessions"> => {
  const sessions = new Map<string, number>()
  const names = new Set<string>()
  for (const { pack, summary } of events) {
    if (pack.session === undefined) names.add(summary.session)
    else sessions.set(summary.session, pack.session.number)
  }
  let number = -names.size
  for (const name of names) sessions.set(name, number++)
  return { created: names.size, sessions }
}

/** The names of columns, without the number of the session. */
const others = (sql: SqlClient.SqlClient, columns: object): Statement.Fragment =>
  sql.literal(
    Object.keys(columns)
      .filter((name) => name !== "session_number")
      .join(", ")
  )

/** Locks in the order of every transaction: keys, people, the project, sessions by their numbers, usage of sessions, usage of agents. */
const statements = (sql: SqlClient.SqlClient) => {
  // The statement looks up the number of a person, so it takes the name.
  const { person_number: _, ...columns } = EventColumns.toInsert(sql)
  const eventNames = others(sql, columns)
  const packNames = others(sql, EventRows.packTypes)
  const incrementColumns = BulkValues.make(sql, SessionCounters.incrementColumns)
  const packColumns = BulkValues.make(sql, BulkValues.named(EventRows.packTypes))
  const eventColumns = BulkValues.make(sql, {
    ...columns,
    person_id: { type: "varchar", value: ({ summary }: EventColumns.NumberedEvent) => summary.person }
  })
  const space = SpaceCounters.statements(sql)
  const { isYoung } = NewIds.make(sql)
  const keysOf = IdempotencyKeys.inOneStatement(sql)
  const isIncremented = SessionCounters.isIncremented(sql)
  const isAsExpected = sql.literal("sessions.generation = increment.generation AND sessions.packs = increment.packs")
  const numbered = sql.literal(
    "session_number + CASE WHEN session_number > 0 THEN 0 ELSE (SELECT next FROM counted) END"
  )
  const there = sql.literal("(SELECT count(*) FROM updated) + (SELECT count(*) FROM created)")

  return ({ created, events, increments, people, project_id, rows }: Batch) => {
    const existing = increments.length - created
    const isAppended = sql`(${there} = ${increments.length})`
    const keys = keysOf(project_id, events, {
      isForeseen: sql`(SELECT count(*) FROM people WHERE project_id = ${project_id}
          AND ${BulkValues.isAmong(sql, "person_id", "varchar", people)}) = ${people.length}
          AND (SELECT count(*) FROM increment JOIN sessions ON ${isIncremented} AND ${isAsExpected}) = ${existing}`,
      isAppended
    })
    const isReady = sql`${keys.areTaken} AND (SELECT count(*) FROM person) = ${people.length} AND ${isYoung(events)}`
    const areLocked = sql`(SELECT count(*) FROM locked WHERE is_expected) = ${existing}`
    return sql<{
      there: Integer
      next: number | null
    }>`WITH increment ${incrementColumns.names} AS (${incrementColumns.of(increments)}
      )${keys.first}, person AS MATERIALIZED (
        ${NumberedNames.select(sql, NumberedNames.people, project_id, people)} WHERE ${keys.areTaken}
      ), project AS MATERIALIZED (
        SELECT 1 FROM projects WHERE project_id = ${project_id} AND ${created} > 0 AND ${isReady} FOR NO KEY UPDATE
      ), locked AS MATERIALIZED (
        SELECT increment.*, ${isAsExpected} AS is_expected FROM increment JOIN sessions ON ${isIncremented}
        WHERE (SELECT count(*) FROM project) = ${Math.min(created, 1)} AND ${isReady}
        ORDER BY sessions.session_number FOR UPDATE OF sessions
      ), updated AS (
        UPDATE sessions SET ${SessionCounters.incremented(sql)} FROM locked AS increment
        WHERE ${isIncremented} AND ${areLocked}
        RETURNING sessions.session_number
      ), counted AS (
        UPDATE projects SET sessions = sessions + ${created}
        WHERE project_id = ${project_id} AND (SELECT count(*) FROM project) > 0 AND ${areLocked}
        RETURNING sessions + 1 AS next
      ), created AS (
        INSERT INTO sessions (project_id, session_number, session_id, packs, history, parts, stored_bytes, ranked_bytes)
        SELECT project_id, counted.next + session_number, session_id, added, history, parts, stored, stored
        FROM increment CROSS JOIN counted WHERE session_number < 0
        RETURNING session_number
      ), added_packs AS (
        INSERT INTO packs (${packNames}, session_number)
        SELECT ${packNames}, ${numbered} FROM (${packColumns.of(rows.packs)}) AS added ${packColumns.names}
        WHERE ${isAppended}
      ), added_events AS (
        INSERT INTO events (${eventNames}, session_number, person_number)
        SELECT ${eventNames}, ${numbered}, person.number FROM (${eventColumns.of(rows.events)}) AS added ${eventColumns.names}
        LEFT JOIN person ON person.name = added.person_id WHERE ${isAppended}
      ), added_usage AS (
        ${space.ofSessions(rows.increments.rowsOf(project_id), isAppended, numbered)} RETURNING 1
      ), added_agent_usage AS (
        ${space.ofAgents(rows.increments.agentRowsOf(project_id), sql`${isAppended} AND (SELECT count(*) FROM added_usage) > 0`)}
      )${keys.last} SELECT ${there} AS there, (SELECT next FROM counted) AS next`
  }
}

/**
 * Returns the number of each event's session; undefined if nothing was appended. Then the transaction of `AppendEvents` has to do it,
 * which also finds out what conflicts.
 */
export const make = (
  sql: SqlClient.SqlClient,
  versions: AgentVersionNumbers.AgentVersions
): ((batch: EventRows.Batch) => Effect.Effect<ReadonlyArray<number> | undefined, SqlError.SqlError>) => {
  const statementOf = statements(sql)
  return Effect.fnUntraced(function* (batch: EventRows.Batch) {
    const prepared = prepare(sql, versions, batch)
    if (prepared === undefined) return undefined
    const { increments, sessions } = prepared
    const [row] = yield* statementOf(prepared)
    const there = Number(row!.there)
    if (there === 0) return undefined
    if (there < increments.length) {
      return yield* Effect.die(new Error(`${increments.length} sessions were locked, but ${there} were updated`))
    }
    return batch.events.map(({ summary: { session } }) => {
      const number = sessions.get(session)!
      return number > 0 ? number : number + row!.next!
    })
  })
}
