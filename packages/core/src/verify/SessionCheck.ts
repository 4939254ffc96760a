/** Checks a session: its packs, its counters, the shared pieces that it owns, its steps, and its events. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { SessionId } from "../domain/Session.ts"
import type { NextSession, SessionEvent } from "../storage/Inventory.ts"
import * as EventCheck from "./EventCheck.ts"
import { attempt, type ProjectVerification } from "./Verification.ts"
import * as SessionCounters from "./SessionCounters.ts"
import { SessionPacks } from "./SessionPacks.ts"
import * as StepCheck from "./StepCheck.ts"

/** Events in one page. */
const pageEvents = 500

/** How often the packs of a session are counted that is erased from, and the pause after the first time. It doubles. */
const maxAttempts = 6
const firstPause = Duration.millis(250)

/** Returns whether its list of events could be read to the end. */
export const check = Effect.fnUntraced(function* (
  run: ProjectVerification,
  { id, number }: NextSession
): Effect.fn.Return<boolean, StorageUnavailable> {
  run.counts.sessions++
  const what = { session: id }
  yield* attempt(run, checkPacks(run, number), what)
  if (id !== undefined) yield* attempt(run, checkName(run, id, number), what)
  yield* StepCheck.check(run, number, id)
  let after: SessionEvent | undefined
  for (;;) {
    const page = yield* attempt(run, run.throttle(eventsAfter(run, number, after)), what)
    if (page === undefined) return false
    const last = page.at(-1)
    if (last === undefined) return true
    const start = after
    const listed = page.map((event) => ({
      id: event.id,
      session: id,
      isStill: isStill(run, number, start, event)
    }))
    yield* EventCheck.checkAll(run, listed)
    if (after !== undefined && !isAfter(last, after)) {
      yield* run.report({ ...what, problem: "unreadable", reason: `Its events do not go on after ${after.id}` })
      return false
    }
    after = last
  }
})

const eventsAfter = ({ project, storage }: ProjectVerification, session: number, after: SessionEvent | undefined) =>
  storage.sessionEvents(project, session, after, pageEvents)

const isAfter = (event: SessionEvent, other: SessionEvent): boolean =>
  event.agent > other.agent || (event.agent === other.agent && event.id > other.id)

/** Whether the page after `start` still has the event. A look-up of its own may not find what the page has. */
const isStill = (run: ProjectVerification, session: number, start: SessionEvent | undefined, { id }: SessionEvent) =>
  Effect.map(eventsAfter(run, session, start), (page) => page.some((event) => event.id === id))

/** Leaves the open chains to the check of the events. */
const checkPacks = Effect.fnUntraced(function* (run: ProjectVerification, session: number) {
  let pause = firstPause
  for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
    run.source.startSession(run.project, session)
    const packs = new SessionPacks(run, session)
    yield* packs.read()
    const account = yield* run.throttle(run.storage.sessionAccount(run.project, session))
    // Those that were appended in between.
    if (account.lastPack > packs.lastNumber) yield* packs.read(account.lastPack)
    const isSettled = packs.isStable && account.session?.generation === packs.generation
    if (isSettled || attemptsLeft === 1) {
      run.counts.packs += packs.packs
      if (!isSettled) run.counts.unsettled++
      if ((account.session?.pendingSweep ?? 0) > 0) run.counts.pendingErasures++
      return yield* Effect.forEach(SessionCounters.compare(session, account, packs, isSettled), run.report, {
        discard: true
      })
    }
    yield* Effect.sleep(pause)
    pause = Duration.times(pause, 2)
  }
})

/** The session's name must lead to it. */
const checkName = Effect.fnUntraced(function* (run: ProjectVerification, id: SessionId, session: number) {
  const found = yield* run.storage.getSession(run.project, id)
  if (found?.number === session) return
  // It may have been erased, and another one of its name recorded. A number is not used again.
  const account = yield* run.storage.sessionAccount(run.project, session)
  if (account.session?.id !== id) return
  const reason =
    found === undefined
      ? "Its name does not lead to it"
      : `Its name leads to number ${found.number} instead of ${session}`
  yield* run.report({ problem: "session-not-found", session: id, reason })
})
