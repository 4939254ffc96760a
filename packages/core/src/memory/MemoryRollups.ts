/** What the events of a project add up to, counted when it is asked for. */
import * as DateTime from "effect/DateTime"
import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import * as ProviderNames from "../domain/ProviderNames.ts"
import type { PersonId } from "../domain/Person.ts"
import type { Dimension } from "../domain/UsageGroup.ts"
import * as CallTime from "../domain/CallTime.ts"
import * as EventTime from "../domain/EventTime.ts"
import * as GroupValues from "../rollup/GroupValues.ts"
import { LocalTime } from "../rollup/LocalTime.ts"
import * as SessionOrder from "../rollup/SessionOrder.ts"
import * as SessionParts from "../rollup/SessionParts.ts"
import type { SessionFilter, SessionPlace, SessionQuery, StoredSession } from "../rollup/SessionQuery.ts"
import { Tally } from "../rollup/Tally.ts"
import { type GroupKey, UsageGroups } from "../rollup/UsageGroups.ts"
import type { UsagePage, UsageQuery } from "../rollup/UsageQuery.ts"
import type { ListPage } from "../storage/Lists.ts"
import type { MemoryProject } from "./MemoryProject.ts"
import type { MemorySession } from "./MemorySession.ts"

const numbersOf = (project: MemoryProject, { agent, agentVersion, person }: EventSummary) => {
  const entry = project.agents.get(agent)!
  return {
    agent: entry.agent.number,
    agentVersion: entry.versions.get(agentVersion)!.number,
    person: person === null ? 0 : project.people.get(person)!.number
  }
}

type Entry = MemoryProject["events"][number]

const partsOf = (project: MemoryProject, entries: ReadonlyArray<Entry>): ReadonlyArray<SessionParts.SessionPart> => {
  const parts = new Map<string, SessionParts.SessionPart>()
  for (const { id, summary } of entries) {
    const names = { ...numbersOf(project, summary), ...SessionParts.modelsOf(summary) }
    const key = JSON.stringify(names)
    const part = parts.get(key) ?? { ...names, first: id, last: id, tally: new Tally() }
    part.tally.add(summary)
    parts.set(key, { ...part, last: id })
  }
  return Array.from(parts.values())
}

/** A name that does not exist has a number that no event has. */
const filterOf = (
  project: MemoryProject,
  { agent, agentVersion, isError, model, person }: SessionFilter
): SessionParts.PartFilter => ({
  agent: agent && (project.agents.get(agent)?.agent.number ?? -1),
  agentVersions:
    agentVersion &&
    new Map(
      Array.from(project.agents.values()).flatMap(({ agent: { number }, versions }) => {
        const version = versions.get(agentVersion)
        return version === undefined ? [] : [[number, version.number]]
      })
    ),
  person: person && (project.people.get(person)?.number ?? -1),
  model,
  isError
})

const summaryOf = (
  project: MemoryProject,
  session: MemorySession,
  entries: ReadonlyArray<Entry>,
  parts: ReadonlyArray<SessionParts.SessionPart>
): StoredSession => {
  const { agentVersions, agents, first, last, models, people, sums } = SessionParts.summaryOf(parts)
  const agentNames = new Map(Array.from(project.agents, ([name, { agent }]) => [agent.number, name]))
  const personIds = new Map(Array.from(project.people, ([id, { number }]) => [number, id]))
  const versionName = ({ agent, agentVersion }: (typeof agentVersions)[number]): AgentVersionName => {
    const { versions } = project.agents.get(agentNames.get(agent)!)!
    return Array.from(versions.values()).find(({ number }) => number === agentVersion)!.name
  }
  return {
    session: session.id,
    firstEvent: first,
    firstEventAt: DateTime.makeUnsafe(EventTime.of(first)),
    lastEventAt: DateTime.makeUnsafe(EventTime.of(last)),
    ...sums,
    agents: agents.map((number): AgentName => agentNames.get(number)!),
    agentVersions: Array.from(new Set(agentVersions.map(versionName))),
    people: people.map((number): PersonId => personIds.get(number)!),
    models,
    sentBytes: entries.reduce((sum, { summary }) => sum + summary.inputsBytes + summary.outputBytes, 0),
    newBytes: Array.from(session.packs.values()).reduce((sum, pack) => sum + pack.newBytes, 0)
  }
}

export const sessionSummary = (project: MemoryProject, session: MemorySession): StoredSession | undefined => {
  const entries = project.events.filter((entry) => entry.session === session)
  return entries.length === 0 ? undefined : summaryOf(project, session, entries, partsOf(project, entries))
}

const begin = (project: MemoryProject, query: SessionQuery, watermark: EventId): SessionPlace | undefined => {
  const newest = project.events.at(-1)?.id
  if (newest === undefined) return undefined
  const settled = newest < watermark ? newest : watermark
  const recent = project.events.filter(({ id }) => id > settled).reverse()
  return SessionOrder.begin(
    query,
    settled,
    recent.map(({ id, session }) => ({ id, session: session.state.number })),
    true
  )
}

export const listSessions = (
  project: MemoryProject,
  query: SessionQuery,
  watermark: EventId
): ListPage<StoredSession, SessionPlace> => {
  const { above, after, below, limit, order, ...names } = query
  const place = after ?? begin(project, query, watermark)
  if (place === undefined) return { rows: [], next: undefined }
  const { asOf, given, recent } = place
  const filter = filterOf(project, names)
  const sign = order === "asc" ? 1 : -1
  const isAfter = (last: EventId) =>
    place.last === undefined || (order === "asc" ? last > place.last : last < place.last)
  const bySession = Array.from(Map.groupBy(project.events, ({ session }) => session))
  const toFound = (entries: ReadonlyArray<Entry>, session: MemorySession, next: SessionPlace) => {
    const parts = partsOf(project, entries)
    return SessionParts.isSessionMatch(filter, parts) ? [{ session, entries, parts, next }] : []
  }
  const settled = bySession
    .flatMap(([session, entries]) => {
      if (recent.includes(session.state.number)) return []
      const last = entries.findLast(({ id }) => id <= asOf)?.id
      return last !== undefined && isAfter(last) && SessionOrder.isWithin({ above, below }, last)
        ? [{ session, entries, last }]
        : []
    })
    .sort((a, b) => (a.last < b.last ? -sign : sign))
    .flatMap(({ entries, last, session }) => toFound(entries, session, { ...place, last }))
  const later = recent.slice(given).flatMap((number, index) => {
    const [session, entries] = bySession.find(([{ state }]) => state.number === number) ?? []
    const last = order === "asc" ? asOf : place.last
    return session === undefined ? [] : toFound(entries!, session, { ...place, last, given: given + index + 1 })
  })
  const found = order === "asc" ? [...settled, ...later] : [...later, ...settled.map(afterRecent)]
  const page = found.slice(0, limit)
  return {
    rows: page.map(({ entries, parts, session }) => summaryOf(project, session, entries, parts)),
    next: found.length > limit ? page.at(-1)!.next : undefined
  }
}

const afterRecent = <A extends { readonly next: SessionPlace }>(found: A): A => ({
  ...found,
  next: { ...found.next, given: found.next.recent.length }
})

export const sumUsage = (
  project: MemoryProject,
  { after, fromMs, groupBy, limit, timeZone, toMs, ...query }: UsageQuery
): UsagePage => {
  const time = new LocalTime(timeZone)
  const groups = new UsageGroups({ after, limit })
  const filter = filterOf(project, query)
  const keyOf = ({ session, summary }: Entry, dimension: Dimension): GroupKey => {
    const numbers = numbersOf(project, summary)
    switch (dimension) {
      case "hour":
        return time.hourOf(CallTime.of(summary))
      case "day":
        return time.dayOf(CallTime.of(summary))
      case "agent":
        return numbers.agent
      case "agent_version":
        return summary.agentVersion
      case "model":
        return SessionParts.modelsOf(summary).model || null
      case "person":
        return numbers.person || null
      case "session":
        return session.state.number
      case "api":
        return ProviderNames.apiCodes[summary.api]
    }
  }
  for (const entry of project.events) {
    const { summary } = entry
    const at = CallTime.of(summary)
    if ((fromMs !== undefined && at < fromMs) || (toMs !== undefined && at >= toMs)) continue
    if (query.api !== undefined && summary.api !== query.api) continue
    if (!SessionParts.isMatch(filter, { ...numbersOf(project, summary), ...SessionParts.modelsOf(summary) })) continue
    groups.of(groupBy.map((dimension) => keyOf(entry, dimension)))?.add(summary)
  }
  const nameOf = (dimension: Dimension, key: number): string | null => {
    if (dimension === "session") return project.sessionsByNumber.get(key)!.id
    if (dimension === "person") return Array.from(project.people).find(([, { number }]) => number === key)![0]
    return Array.from(project.agents).find(([, { agent }]) => agent.number === key)![0]
  }
  const { groups: found, next } = groups.page
  return { groups: found.map(({ keys, tally }) => GroupValues.of(groupBy, keys, tally, time, nameOf)), next }
}
