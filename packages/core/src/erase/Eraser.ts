/**
 * Erases events and steps, and every piece of a payload that no remaining one references. Works in short transactions: first it
 * deletes the events and the steps, then it sweeps their sessions. If it is interrupted, the sessions stay pending sweep, and the next
 * erasure in the project sweeps them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type EventNotFound, type PersonNotFound, SessionNotFound, StorageUnavailable } from "../domain/Errors.ts"
import type { StoredAudit } from "../domain/AuditEntry.ts"
import type { EventId } from "../domain/Event.ts"
import type { PersonId } from "../domain/Person.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { ErasureReceipt } from "../domain/ErasureReceipt.ts"
import { Damage } from "../payload/format/Damage.ts"
import { StaleSessions } from "../sessions/StaleSessions.ts"
import { Storage } from "../Storage.ts"
import type { Erasable } from "../storage/Erasing.ts"
import { type Throttle, unthrottled } from "../Throttle.ts"
import { addReceipts, emptyReceipt } from "./Receipts.ts"
import * as SessionSweep from "./SessionSweep.ts"
import { UnfinishedErasure } from "./UnfinishedErasure.ts"

/** Events, and packs of steps, deleted in one transaction. */
const eventsPerStep = 500
const packsPerStep = 100
/** How often the events of a person may not be found, although there are some: more often than other erasers can cause. */
const maxAttempts = 100

export class Eraser extends Context.Service<
  Eraser,
  {
    /** `entry` is added to the audit log with the first step. */
    readonly erasePerson: (
      project: ProjectId,
      id: PersonId,
      entry?: StoredAudit
    ) => Effect.Effect<ErasureReceipt, PersonNotFound | StorageUnavailable>
    readonly eraseSession: (
      project: ProjectId,
      session: SessionId,
      entry?: StoredAudit
    ) => Effect.Effect<ErasureReceipt, SessionNotFound | StorageUnavailable>
    readonly eraseEvent: (
      project: ProjectId,
      id: EventId,
      entry?: StoredAudit
    ) => Effect.Effect<ErasureReceipt, EventNotFound | StorageUnavailable>
    /** Erases the events whose ids are less than `before`. Every transaction runs through `throttle`. */
    readonly eraseOlder: (
      project: ProjectId,
      before: EventId,
      throttle: Throttle
    ) => Effect.Effect<ErasureReceipt, StorageUnavailable>
  }
>()("tachograph/core/Eraser") {
  static readonly layer: Layer.Layer<Eraser, never, Storage> = Layer.effect(
    Eraser,
    Effect.gen(function* () {
      return make(yield* Storage, yield* StaleSessions)
    })
  ).pipe(Layer.provide(StaleSessions.layer))
}

/** How far an erasure has come. */
class Progress {
  /** What its first step adds to the audit log. */
  entry: StoredAudit | undefined
  /** Events of the steps that were committed. */
  events = 0

  constructor(entry?: StoredAudit) {
    this.entry = entry
  }

  /** Says in its error what is done. Where the database is damaged, asking again would not help. */
  readonly told = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageUnavailable, R> =>
    Effect.mapError(effect, (error) => {
      if (!(error instanceof StorageUnavailable) || error.cause instanceof Damage) return error
      return new StorageUnavailable({ cause: new UnfinishedErasure(this.events, error.cause) })
    })
}

const make = (storage: Storage["Service"], staleSessions: StaleSessions["Service"]) => {
  const { checkCommits = Effect.void } = storage.nodes ?? {}
  const { deleteSession, sweepAll } = SessionSweep.make(storage, staleSessions)

  /** Deletes the events and the steps, and sweeps their sessions. */
  const eraseEvents = Effect.fnUntraced(function* (
    project: ProjectId,
    which: Erasable,
    throttle: Throttle,
    progress: Progress
  ) {
    let events = 0
    const unmarked = new Set<number>()
    for (let isLast = false; !isLast;) {
      const erased = yield* throttle(storage.eraseEvents(project, which, eventsPerStep, progress.entry))
      progress.entry = undefined
      progress.events += erased.events
      events += erased.events
      for (const session of erased.unmarked ?? []) unmarked.add(session)
      isLast = erased.events < eventsPerStep
    }
    while (!("event" in which) && (yield* throttle(storage.eraseSteps(project, which, packsPerStep))) === packsPerStep);
    return { ...(yield* sweepAll(project, unmarked, throttle)), events }
  })

  const eraseSession = Effect.fn("Eraser.eraseSession")(function* (
    project: ProjectId,
    session: SessionId,
    progress: Progress
  ) {
    // An erasure before this one was not done if a node has only prepared it: then nothing is found here, and yet it is there.
    yield* checkCommits
    const state = yield* storage.getSession(project, session)
    if (state === undefined) return yield* new SessionNotFound()
    const receipt = yield* eraseEvents(project, { session }, unthrottled, progress)
    if (receipt.events > 0) return receipt
    // Deleting events marks their session as pending. If damage has left it none, its packs would stay.
    const { isDeleted, receipt: last } = yield* deleteSession(project, state.number, unthrottled)
    if (!isDeleted && (yield* isStuck(project, session, state.number))) {
      return yield* SessionSweep.endless("The number of a session does not lead to its rows")
    }
    return addReceipts(receipt, last)
  })

  /** Whether a session is still there, without events and under the same number. */
  const isStuck = Effect.fnUntraced(function* (project: ProjectId, session: SessionId, number: number) {
    const found = yield* storage.getSession(project, session)
    if (found?.number !== number) return false
    return (yield* storage.listEvents(project, { session, order: "asc", limit: 1 })).length === 0
  })

  const erasePerson = Effect.fn("Eraser.erasePerson")(function* (project: ProjectId, id: PersonId, progress: Progress) {
    yield* checkCommits
    // What is stored of the person may be damaged.
    yield* Effect.catchIf(storage.getPerson(project, id), SessionSweep.isDamage, () => Effect.void)
    let receipt = emptyReceipt
    let attemptsLeft = maxAttempts
    for (let isDeleted = false; !isDeleted;) {
      const erased = yield* eraseEvents(project, { person: id }, unthrottled, progress)
      // The person has events, but none is found; at times because another eraser was faster.
      if (erased.events === 0 && attemptsLeft-- === 0)
        return yield* SessionSweep.endless("The events of a person cannot be erased")
      receipt = addReceipts(receipt, erased)
      // Returns false if events of the person were recorded in between: then those are erased, too.
      isDeleted = yield* Effect.catchTag(storage.deletePerson(project, id), "person-not-found", () =>
        Effect.succeed(true)
      )
    }
    return receipt
  })

  const eraseEvent = Effect.fn("Eraser.eraseEvent")(function* (project: ProjectId, id: EventId, progress: Progress) {
    yield* checkCommits
    // What is stored of the event may be damaged.
    yield* Effect.catchIf(storage.getEvent(project, id, 0), SessionSweep.isDamage, () => Effect.void)
    return yield* eraseEvents(project, { event: id }, unthrottled, progress)
  })

  const eraseOlder = Effect.fn("Eraser.eraseOlder")(function* (
    project: ProjectId,
    before: EventId,
    throttle: Throttle
  ) {
    return yield* eraseEvents(project, { before }, throttle, new Progress())
  })

  return Eraser.of({
    erasePerson: (project, id, entry) => {
      const progress = new Progress(entry)
      return progress.told(erasePerson(project, id, progress))
    },
    eraseSession: (project, session, entry) => {
      const progress = new Progress(entry)
      return progress.told(eraseSession(project, session, progress))
    },
    eraseEvent: (project, id, entry) => {
      const progress = new Progress(entry)
      return progress.told(eraseEvent(project, id, progress))
    },
    eraseOlder
  })
}
