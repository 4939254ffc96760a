/** Appends events. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as EventTime from "../domain/EventTime.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import { compressPieces } from "../payload/CompressPieces.ts"
import { keyOf } from "../sessions/SessionKey.ts"
import {
  type AppendEvent,
  type Appending,
  KeyConflict,
  type NewPack,
  SessionConflict,
  StaleIds
} from "../storage/Appending.ts"
import { hexOf } from "./MemoryProject.ts"
import type { MemoryProjects } from "./MemoryProjects.ts"

/** A pack to append. */
interface Appended {
  readonly project: ProjectId
  readonly session: SessionId
  readonly pack: NewPack
}

const packsOf = (events: ReadonlyArray<AppendEvent>): ReadonlyArray<Appended> =>
  events.map(({ pack, project, summary: { session } }) => ({ project, session, pack }))

export const compressNew = (projects: MemoryProjects, packs: ReadonlyArray<Appended>): Effect.Effect<void> => {
  const pieces = packs.flatMap(({ pack, project }) => {
    const shared = projects.get(project)?.shared
    return pack.shared.filter(({ sha256 }) => shared?.has(hexOf(sha256)) !== true)
  })
  return pieces.length === 0 ? Effect.void : compressPieces(pieces)
}

export const make = (projects: MemoryProjects): Appending => {
  return {
    appendConcurrency: 1,
    waitUntilKept: Effect.void,
    appendEvents: Effect.fnUntraced(function* (events: ReadonlyArray<AppendEvent>) {
      const now = yield* Clock.currentTimeMillis
      yield* compressNew(projects, packsOf(events))
      // From here on nothing waits.
      for (const { hasNewId = false, project, summary } of events) {
        const watermark = projects.read(project).watermark(now)
        if (hasNewId && summary.id <= watermark) {
          return yield* new StaleIds({ notBefore: EventTime.of(watermark) + 1 })
        }
      }
      for (const { project, summary } of events) {
        if (projects.get(project)?.eventsById.has(summary.id)) throw new Error(`Event ${summary.id} exists already`)
      }
      const taken = events.flatMap((event) => projects.read(event.project).keyTaken(event) ?? [])
      if (taken.length > 0) return yield* new KeyConflict({ taken })
      const sessions = conflictingSessions(projects, packsOf(events))
      if (sessions.length > 0) return yield* new SessionConflict({ sessions })
      return events.map((event) => projects.of(event.project).append(event))
    })
  }
}

/** The sessions whose state differs from the one that the packs were written against. */
export const conflictingSessions = (projects: MemoryProjects, packs: ReadonlyArray<Appended>) =>
  Array.from(Map.groupBy(packs, ({ project, session }) => keyOf(project, session)).values()).flatMap((group) => {
    const { pack, project, session: name } = group[0]!
    const state = projects.read(project).sessions.get(name)?.state
    const { number, session = { number: state?.number, generation: 0 } } = pack
    const isCurrent =
      session.number === state?.number &&
      session.generation === (state?.generation ?? 0) &&
      number === (state?.packs ?? 0) + 1
    return isCurrent ? [] : [{ project, session: name }]
  })
