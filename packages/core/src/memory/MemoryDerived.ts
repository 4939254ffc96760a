/** What events add up to. Everything is counted when it is asked for. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Derived } from "../storage/Derived.ts"
import type { MemoryProjects } from "./MemoryProjects.ts"
import * as MemoryRollups from "./MemoryRollups.ts"

export const make = (projects: MemoryProjects): Derived => ({
  replaceFacts: (project, session, rules, changes) =>
    Effect.sync(() => projects.read(project).replaceFacts(session, rules, changes)),
  rulesInUse: (project) => Effect.sync(() => projects.read(project).rulesInUse()),
  listSessions: (project, query) =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      MemoryRollups.listSessions(projects.read(project), query, projects.read(project).watermark(now))
    ),
  rankSessions: (project, query) => Effect.sync(() => MemoryRollups.rankSessions(projects.read(project), query)),
  rankEvents: (project, query) =>
    Effect.sync(() => {
      const found = MemoryRollups.rankEvents(projects.read(project), query)
      const page = found.slice(0, query.limit)
      return { rows: page.map(([stored]) => stored), next: found.length > query.limit ? page.at(-1)![1] : undefined }
    }),
  sessionSummary: (project, session) =>
    Effect.sync(() => {
      const found = projects.read(project).sessions.get(session)
      return found && MemoryRollups.sessionSummary(projects.read(project), found)
    }),
  sumUsage: (project, query) => Effect.sync(() => MemoryRollups.sumUsage(projects.read(project), query)),
  deriveEvents: () => Effect.succeed(0),
  dropDerived: () => Effect.void,
  checkDerived: () => Effect.succeed({ damage: [], next: undefined })
})
