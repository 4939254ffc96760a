/** Deletes what no event needs any more: sessions without events, and the pieces in the packs of others. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ErasureReceipt } from "../domain/ErasureReceipt.ts"
import { StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import { Sweep } from "../payload/Sweep.ts"
import type { StaleSessions } from "../sessions/StaleSessions.ts"
import type { Storage } from "../Storage.ts"
import type { ErasedAtLast } from "../storage/Erasing.ts"
import type { Throttle } from "../Throttle.ts"
import { addReceipts, emptyReceipt } from "./Receipts.ts"

/** Packs rewritten in one transaction: more than a chain has. */
const packsPerStep = 256
/** Packs deleted unread in one transaction. */
const packsPerDeletion = 5000
/** Sessions listed by one query. */
const sessionsPerStep = 500

/** Where an index of the database is damaged, a loop would not end. */
export const endless = (message: string) => new StorageUnavailable({ cause: new Damage(message) })

export const isDamage = (error: unknown): error is StorageUnavailable =>
  error instanceof StorageUnavailable && error.cause instanceof Damage

/** Whether other sessions can be swept nevertheless. */
const isOfDamage = (cause: Cause.Cause<StorageUnavailable>): boolean =>
  Cause.hasDies(cause) || isDamage(Cause.squash(cause))

const receiptOf = ({ bytes, pieces, session }: ErasedAtLast): ErasureReceipt => ({
  ...emptyReceipt,
  sessions: session ? 1 : 0,
  pieces,
  bytes
})

export const make = (storage: Storage["Service"], staleSessions: StaleSessions["Service"]) => {
  /** Deletes a session without events. Its packs are not read, so that it does not matter what they contain. */
  const deleteSession = Effect.fnUntraced(function* (project: ProjectId, session: number, throttle: Throttle) {
    let receipt = emptyReceipt
    for (;;) {
      const erased = yield* throttle(storage.deleteEmptySession(project, session, packsPerDeletion))
      if (erased === undefined) return { receipt, isDeleted: false }
      staleSessions.announce(project, session, "erased")
      receipt = addReceipts(receipt, receiptOf(erased))
      if (erased.session) return { receipt, isDeleted: true }
    }
  })

  const sweepSession = Effect.fnUntraced(function* (project: ProjectId, session: number, throttle: Throttle) {
    const { isDeleted, receipt } = yield* deleteSession(project, session, throttle)
    return isDeleted ? receipt : addReceipts(receipt, yield* sweepPacks(project, session, throttle))
  })

  /** Sweeps a session of any size, `packsPerStep` packs per transaction. */
  const sweepPacks = Effect.fnUntraced(function* (project: ProjectId, session: number, throttle: Throttle) {
    let sweep = new Sweep()
    /** The session's deletion counter at the first step: the sweep covers the deletions up to it. */
    let sweptUpTo: number | undefined
    let named: ReadonlySet<number> | undefined
    let receipt = emptyReceipt
    for (;;) {
      const request = { ...sweep.next, limit: packsPerStep, named }
      const step = yield* throttle(
        storage.sweepPacks(project, session, request, ({ added, isLast: isEnd, named, packs, pendingSweep }) => {
          const next = new Sweep(sweep)
          next.observe(added)
          const { changes, isLast, ...erased } = next.step(packs, isEnd)
          return {
            packs: changes,
            pieces: erased.pieces,
            done: isLast
              ? { owned: next.owned, pendingSweep: sweptUpTo ?? pendingSweep, remaining: next.remaining }
              : undefined,
            value: { next, isLast, erased, pendingSweep, named }
          }
        })
      )
      if (step === undefined) return receipt
      staleSessions.announce(project, session, "erased")
      const { erased, value } = step
      sweep = value.next
      sweptUpTo ??= value.pendingSweep
      named ??= value.named
      if (!value.isLast && sweep.next.to >= request.to) return yield* endless("The packs of a session are not in order")
      receipt = addReceipts(addReceipts(receipt, { ...emptyReceipt, ...value.erased }), receiptOf(erased))
      if (value.isLast) return receipt
    }
  })

  /** Sweeps the unmarked sessions, and all that are pending, before it fails because of one that is damaged. */
  const sweepAll = Effect.fnUntraced(function* (project: ProjectId, unmarked: ReadonlySet<number>, throttle: Throttle) {
    let receipt = emptyReceipt
    const failed = new Map<number, Cause.Cause<StorageUnavailable>>()
    const sweep = Effect.fnUntraced(function* (session: number) {
      const exit = yield* Effect.exit(sweepSession(project, session, throttle))
      if (Exit.isSuccess(exit)) receipt = addReceipts(receipt, exit.value)
      else if (isOfDamage(exit.cause)) failed.set(session, exit.cause)
      else yield* exit
    })
    for (const session of unmarked) yield* sweep(session)
    for (;;) {
      const limit = sessionsPerStep + failed.size
      const sessions = yield* throttle(storage.listPendingSweep(project, limit))
      for (const session of sessions.filter((number) => !failed.has(number))) yield* sweep(session)
      if (sessions.length < limit) break
    }
    for (const cause of failed.values()) return yield* Effect.failCause(cause)
    return receipt
  })

  return { deleteSession, sweepAll }
}
