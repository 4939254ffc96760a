/** Counts what a project of the memory storage holds. Nothing is counted apart from that, so all figures agree. */
import type { AgentName } from "../domain/Agent.ts"
import type { EventSummary } from "../domain/Event.ts"
import type { SessionId } from "../domain/Session.ts"
import type { ProjectAccount, SessionAccount, UsageTotals } from "../domain/StorageAccount.ts"
import type { StorageUsage } from "../domain/StorageUsage.ts"
import type { MemoryProject } from "./MemoryProject.ts"
import type { MemorySession } from "./MemorySession.ts"

const none: UsageTotals = { events: 0, sentBytes: 0, newBytes: 0, storedBytes: 0 }

const plus = (a: UsageTotals, b: UsageTotals): UsageTotals => ({
  events: a.events + b.events,
  sentBytes: a.sentBytes + b.sentBytes,
  newBytes: a.newBytes + b.newBytes,
  storedBytes: a.storedBytes + b.storedBytes
})

const countersOf = (
  events: ReadonlyArray<EventSummary>,
  packs: ReadonlyArray<{ readonly newBytes: number; readonly bytes: Uint8Array }>
) => ({
  events: events.length,
  sentBytes: sum(events, (each) => each.inputsBytes + each.outputBytes),
  newBytes: sum(packs, (each) => each.newBytes),
  storedBytes: sum(packs, (each) => each.bytes.length)
})

const sum = <A>(all: Iterable<A>, valueOf: (each: A) => number): number => {
  let total = 0
  for (const each of all) total += valueOf(each)
  return total
}

export const ofSession = (project: MemoryProject, session: MemorySession): SessionAccount => {
  const { erasedPieces, id, owned, packs, pendingSweep, state } = session
  const events = project.events.filter((entry) => entry.session === session)
  const all = Array.from(packs.values())
  const withEvent = new Set([...events, ...session.steps].map(({ pack }) => pack))
  const agents = new Set([...events.map(({ summary }) => summary.agent), ...all.map(({ agent }) => agent)])
  const storedBytes = sum(all, ({ bytes }) => bytes.length)
  return {
    session: { id, ...state, erasedPieces, storedBytes, rankedBytes: storedBytes, pendingSweep },
    usage: Array.from(agents, (agentName) => {
      const own = all.filter(({ agent }) => agent === agentName)
      const kept = countersOf(
        events.flatMap(({ summary }) => (summary.agent === agentName ? [summary] : [])),
        own
      )
      const { newBytes: _, ...counted } = kept
      const agent = project.agents.get(agentName)!.agent.number
      return { agent, agentName, kept, counted: { ...counted, packs: own.length } }
    }),
    lastPack: all.at(-1)?.number ?? 0,
    packsWithoutEvent: all.flatMap(({ isKept, number }) => (isKept && !withEvent.has(number) ? [number] : [])),
    eventsWithoutPack: events.flatMap(({ id, pack }) => (packs.get(pack)?.isKept === true ? [] : [id])),
    steps: session.steps.length,
    stepsWithoutPack: Array.from(new Set(session.steps.map(({ pack }) => pack))).filter(
      (pack) => packs.get(pack)?.isOfSteps !== true || !packs.get(pack)!.isKept
    ),
    owned: Array.from(owned, (name) => ({ sha256: Buffer.from(name, "hex"), exists: project.shared.has(name) }))
  }
}

export const ofProject = (project: MemoryProject): ProjectAccount => {
  const { agents, shared } = usage(project, 0)
  const { pieces: events, ...sizes } = shared
  const ofShared: UsageTotals = { ...none, ...sizes, events }
  const versions = Array.from(project.agents, ([agent, { versions }]) => ({
    of: "versions" as const,
    agent,
    kept: versions.size,
    highest: versions.size
  }))
  const sessions = Math.max(0, ...project.sessionsByNumber.keys())
  return {
    shared: { kept: ofShared, counted: ofShared },
    agents: agents.map(({ agent, ...totals }) => ({
      agent: project.agents.get(agent)!.agent.number,
      agentName: agent,
      kept: totals,
      counted: totals
    })),
    numbers: [
      { of: "agents", kept: project.agents.size, highest: project.agents.size },
      { of: "sessions", kept: project.lastSession, highest: sessions },
      ...versions
    ]
  }
}

/** `sessions` is the number of the largest sessions that are listed. */
export const usage = (project: MemoryProject, sessions: number): StorageUsage => {
  const pieces = Array.from(project.shared.values())
  const shared = {
    pieces: pieces.length,
    newBytes: sum(pieces, ({ size }) => size),
    storedBytes: sum(pieces, ({ bytes }) => bytes.length)
  }
  const largestFirst = <A extends { readonly storedBytes: number }>(usage: Array<A>) =>
    usage.sort((a, b) => b.storedBytes - a.storedBytes)
  const ofAgents = new Map<AgentName, UsageTotals>()
  const ofSessions = new Map<SessionId, UsageTotals>()
  const add = (agent: AgentName, session: SessionId, totals: UsageTotals) => {
    ofAgents.set(agent, plus(ofAgents.get(agent) ?? none, totals))
    ofSessions.set(session, plus(ofSessions.get(session) ?? none, totals))
  }
  for (const { summary } of project.events) {
    add(summary.agent, summary.session, { ...none, events: 1, sentBytes: summary.inputsBytes + summary.outputBytes })
  }
  for (const { id, packs } of project.sessions.values()) {
    for (const { agent, bytes, newBytes } of packs.values()) {
      add(agent, id, { ...none, newBytes, storedBytes: bytes.length })
    }
  }
  const all = Array.from(ofAgents.values()).reduce(plus, none)
  return {
    ...all,
    newBytes: all.newBytes + shared.newBytes,
    storedBytes: all.storedBytes + shared.storedBytes,
    shared,
    agents: largestFirst(Array.from(ofAgents, ([agent, totals]) => ({ agent, ...totals }))),
    sessions: largestFirst(Array.from(ofSessions, ([session, totals]) => ({ session, ...totals }))).slice(0, sessions)
  }
}
