/** Erases events, and what they leave. */
import * as Effect from "effect/Effect"
import type { Erasing } from "../storage/Erasing.ts"
import { type MemoryProjects, personOf } from "./MemoryProjects.ts"

export const make = (projects: MemoryProjects): Erasing => ({
  eraseEvents: (project, which, limit, entry) =>
    Effect.sync(() => {
      if (entry !== undefined) projects.of(project).appendAudit(entry)
      return { events: projects.get(project)?.erase(which, limit) ?? 0 }
    }),
  listPendingSweep: (project, limit) =>
    Effect.sync(() =>
      Array.from(projects.read(project).sessions.values())
        .filter(({ pendingSweep }) => pendingSweep > 0)
        .slice(0, limit)
        .map(({ state }) => state.number)
    ),
  sweepPacks: (project, session, request, rewrite) =>
    Effect.sync(() => {
      const swept = projects.read(project).sessionsByNumber.get(session)
      if (swept === undefined) return undefined
      const { done, packs, pieces, value } = rewrite(swept.packsToSweep(request))
      swept.change(packs, pieces)
      const erased = done && projects.of(project).finishSweep(swept, done)
      return { value, erased: erased ?? { pieces: 0, bytes: 0, session: false } }
    }),
  deleteEmptySession: (project, session, limit) =>
    Effect.sync(() => {
      const deleted = projects.read(project).sessionsByNumber.get(session)
      return deleted && projects.of(project).deleteEmpty(deleted, limit)
    }),
  deletePerson: (project, id) =>
    Effect.map(personOf(projects, project, id), () => {
      const { events, people, sessions } = projects.of(project)
      const isNamed =
        events.some(({ summary }) => summary.person === id) ||
        Array.from(sessions.values()).some(({ steps }) => steps.some(({ person }) => person === id))
      return !isNamed && people.delete(id)
    })
})
