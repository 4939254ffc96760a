/**
 * Takes events out of the storage, with every piece of a payload that no remaining event reaches. In steps, each a short
 * transaction: first the events go, then their sessions are swept. Where it is interrupted, sessions stay marked, and the
 * next erasure in the project sweeps them too.
 */
import { Cause, Context, Effect, Exit, Layer } from "effect"
import { type PersonNotFound, SessionNotFound, type StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { PersonId } from "../domain/Person.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { ErasureReceipt } from "../domain/ErasureReceipt.ts"
import { Sweep } from "../payload/Sweep.ts"
import { type Erasable, Storage } from "../Storage.ts"

/** Events that are taken away in one transaction, packs that are rewritten in one, and sessions that are listed at once. */
const eventsAtOnce = 500
const packsAtOnce = 256
const sessionsAtOnce = 500

export class Eraser extends Context.Service<
  Eraser,
  {
    readonly erasePerson: (
      project: ProjectId,
      id: PersonId
    ) => Effect.Effect<ErasureReceipt, PersonNotFound | StorageUnavailable>
    readonly eraseSession: (
      project: ProjectId,
      session: SessionId
    ) => Effect.Effect<ErasureReceipt, SessionNotFound | StorageUnavailable>
    /** Erases the events whose ids are older; `scrub` is left to the caller. `pace` is given every transaction to run. */
    readonly eraseOlder: (
      project: ProjectId,
      before: EventId,
      pace: Throttle
    ) => Effect.Effect<ErasureReceipt, StorageUnavailable>
    /** Overwrites in the files what earlier erasures have freed, as far as the storage can. */
    readonly scrub: Effect.Effect<void>
  }
>()("tachograph/core/Eraser") {
  static readonly layer: Layer.Layer<Eraser, never, Storage> = Layer.effect(
    Eraser,
    Effect.map(Storage, (storage) => make(storage))
  )
}

/** Runs a step, and waits as it sees fit. */
export type Throttle = <A, E>(step: Effect.Effect<A, E>) => Effect.Effect<A, E>

const unthrottled: Throttle = (step) => step

export const nothing: ErasureReceipt = { events: 0, sessions: 0, pieces: 0, bytes: 0 }

export const plus = (a: ErasureReceipt, b: ErasureReceipt): ErasureReceipt => ({
  events: a.events + b.events,
  sessions: a.sessions + b.sessions,
  pieces: a.pieces + b.pieces,
  bytes: a.bytes + b.bytes
})

const make = (storage: Storage["Service"]) => {
  const takeEvents = Effect.fnUntraced(function* (project: ProjectId, which: Erasable, pace: Throttle) {
    let events = 0
    for (;;) {
      const erased = yield* pace(storage.eraseEvents(project, which, eventsAtOnce))
      events += erased.events
      if (erased.events < eventsAtOnce) return events
    }
  })

  /** Sweeps a session, however large, a few packs at a time. */
  const sweepSession = Effect.fnUntraced(function* (project: ProjectId, session: number, pace: Throttle) {
    let sweep = new Sweep()
    let began: number | undefined
    let receipt = nothing
    for (;;) {
      const request = { ...sweep.next, limit: packsAtOnce }
      const step = yield* pace(
        storage.sweepPacks(project, session, request, ({ added, isLast, packs, pendingSweep }) => {
          const next = new Sweep(sweep)
          next.observe(added)
          const { bytes, changes, pieces } = next.step(packs)
          return {
            packs: changes,
            done: isLast ? { owned: next.owned, pendingSweep: began ?? pendingSweep } : undefined,
            value: { next, isLast, pieces, bytes, pendingSweep }
          }
        })
      )
      if (step === undefined) return receipt
      const { erased, value } = step
      sweep = value.next
      began ??= value.pendingSweep
      receipt = plus(receipt, {
        events: 0,
        sessions: erased.session ? 1 : 0,
        pieces: value.pieces + erased.pieces,
        bytes: value.bytes + erased.bytes
      })
      if (value.isLast) return receipt
    }
  })

  /** One session that cannot be swept, its packs being damaged, does not keep the others from it; then it is said. */
  const sweepAll = Effect.fnUntraced(function* (project: ProjectId, pace: Throttle) {
    let receipt = nothing
    const failed = new Map<number, Cause.Cause<never>>()
    for (;;) {
      const limit = sessionsAtOnce + failed.size
      const sessions = yield* pace(storage.listPendingSweep(project, limit))
      for (const session of sessions.filter((number) => !failed.has(number))) {
        const exit = yield* Effect.exit(sweepSession(project, session, pace))
        if (Exit.isSuccess(exit)) receipt = plus(receipt, exit.value)
        else if (Cause.hasDies(exit.cause)) failed.set(session, exit.cause as Cause.Cause<never>)
        else return yield* exit
      }
      if (sessions.length < limit) break
    }
    for (const cause of failed.values()) return yield* Effect.failCause(cause)
    return receipt
  })

  /** What is erased is erased: where its files cannot be scrubbed now, the next erasure tries again. */
  const scrub = Effect.catchTag(storage.scrub, "storage-unavailable", (error) =>
    Effect.logWarning("Copies of what was erased may lie in the database's files until the next erasure", error)
  )

  const eraseSession = Effect.fn("Eraser.eraseSession")(function* (project: ProjectId, session: SessionId) {
    if ((yield* storage.getSession(project, session)) === undefined) {
      // An erasure may have been interrupted at its very end.
      yield* scrub
      return yield* new SessionNotFound()
    }
    const events = yield* takeEvents(project, { session }, unthrottled)
    const swept = yield* sweepAll(project, unthrottled)
    yield* scrub
    return plus({ ...nothing, events }, swept)
  })

  const erasePerson = Effect.fn("Eraser.erasePerson")(function* (project: ProjectId, id: PersonId) {
    yield* Effect.tapError(storage.getPerson(project, id), () => scrub)
    let receipt = nothing
    for (let isGone = false; !isGone;) {
      const events = yield* takeEvents(project, { person: id }, unthrottled)
      receipt = plus({ ...receipt, events: receipt.events + events }, yield* sweepAll(project, unthrottled))
      // Somebody may have recorded for the person meanwhile.
      isGone = yield* Effect.catchTag(storage.deletePerson(project, id), "person-not-found", () => Effect.succeed(true))
    }
    yield* scrub
    return receipt
  })

  const eraseOlder = Effect.fn("Eraser.eraseOlder")(function* (project: ProjectId, before: EventId, pace: Throttle) {
    const events = yield* takeEvents(project, { before }, pace)
    const swept = yield* sweepAll(project, pace)
    return plus({ ...nothing, events }, swept)
  })

  return Eraser.of({ erasePerson, eraseSession, eraseOlder, scrub })
}
