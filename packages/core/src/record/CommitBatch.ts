/**
 * Commits a batch of events. A payload becomes a pack here, against what this process knows of the session. Where the storage
 * says that a session has moved on, what is missing is read, and the packs are written anew; what is there already under its
 * idempotency key is left out.
 */
import { type DateTime, Effect } from "effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { Idempotency } from "../domain/IdempotencyKey.ts"
import type { ProjectId } from "../domain/Project.ts"
import * as PieceScanner from "../payload/scan/PieceScanner.ts"
import type * as Pack from "../payload/format/Pack.ts"
import * as Split from "../payload/Split.ts"
import { type KnownSession, type SessionCache, unknownSession } from "../sessions/SessionCache.ts"
import { keyOf } from "../sessions/SessionKey.ts"
import * as SessionLoader from "../sessions/SessionLoader.ts"
import type { AppendEvent, Storage } from "../Storage.ts"

export interface PendingEvent {
  readonly project: ProjectId
  readonly summary: EventSummary
  readonly payload: PieceScanner.ScannedPayload
  readonly idempotency?: Idempotency | undefined
  /** When it began to wait, on the clock of `performance.now()`. Now unless given. */
  readonly arrivedAtMs?: number | undefined
}

/** The event that is there now: this one, or the one that was sent under its key before. */
export interface WrittenEvent {
  readonly id: EventId
  readonly receivedAt: DateTime.Utc
  /** It was there already. */
  readonly isReplay: boolean
}

export type Outcome = WrittenEvent & Pick<PendingEvent, "idempotency">

export interface Committed {
  /** What the storage has taken. */
  readonly written: ReadonlyArray<AppendEvent>
  /** Of all jobs, in their order. */
  readonly outcomes: ReadonlyArray<Outcome>
}

/** An event of a batch, and the key of its session. */
export interface Member {
  readonly key: string
  readonly event: PendingEvent
}

const outcomeOf = ({ idempotency, summary }: PendingEvent): Outcome => ({
  id: summary.id,
  receivedAt: summary.receivedAt,
  isReplay: false,
  idempotency
})

/** Appends all events of a batch but those that are there already, or fails with none of them appended. */
export const commit = Effect.fn("CommitBatch.commit")(function* (
  storage: Storage["Service"],
  memory: SessionCache,
  all: ReadonlyArray<Member>
): Effect.fn.Return<Committed, StorageUnavailable> {
  const replays = new Map<string, Outcome>()
  const replayOf = ({ event: { idempotency, project } }: Member): Outcome | undefined =>
    idempotency && replays.get(keyOf(project, idempotency.key))
  let batch = all
  let written: ReadonlyArray<AppendEvent> = []

  const sessions = new Map<string, KnownSession>()
  const outdated = new Map<string, PendingEvent>()
  for (const { event, key } of batch) {
    const known = memory.get(key)
    if (known !== undefined) sessions.set(key, known)
    if (known === undefined || known.isContended) outdated.set(key, event)
  }
  for (;;) {
    for (const [key, { project, summary }] of outdated) {
      sessions.set(
        key,
        yield* SessionLoader.refresh(storage, project, summary.session, sessions.get(key) ?? unknownSession())
      )
    }
    outdated.clear()

    const drafts = yield* write(batch, sessions)
    const appended = yield* storage.appendEvents(drafts.map(({ append }) => append)).pipe(
      Effect.map((numbers) => ({ numbers })),
      Effect.catchTags({
        "session-conflict": ({ sessions: moved }) => Effect.succeed({ moved }),
        "key-conflict": ({ taken }) => Effect.succeed({ taken })
      })
    )
    if ("numbers" in appended) {
      for (const [index, { draft, key }] of drafts.entries()) {
        const session = sessions.get(key)!
        session.index.learn(draft.learned)
        memory.set(key, { ...session, state: session.state ?? { number: appended.numbers[index]!, generation: 0 } })
      }
      written = drafts.map(({ append }) => append)
      break
    }
    if ("taken" in appended) {
      for (const { project, idempotency, id, receivedAt } of appended.taken) {
        replays.set(keyOf(project, idempotency.key), { id, receivedAt, isReplay: true, idempotency })
      }
      batch = all.filter((job) => replayOf(job) === undefined)
      if (batch.length === 0) break
      continue
    }
    const moved = new Set(appended.moved.map(({ project, session }) => keyOf(project as ProjectId, session)))
    for (const { event, key } of batch) {
      if (!moved.has(key)) continue
      outdated.set(key, event)
      sessions.set(key, { ...sessions.get(key)!, isContended: true })
    }
  }
  return { written, outcomes: all.map((job) => replayOf(job) ?? outcomeOf(job.event)) }
})

interface Drafted {
  readonly key: string
  readonly draft: Split.Draft
  readonly append: AppendEvent
}

/**
 * How long packs are written at a time, in milliseconds. Then everything else has its turn: of those who want to connect,
 * one is let in with every turn of the event loop. Among large texts, in bytes, everything else takes long as well: turns are
 * kept short. Among small ones what takes longest is to refuse, and packs must not wait for that too often.
 */
const sliceMs = { small: 10, large: 2 }
const large = 32 * 1024

/** Of a batch with so many events it is clear that many wait. */
const quickFromEvents = 8

/** The packs of a batch, each on top of those before it; nothing is learned of them yet. */
const write = Effect.fnUntraced(function* (
  batch: ReadonlyArray<Member>,
  sessions: ReadonlyMap<string, KnownSession>
): Effect.fn.Return<ReadonlyArray<Drafted>> {
  const forks = new Map<string, KnownSession["index"]>()
  const drafts: Array<Drafted> = []
  const effort = batch.length < quickFromEvents ? "thorough" : "quick"
  const turn = batch.some(({ event }) => event.payload.text.length >= large) ? sliceMs.large : sliceMs.small
  let began = performance.now()
  for (const { event, key } of batch) {
    const { index: sessionIndex, state } = sessions.get(key)!
    const fork = forks.get(key) ?? sessionIndex.fork()
    forks.set(key, fork)
    const draft = draftOf(event, state, fork)
    drafts.push({ key, draft, append: appendOf(event, state, draft, effort) })
    if (performance.now() - began < turn) continue
    yield* Effect.yieldNow
    began = performance.now()
  }
  return drafts
})

/** What is new with an event, on top of what its session knows by then; and learned of it. */
const draftOf = ({ payload }: PendingEvent, state: KnownSession["state"], fork: KnownSession["index"]): Split.Draft => {
  const { knownPrefixes } = payload
  const isOfNow = knownPrefixes.session === state?.number && knownPrefixes.generation === state.generation
  const draft = Split.split(isOfNow || knownPrefixes.list.length === 0 ? payload : PieceScanner.rescan(payload), fork)
  fork.learn(draft.learned)
  return draft
}

const appendOf = (
  { idempotency, project, summary }: PendingEvent,
  state: KnownSession["state"],
  draft: Split.Draft,
  effort: Pack.CompressionEffort
): AppendEvent => ({
  project,
  summary,
  pack: {
    session: state,
    number: draft.number,
    bytes: draft.pack.bytes(effort),
    history: draft.added.history,
    parts: draft.added.parts,
    newBytes: draft.newBytes,
    shared: draft.shared
  },
  idempotency
})
