/** A storage in memory, lost when the process ends. For tests, demonstrations and short-lived tools. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AgentName } from "../domain/Agent.ts"
import { AgentVersion } from "../domain/AgentVersion.ts"
import { ApiKey } from "../domain/ApiKey.ts"
import {
  AgentNotFound,
  AgentVersionNotFound,
  EventNotFound,
  FingerprintNotFound,
  PersonNotFound
} from "../domain/Errors.ts"
import * as EventTime from "../domain/EventTime.ts"
import { Person, type PersonId } from "../domain/Person.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionAccount } from "../domain/StorageAccount.ts"
import * as MemoryAccounts from "./MemoryAccounts.ts"
import * as MemoryRollups from "./MemoryRollups.ts"
import * as MemoryLists from "./MemoryLists.ts"
import { hexOf, MemoryProject, putVersion } from "./MemoryProject.ts"
import { compressPieces } from "../payload/CompressPieces.ts"
import { keyOf } from "../sessions/SessionKey.ts"
import { Storage } from "../Storage.ts"
import { type AppendEvent, KeyConflict, SessionConflict, StaleIds } from "../storage/Appending.ts"

export const layer: Layer.Layer<Storage> = Layer.sync(Storage, () => {
  const projects = new Map<ProjectId, MemoryProject>()
  const keys = new Map<string, { readonly key: ApiKey; readonly hash: string }>()
  const leases = new Map<string, { readonly holder: string; readonly until: number }>()

  const projectOf = (id: ProjectId): MemoryProject => {
    let project = projects.get(id)
    if (project === undefined) projects.set(id, (project = new MemoryProject()))
    return project
  }

  /** For reads, which do not create the project. */
  const readProject = (id: ProjectId): MemoryProject => projects.get(id) ?? new MemoryProject()

  const compressNew = (events: ReadonlyArray<AppendEvent>): Effect.Effect<void> => {
    const pieces = events.flatMap(({ pack, project }) => {
      const shared = projects.get(project)?.shared
      return pack.shared.filter(({ sha256 }) => shared?.has(hexOf(sha256)) !== true)
    })
    return pieces.length === 0 ? Effect.void : compressPieces(pieces)
  }

  const orFail = <A, E>(value: A | undefined, error: () => E): Effect.Effect<A, E> =>
    value === undefined ? Effect.fail(error()) : Effect.succeed(value)

  const agentOf = (project: ProjectId, name: AgentName) =>
    Effect.suspend(() => orFail(projects.get(project)?.agents.get(name), () => new AgentNotFound()))

  const personOf = (project: ProjectId, id: PersonId) =>
    Effect.suspend(() => orFail(projects.get(project)?.people.get(id), () => new PersonNotFound()))

  return Storage.of({
    appendConcurrency: 1,
    appendEvents: Effect.fnUntraced(function* (events: ReadonlyArray<AppendEvent>) {
      const now = yield* Clock.currentTimeMillis
      yield* compressNew(events)
      // From here on nothing waits.
      for (const { hasNewId = false, project, summary } of events) {
        const watermark = readProject(project).watermark(now)
        if (hasNewId && summary.id <= watermark) {
          return yield* new StaleIds({ notBefore: EventTime.of(watermark) + 1 })
        }
      }
      for (const { project, summary } of events) {
        if (projects.get(project)?.eventsById.has(summary.id)) throw new Error(`Event ${summary.id} exists already`)
      }
      const taken = events.flatMap((event) => readProject(event.project).keyTaken(event) ?? [])
      if (taken.length > 0) return yield* new KeyConflict({ taken })
      const sessions = conflictingSessions(readProject, events)
      if (sessions.length > 0) return yield* new SessionConflict({ sessions })
      return events.map((event) => projectOf(event.project).append(event))
    }),
    watermark: (project) => Effect.map(Clock.currentTimeMillis, (now) => readProject(project).watermark(now)),
    getEvent: (project, id, maxPackBytes = Number.POSITIVE_INFINITY) =>
      Effect.suspend(() =>
        Effect.map(
          orFail(projects.get(project)?.eventsById.get(id), () => new EventNotFound()),
          ({ checksums, metadata, pack, rules, session, summary }) => {
            const bytes = session.packs.get(pack)?.bytes
            const isLarge = bytes !== undefined && bytes.length > maxPackBytes
            return {
              id,
              summary,
              checksums,
              rules,
              metadata,
              session: session.state.number,
              pack: { number: pack, bytes: isLarge ? undefined : bytes }
            }
          }
        )
      ),
    listEvents: (project, query) => Effect.sync(() => readProject(project).list(query)),
    findEvents: (project, query, fields, maxLooked) =>
      Effect.sync(() => readProject(project).find(query, fields, maxLooked)),
    findPacks: (project, query, fields, maxLooked) =>
      Effect.sync(() => {
        const { next, rows } = readProject(project).find(query, fields, maxLooked)
        return {
          next,
          rows: rows.map(({ id, pack, session, summary: { api, occurredAt, receivedAt } }) => ({
            ...{ id, pack, session: session.state.number, api },
            receivedAtMs: receivedAt.epochMilliseconds,
            occurredAtMs: occurredAt?.epochMilliseconds
          }))
        }
      }),
    replaceFacts: (project, session, rules, changes) =>
      Effect.sync(() => readProject(project).replaceFacts(session, rules, changes)),
    rulesInUse: (project) => Effect.sync(() => readProject(project).rulesInUse()),
    getSession: (project, session) => Effect.sync(() => projects.get(project)?.sessions.get(session)?.state),
    readPacks: (project, session, ranges, newestBytes) =>
      Effect.sync(() => projects.get(project)?.sessionsByNumber.get(session)?.read(ranges, newestBytes) ?? []),
    readPackRanges: (project, ranges, maxPackBytes) =>
      Effect.sync(() =>
        ranges
          .toSorted((a, b) => a.session - b.session || a.from - b.from)
          .flatMap(({ session: number, ...range }) => {
            const session = projects.get(project)?.sessionsByNumber.get(number)
            return session === undefined ? [] : session.readRange(range, maxPackBytes)
          })
      ),
    readShared: (project, names, maxBytes = Number.POSITIVE_INFINITY) =>
      Effect.sync(() => {
        let bytesLeft = maxBytes
        return names
          .flatMap((name) => projects.get(project)?.shared.get(Buffer.from(name).toString("hex")) ?? [])
          .filter(({ size }) => (bytesLeft -= size) >= 0)
      }),
    sharedTextBytes: (project, name) =>
      Effect.sync(() => projects.get(project)?.shared.get(Buffer.from(name).toString("hex"))?.size),
    eraseEvents: (project, which, limit, entry) =>
      Effect.sync(() => {
        if (entry !== undefined) projectOf(project).appendAudit(entry)
        return { events: projects.get(project)?.erase(which, limit) ?? 0 }
      }),
    listPendingSweep: (project, limit) =>
      Effect.sync(() =>
        Array.from(readProject(project).sessions.values())
          .filter(({ pendingSweep }) => pendingSweep > 0)
          .slice(0, limit)
          .map(({ state }) => state.number)
      ),
    sweepPacks: (project, session, request, rewrite) =>
      Effect.sync(() => {
        const swept = readProject(project).sessionsByNumber.get(session)
        if (swept === undefined) return undefined
        const { done, packs, pieces, value } = rewrite(swept.packsToSweep(request))
        swept.change(packs, pieces)
        const erased = done && projectOf(project).finishSweep(swept, done)
        return { value, erased: erased ?? { pieces: 0, bytes: 0, session: false } }
      }),
    deleteEmptySession: (project, session, limit) =>
      Effect.sync(() => {
        const deleted = readProject(project).sessionsByNumber.get(session)
        return deleted && projectOf(project).deleteEmpty(deleted, limit)
      }),
    deletePerson: (project, id) =>
      Effect.map(personOf(project, id), () => {
        const { events, people } = projectOf(project)
        return events.every(({ summary }) => summary.person !== id) && people.delete(id)
      }),
    takeLease: (name, holder, until) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const lease = leases.get(name)
        const isFree = lease === undefined || lease.holder === holder || lease.until < now
        if (isFree) leases.set(name, { holder, until: until.epochMilliseconds })
        return isFree
      }),
    listProjects: Effect.sync(() => Array.from(projects.keys())),
    usage: (project, sessions) => Effect.sync(() => MemoryAccounts.usage(readProject(project), sessions)),
    listSessions: (project, query) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        MemoryRollups.listSessions(readProject(project), query, readProject(project).watermark(now))
      ),
    sessionSummary: (project, session) =>
      Effect.sync(() => {
        const found = readProject(project).sessions.get(session)
        return found && MemoryRollups.sessionSummary(readProject(project), found)
      }),
    sumUsage: (project, query) => Effect.sync(() => MemoryRollups.sumUsage(readProject(project), query)),
    // Everything is counted when it is asked for.
    deriveEvents: () => Effect.succeed(0),
    dropDerived: () => Effect.void,
    checkDerived: () => Effect.succeed({ damage: [], next: undefined }),

    nextSession: (project, after) =>
      Effect.sync(() => {
        const numbers = Array.from(readProject(project).sessionsByNumber.keys()).filter((number) => number > after)
        if (numbers.length === 0) return undefined
        const number = Math.min(...numbers)
        return { number, id: readProject(project).sessionsByNumber.get(number)?.id }
      }),
    sessionEvents: (project, session, after, limit) =>
      Effect.sync(() => readProject(project).sessionEvents(session, after, limit)),
    listPacks: (project, session, above, maxBytes) =>
      Effect.sync(() => {
        const listed = readProject(project).sessionsByNumber.get(session)
        if (listed === undefined) return { state: undefined, packs: [], isLast: true }
        const { isLast, packs } = listed.page(above, maxBytes)
        const { agents } = readProject(project)
        return {
          state: { ...listed.state, pendingSweep: listed.pendingSweep },
          packs: packs.map(({ agent, ...pack }) => ({ ...pack, agent: agents.get(agent)!.agent.number })),
          isLast
        }
      }),
    listShared: (project, after, maxBytes) => Effect.sync(() => readProject(project).listShared(after, maxBytes)),
    sessionAccount: (project, session) =>
      Effect.sync(() => {
        const counted = readProject(project).sessionsByNumber.get(session)
        return counted === undefined ? noSession : MemoryAccounts.ofSession(readProject(project), counted)
      }),
    checkTable: () => Effect.undefined,
    projectAccount: (project) => Effect.sync(() => MemoryAccounts.ofProject(readProject(project))),

    putFingerprint: (project, fingerprint) =>
      Effect.sync(() => {
        const { fingerprints } = projectOf(project)
        if (!fingerprints.has(fingerprint.id)) fingerprints.set(fingerprint.id, fingerprint)
      }),
    hasFingerprint: (project, id) => Effect.sync(() => projects.get(project)?.fingerprints.has(id) ?? false),
    getFingerprint: (project, id) =>
      Effect.suspend(() => orFail(projects.get(project)?.fingerprints.get(id), () => new FingerprintNotFound())),
    listFingerprints: (project, query) =>
      Effect.sync(() => {
        const fingerprints = Array.from(readProject(project).fingerprints.values())
        return MemoryLists.page(
          fingerprints.map((row) => ({ key: row.id, row, text: row.fields })),
          query
        )
      }),

    putAgent: (project, fields) => Effect.sync(() => projectOf(project).putAgent(fields).agent),
    getAgent: (project, name) => Effect.map(agentOf(project, name), ({ agent }) => agent),
    listAgents: (project, query) =>
      Effect.sync(() => {
        const agents = Array.from(readProject(project).agents.values(), ({ agent }) => agent)
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

    putPerson: (project, person) => Effect.sync(() => projectOf(project).putPerson(person)),
    getPerson: (project, id) => Effect.map(personOf(project, id), ({ person }) => person),
    listPeople: (project, query) =>
      Effect.sync(() => {
        const people = Array.from(readProject(project).people.values(), ({ number, person }) => ({
          key: number,
          row: person,
          text: person.properties
        }))
        return MemoryLists.page(people, query)
      }),
    updatePerson: (project, id, properties) =>
      Effect.map(personOf(project, id), ({ number, person: { createdAt } }) => {
        const person = new Person({ id, properties, createdAt })
        projectOf(project).people.set(id, { person, number })
        return person
      }),

    putApiKey: (key, hash, entry) =>
      Effect.sync(() => {
        keys.set(key.id, { key, hash: Buffer.from(hash).toString("hex") })
        projectOf(key.project).appendAudit(entry)
      }),
    findApiKey: (hash) =>
      Effect.sync(() => {
        const hexHash = Buffer.from(hash).toString("hex")
        for (const entry of keys.values()) if (entry.hash === hexHash) return entry.key
        return undefined
      }),
    apiKeyHashes: Effect.sync(
      () => new Map(Array.from(keys.values(), ({ hash, key }) => [key.id, Buffer.from(hash, "hex")]))
    ),
    listApiKeys: Effect.sync(() => Array.from(keys.values(), ({ key }) => key)),
    revokeApiKey: (id, at, entry) =>
      Effect.sync(() => {
        const stored = keys.get(id)
        if (stored === undefined || stored.key.revokedAt !== null) return stored?.key
        const key = new ApiKey({ ...stored.key, revokedAt: at })
        keys.set(id, { ...stored, key })
        projectOf(key.project).appendAudit(entry)
        return key
      }),
    appendAudit: (project, entry) => Effect.sync(() => projectOf(project).appendAudit(entry)),
    listAudit: (project, query) => Effect.sync(() => readProject(project).listAudit(query)),

    ping: Effect.void
  })
})

const numbered = <Row extends { readonly number: number; readonly description: string | null }>(row: Row) => ({
  key: row.number,
  row,
  text: row.description
})

const noSession: SessionAccount = {
  session: undefined,
  usage: [],
  lastPack: 0,
  packsWithoutEvent: [],
  eventsWithoutPack: [],
  owned: []
}

/** The sessions whose state differs from the one that the packs were written against. */
const conflictingSessions = (readProject: (id: ProjectId) => MemoryProject, events: ReadonlyArray<AppendEvent>) =>
  Array.from(Map.groupBy(events, ({ project, summary }) => keyOf(project, summary.session)).values()).flatMap(
    (group) => {
      const { project, summary } = group[0]!
      const state = readProject(project).sessions.get(summary.session)?.state
      const { number, session = { number: state?.number, generation: 0 } } = group[0]!.pack
      const isCurrent =
        session.number === state?.number &&
        session.generation === (state?.generation ?? 0) &&
        number === (state?.packs ?? 0) + 1
      return isCurrent ? [] : [{ project, session: summary.session }]
    }
  )
