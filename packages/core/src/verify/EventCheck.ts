/** Checks events as reads would find them, and looks again without a cache at whatever seems wrong. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { SessionId } from "../domain/Session.ts"
import * as Uuid from "../domain/Uuid.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as EventReader from "../read/EventReader.ts"
import type { EventQuery } from "../storage/Lists.ts"
import type { StoredEvent, StoredSummary } from "../storage/Stored.ts"
import type { Lost } from "./Finding.ts"
import { attempt, maxReported, type ProjectVerification } from "./Verification.ts"

/** Events and bytes of their texts that are read in one step. */
const eventsPerStep = 64
const bytesPerStep = 8 * 1024 * 1024

/** Selects the events of a list. */
export type Filter = Pick<EventQuery, "session" | "agent" | "person">

/** Whether a list has the event now. */
export const isListed = (
  { project, storage }: ProjectVerification,
  filter: Filter,
  id: EventId
): Effect.Effect<boolean, StorageUnavailable> =>
  Effect.map(
    storage.listEvents(project, { ...filter, order: "asc", after: Uuid.previous(id), limit: 1 }),
    ([first]) => first?.id === id
  )

/** Whether an id leads to an event. One that cannot be read is there. */
export const isFound = (
  { project, storage }: ProjectVerification,
  id: EventId
): Effect.Effect<boolean, StorageUnavailable> =>
  storage.getEvent(project, id).pipe(
    Effect.as(true),
    Effect.catchTag("event-not-found", () => Effect.succeed(false)),
    Effect.catchCause((cause) =>
      Cause.squash(cause) instanceof Damage ? Effect.succeed(true) : Effect.failCause(cause)
    )
  )

/** An event that was come across, and the effect of looking whether it still is where it was. */
export interface Listed {
  readonly id: EventId
  readonly session: SessionId | undefined
  readonly isStill: Effect.Effect<boolean, StorageUnavailable>
}

/** Checks events in steps of bounded size. */
export const checkAll = Effect.fnUntraced(function* (
  run: ProjectVerification,
  listed: ReadonlyArray<Listed>
): Effect.fn.Return<void, StorageUnavailable> {
  let at = 0
  const step = Effect.gen(function* () {
    const end = Math.min(at + eventsPerStep, listed.length)
    for (let bytesLeft = bytesPerStep; at < end && bytesLeft > 0;) bytesLeft -= yield* check(run, listed[at++]!)
  })
  while (at < listed.length) yield* run.throttle(step)
})

/** Returns the bytes of the event's texts. */
export const check = Effect.fnUntraced(function* (
  run: ProjectVerification,
  listed: Listed
): Effect.fn.Return<number, StorageUnavailable> {
  run.counts.events++
  const exit = yield* Effect.exit(EventReader.readOnce(run.source, run.project, listed.id))
  if (Exit.isSuccess(exit)) {
    const bytes = exit.value.inputsBytes + exit.value.outputBytes
    run.counts.textBytes += bytes
    return bytes
  }
  if (Cause.hasInterrupts(exit.cause)) return yield* Effect.failCause(exit.cause as Cause.Cause<never>)
  yield* attempt(run, lookAgain(run, listed), { session: listed.session, eventId: listed.id })
  return 0
})

const lookAgain = Effect.fnUntraced(function* (run: ProjectVerification, { id, isStill, session }: Listed) {
  const exit = yield* Effect.exit(EventReader.readAgain(EventReader.sourceOf(run.storage), run.project, id))
  if (Exit.isSuccess(exit)) return
  const error = Cause.squash(exit.cause)
  if (error instanceof Damage) return yield* reportDamage(run, id, session, error)
  const isGone = (error as { readonly _tag?: unknown } | null)?._tag === "event-not-found"
  if (!isGone) return yield* Effect.failCause(exit.cause as Cause.Cause<StorageUnavailable>)
  // It may have been erased meanwhile: then no list has it either.
  if (!(yield* isStill)) return
  const reason = "It is listed, but its id does not lead to it"
  yield* run.report({ problem: "event-not-found", session, eventId: id, reason })
})

const reportDamage = Effect.fnUntraced(function* (
  run: ProjectVerification,
  id: EventId,
  session: SessionId | undefined,
  damage: Damage
) {
  if (run.reported.has(id)) return
  if (run.reported.size < maxReported) run.reported.add(id)
  const exit = yield* Effect.exit(run.storage.getEvent(run.project, id))
  const stored = Exit.isSuccess(exit) ? exit.value : undefined
  const lost = stored === undefined ? "fields and texts" : yield* lostOf(run, stored)
  const reason = (stored && missingName(stored)) ?? damage.message
  run.counts.damagedEvents++
  yield* run.report({ problem: "event-damaged", session, eventId: id, lost, reason })
})

/** Without its name a number cannot be read. */
const missingName = ({ summary }: StoredSummary): string | undefined => {
  const names = { session: summary?.session, agent: summary?.agent, "agent version": summary?.agentVersion }
  const missing = Object.entries(names).flatMap(([name, value]) => (value === null ? [name] : []))
  return missing.length === 0 ? undefined : `Its ${missing.join(" and its ")} cannot be found`
}

const lostOf = Effect.fnUntraced(function* (run: ProjectVerification, stored: StoredEvent): Effect.fn.Return<Lost> {
  if (EventReader.damageOfFields(run.project, stored) === undefined) return "texts"
  const texts = EventReader.readTexts(EventReader.sourceOf(run.storage), run.project, stored, undefined)
  return Exit.isSuccess(yield* Effect.exit(texts)) ? "fields" : "fields and texts"
})
