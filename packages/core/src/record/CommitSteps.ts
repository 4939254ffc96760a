/**
 * Commits groups of steps, as `CommitBatch` does events: each as a pack against the cached index of its session. Steps that are stored
 * already are left out, and so are those of sessions without events.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import { type KnownSession, type SessionCache, unknownSession } from "../sessions/SessionCache.ts"
import { keyOf } from "../sessions/SessionKey.ts"
import * as SessionLoader from "../sessions/SessionLoader.ts"
import type { Storage } from "../Storage.ts"
import { SessionConflict } from "../storage/Appending.ts"
import * as Checksum from "../storage/Checksum.ts"
import type { AppendSteps, StepConflict, StepNames } from "../storage/Steps.ts"
import * as Spans from "../telemetry/Spans.ts"
import * as CommitBatch from "./CommitBatch.ts"
import * as NewSteps from "./NewSteps.ts"

/** A group of steps, which share a pack. */
export interface PendingSteps extends Omit<StepNames, "receivedAt"> {
  readonly project: ProjectId
  readonly steps: ReadonlyArray<NewSteps.StepText>
  /** When they were received where they were recorded first, if they are imported. */
  readonly receivedAt?: DateTime.Utc | undefined
  /** Only events have it. */
  readonly idempotency?: undefined
}

/** A group of a batch, and the key of its session. */
export interface Member {
  readonly key: string
  readonly event: PendingSteps
}

/** How many of the steps were stored, and how many were there. Undefined if their session has no event: then none is. */
export type Outcome = { readonly kept: number; readonly existing: number } | undefined

/** What of a group is to be stored. */
interface Rest extends Member {
  readonly steps: ReadonlyArray<NewSteps.StepText>
}

/** Fails with nothing of a project committed, but maybe what is of others. */
export const commit = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  cache: SessionCache,
  members: ReadonlyArray<Member>
): Effect.fn.Return<ReadonlyArray<Outcome>, StorageUnavailable> {
  const outcomes = new Map<Member, Outcome>()
  for (const [project, ofProject] of Map.groupBy(members, ({ event }) => event.project)) {
    const kept = yield* commitOfProject(storage, cache, project, ofProject)
    for (const member of ofProject) outcomes.set(member, kept.get(member))
  }
  return members.map((member) => outcomes.get(member))
}, Spans.spanIfTraced("CommitSteps.commit"))

const commitOfProject = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  cache: SessionCache,
  project: ProjectId,
  members: ReadonlyArray<Member>
): Effect.fn.Return<ReadonlyMap<Member, Outcome>, StorageUnavailable> {
  const sessions = new Map<string, KnownSession>()
  const stale = new Set<string>()
  const ids = new Map(members.map(({ event, key }) => [key, event.session]))
  for (const key of ids.keys()) {
    const known = cache.get(key) ?? unknownSession()
    sessions.set(key, known)
    if (known.state === undefined || known.isContended) stale.add(key)
  }
  /** The keys of steps that are stored. */
  const taken = new Set<string>()
  const repeated = new CommitBatch.RepeatedConflicts()
  for (;;) {
    const known = new Map(Array.from(stale, (key) => [ids.get(key)!, sessions.get(key)!]))
    const refreshed = known.size === 0 ? known : yield* SessionLoader.refresh(storage, project, known)
    for (const key of stale) sessions.set(key, refreshed.get(ids.get(key)!)!)
    stale.clear()

    const rest = restOf(members, sessions, taken)
    const conflict = rest.length === 0 ? undefined : yield* append(storage, cache, project, rest, sessions)
    if (conflict === undefined) return outcomesOf(members, rest, sessions)
    if (conflict instanceof SessionConflict) {
      for (const session of conflict.sessions.map(({ session }) => session)) {
        const key = keyOf(project, session)
        const known = sessions.get(key)!
        if (repeated.isTooOften(key, known)) {
          return yield* new StorageUnavailable({ cause: new Damage("A session conflicts with its own state") })
        }
        sessions.set(key, { ...known, isContended: true })
        stale.add(key)
      }
      continue
    }
    for (const step of conflict.taken) taken.add(nameOf(keyOf(project, step.session), step))
    for (const session of conflict.withoutEvents) sessions.set(keyOf(project, session), unknownSession())
  }
})

/** Undefined if all is committed. */
const append = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  cache: SessionCache,
  project: ProjectId,
  rest: ReadonlyArray<Rest>,
  sessions: ReadonlyMap<string, KnownSession>
): Effect.fn.Return<SessionConflict | StepConflict | undefined, StorageUnavailable> {
  const now = yield* DateTime.now
  const payloads = rest.map(({ key, steps }) => ({ key, event: { payload: NewSteps.payloadOf(steps) } }))
  const drafts = yield* CommitBatch.write(payloads, sessions)
  const groups = rest.map(({ event, steps }, index): AppendSteps => {
    const { agent, agentVersion, person, receivedAt = now, session } = event
    const names = { session, agent, agentVersion, person, receivedAt }
    const starts = NewSteps.startsOf(steps)
    const placed = steps.map(({ bytes, occurredAt, spanId, text, traceId }, n) => {
      const step = { traceId, spanId, occurredAt }
      return { ...step, start: starts[n]!, bytes, checksum: Checksum.ofStep(project, names, step, text) }
    })
    return { ...names, pack: drafts[index]!.pack, steps: placed }
  })
  const conflict = yield* storage.appendSteps(project, groups).pipe(
    Effect.as(undefined),
    Effect.catchTags({
      "session-conflict": (conflict) => Effect.succeed(conflict),
      "step-conflict": (conflict) => Effect.succeed(conflict)
    })
  )
  if (conflict === undefined) CommitBatch.learn(cache, sessions, drafts, [])
  return conflict
})

const nameOf = (session: string, { spanId, traceId }: Pick<NewSteps.StepText, "traceId" | "spanId">): string =>
  `${session} ${traceId} ${spanId}`

/** The groups of sessions that exist, with the steps that are not stored, each of which is in one of them. */
const restOf = (
  members: ReadonlyArray<Member>,
  sessions: ReadonlyMap<string, KnownSession>,
  taken: ReadonlySet<string>
): ReadonlyArray<Rest> => {
  const seen = new Set(taken)
  return members.flatMap((member) => {
    if (sessions.get(member.key)!.state === undefined) return []
    const steps = member.event.steps.filter((step) => {
      const name = nameOf(member.key, step)
      const isNew = !seen.has(name)
      seen.add(name)
      return isNew
    })
    return steps.length === 0 ? [] : [{ ...member, steps }]
  })
}

const outcomesOf = (
  members: ReadonlyArray<Member>,
  rest: ReadonlyArray<Rest>,
  sessions: ReadonlyMap<string, KnownSession>
): ReadonlyMap<Member, Outcome> => {
  const kept = new Map(rest.map(({ event, steps }) => [event, steps.length]))
  return new Map(
    members.flatMap((member) => {
      if (sessions.get(member.key)!.state === undefined) return []
      const own = kept.get(member.event) ?? 0
      return [[member, { kept: own, existing: member.event.steps.length - own }]]
    })
  )
}
