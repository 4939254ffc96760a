/**
 * Raises counters that are below the numbers in use, which only damage can cause: a changed bit in a counter, or in the number
 * of a row. Without it, every later row would get a number that is taken.
 */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as SessionNumbers from "../names/SessionNumbers.ts"

/** A row whose damaged number is further away does not count: no counter reaches it soon, and counters must not overflow. */
const maxRaise = 2 ** 20

interface Counter {
  /** The row that has the counter. */
  readonly parent: string
  readonly counter: string
  readonly child: string
  readonly number: string
  /** The columns that both tables share. */
  readonly shared: ReadonlyArray<string>
}

const names: ReadonlyArray<Counter> = [
  { parent: "projects", counter: "agents", child: "agents", number: "agent_number", shared: ["project_id"] },
  { parent: "projects", counter: "people", child: "people", number: "person_number", shared: ["project_id"] },
  { parent: "projects", counter: "sessions", child: "sessions", number: "session_number", shared: ["project_id"] },
  {
    parent: "agents",
    counter: "versions",
    child: "agent_versions",
    number: "agent_version_number",
    shared: ["project_id", "agent_number"]
  }
]

const packs: Counter = {
  parent: "sessions",
  counter: "packs",
  child: "packs",
  number: "pack_number",
  shared: ["project_id", "session_number"]
}

/** Generations above it are not exact in a `number`. Also the one that such a session gets: no process knows the session by it. */
const maxGeneration = 2 ** 52

/** The highest number of a pack that the column can hold. In SQLite, text is above it. */
const maxPacks = 2 ** 31 - 1

export const make = (sql: SqlClient.SqlClient) => {
  const ofBuckets = (sessions: ReadonlyArray<string>) => Bucket.and(sql, sessions.map(Bucket.ofSession))
  const raise = (
    { child, counter, number, parent, shared }: Counter,
    project_id: number,
    also: { readonly set?: Statement.Fragment; readonly where?: Statement.Fragment } = {}
  ) => {
    const kept = sql`${sql(parent)}.${sql(counter)}`
    const highest = sql`(SELECT max(child.${sql(number)}) FROM ${sql(child)} AS child
      WHERE ${sql.and(shared.map((column) => sql`child.${sql(column)} = ${sql(parent)}.${sql(column)}`))}${
        counter === packs.counter ? Bucket.andSame(sql, "child", parent) : sql.literal("")
      }
        AND child.${sql(number)} > ${kept} AND child.${sql(number)} < ${kept} + ${sql.literal(String(maxRaise))})`
    const nothing = sql.literal("")
    return sql`UPDATE ${sql(parent)} SET ${sql(counter)} = ${highest}${also.set ?? nothing}
      WHERE project_id = ${project_id} AND ${highest} IS NOT NULL${also.where ?? nothing} RETURNING 1 AS raised`
  }

  /** In a transaction. Returns how many counters of the project and of these sessions were raised. */
  const repair = Effect.fn("SqlStorage.repairCounters")(function* (
    project_id: number,
    sessions: ReadonlyArray<string>
  ): Effect.fn.Return<number, SqlError.SqlError> {
    let raised = 0
    const counters = Bucket.isDistributed(sql) ? names.filter(({ child }) => child !== "sessions") : names
    for (const counter of counters) raised += (yield* raise(counter, project_id)).length
    if (Bucket.isDistributed(sql)) raised += yield* SessionNumbers.repair(sql, project_id, sessions)
    // With another generation, no process builds on what it knew of the session.
    const ofSessions = yield* raise(packs, project_id, {
      set: sql`, generation = generation + 1`,
      where: sql` AND ${BulkValues.isAmong(sql, "session_id", "varchar", sessions)}${ofBuckets(sessions)}`
    })
    raised += ofSessions.length
    if (raised > 0) yield* Effect.logWarning(`${raised} counters were below numbers in use, and were raised`)
    return raised
  })

  /**
   * Replaces what no append and no sweep writes: such a session would conflict with every event. With no packs, the next event
   * finds that its number is taken, and `repair` raises the counter.
   */
  const repairStates = (project_id: number, sessions: ReadonlyArray<string>) => {
    const isWrong = sql`packs < 0 OR packs > ${maxPacks} OR generation < 0 OR generation > ${sql.literal(String(maxGeneration))}`
    return sql`UPDATE sessions SET packs = CASE WHEN packs < 0 OR packs > ${maxPacks} THEN 0 ELSE packs END,
        generation = ${sql.literal(String(maxGeneration))}
      WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "session_id", "varchar", sessions)}${ofBuckets(sessions)}
        AND (${isWrong})`
  }

  return { repair, repairStates }
}
