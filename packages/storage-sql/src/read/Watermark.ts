/** `Storage.watermark`. Which ids new events may have is checked by `append/NewIds.ts`. */
import { type EventId, EventTime, type ProjectId } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlClient, SqlError } from "effect/sql"
import * as CommitOrder from "../dialect/CommitOrder.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as LostCommits from "../dialect/LostCommits.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import { isTransient } from "../sql/SqlErrors.ts"
import type * as Projects from "../names/Projects.ts"

/** Transactions that were under way at a time, and have not ended since. */
interface Sample {
  readonly atMs: number
  readonly writers: Set<string>
}

/** Transactions that last longer than a watermark waits for are followed from this many times on. */
const maxSamples = 8

/** How often a watermark looks whether the transactions have ended that it has found, and the pause in between. Most take less. */
const maxLooks = 10
const pauseMs = 5

/**
 * Every event whose transaction began before some time is visible when all transactions have ended that were under way then; and
 * an event is not older than its transaction by more than the allowance.
 */
export class SettledTime {
  /** In the order of their times. */
  #samples: Array<Sample> = []
  #settledMs = Number.NEGATIVE_INFINITY

  /** Takes the transactions that are under way now. Returns whether all have ended that were under way at the time `since`. */
  observe({ atMs, transactions }: CommitOrder.Writers, since = atMs): boolean {
    const current = new Set(transactions)
    for (const { writers } of this.#samples) {
      for (const writer of writers) if (!CommitOrder.isUnderWay(writer, current)) writers.delete(writer)
    }
    if (current.size === 0) this.settle(atMs)
    else if (this.#samples.length < maxSamples) this.#samples.push({ atMs, writers: current })
    const ended = this.#samples.findLastIndex(({ writers }) => writers.size === 0)
    if (ended !== -1) this.settle(this.#samples[ended]!.atMs)
    this.#samples = this.#samples.slice(current.size === 0 ? this.#samples.length : ended + 1)
    return this.#settledMs >= since
  }

  /** Every transaction has ended that locked `sessions` before this time. */
  settle(atMs: number): void {
    // The clock of the database may have stepped back.
    this.#settledMs = Math.max(this.#settledMs, atMs)
  }

  get watermark(): EventId {
    return EventTime.firstIdOf(Math.max(0, Math.floor(this.#settledMs - CommitOrder.allowanceMs)))
  }
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const settled = new SettledTime()
  // Each observation is of a later time than the one before.
  const semaphore = Semaphore.makeUnsafe(1)

  /** Whether transactions that are not under way may still commit; also while a node that may have some does not answer. */
  const mayBecomeVisibleLate = Effect.catchIf(
    Effect.gen(function* () {
      return (yield* TwoPhaseCommit.isAnyInDoubt(sql)) || (yield* LostCommits.areAny(sql))
    }),
    isTransient,
    () => Effect.succeed(true)
  )

  /** Returns the time, and whether there is nothing to wait for: what becomes visible late may take minutes. */
  const observe = (since?: number) =>
    semaphore.withPermits(1)(
      Effect.gen(function* () {
        const writers = yield* CommitOrder.writers(sql)
        const isWaiting = yield* mayBecomeVisibleLate
        return { atMs: writers.atMs, isDone: isWaiting || settled.observe(writers, since) }
      })
    )

  /** A process that did not look before the transactions began that are under way has nothing else to go by. */
  const settleBeforeOldest = Effect.gen(function* () {
    // Another look, if one ended during the first.
    const begunMs = (yield* CommitOrder.oldestWriter(sql)) ?? (yield* CommitOrder.oldestWriter(sql))
    if (begunMs !== undefined && !(yield* mayBecomeVisibleLate)) settled.settle(begunMs)
  })

  const settle: Effect.Effect<EventId, SqlError.SqlError> = Effect.gen(function* () {
    const { atMs, isDone } = yield* observe()
    let isLast = isDone
    for (let looks = 1; !isLast && looks < maxLooks; looks++) {
      yield* Effect.sleep(pauseMs)
      isLast = (yield* observe(atMs)).isDone
    }
    if (!isLast) yield* settleBeforeOldest
    return settled.watermark
  })

  const watermark = Effect.fn("SqlStorage.watermark")(function* (project: ProjectId) {
    if (!Dialects.of(sql).isSerial) return yield* settle
    const number = yield* projects.find(project)
    return (yield* CommitOrder.newest(sql, number, yield* Clock.currentTimeMillis)) ?? EventTime.lowestId
  })

  return { watermark }
}
