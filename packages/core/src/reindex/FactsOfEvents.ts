/** Computes facts and costs of the events of a project anew, session by session. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { StorageUnavailable } from "../domain/Errors.ts"
import { type Event, type EventId, EventSummary } from "../domain/Event.ts"
import type { SessionId } from "../domain/Session.ts"
import * as ReadFacts from "../facts/ReadFacts.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as JsonValue from "../payload/scan/JsonValue.ts"
import * as Steps from "../payload/scan/Steps.ts"
import * as Checksum from "../storage/Checksum.ts"
import * as EventReader from "../read/EventReader.ts"
import { firstIdOf } from "../domain/EventTime.ts"
import type { NextSession } from "../storage/Inventory.ts"
import type { FactsChange, StoredSummary } from "../storage/Stored.ts"
import { Counts } from "../verify/Finding.ts"
import * as Verification from "../verify/Verification.ts"
import { SessionPacks } from "../verify/SessionPacks.ts"
import type { LeftEvent, Reindexing } from "./Reindexing.ts"

/** Events in one page. */
const pageEvents = 500

/** Events and bytes of their texts that are read and written in one step. */
const eventsPerStep = 64
const bytesPerStep = 8 * 1024 * 1024

/** From this many events on, the packs of their session are read once and not with each event. */
const cachedFromEvents = 8

/** How far the clocks of servers may be ahead. */
const clockAllowanceMs = 1_000

const inputsFields = JsonValue.fieldsAt(ReadFacts.inputsPaths)
const outputFields = JsonValue.fieldsAt([], [[]])

export const recompute = Effect.fnUntraced(function* (run: Reindexing): Effect.fn.Return<void, StorageUnavailable> {
  const inUse = yield* run.storage.rulesInUse(run.project)
  if (inUse.every(({ rules }) => rules === run.rules)) return
  for (let after = Verification.belowAll; ;) {
    const next: NextSession | undefined = yield* run.storage.nextSession(run.project, after)
    if (next === undefined || next.number <= after) return
    after = next.number
    if (next.id === undefined) {
      yield* leave(run, { session: undefined, eventId: undefined, reason: `Session ${after} does not exist` })
    } else yield* recomputeSession(run, next.number, next.id)
  }
})

const leave = (run: Reindexing, left: Omit<LeftEvent, "project">) => {
  run.counts.left++
  return run.report({ project: run.project, ...left })
}

const recomputeSession = Effect.fnUntraced(function* (
  run: Reindexing,
  session: number,
  id: SessionId
): Effect.fn.Return<void, StorageUnavailable> {
  const below = firstIdOf(run.startedAt.epochMilliseconds + clockAllowanceMs)
  run.source.startSession(run.project, session)
  let isCached = false
  for (let after: EventId | undefined; ;) {
    const query = { session: id, order: "asc", limit: pageEvents, below, ...(after && { after }) } as const
    const page: ReadonlyArray<StoredSummary> = yield* run.throttle(run.storage.listEvents(run.project, query))
    const last = page.at(-1)?.id
    if (last === undefined || (after !== undefined && last <= after)) return
    after = last
    const stale = page.filter(({ rules }) => rules !== run.rules)
    if (stale.length >= cachedFromEvents && !isCached) {
      yield* cachePacks(run, session)
      isCached = true
    }
    for (let at = 0; at < stale.length;) at += yield* run.throttle(step(run, session, stale.slice(at)))
  }
})

/** Damage is found again at the events that need the packs. */
const cachePacks = (run: Reindexing, session: number) => {
  const verifying = { ...run, counts: new Counts(), reported: new Set<EventId>(), report: () => Effect.void }
  return Verification.attempt(verifying, new SessionPacks(verifying, session).read())
}

/** Returns how many of the events it has looked at. */
const step = Effect.fnUntraced(function* (run: Reindexing, session: number, stale: ReadonlyArray<StoredSummary>) {
  const changes: Array<FactsChange> = []
  let looked = 0
  for (let bytesLeft = bytesPerStep; looked < Math.min(stale.length, eventsPerStep) && bytesLeft > 0;) {
    const stored = stale[looked++]!
    const event = yield* read(run, stored)
    if (event === undefined) continue
    bytesLeft -= event.inputsBytes + event.outputBytes
    changes.push(changeOf(run, event))
  }
  const replaced = yield* run.storage.replaceFacts(run.project, session, run.rules, changes)
  run.counts.events += replaced
  run.counts.changed += Math.min(replaced, changes.filter(({ checksum, was }) => checksum !== was).length)
  return looked
})

/** Undefined if the event was erased meanwhile, or cannot be read. */
const read = Effect.fnUntraced(function* (
  run: Reindexing,
  { id, summary }: StoredSummary
): Effect.fn.Return<Event | undefined, StorageUnavailable> {
  const cached = yield* Effect.exit(EventReader.readOnce(run.source, run.project, id))
  if (Exit.isSuccess(cached)) return cached.value
  if (Cause.hasInterrupts(cached.cause)) return yield* Effect.failCause(cached.cause as Cause.Cause<never>)
  // What is cached may be older than what is stored.
  const again = yield* Effect.exit(EventReader.readAgain(EventReader.sourceOf(run.storage), run.project, id))
  if (Exit.isSuccess(again)) return again.value
  const error = Cause.squash(again.cause)
  if ((error as { readonly _tag?: unknown } | null)?._tag === "event-not-found") return undefined
  if (!(error instanceof Damage)) return yield* Effect.failCause(again.cause as Cause.Cause<StorageUnavailable>)
  yield* leave(run, { session: summary?.session, eventId: id, reason: error.message })
  return undefined
})

const valueOf = (text: Uint8Array, fields: JsonValue.Fields): unknown => {
  const parsed = Steps.run(JsonValue.parseInSteps(Buffer.from(text.buffer, text.byteOffset, text.length), fields))
  return "value" in parsed ? parsed.value : undefined
}

const changeOf = (run: Reindexing, event: Event): FactsChange => {
  const { metadata: _, payload, ...before } = event
  run.counts.textBytes += payload.inputs.length + payload.output.length
  const inputs = valueOf(payload.inputs, inputsFields)
  // A model that the payload does not say was sent beside it.
  const read = run.readFacts(event.api, inputs, valueOf(payload.output, outputFields), event)
  const cost = ReadFacts.costOf(run.prices, read, event.occurredAt ?? event.receivedAt)
  const summary = new EventSummary({ ...before, ...read.facts, ...cost }, { disableChecks: true })
  return { was: Checksum.ofSummary(run.project, event), summary, checksum: Checksum.ofSummary(run.project, summary) }
}
