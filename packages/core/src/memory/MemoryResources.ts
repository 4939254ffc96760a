/** What events name. */
import * as Effect from "effect/Effect"
import type { AgentName } from "../domain/Agent.ts"
import { AgentVersion } from "../domain/AgentVersion.ts"
import { AgentNotFound, AgentVersionNotFound, FingerprintNotFound } from "../domain/Errors.ts"
import { Person } from "../domain/Person.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { Resources } from "../storage/Resources.ts"
import * as MemoryLists from "./MemoryLists.ts"
import { putVersion } from "./MemoryProject.ts"
import { type MemoryProjects, orFail, personOf } from "./MemoryProjects.ts"

export const make = (projects: MemoryProjects): Resources => {
  const agentOf = (project: ProjectId, name: AgentName) =>
    Effect.suspend(() => orFail(projects.get(project)?.agents.get(name), () => new AgentNotFound()))

  return {
    putFingerprint: (project, fingerprint) =>
      Effect.sync(() => {
        const { fingerprints } = projects.of(project)
        if (!fingerprints.has(fingerprint.id)) fingerprints.set(fingerprint.id, fingerprint)
      }),
    hasFingerprint: (project, id) => Effect.sync(() => projects.get(project)?.fingerprints.has(id) ?? false),
    getFingerprint: (project, id) =>
      Effect.suspend(() => orFail(projects.get(project)?.fingerprints.get(id), () => new FingerprintNotFound())),
    listFingerprints: (project, query) =>
      Effect.sync(() => {
        const fingerprints = Array.from(projects.read(project).fingerprints.values())
        return MemoryLists.page(
          fingerprints.map((row) => ({ key: row.id, row, text: row.fields })),
          query
        )
      }),
    putAgent: (project, fields) => Effect.sync(() => projects.of(project).putAgent(fields).agent),
    getAgent: (project, name) => Effect.map(agentOf(project, name), ({ agent }) => agent),
    listAgents: (project, query) =>
      Effect.sync(() => {
        const agents = Array.from(projects.read(project).agents.values(), ({ agent }) => agent)
        return MemoryLists.page(agents.map(numbered), query)
      }),
    putAgentVersion: (project, agent, fields) =>
      Effect.map(agentOf(project, agent), (entry) => putVersion(entry, fields)),
    getAgentVersion: (project, agent, version) =>
      Effect.flatMap(agentOf(project, agent), ({ versions }) =>
        orFail(versions.get(version), () => new AgentVersionNotFound())
      ),
    listAgentVersions: (project, agent, query) =>
      Effect.map(agentOf(project, agent), ({ versions }) =>
        MemoryLists.page(Array.from(versions.values(), numbered), query)
      ),
    deprecateAgentVersion: (project, agent, name, at) =>
      Effect.flatMap(agentOf(project, agent), ({ versions }) =>
        Effect.map(
          orFail(versions.get(name), () => new AgentVersionNotFound()),
          (version) => {
            const deprecated = new AgentVersion({ ...version, deprecatedAt: version.deprecatedAt ?? at })
            versions.set(name, deprecated)
            return deprecated
          }
        )
      ),
    putPerson: (project, person) => Effect.sync(() => projects.of(project).putPerson(person)),
    getPerson: (project, id) => Effect.map(personOf(projects, project, id), ({ person }) => person),
    listPeople: (project, query) =>
      Effect.sync(() => {
        const people = Array.from(projects.read(project).people.values(), ({ number, person }) => ({
          key: number,
          row: person,
          text: person.properties
        }))
        return MemoryLists.page(people, query)
      }),
    updatePerson: (project, id, properties) =>
      Effect.map(personOf(projects, project, id), ({ number, person: { createdAt } }) => {
        const person = new Person({ id, properties, createdAt })
        projects.of(project).people.set(id, { person, number })
        return person
      })
  }
}

const numbered = <Row extends { readonly number: number; readonly description: string | null }>(row: Row) => ({
  key: row.number,
  row,
  text: row.description
})
