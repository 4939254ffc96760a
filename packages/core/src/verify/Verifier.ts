/**
 * Verifies that all that is stored is what was recorded: rebuilds every text as a read would do, compares every checksum, and
 * every counter with what it counts. Only reads, in steps of bounded size, and runs beside other processes that record and
 * erase: whatever seems wrong is looked at again in one snapshot.
 */
import * as Effect from "effect/Effect"
import { SessionNotFound, type StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { Storage } from "../Storage.ts"
import type { NextSession } from "../storage/Inventory.ts"
import type { Throttle } from "../Throttle.ts"
import { CachedSource } from "./CachedSource.ts"
import type { Counts, Finding } from "./Finding.ts"
import * as ListCheck from "./ListCheck.ts"
import * as Verification from "./Verification.ts"
import * as SessionCheck from "./SessionCheck.ts"
import * as SharedCheck from "./SharedCheck.ts"
import * as StorageChecks from "./StorageChecks.ts"

export { Counts, type Finding, type Lost, type Problem } from "./Finding.ts"

export interface Options {
  readonly projects: ReadonlyArray<ProjectId>
  /** Verifies only the session of this name, in those projects that have one. Fails if none has. */
  readonly session?: SessionId | undefined
  /** Verifies only the sessions that have this event or a later one. */
  readonly since?: EventId | undefined
  /** Every step runs through it. */
  readonly throttle: Throttle
  /** Called with each finding at once. */
  readonly report: (finding: Finding) => Effect.Effect<void>
  /** Updated while the verification runs. */
  readonly counts: Counts
}

export const verify = Effect.fn("Verifier.verify")(function* (
  storage: Storage["Service"],
  { counts, projects, report, session, since, throttle }: Options
): Effect.fn.Return<void, SessionNotFound | StorageUnavailable> {
  const run: Verification.Verification = {
    storage,
    throttle,
    counts,
    source: new CachedSource(storage),
    reported: new Set(),
    report: (finding) => {
      counts.problems++
      return report(finding)
    }
  }
  if (session !== undefined) return yield* verifySession(run, projects, session)
  if (since === undefined) yield* StorageChecks.checkTables(run)
  for (const ofProject of projects.map((project) => Verification.ofProject(run, project))) {
    counts.projects++
    yield* ListCheck.check(ofProject, since)
    yield* verifySessions(ofProject, since)
    // Those that a session needs are checked with its events.
    if (since !== undefined) continue
    yield* SharedCheck.check(ofProject)
    yield* StorageChecks.checkDerived(ofProject)
  }
})

const verifySession = Effect.fnUntraced(function* (
  run: Verification.Verification,
  projects: ReadonlyArray<ProjectId>,
  id: SessionId
) {
  for (const project of projects) {
    const state = yield* run.storage.getSession(project, id)
    if (state === undefined) continue
    run.counts.projects++
    const ofProject = Verification.ofProject(run, project)
    const isListed = yield* SessionCheck.check(ofProject, { number: state.number, id })
    if (!isListed) yield* ListCheck.checkEventsOf(ofProject, new Set([id]))
  }
  if (run.counts.projects === 0) return yield* new SessionNotFound()
})

const verifySessions = Effect.fnUntraced(function* (run: Verification.ProjectVerification, since: EventId | undefined) {
  const unlisted = new Set<SessionId>()
  for (let after = Verification.belowAll; ;) {
    const next: NextSession | undefined = yield* Verification.attempt(run, run.storage.nextSession(run.project, after))
    if (next === undefined) break
    if (next.number <= after) {
      yield* run.report({ problem: "unreadable", reason: `The sessions do not go on after number ${after}` })
      break
    }
    after = next.number
    if (!(yield* isSince(run, next, since))) continue
    const isListed = yield* SessionCheck.check(run, next)
    if (!isListed && next.id !== undefined) unlisted.add(next.id)
  }
  if (unlisted.size > 0) yield* ListCheck.checkEventsOf(run, unlisted)
})

const isSince = (run: Verification.ProjectVerification, { id }: NextSession, since: EventId | undefined) =>
  since === undefined || id === undefined
    ? Effect.succeed(true)
    : Effect.map(
        run.throttle(run.storage.listEvents(run.project, { session: id, order: "desc", limit: 1 })),
        ([newest]) => newest !== undefined && newest.id >= since
      )
