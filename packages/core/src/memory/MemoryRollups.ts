/** What the events of a project add up to, counted when it is asked for. */
import * as DateTime from "effect/DateTime"
import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import * as ProviderNames from "../domain/ProviderNames.ts"
import type { PersonId } from "../domain/Person.ts"
import type { Dimension } from "../domain/UsageGroup.ts"
import * as CallTime from "../domain/CallTime.ts"
import * as SessionRank from "../domain/SessionRank.ts"
import * as GroupValues from "../rollup/GroupValues.ts"
import { LocalTime } from "../rollup/LocalTime.ts"
import * as SessionOrder from "../rollup/SessionOrder.ts"
import * as SessionParts from "../rollup/SessionParts.ts"
import * as Peaks from "../rollup/Peaks.ts"
import { figureOf, type Rank, Ranking, valueOf } from "../rollup/Ranking.ts"
import * as SessionFigures from "../rollup/SessionFigures.ts"
import type {
  SessionFilter,
  SessionPlace,
  SessionQuery,
  SessionRanking,
  StoredSession
} from "../rollup/SessionQuery.ts"
import { SessionGroups } from "../rollup/SessionSums.ts"
import { Tally } from "../rollup/Tally.ts"
import { type GroupKey, type GroupPage, UsageGroups } from "../rollup/UsageGroups.ts"
import type { UsagePage, UsageQuery } from "../rollup/UsageQuery.ts"
import * as UsageSort from "../rollup/UsageSort.ts"
import * as EventMatch from "../storage/EventMatch.ts"
import type { EventRank, EventRanking, ListPage } from "../storage/Lists.ts"
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
    const api = ProviderNames.apiCodes[summary.api]
    const names = { ...numbersOf(project, summary), api, ...SessionParts.modelsOf(summary) }
    const key = JSON.stringify(names)
    const found = parts.get(key)
    const tally = found?.tally ?? new Tally()
    tally.add(summary)
    const ends = SessionParts.endsOf({ ...summary, id, atMs: CallTime.of(summary) })
    parts.set(key, { ...names, ...SessionParts.joined(found, ends), tally })
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
  const { agentVersions, agents, first, firstMs, lastMs, models, people, sums } = SessionParts.summaryOf(parts)
  const agentNames = new Map(Array.from(project.agents, ([name, { agent }]) => [agent.number, name]))
  const personIds = new Map(Array.from(project.people, ([id, { number }]) => [number, id]))
  const versionName = ({ agent, agentVersion }: (typeof agentVersions)[number]): AgentVersionName => {
    const { versions } = project.agents.get(agentNames.get(agent)!)!
    return Array.from(versions.values()).find(({ number }) => number === agentVersion)!.name
  }
  return {
    session: session.id,
    firstEvent: first,
    firstEventAt: DateTime.makeUnsafe(firstMs),
    lastEventAt: DateTime.makeUnsafe(lastMs),
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

/** The rank of a session by some of its events, of which there is one or more. */
const rankOf = ({ state }: MemorySession, entries: ReadonlyArray<Entry>): SessionRank.SessionRank => {
  const lastMs = entries.reduce((max, { summary }) => Math.max(max, CallTime.of(summary)), 0)
  return SessionRank.of(lastMs, state.number)
}

const begin = (project: MemoryProject, watermark: EventId): SessionPlace | undefined => {
  const newest = project.events.at(-1)?.id
  if (newest === undefined) return undefined
  const events = project.events
    .filter(({ id }) => id > watermark)
    .reverse()
    .map(({ id, session, summary }) => ({ id, session: session.state.number, atMs: CallTime.of(summary) }))
  const { asOf, lastMs } = SessionOrder.begin(newest < watermark ? newest : watermark, events, true)
  const recent = Array.from(lastMs.keys(), (number) => {
    const session = project.sessionsByNumber.get(number)!
    return rankOf(
      session,
      project.events.filter((entry) => entry.session === session)
    )
  })
  return { asOf, last: undefined, recent: recent.sort(SessionRank.by("asc")) }
}

export const listSessions = (
  project: MemoryProject,
  query: SessionQuery,
  watermark: EventId
): ListPage<StoredSession, SessionPlace> => {
  const { after, fromMs: _, limit, order, toMs: __, ...names } = query
  const place = after ?? begin(project, watermark)
  if (place === undefined) return { rows: [], next: undefined }
  const filter = filterOf(project, names)
  const range = SessionOrder.rangeOf(query, place)
  const recent = new Map(place.recent.map((rank) => [SessionRank.sessionOf(rank), rank]))
  const found = Array.from(Map.groupBy(project.events, ({ session }) => session))
    .flatMap(([session, entries]) => {
      const known = recent.get(session.state.number)
      const listed = known === undefined ? entries.filter(({ id }) => id <= place.asOf) : entries
      if (listed.length === 0) return []
      const last = known ?? rankOf(session, listed)
      const parts = partsOf(project, entries)
      return SessionOrder.isWithin(range, last) && SessionParts.isSessionMatch(filter, parts, SessionParts.errorsOf)
        ? [{ session, entries, parts, last }]
        : []
    })
    .sort((a, b) => SessionRank.by(order)(a.last, b.last))
  const page = found.slice(0, limit)
  return {
    rows: page.map(({ entries, parts, session }) => summaryOf(project, session, entries, parts)),
    next: found.length > limit ? { ...place, last: page.at(-1)!.last } : undefined
  }
}

/** Sessions with their figures, in the order of their numbers. */
const bySession = (project: MemoryProject) =>
  Array.from(Map.groupBy(project.events, ({ session }) => session)).sort(([a], [b]) => a.state.number - b.state.number)

export const rankSessions = (
  project: MemoryProject,
  { after, fromMs = 0, limit, order, sort, toMs = Number.POSITIVE_INFINITY, ...names }: SessionRanking
): ListPage<StoredSession, Rank> => {
  const filter = filterOf(project, names)
  const ranking = new Ranking(order, limit, after)
  const parts = new Map<number, ReadonlyArray<SessionParts.SessionPart>>()
  for (const [session, entries] of bySession(project)) {
    const own = partsOf(project, entries)
    const lastMs = SessionParts.lastMsOf(own)
    if (!SessionParts.isSessionMatch(filter, own, SessionParts.errorsOf) || lastMs < fromMs || lastMs >= toMs) continue
    const { number } = session.state
    const ends = { firstMs: Math.min(...own.map(({ firstMs }) => firstMs)), lastMs }
    const figures = own.map(({ tally }) => SessionFigures.ofTally(tally)).reduce(SessionFigures.sumOf)
    ranking.add({ value: valueOf(figureOf(sort, figures, ends), order), number })
    parts.set(number, own)
  }
  const { next, rows } = ranking.page
  return {
    rows: rows.map(({ number }) => {
      const session = project.sessionsByNumber.get(number)!
      const entries = project.events.filter((entry) => entry.session === session)
      return summaryOf(project, session, entries, parts.get(number)!)
    }),
    next
  }
}

const figureOfCall = (summary: EventSummary, sort: EventRanking["sort"]): number | null => {
  if (sort === "tokens") return Peaks.tokensOf(summary)
  return sort === "cost" ? summary.costUsd : summary.durationMs
}

export const rankEvents = (
  project: MemoryProject,
  { after, fields, limit, order, sort, ...query }: EventRanking
): ReadonlyArray<readonly [Entry, EventRank]> => {
  const isMatch = EventMatch.of(query, fields)
  const sign = order === "asc" ? 1 : -1
  const compare = (a: EventRank, b: EventRank) => sign * (a.value - b.value || (a.id < b.id ? -1 : Number(a.id > b.id)))
  const isBehind = (rank: EventRank) => after === undefined || compare(rank, after) > 0
  return project.events
    .filter(({ summary }) => isMatch(summary))
    .flatMap((entry) => {
      const value = figureOfCall(entry.summary, sort)
      return value === null || !isBehind({ value, id: entry.id }) ? [] : [[entry, { value, id: entry.id }] as const]
    })
    .sort(([, a], [, b]) => compare(a, b))
    .slice(0, limit + 1)
}

/** What groups entries. */
const keysBy = (project: MemoryProject, { groupBy, timeZone }: UsageQuery) => {
  const time = new LocalTime(timeZone)
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
  return { time, keysOf: (entry: Entry) => groupBy.map((dimension) => keyOf(entry, dimension)) }
}

const matcherOf = (project: MemoryProject, { api, fromMs, people, toMs, ...query }: UsageQuery) => {
  const filter = filterOf(project, query)
  return ({ summary }: Entry): boolean => {
    const at = CallTime.of(summary)
    if ((fromMs !== undefined && at < fromMs) || (toMs !== undefined && at >= toMs)) return false
    if (api !== undefined && summary.api !== api) return false
    if (people !== undefined && (summary.person === null || !people.includes(summary.person))) return false
    return SessionParts.isMatch(filter, { ...numbersOf(project, summary), ...SessionParts.modelsOf(summary) })
  }
}

export const sumUsage = (project: MemoryProject, query: UsageQuery): UsagePage => {
  const { groupBy, sort } = query
  const { keysOf, time } = keysBy(project, query)
  const entries = project.events.filter(matcherOf(project, query))
  const sessions = new SessionGroups()
  for (const entry of entries.toSorted((a, b) => a.session.state.number - b.session.state.number)) {
    const { session, summary } = entry
    sessions.add(keysOf(entry), session.state.number, SessionFigures.ofEvent(summary), CallTime.of(summary))
  }
  const groupsOf = (page: ConstructorParameters<typeof UsageGroups>[0]) => {
    const groups = new UsageGroups(page)
    for (const entry of entries) groups.of(keysOf(entry))?.add(entry.summary)
    return groups
  }
  const nameOf = (dimension: Dimension, key: number): string | null => {
    if (dimension === "session") return project.sessionsByNumber.get(key)!.id
    if (dimension === "person") return Array.from(project.people).find(([, { number }]) => number === key)![0]
    return Array.from(project.agents).find(([, { agent }]) => agent.number === key)![0]
  }
  const all = new Tally()
  for (const { summary } of entries) all.add(summary)
  const hasTotal = query.hasTotal === true && entries.length > 0
  const toPage = ({ groups, next }: GroupPage): UsagePage => ({
    groups: groups.map(({ keys, tally }) => GroupValues.of(groupBy, keys, tally, sessions.get(keys), time, nameOf)),
    next,
    total: hasTotal ? GroupValues.of([], [], all, sessions.total, time, nameOf) : undefined
  })
  if (sort === undefined) return toPage(groupsOf(query).page)
  const sorted =
    sort === "duration"
      ? UsageSort.ofTallies(groupsOf({ limit: entries.length }), sort)
      : UsageSort.ofSessions(sessions, sort)
  const { keys, next } = UsageSort.pageOf(sorted, query)
  return { ...toPage(groupsOf({ limit: keys.length, only: keys }).page), next }
}
