/** The calls of a session, added up by who made them: what a summary of the session is made of. Names are numbers here. */
import type { EventId } from "../domain/Event.ts"
import * as EventTime from "../domain/EventTime.ts"
import * as Peaks from "./Peaks.ts"
import type { Countable } from "./Countable.ts"
import { Tally } from "./Tally.ts"

/** Where some calls begin and end. */
export interface Ends {
  /** The event of the first call by its time; of those of a millisecond, the one that was recorded first. */
  readonly first: EventId
  /** When that call took place (epoch ms). */
  readonly firstMs: number
  /** The event that was recorded last. */
  readonly last: EventId
  /** When the last call took place (epoch ms). */
  readonly lastMs: number
  /** No call is beyond them. */
  readonly peaks: Peaks.Peaks
}

/** The calls of a session that have the same names. */
export interface SessionPart extends Ends {
  readonly agent: number
  /** Within its agent. */
  readonly agentVersion: number
  /** 0 for none. */
  readonly person: number
  /** As it is stored. */
  readonly api: number
  /** The model that was asked for, or the one that answered where that is not known; empty for none. */
  readonly model: string
  /** The model that answered, if it is another one; else empty. */
  readonly responseModel: string
  readonly tally: Tally
}

/** The ends of one call. Damage makes times that no call has: they become the nearest one. */
export const endsOf = (event: Countable & { readonly id: EventId; readonly atMs: number }): Ends => {
  const { atMs, id } = event
  const ms = EventTime.of(EventTime.firstIdOf(atMs))
  return { first: id, firstMs: ms, last: id, lastMs: ms, peaks: Peaks.of(event) }
}

/** The ends of two groups of calls together. */
export const joined = (a: Ends | undefined, b: Ends): Ends => {
  if (a === undefined) return b
  const isBefore = b.firstMs < a.firstMs || (b.firstMs === a.firstMs && b.first < a.first)
  const { first, firstMs } = isBefore ? b : a
  return {
    first,
    firstMs,
    last: b.last > a.last ? b.last : a.last,
    lastMs: Math.max(a.lastMs, b.lastMs),
    peaks: Peaks.joined(a.peaks, b.peaks)
  }
}

/** When the last call of some parts took place (epoch ms). */
export const lastMsOf = (parts: Iterable<Ends>): number => {
  let last = 0
  for (const { lastMs } of parts) last = Math.max(last, lastMs)
  return last
}

/** What a part must have; undefined where that does not matter. */
export interface PartFilter {
  readonly agent?: number | undefined
  /** Numbers of versions by the numbers of their agents. */
  readonly agentVersions?: ReadonlyMap<number, number> | undefined
  readonly person?: number | undefined
  readonly model?: string | undefined
  readonly isError?: boolean | undefined
}

/** The model of an event by which its sums are kept, and the one that answered if it is another one. */
export const modelsOf = (event: { readonly model: string | null; readonly responseModel: string | null }) => {
  const model = event.model ?? event.responseModel ?? ""
  const responseModel = event.responseModel ?? model
  return { model, responseModel: responseModel === model ? "" : responseModel }
}

type Named = Pick<SessionPart, "agent" | "agentVersion" | "person" | "model" | "responseModel">

/** How many calls of a part are errors. */
export const errorsOf = ({ tally }: SessionPart): number => tally.errors

export const isMatch = ({ agent, agentVersions, model, person }: Omit<PartFilter, "isError">, part: Named): boolean =>
  (agent === undefined || part.agent === agent) &&
  (agentVersions === undefined || agentVersions.get(part.agent) === part.agentVersion) &&
  (person === undefined || part.person === person) &&
  (model === undefined || part.model === model || part.responseModel === model)

/** Whether a session with these parts is looked for. */
export const isSessionMatch = <Part extends Named>(
  { isError, ...filter }: PartFilter,
  parts: ReadonlyArray<Part>,
  errorsOf: (part: Part) => number
): boolean =>
  parts.some((part) => isMatch(filter, part)) &&
  (isError === undefined || parts.some((part) => errorsOf(part) > 0) === isError)

const numbersIn = (values: ReadonlyArray<number>): ReadonlyArray<number> =>
  Array.from(new Set(values)).sort((a, b) => a - b)

/** What the parts of a session say of it: one part or more. */
export const summaryOf = (parts: ReadonlyArray<SessionPart>) => {
  const tally = new Tally()
  for (const part of parts) tally.merge(part.tally)
  const versions = new Map(
    parts.map(({ agent, agentVersion }) => [`${agent} ${agentVersion}`, { agent, agentVersion }])
  )
  return {
    ...parts.map((part): Ends => part).reduce(joined),
    sums: tally.sums,
    agents: numbersIn(parts.map(({ agent }) => agent)),
    agentVersions: Array.from(versions.values()).sort((a, b) => a.agent - b.agent || a.agentVersion - b.agentVersion),
    people: numbersIn(parts.map(({ person }) => person).filter((person) => person !== 0)),
    models: Array.from(new Set(parts.map(({ model }) => model).filter((model) => model !== ""))).sort()
  }
}
