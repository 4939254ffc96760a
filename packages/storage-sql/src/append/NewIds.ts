/**
 * Checks that the ids of new events are above every watermark that was returned (`read/Watermark.ts`), within the transaction that
 * appends them.
 *
 * A database with one writer at a time commits in the order of its transactions: there a new id must be above all ids. In others
 * an id must not be older than `CommitOrder.allowanceMs` when its transaction is one that `CommitOrder.writers` finds, by the
 * clock of the database.
 */
import { type AppendEvent, EventTime, StaleIds } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as CommitOrder from "../dialect/CommitOrder.ts"
import * as Dialects from "../dialect/Dialects.ts"

export const make = (sql: SqlClient.SqlClient) => {
  const { isSerial } = Dialects.of(sql)

  /** Before the events of a project are inserted, in a transaction that excludes other writers. */
  const checkOrder = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<AppendEvent>) {
    if (oldestOf(events) === undefined || !isSerial) return
    const newest = yield* CommitOrder.newest(sql, project_id, yield* Clock.currentTimeMillis)
    if (!areAbove(events, newest)) return yield* new StaleIds({ notBefore: EventTime.of(newest!) + 1 })
  })

  /** Before the transaction: whether it would probably fail in it, because preparing it took too long. */
  const checkDelay = Effect.fnUntraced(function* (events: ReadonlyArray<AppendEvent>) {
    const oldest = oldestOf(events)
    if (oldest === undefined || isSerial) return
    const now = yield* Clock.currentTimeMillis
    if (now - EventTime.of(oldest) > CommitOrder.allowanceMs / 2) return yield* new StaleIds({ notBefore: now })
  })

  /** `now` is the database's clock, read after the transaction has locked the table `sessions`; undefined if it has one writer. */
  const checkAge = (events: ReadonlyArray<AppendEvent>, now: number | undefined): Effect.Effect<void, StaleIds> => {
    const deadline = deadlineOf(events)
    return now === undefined || deadline === undefined || now < deadline
      ? Effect.void
      : Effect.fail(new StaleIds({ notBefore: Math.ceil(now) }))
  }

  /** The condition that `checkAge` would succeed, in the statement that inserts the events. */
  const isYoung = (events: ReadonlyArray<AppendEvent>): Statement.Fragment =>
    sql`(SELECT ${CommitOrder.clock(sql)}) < ${deadlineOf(events) ?? Number.MAX_SAFE_INTEGER}`

  return { checkOrder, checkDelay, checkAge, isYoung }
}

/** Whether the new ids are above the newest one of their project. */
export const areAbove = (
  events: ReadonlyArray<AppendEvent>,
  newest: AppendEvent["summary"]["id"] | undefined
): boolean => {
  const oldest = oldestOf(events)
  return oldest === undefined || newest === undefined || oldest > newest
}

/** The smallest new id. */
const oldestOf = (events: ReadonlyArray<AppendEvent>): AppendEvent["summary"]["id"] | undefined => {
  let oldest: AppendEvent["summary"]["id"] | undefined
  for (const { hasNewId = false, summary } of events) {
    if (hasNewId && (oldest === undefined || summary.id < oldest)) oldest = summary.id
  }
  return oldest
}

/** Until when the events may be inserted, in epoch milliseconds. */
const deadlineOf = (events: ReadonlyArray<AppendEvent>): number | undefined => {
  const oldest = oldestOf(events)
  return oldest && EventTime.of(oldest) + CommitOrder.allowanceMs
}
