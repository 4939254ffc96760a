/** All that is stored, for a verification. */
import * as Effect from "effect/Effect"
import type { SessionAccount } from "../domain/StorageAccount.ts"
import type { Inventory } from "../storage/Inventory.ts"
import * as MemoryAccounts from "./MemoryAccounts.ts"
import type { MemoryProjects } from "./MemoryProjects.ts"

export const make = (projects: MemoryProjects): Inventory => ({
  usage: (project, sessions) => Effect.sync(() => MemoryAccounts.usage(projects.read(project), sessions)),
  nextSession: (project, after) =>
    Effect.sync(() => {
      const numbers = Array.from(projects.read(project).sessionsByNumber.keys()).filter((number) => number > after)
      if (numbers.length === 0) return undefined
      const number = Math.min(...numbers)
      return { number, id: projects.read(project).sessionsByNumber.get(number)?.id }
    }),
  sessionEvents: (project, session, after, limit) =>
    Effect.sync(() => projects.read(project).sessionEvents(session, after, limit)),
  listPacks: (project, session, above, maxBytes) =>
    Effect.sync(() => {
      const listed = projects.read(project).sessionsByNumber.get(session)
      if (listed === undefined) return { state: undefined, packs: [], isLast: true }
      const { isLast, packs } = listed.page(above, maxBytes)
      const { agents } = projects.read(project)
      return {
        state: { ...listed.state, pendingSweep: listed.pendingSweep },
        packs: packs.map(({ agent, ...pack }) => ({ ...pack, agent: agents.get(agent)!.agent.number })),
        isLast
      }
    }),
  listShared: (project, after, maxBytes) => Effect.sync(() => projects.read(project).listShared(after, maxBytes)),
  sessionAccount: (project, session) =>
    Effect.sync(() => {
      const counted = projects.read(project).sessionsByNumber.get(session)
      return counted === undefined ? noSession : MemoryAccounts.ofSession(projects.read(project), counted)
    }),
  projectAccount: (project) => Effect.sync(() => MemoryAccounts.ofProject(projects.read(project))),
  checkTable: () => Effect.undefined
})

const noSession: SessionAccount = {
  session: undefined,
  usage: [],
  lastPack: 0,
  packsWithoutEvent: [],
  eventsWithoutPack: [],
  steps: 0,
  stepsWithoutPack: [],
  owned: []
}
