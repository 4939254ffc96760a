/**
 * The series of rows in `rollups`. A row of events has what these have in common:
 *
 * - `session`: the session and its names.
 * - `all`: their time alone.
 * - `names`: also agent, version, API and models.
 * - `people`: also the person.
 * - `both`: names and person.
 *
 * A `digest` has the figures of 256 sessions.
 *
 * The time is a slot of some unit. A range of time is made up of the largest units, so that it takes few rows.
 */
import type { UsageQuery } from "@tachograph/core"
import type { CountedEvent } from "./CountedEvent.ts"

/** A slot is a quarter of an hour, by its number since 1970. Longer units are named by their first slot. */
export const slotMs = 15 * 60_000

export const slotsOf = { quarter: 1, hour: 4, sixHours: 24, day: 96, week: 672 } as const

export type Unit = keyof typeof slotsOf

export const position = 0
export const session = 1

/** Digests of sessions, in the place of whose number is that of the digest, and up to which event they are. */
export const digest = 14
export const digestPosition = 15

/** Rows that are no sums of events. */
export const ofNoEvents: ReadonlyArray<number> = [position, digest, digestPosition]

/** By what rows say beside their time, and by their units, from the shortest on. None of these numbers, which rows have, may change. */
export const ofTimes = {
  all: { quarter: 2, hour: 3, sixHours: 4, day: 5, week: 6 },
  names: { quarter: 7, hour: 8, sixHours: 9, day: 10, week: 11 },
  // Quarters have names too: one person has few of them.
  people: { quarter: 12, week: 13 },
  both: { quarter: 12 }
} as const satisfies Record<string, Partial<Record<Unit, number>>>

export type Detail = keyof typeof ofTimes

/** What a row has if it says nothing. */
export const noNames = {
  slot: 0,
  session: 0,
  agent: 0,
  agentVersion: 0,
  person: 0,
  api: 0,
  model: "",
  responseModel: ""
}

export interface Key {
  readonly series: number
  readonly slot: number
  readonly session: number
  readonly agent: number
  readonly agentVersion: number
  readonly person: number
  readonly api: number
  readonly model: string
  readonly responseModel: string
}

const units = Object.entries(slotsOf) as ReadonlyArray<readonly [Unit, number]>

type Names = Pick<Key, "agent" | "agentVersion" | "model" | "responseModel">

/** Its fields one by one: many keys are made. */
const keyOf = (
  series: number,
  slot: number,
  { agent, agentVersion, model, responseModel }: Names,
  { api = 0, person = 0, session = 0 }: Partial<Pick<Key, "api" | "person" | "session">>
): Key => ({ series, slot, session, agent, agentVersion, person, api, model, responseModel })

const nothing = {}

/** The row of its session that an event counts in. */
export const keyOfSession = (event: CountedEvent): Key =>
  keyOf(session, 0, event, { api: event.api, session: event.session, person: event.person })

/** The row of a person and of names with the shortest unit, which has what all other rows of times have of an event. */
export const keyOfQuarter = (event: CountedEvent): Key =>
  keyOf(ofTimes.both.quarter, Math.floor(event.atMs / slotMs), event, event)

/** The rows of times that an event counts in. */
export const keysOfTimes = (event: CountedEvent): ReadonlyArray<Key> => {
  const { api, atMs, person } = event
  const keys: Array<Key> = []
  const slotOfEvent = Math.floor(atMs / slotMs)
  const { all, both, names, people }: Record<Detail, Partial<Record<Unit, number>>> = ofTimes
  for (const [unit, slots] of units) {
    const slot = slotOfEvent - (slotOfEvent % slots)
    keys.push(keyOf(all[unit]!, slot, noNames, nothing), keyOf(names[unit]!, slot, event, { api }))
    if (both[unit] !== undefined) keys.push(keyOf(both[unit], slot, event, { api, person }))
    else if (people[unit] !== undefined) keys.push(keyOf(people[unit], slot, noNames, { person }))
  }
  return keys
}

/** What rows must say to answer a query. */
export const detailOf = ({ agent, agentVersion, api, groupBy, model, people, person }: UsageQuery): Detail => {
  const isOfPeople = person !== undefined || people !== undefined || groupBy.includes("person")
  const isNamed =
    [agent, agentVersion, api, model].some((name) => name !== undefined) ||
    groupBy.some((dimension) => ["agent", "agent_version", "api", "model"].includes(dimension))
  if (isOfPeople) return isNamed ? "both" : "people"
  return isNamed ? "names" : "all"
}
