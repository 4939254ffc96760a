/**
 * Commits a batch of events. Each payload is written as a pack against the cached index of its session. If another process has
 * appended to a session, the missing packs are loaded and the batch is rewritten and tried again. Events that are committed
 * already under their idempotency keys are left out.
 *
 * The events get their ids last, and new ones with each try: so an id is never much older than its transaction, which
 * `Storage.watermark` depends on.
 */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { Idempotency } from "../domain/IdempotencyKey.ts"
import type { SessionId } from "../domain/Session.ts"
import type { JsonText } from "../domain/JsonText.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as PieceScanner from "../payload/scan/PieceScanner.ts"
import { Damage } from "../payload/format/Damage.ts"
import type { CompressionEffort } from "../payload/format/Chain.ts"
import * as Split from "../payload/Split.ts"
import { type KnownSession, type SessionCache, unknownSession } from "../sessions/SessionCache.ts"
import { idempotencyKeyOf, keyOf } from "../sessions/SessionKey.ts"
import * as SessionLoader from "../sessions/SessionLoader.ts"
import type { Storage } from "../Storage.ts"
import { type AppendEvent, KeyConflict, type NewPack, SessionConflict, StaleIds } from "../storage/Appending.ts"
import * as Spans from "../telemetry/Spans.ts"
import type { EventIds } from "./EventIds.ts"

export interface PendingEvent {
  readonly project: ProjectId
  readonly session: SessionId
  /** What is recorded of it under an id. Called again with each id that the event gets, of which one is committed. */
  readonly withId: (id: EventId, receivedAt: DateTime.Utc) => Pick<AppendEvent, "summary" | "checksums" | "rules">
  /** What it got where it was recorded, if it is imported. */
  readonly given?: GivenId | undefined
  readonly payload: PieceScanner.ScannedPayload
  readonly metadata?: JsonText | null | undefined
  readonly idempotency?: Idempotency | undefined
  /** When its body was complete, in milliseconds on the clock of `performance.now()`. Now unless given. */
  readonly arrivedAtMs?: number | undefined
}

/** The id of an event that was recorded before, and when it was received then. */
export interface GivenId {
  readonly id: EventId
  readonly receivedAt: DateTime.Utc
}

/** The committed event: this one, or an earlier one with the same idempotency key. */
export interface WrittenEvent {
  readonly id: EventId
  readonly receivedAt: DateTime.Utc
  /** Whether it is an earlier event. */
  readonly isReplay: boolean
}

export type Outcome = WrittenEvent & Pick<PendingEvent, "idempotency">

export interface Committed {
  /** What the storage appended. */
  readonly written: ReadonlyArray<AppendEvent>
  /** One for each member of the batch, in order. */
  readonly outcomes: ReadonlyArray<Outcome>
}

/** An event of a batch, and the key of its session. */
export interface Member {
  readonly key: string
  readonly event: PendingEvent
}

/**
 * A session that conflicts in the state that was just read has not changed: its row is damaged. It may do so once or twice
 * while the storage repairs its counters.
 */
export class RepeatedConflicts {
  readonly #last = new Map<string, { readonly state: string; readonly times: number }>()

  isTooOften(key: string, { index, state }: KnownSession): boolean {
    const now = JSON.stringify([state?.number, state?.generation, index.packs])
    const last = this.#last.get(key)
    const times = last?.state === now ? last.times + 1 : 1
    this.#last.set(key, { state: now, times })
    return times > maxRepeatedConflicts
  }
}

const maxRepeatedConflicts = 5

/** How often the ids of a batch may be too old before it fails. */
const maxStaleIds = 10

/** Commits all events of a batch that are not committed already, or fails with none of them committed. */
export const commit = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  cache: SessionCache,
  ids: EventIds["Service"],
  members: ReadonlyArray<Member>
): Effect.fn.Return<Committed, StorageUnavailable> {
  /** Outcomes of events that were committed earlier under the same idempotency keys. */
  const replays = new Map<string, Outcome>()
  const replayOf = ({ event: { idempotency, project, session } }: Member): Outcome | undefined =>
    idempotency && replays.get(idempotencyKeyOf(project, session, idempotency.key))

  const sessions = new Map<string, KnownSession>()
  /** Sessions to be loaded before packs are written for them. */
  const stale = new Map<string, PendingEvent>()
  for (const { event, key } of members) {
    const known = cache.get(key)
    if (known !== undefined) sessions.set(key, known)
    if (known === undefined || known.isContended) stale.set(key, event)
  }

  let batch = members
  const repeated = new RepeatedConflicts()
  for (;;) {
    for (const [project, ofProject] of Map.groupBy(stale, ([, event]) => event.project)) {
      const known = new Map(ofProject.map(([key, { session }]) => [session, sessions.get(key) ?? unknownSession()]))
      const refreshed = yield* SessionLoader.refresh(storage, project, known)
      for (const [key, { session }] of ofProject) sessions.set(key, refreshed.get(session)!)
    }
    stale.clear()

    const drafts = yield* write(batch, sessions)
    const { appends, result } = yield* append(storage, ids, batch, drafts)
    if (result instanceof SessionConflict) {
      const conflicts = new Set(result.sessions.map(({ project, session }) => keyOf(project as ProjectId, session)))
      for (const { event, key } of batch) {
        if (!conflicts.has(key) || stale.has(key)) continue
        const session = sessions.get(key)!
        if (repeated.isTooOften(key, session)) {
          return yield* new StorageUnavailable({ cause: new Damage("A session conflicts with its own state") })
        }
        stale.set(key, event)
        sessions.set(key, { ...session, isContended: true })
      }
    } else if (result instanceof KeyConflict) {
      for (const { id, idempotency, project, receivedAt, session } of result.taken) {
        const key = idempotencyKeyOf(project, session, idempotency.key)
        replays.set(key, { id, receivedAt, isReplay: true, idempotency })
      }
      batch = members.filter((member) => replayOf(member) === undefined)
      if (batch.length === 0) return { written: [], outcomes: members.map((member) => replayOf(member)!) }
    } else {
      learn(cache, sessions, drafts, result)
      const written = new Map(batch.map((member, index) => [member, outcomeOf(appends[index]!)]))
      return { written: appends, outcomes: members.map((member) => replayOf(member) ?? written.get(member)!) }
    }
  }
}, Spans.spanIfTraced("CommitBatch.commit"))

/** What of a batch of several events is written at once at most (bytes): about 10 ms of work, in which nothing else runs. */
const maxBytesAtOnce = 256 * 1024

/**
 * The same in one turn, if the storage can do it at once: nearly always where it is in this thread. Undefined if nothing was
 * committed, for whatever reason: `commit` does it, or says why not. Sessions that are not known are taken for new ones, which the
 * storage finds out.
 */
export const commitAtOnce = (
  storage: Storage["Service"],
  cache: SessionCache,
  ids: EventIds["Service"],
  members: ReadonlyArray<Member>
): Effect.Effect<Committed, StorageUnavailable> | undefined => {
  if (storage.appendAtOnce === undefined || !isShort(members) || !areOfOneProject(members)) return undefined
  const sessions = new Map<string, KnownSession>()
  for (const { key } of members) {
    const known = sessions.get(key) ?? cache.get(key) ?? unknownSession()
    if (known.isContended) return undefined
    sessions.set(key, known)
  }
  const split = splitter(sessions)
  const splits = members.map(split)
  // New shared pieces take statements of their own.
  if (splits.some(({ draft }) => draft.shared.length > 0)) return undefined
  const drafts = splits.map(packing(members.length))
  const appends = identify(members, drafts, ids)
  const appended = storage.appendAtOnce(appends)
  if (appended === undefined) return undefined
  const toCommitted = (numbers: ReadonlyArray<number>): Committed => {
    learn(cache, sessions, drafts, numbers)
    return { written: appends, outcomes: appends.map(outcomeOf) }
  }
  const exit = exitOf(appended)
  return exit === undefined ? Effect.map(appended, toCommitted) : Exit.map(exit, toCommitted)
}

/** How an effect ended that has ended already. */
export const exitOf = <A, E>(effect: Effect.Effect<A, E> | undefined): Exit.Exit<A, E> | undefined =>
  Exit.isExit(effect) ? (effect as Exit.Exit<A, E>) : undefined

const areOfOneProject = ([first, ...others]: ReadonlyArray<Member>): boolean =>
  others.every(({ event }) => event.project === first!.event.project)

const isShort = (members: ReadonlyArray<Member>): boolean =>
  members.length === 1 || members.reduce((bytes, { event }) => bytes + event.payload.text.length, 0) <= maxBytesAtOnce

/** What was committed is known from now on. */
export const learn = (
  cache: SessionCache,
  sessions: ReadonlyMap<string, KnownSession>,
  drafts: ReadonlyArray<Drafted>,
  numbers: ReadonlyArray<number>
): void => {
  for (const [index, { draft, key }] of drafts.entries()) {
    const session = sessions.get(key)!
    session.index.learn(draft.learned)
    cache.set(key, { ...session, state: session.state ?? { number: numbers[index]!, generation: 0 } })
  }
}

const outcomeOf = ({ idempotency, summary: { id, receivedAt } }: AppendEvent): Outcome => ({
  id,
  receivedAt,
  isReplay: false,
  idempotency
})

export interface Drafted {
  readonly key: string
  readonly draft: Split.Draft
  readonly pack: NewPack
}

/**
 * How long packs are written before the event loop turns (ms). `node:http` accepts one connection a turn, so that long slices
 * delay new connections. Short slices delay the batch, because a turn also handles other requests; they are used for batches
 * with large texts, which take several slices anyway.
 */
const sliceMs = { small: 10, large: 2 }
const largeTextBytes = 32 * 1024

/** A batch of this many events means that the process is busy: it is compressed with less effort. */
const quickFromEvents = 8

interface SplitEvent {
  readonly key: string
  readonly state: KnownSession["state"]
  readonly draft: Split.Draft
}

/** The payload of an event, or of a group of steps, and the key of its session. */
export interface WithPayload {
  readonly key: string
  readonly event: Pick<PendingEvent, "payload">
}

/** Splits the events of a batch in their order, each on top of the one before. The cached indexes change only after the commit. */
const splitter = (sessions: ReadonlyMap<string, KnownSession>) => {
  const forks = new Map<string, KnownSession["index"]>()
  return ({ event, key }: WithPayload): SplitEvent => {
    const { index, state } = sessions.get(key)!
    const fork = forks.get(key) ?? index.fork()
    forks.set(key, fork)
    return { key, state, draft: draftOf(event, state, fork) }
  }
}

/** Writes packs, of a batch of so many events. */
const packing = (events: number) => {
  const effort = events < quickFromEvents ? "thorough" : "quick"
  return ({ draft, key, state }: SplitEvent): Drafted => ({ key, draft, pack: packOf(state, draft, effort) })
}

/** Writes the packs of a batch, in its order. */
export const write = Effect.fnUntraced(function* (
  batch: ReadonlyArray<WithPayload>,
  sessions: ReadonlyMap<string, KnownSession>
) {
  const split = splitter(sessions)
  const pack = packing(batch.length)
  const drafts: Array<Drafted> = []
  const slice = batch.some(({ event }) => event.payload.text.length >= largeTextBytes) ? sliceMs.large : sliceMs.small
  let sliceStartedMs = performance.now()
  for (const member of batch) {
    drafts.push(pack(split(member)))
    if (performance.now() - sliceStartedMs < slice) continue
    yield* Effect.yieldNow
    sliceStartedMs = performance.now()
  }
  return drafts
})

/** Splits a payload against the index of its session, which learns what is new. */
const draftOf = (
  { payload }: WithPayload["event"],
  state: KnownSession["state"],
  fork: KnownSession["index"]
): Split.Draft => {
  const { knownPrefixes } = payload
  // The payload was scanned when its body arrived; an erasure may have changed the session since.
  const isCurrent = knownPrefixes.session === state?.number && knownPrefixes.generation === state.generation
  const scanned = isCurrent || knownPrefixes.list.length === 0 ? payload : PieceScanner.rescan(payload)
  const draft = Split.split(scanned, fork)
  fork.learn(draft.learned)
  return draft
}

const packOf = (state: KnownSession["state"], draft: Split.Draft, effort: CompressionEffort): NewPack => ({
  session: state,
  number: draft.number,
  bytes: draft.pack.bytes(effort),
  history: draft.added.history,
  parts: draft.added.parts,
  newBytes: draft.newBytes,
  shared: draft.shared
})

/** Appends events with new ids, until these are not too old. */
const append = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  ids: EventIds["Service"],
  batch: ReadonlyArray<Member>,
  drafts: ReadonlyArray<Drafted>
) {
  for (let staleIds = 0; staleIds < maxStaleIds; staleIds++) {
    const startedMs = performance.now()
    const appends = identify(batch, drafts, ids)
    const result = yield* storage.appendEvents(appends).pipe(
      Effect.catchTags({
        "session-conflict": (conflict) => Effect.succeed(conflict),
        "key-conflict": (conflict) => Effect.succeed(conflict),
        "stale-ids": (stale) => Effect.succeed(stale)
      })
    )
    if (!(result instanceof StaleIds)) return { appends, result }
    // The next try may take as long until its ids are judged.
    ids.continueFrom(result.notBefore + Math.ceil(performance.now() - startedMs))
  }
  return yield* new StorageUnavailable({ cause: new Error("The ids of events are always too old") })
})

/** Gives the events their ids, in their order. */
const identify = (
  batch: ReadonlyArray<Member>,
  drafts: ReadonlyArray<Drafted>,
  eventIds: EventIds["Service"]
): ReadonlyArray<AppendEvent> => {
  const { ids, now } = eventIds.next(batch.map(({ event }) => event.session))
  return batch.map(({ event: { given, idempotency, metadata, project, withId } }, index) => {
    const { checksums, rules, summary } = withId(given?.id ?? ids[index]!, given?.receivedAt ?? now)
    const hasNewId = given === undefined
    return { project, summary, checksums, rules, metadata, pack: drafts[index]!.pack, idempotency, hasNewId }
  })
}
