/** Storage in the memory of the process: gone when it ends. For tests, demonstrations and short-lived tools. */
import { Effect, Layer } from "effect"
import { Agent, type AgentName } from "./domain/Agent.ts"
import { AgentVersion, type AgentVersionName } from "./domain/AgentVersion.ts"
import { ApiKey } from "./domain/ApiKey.ts"
import { AgentNotFound, AgentVersionNotFound, EventNotFound, PersonNotFound } from "./domain/Errors.ts"
import type { EventId } from "./domain/Event.ts"
import * as JsonText from "./domain/JsonText.ts"
import { Person, type PersonId } from "./domain/Person.ts"
import type { ProjectId } from "./domain/Project.ts"
import { type EventQuery, Storage, type StoredEvent } from "./Storage.ts"

interface AgentEntry {
  readonly agent: Agent
  readonly versions: Map<AgentVersionName, AgentVersion>
}

class Project {
  readonly agents = new Map<AgentName, AgentEntry>()
  readonly people = new Map<PersonId, Person>()
  readonly fingerprints = new Set<string>()
  /** In the order of their ids. */
  readonly events: Array<StoredEvent> = []
  readonly eventsById = new Map<EventId, StoredEvent>()

  putAgent(fields: Omit<Agent, "number">): AgentEntry {
    let entry = this.agents.get(fields.name)
    if (entry === undefined) {
      const { createdAt, description, name } = fields
      const agent = new Agent({ name, number: this.agents.size + 1, createdAt, description })
      this.agents.set(name, (entry = { agent, versions: new Map() }))
    }
    return entry
  }

  putPerson({ createdAt, id, properties }: Person): Person {
    const person = this.people.get(id) ?? new Person({ id, properties, createdAt })
    this.people.set(id, person)
    return person
  }

  append(event: StoredEvent): void {
    const { agent, agentVersion, id, person, receivedAt } = event.summary
    const entry = this.putAgent({ name: agent, description: "", createdAt: receivedAt })
    putVersion(entry, { name: agentVersion, description: null, createdAt: receivedAt })
    if (person !== null) this.putPerson({ id: person, properties: JsonText.unsafe("{}"), createdAt: receivedAt })
    this.eventsById.set(id, event)
    this.events.splice(this.placeBehind(id), 0, event)
  }

  /** The first place in `events` whose id is greater. New events nearly always belong at the end. */
  placeBehind(id: EventId): number {
    let low = 0
    let high = this.events.length
    if (high > 0 && this.events[high - 1]!.summary.id <= id) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.events[middle]!.summary.id <= id) low = middle + 1
      else high = middle
    }
    return low
  }
}

const putVersion = (
  { versions }: AgentEntry,
  { createdAt, description, name }: Pick<AgentVersion, "name" | "description" | "createdAt">
): AgentVersion => {
  let version = versions.get(name)
  if (version === undefined) {
    version = new AgentVersion({ name, description, number: versions.size + 1, createdAt, deprecatedAt: null })
    versions.set(name, version)
  }
  return version
}

const matches =
  ({ agent, agentVersion, person, session }: EventQuery) =>
  ({ summary }: StoredEvent): boolean =>
    (session === undefined || summary.session === session) &&
    (agent === undefined || summary.agent === agent) &&
    (agentVersion === undefined || summary.agentVersion === agentVersion) &&
    (person === undefined || summary.person === person)

export const layer: Layer.Layer<Storage> = Layer.sync(Storage, () => {
  const projects = new Map<ProjectId, Project>()
  const keys = new Map<string, { readonly key: ApiKey; readonly hash: string }>()

  const projectOf = (id: ProjectId): Project => {
    let project = projects.get(id)
    if (project === undefined) projects.set(id, (project = new Project()))
    return project
  }

  const orFail = <A, E>(value: A | undefined, error: () => E): Effect.Effect<A, E> =>
    value === undefined ? Effect.fail(error()) : Effect.succeed(value)

  const agentOf = (project: ProjectId, name: AgentName) =>
    Effect.suspend(() => orFail(projects.get(project)?.agents.get(name), () => new AgentNotFound()))

  const personOf = (project: ProjectId, id: PersonId) =>
    Effect.suspend(() => orFail(projects.get(project)?.people.get(id), () => new PersonNotFound()))

  return Storage.of({
    appendEvents: (events) =>
      Effect.sync(() => {
        for (const { project, summary } of events) {
          if (projects.get(project)?.eventsById.has(summary.id)) throw new Error(`There is an event ${summary.id}`)
        }
        for (const { pack, project, summary } of events) projectOf(project).append({ summary, pack })
      }),
    getEvent: (project, id) =>
      Effect.suspend(() => orFail(projects.get(project)?.eventsById.get(id), () => new EventNotFound())),
    listEvents: (project, query) =>
      Effect.sync(() => {
        const { events } = projectOf(project)
        const isWanted = matches(query)
        const found: Array<StoredEvent["summary"]> = []
        const step = query.order === "asc" ? 1 : -1
        const behind = query.after === undefined ? undefined : projectOf(project).placeBehind(query.after)
        let at = query.order === "asc" ? (behind ?? 0) : (behind ?? events.length) - 1
        // The cursor's own event, where there is one, was on the page before.
        if (query.order === "desc" && events[at]?.summary.id === query.after) at--
        for (; at >= 0 && at < events.length && found.length < query.limit; at += step) {
          const event = events[at]!
          if (isWanted(event)) found.push(event.summary)
        }
        return found
      }),

    putFingerprint: (project, { id }) => Effect.sync(() => void projectOf(project).fingerprints.add(id)),
    hasFingerprint: (project, id) => Effect.sync(() => projects.get(project)?.fingerprints.has(id) ?? false),

    putAgent: (project, fields) => Effect.sync(() => projectOf(project).putAgent(fields).agent),
    getAgent: (project, name) => Effect.map(agentOf(project, name), ({ agent }) => agent),
    putAgentVersion: (project, agent, fields) =>
      Effect.map(agentOf(project, agent), (entry) => putVersion(entry, fields)),
    getAgentVersion: (project, agent, version) =>
      Effect.flatMap(agentOf(project, agent), ({ versions }) =>
        orFail(versions.get(version), () => new AgentVersionNotFound())
      ),

    putPerson: (project, person) => Effect.sync(() => projectOf(project).putPerson(person)),
    getPerson: personOf,
    updatePerson: (project, id, properties) =>
      Effect.map(personOf(project, id), ({ createdAt }) => {
        const person = new Person({ id, properties, createdAt })
        projectOf(project).people.set(id, person)
        return person
      }),

    putApiKey: (key, hash) =>
      Effect.sync(() => void keys.set(key.id, { key, hash: Buffer.from(hash).toString("hex") })),
    findApiKey: (hash) =>
      Effect.sync(() => {
        const wanted = Buffer.from(hash).toString("hex")
        for (const entry of keys.values()) if (entry.hash === wanted) return entry.key
        return undefined
      }),
    listApiKeys: Effect.sync(() => Array.from(keys.values(), ({ key }) => key)),
    revokeApiKey: (id, at) =>
      Effect.sync(() => {
        const entry = keys.get(id)
        if (entry === undefined) return undefined
        const key = new ApiKey({ ...entry.key, revokedAt: entry.key.revokedAt ?? at })
        keys.set(id, { ...entry, key })
        return key
      }),

    ping: Effect.void
  })
})
