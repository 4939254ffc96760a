/** Steps of sessions. */
import * as Effect from "effect/Effect"
import * as EventTime from "../domain/EventTime.ts"
import { SessionConflict } from "../storage/Appending.ts"
import type { ErasableSteps } from "../storage/Erasing.ts"
import { type AppendSteps, StepConflict, type Steps, type StoredStep } from "../storage/Steps.ts"
import { compressNew, conflictingSessions } from "./MemoryAppending.ts"
import type { MemoryProjects } from "./MemoryProjects.ts"

const isErasable =
  (which: ErasableSteps) =>
  ({ person, receivedAt, session }: StoredStep): boolean => {
    if ("person" in which) return person === which.person
    if ("session" in which) return session === which.session
    return receivedAt.epochMilliseconds < EventTime.of(which.before)
  }

const compareReceipts = (a: StoredStep, b: StoredStep): number =>
  a.receivedAt.epochMilliseconds - b.receivedAt.epochMilliseconds ||
  a.sessionNumber - b.sessionNumber ||
  a.pack - b.pack ||
  a.start - b.start

export const make = (projects: MemoryProjects): Steps => ({
  appendSteps: Effect.fnUntraced(function* (project, groups) {
    const packs = groups.map(({ pack, session }) => ({ project, session, pack }))
    yield* compressNew(projects, packs)
    // From here on nothing waits.
    const sessions = conflictingSessions(projects, packs)
    if (sessions.length > 0) return yield* new SessionConflict({ sessions })
    const withoutEvents = new Set<AppendSteps["session"]>()
    const taken: Array<StepConflict["taken"][number]> = []
    for (const { session, steps } of groups) {
      const found = projects.of(project).sessions.get(session)
      if (found === undefined || !projects.of(project).hasEvents(found)) {
        withoutEvents.add(session)
        continue
      }
      for (const { spanId, traceId } of steps) {
        const isTaken = found.steps.some((step) => step.traceId === traceId && step.spanId === spanId)
        if (isTaken) taken.push({ session, traceId, spanId })
      }
    }
    if (taken.length + withoutEvents.size > 0) {
      return yield* new StepConflict({ taken, withoutEvents: Array.from(withoutEvents) })
    }
    for (const group of groups) projects.of(project).appendSteps(group)
  }),
  listSteps: (project, session, after, limit) =>
    Effect.sync(() => projects.get(project)?.sessionsByNumber.get(session)?.stepsAfter(after, limit) ?? []),
  findSteps: (project, { fromMs, ...names }, after, limit) =>
    Effect.sync(() => {
      const named = Object.entries(names).filter(([, name]) => name !== undefined) as ReadonlyArray<
        [keyof typeof names, string]
      >
      return Array.from(projects.read(project).sessions.values())
        .flatMap(({ steps }) => steps)
        .filter((step) => step.receivedAt.epochMilliseconds >= fromMs)
        .filter((step) => after === undefined || compareReceipts(step, after) > 0)
        .filter((step) => named.every(([name, value]) => step[name] === value))
        .sort(compareReceipts)
        .slice(0, limit)
    }),
  eraseSteps: (project, which, limit) =>
    Effect.sync(() => {
      let erased = 0
      for (const session of projects.read(project).sessions.values()) {
        erased += session.eraseSteps(isErasable(which), limit - erased)
      }
      return erased
    })
})
