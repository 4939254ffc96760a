/** What the calls of a session with the same names add up to, as far as sessions are sorted and counted by it. */
import * as Peaks from "./Peaks.ts"
import type { Ends, SessionPart } from "./SessionParts.ts"
import { type Countable, isPartlyPriced } from "./Countable.ts"
import type { Tally } from "./Tally.ts"

/** What is added up of calls for a sort. */
export interface Figures {
  readonly events: number
  readonly errors: number
  /** Input and output. */
  readonly tokens: number
  /** Calls without a cost. */
  readonly unpriced: number
  /** Calls whose cost leaves something out. */
  readonly partlyPriced: number
  /** Billionths of a dollar, of the calls that have a cost: exact up to nine million dollars. */
  readonly cost: number
}

export interface SessionFigures
  extends
    Figures,
    Pick<SessionPart, "agent" | "agentVersion" | "person" | "api" | "model" | "responseModel">,
    Pick<Ends, "firstMs" | "lastMs" | "peaks"> {
  readonly session: number
}

export const none: Figures = { events: 0, errors: 0, tokens: 0, unpriced: 0, partlyPriced: 0, cost: 0 }

export const sumOf = (a: Figures, b: Figures): Figures => ({
  events: a.events + b.events,
  errors: a.errors + b.errors,
  tokens: a.tokens + b.tokens,
  unpriced: a.unpriced + b.unpriced,
  partlyPriced: a.partlyPriced + b.partlyPriced,
  cost: a.cost + b.cost
})

export const ofTally = (tally: Tally): Figures => {
  const { costUsd, errors, events, inputTokens, outputTokens, partlyPricedEvents, unpricedEvents } = tally.sums
  const tokens = inputTokens + outputTokens
  return {
    events,
    errors,
    tokens,
    unpriced: unpricedEvents,
    partlyPriced: partlyPricedEvents,
    cost: Number(costUsd ?? 0n)
  }
}

export const ofEvent = (event: Countable): Figures => ({
  events: 1,
  errors: event.errorType === null ? 0 : 1,
  tokens: Peaks.tokensOf(event) ?? 0,
  unpriced: event.costUsd === null ? 1 : 0,
  partlyPriced: isPartlyPriced(event) ? 1 : 0,
  cost: event.costUsd ?? 0
})

export const ofPart = (session: number, part: Omit<SessionPart, "first" | "last">): SessionFigures => {
  const { agent, agentVersion, api, firstMs, lastMs, model, peaks, person, responseModel } = part
  const names = { session, agent, agentVersion, person, api, model, responseModel }
  return { ...ofTally(part.tally), ...names, firstMs, lastMs, peaks }
}

/** Two parts of the same session and names. */
export const joined = (a: SessionFigures, b: SessionFigures): SessionFigures => ({
  ...a,
  ...sumOf(a, b),
  firstMs: Math.min(a.firstMs, b.firstMs),
  lastMs: Math.max(a.lastMs, b.lastMs),
  peaks: Peaks.joined(a.peaks, b.peaks)
})

/** The same for two parts of a session if these have the same names. */
export const keyOf = ({ agent, agentVersion, api, model, person, responseModel }: SessionFigures): string =>
  `${agent} ${agentVersion} ${person} ${api} ${model.length} ${model}${responseModel}`
