/** Checks events as reads would find them, and looks again without a cache at whatever seems wrong. */
import { Cause, Effect, Exit } from "effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as Uuid from "../domain/Uuid.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as EventReader from "../read/EventReader.ts"
import type { EventQuery, StoredEvent, StoredSummary } from "../Storage.ts"
import type { Lost } from "./Finding.ts"
import { attempt, type Run } from "./Run.ts"

/** Events in one page of a list. */
const pageEvents = 500

/** Events and bytes of their texts that are read in one step. */
const eventsPerStep = 64
const bytesPerStep = 8 * 1024 * 1024

/** Selects the events of a list. */
export type Filter = Pick<EventQuery, "session" | "agent" | "person">

/** The id before this one in the order of ids. */
export const previousId = (id: EventId): EventId => {
  const bytes = Uuid.toBytes(id)
  let at = bytes.length - 1
  while (at >= 0 && bytes[at] === 0) bytes[at--] = 0xff
  if (at >= 0) bytes[at]!--
  return Uuid.fromBytes(bytes) as EventId
}

/** Whether a list has the event now. */
export const isListed = (
  { storage }: Run,
  project: ProjectId,
  filter: Filter,
  id: EventId
): Effect.Effect<boolean, StorageUnavailable> =>
  Effect.map(
    storage.listEvents(project, { ...filter, order: "asc", after: previousId(id), limit: 1 }),
    ([first]) => first?.id === id
  )

/** Goes through a list, in pages, from the event after an id or from its beginning. */
export const forEachPage = Effect.fnUntraced(function* (
  run: Run,
  project: ProjectId,
  filter: Filter,
  start: EventId | undefined,
  checkPage: (page: ReadonlyArray<StoredSummary>) => Effect.Effect<void, StorageUnavailable>
): Effect.fn.Return<void, StorageUnavailable> {
  const what = { project, session: filter.session }
  let after = start
  for (;;) {
    const query = { ...filter, order: "asc", limit: pageEvents, ...(after === undefined ? {} : { after }) } as const
    const page = yield* attempt(run, what, run.throttle(run.storage.listEvents(project, query)))
    if (page === undefined || page.length === 0) return
    yield* attempt(run, what, checkPage(page))
    const last = page.at(-1)!.id
    if (after !== undefined && last <= after) {
      const reason = `The list does not go on after ${after}`
      return yield* run.report({ ...what, problem: "unreadable", reason })
    }
    after = last
  }
})

const sizeOf = ({ summary }: StoredSummary): number =>
  Math.max(0, summary?.inputsBytes ?? 0) + Math.max(0, summary?.outputBytes ?? 0)

/** Checks listed events, in steps of bounded size. */
export const checkAll = Effect.fnUntraced(function* (
  run: Run,
  project: ProjectId,
  filter: Filter,
  listed: ReadonlyArray<StoredSummary>
): Effect.fn.Return<void, StorageUnavailable> {
  for (let at = 0; at < listed.length;) {
    let end = at
    let bytesLeft = bytesPerStep
    do bytesLeft -= sizeOf(listed[end++]!)
    while (end < listed.length && end - at < eventsPerStep && bytesLeft > 0)
    const step = listed.slice(at, end)
    yield* run.throttle(Effect.forEach(step, (each) => check(run, project, filter, each), { discard: true }))
    at = end
  }
})

export const check = Effect.fnUntraced(function* (
  run: Run,
  project: ProjectId,
  filter: Filter,
  listed: StoredSummary
): Effect.fn.Return<void, StorageUnavailable> {
  run.counts.events++
  run.counts.textBytes += sizeOf(listed)
  const damage = EventReader.damageOfFields(project, listed)
  if (damage === undefined) {
    const exit = yield* Effect.exit(EventReader.readOnce(run.source, project, listed.id))
    if (Exit.isSuccess(exit)) return
    if (Cause.hasInterrupts(exit.cause)) return yield* Effect.failCause(exit.cause as Cause.Cause<never>)
  }
  const what = { project, session: filter.session ?? listed.summary?.session, eventId: listed.id }
  yield* attempt(run, what, lookAgain(run, project, filter, listed.id))
})

const lookAgain = Effect.fnUntraced(function* (
  run: Run,
  project: ProjectId,
  filter: Filter,
  id: EventId
): Effect.fn.Return<void, StorageUnavailable> {
  const exit = yield* Effect.exit(EventReader.readAgain(EventReader.sourceOf(run.storage), project, id))
  if (Exit.isSuccess(exit)) return
  const error = Cause.squash(exit.cause)
  if (error instanceof Damage) return yield* reportDamage(run, project, id, error)
  const isGone = (error as { readonly _tag?: unknown } | null)?._tag === "event-not-found"
  if (!isGone) return yield* Effect.failCause(exit.cause as Cause.Cause<StorageUnavailable>)
  // An event that was erased is in no list any more.
  if (!(yield* isListed(run, project, filter, id))) return
  const reason = "Lists have it, but its id does not lead to it"
  yield* run.report({ problem: "event-not-found", project, session: filter.session, eventId: id, reason })
})

/** The event that an id leads to, damaged or not. */
export const find = (
  { storage }: Run,
  project: ProjectId,
  id: EventId
): Effect.Effect<StoredEvent | undefined, StorageUnavailable> =>
  storage.getEvent(project, id).pipe(Effect.catchTag("event-not-found", () => Effect.succeed(undefined)))

const reportDamage = Effect.fnUntraced(function* (run: Run, project: ProjectId, id: EventId, { message }: Damage) {
  const stored = yield* find(run, project, id)
  if (stored === undefined) return
  const lost = yield* lostOf(run, project, stored)
  const reason = missingName(stored) ?? message
  run.counts.damagedEvents++
  yield* run.report({ problem: "event-damaged", project, session: sessionOf(stored), eventId: id, lost, reason })
})

const sessionOf = ({ summary }: StoredSummary) => summary?.session ?? undefined

/** The numbers of names are compared with nothing else: without the name there is nothing to read. */
const missingName = ({ summary }: StoredSummary): string | undefined => {
  const names = { session: summary?.session, agent: summary?.agent, "agent version": summary?.agentVersion }
  const missing = Object.entries(names).flatMap(([name, value]) => (value === null ? [name] : []))
  return missing.length === 0 ? undefined : `Its ${missing.join(" and its ")} cannot be found`
}

const lostOf = Effect.fnUntraced(function* (run: Run, project: ProjectId, stored: StoredEvent): Effect.fn.Return<Lost> {
  if (EventReader.damageOfFields(project, stored) === undefined) return "texts"
  const texts = EventReader.readTexts(EventReader.sourceOf(run.storage), project, stored, undefined)
  return Exit.isSuccess(yield* Effect.exit(texts)) ? "fields" : "fields and texts"
})
