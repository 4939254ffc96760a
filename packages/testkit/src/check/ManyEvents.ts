/**
 * Many events whose lists have hard cases: names with many events of which few are in another list, and names whose events
 * are far from both ends.
 *
 * | events | session | agent and version | person |
 * | --- | --- | --- | --- |
 * | half | `long` | `main`, whose forty versions follow each other; three early ones of `busy` | `ann`; three of `bob` |
 * | a quarter | `other` | `busy`, whose two versions alternate | `bob` |
 * | a quarter | ten in each of many | one of fifty, whose two versions alternate | none |
 */
import {
  AgentName,
  AgentVersionName,
  type EventQuery,
  type EventSummary,
  type FieldFilter,
  FingerprintId,
  PersonId,
  SessionId,
  type Storage,
  TraceId
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import { appendEvent, eventId } from "../Samples.ts"

const versionsOfMain = 40
const otherAgents = 50
const eventsInSmall = 10
const batchSize = 1_000

const version = (n: number) => AgentVersionName.make(`v${n}`)
const main = AgentName.make("main")
const busy = AgentName.make("busy")
const ann = PersonId.make("ann")
const bob = PersonId.make("bob")
const long = SessionId.make("long")
const other = SessionId.make("other")
const absent = "nobody"
export const rareModel = "rare"
const commonFingerprint = FingerprintId.make("11111111-1111-4111-8111-111111111111")
export const rareFingerprint = FingerprintId.make("22222222-2222-4222-8222-222222222222")

/** Five traces of six events each, one of them of two sessions. */
export const traceOf = (n: number): TraceId | null =>
  n % 400 < 6
    ? TraceId.make(
        Math.floor(n / 400 + 1)
          .toString(16)
          .padStart(32, "ab")
      )
    : null

/** How some of them failed. */
const failures: ReadonlyArray<Partial<EventSummary>> = [
  { errorType: "invalid_request_error", errorCode: "model_not_found", httpStatus: 404 },
  { errorType: "invalid_request_error", errorCode: "model_not_found", httpStatus: 400 },
  { errorType: "invalid_request_error", errorCode: null, httpStatus: 400 },
  // In a stream, behind a status that says nothing of it.
  { errorType: "overloaded_error", errorCode: null, errorStatus: 529, httpStatus: 200 },
  { errorType: "cut", errorCode: null, httpStatus: 200 }
]

/** The fields of the nth event, from 0. */
const fieldsOf = (n: number, events: number): Partial<EventSummary> => ({
  ...namesOf(n, events),
  traceId: traceOf(n),
  api: n % 3 === 0 ? "provider1-responses" : "aisdk",
  // Few, and far from both ends.
  model: Math.abs(n - events / 2) < 3 ? rareModel : "common",
  fingerprintId: n % 8 === 1 ? rareFingerprint : commonFingerprint,
  ...(n % 37 === 9 ? failures[n % failures.length] : {})
})

const namesOf = (n: number, events: number): Partial<EventSummary> => {
  const isEarly = n < 6
  switch (n % 4) {
    case 0:
    case 2:
      return isEarly
        ? { session: long, agent: busy, agentVersion: version(1), person: bob }
        : {
            session: long,
            agent: main,
            agentVersion: version(1 + Math.floor((versionsOfMain * n) / events)),
            person: ann
          }
    case 1:
      return { session: other, agent: busy, agentVersion: version(1 + (Math.floor(n / 4) % 2)), person: bob }
    default: {
      const small = Math.floor(n / 4)
      return {
        session: SessionId.make(`small ${Math.floor(small / eventsInSmall)}`),
        agent: AgentName.make(`other ${small % otherAgents}`),
        agentVersion: version(1 + (Math.floor(small / otherAgents) % 2)),
        person: null
      }
    }
  }
}

/** The summaries of all events, in the order of their ids. */
export const summariesOf = (events: number): ReadonlyArray<EventSummary> =>
  Array.from({ length: events }, (_, n) => appendEvent(eventId(n), fieldsOf(n, events)).summary)

/** Appends all events. */
export const fill = (
  storage: Storage["Service"],
  events: number
): Effect.Effect<void, Effect.Error<ReturnType<Storage["Service"]["appendEvents"]>>> =>
  Effect.gen(function* () {
    const sessions = new Map<string, { readonly number: number | undefined; readonly packs: number }>()
    for (let at = 0; at < events; at += batchSize) {
      const batch = Array.from({ length: Math.min(batchSize, events - at) }, (_, n) => {
        const event = appendEvent(eventId(at + n), fieldsOf(at + n, events))
        const { number, packs } = sessions.get(event.summary.session) ?? { number: undefined, packs: 0 }
        sessions.set(event.summary.session, { number, packs: packs + 1 })
        const session = number === undefined ? undefined : { number, generation: 0 }
        return { ...event, pack: { ...event.pack, session, number: packs + 1 } }
      })
      for (const [n, number] of (yield* storage.appendEvents(batch)).entries()) {
        const { session } = batch[n]!.summary
        sessions.set(session, { ...sessions.get(session)!, number })
      }
    }
  })

type Filter = Pick<EventQuery, "agent" | "agentVersion" | "person" | "session">

/** Lists that read no event but those of the page, whichever they are. */
export const exact: Readonly<Record<string, Filter>> = {
  "a session of one agent": { session: other },
  "a session of two agents": { session: long },
  "a small session": { session: SessionId.make("small 3") },
  "an agent in a session, with nearly all of its events": { session: long, agent: main },
  "an agent in a session, with few of either": { session: long, agent: busy },
  "an agent that is not in a session": { session: other, agent: main },
  "an agent of one version after the other": { agent: main },
  "an agent of two versions": { agent: busy },
  "an early version of an agent": { agent: main, agentVersion: version(2) },
  "a version of two that alternate": { agent: busy, agentVersion: version(2) },
  "a version of many agents": { agentVersion: version(2) },
  "a version of one agent": { agentVersion: version(20) },
  "a person of two agents": { person: ann },
  "an agent of a person": { person: bob, agent: busy },
  "an agent that a person never used": { person: ann, agent: busy }
}

/** Lists that read the smaller of two other lists up to the end of the page. */
export const intersections: Readonly<Record<string, Filter>> = {
  "a person in a small session": { person: bob, session: SessionId.make("small 3") },
  "a version in a small session": { session: SessionId.make("small 3"), agentVersion: version(1) },
  "an early version of an agent in a session": { session: long, agent: main, agentVersion: version(2) },
  "a version of a person": { person: ann, agentVersion: version(2) },
  "a person in the session that has nearly all of their events": { person: ann, session: long }
}

/** Lists with a name that does not exist; the others do. */
export const unknown: ReadonlyArray<Filter> = [
  { session: SessionId.make(absent) },
  { agent: AgentName.make(absent) },
  { agentVersion: AgentVersionName.make(absent) },
  { person: PersonId.make(absent) },
  { session: long, agent: AgentName.make(absent) },
  { agent: main, agentVersion: AgentVersionName.make(absent) },
  // A version of another agent.
  { agent: busy, agentVersion: version(20) },
  { person: bob, session: SessionId.make(absent), agentVersion: version(1) }
]

/** Filters by fields of the events themselves, with and without names. */
export const fields: ReadonlyArray<readonly [fields: FieldFilter, names: Filter]> = [
  [{ model: rareModel }, {}],
  [{ model: absent }, { agent: busy }],
  [{ api: "provider1-responses", model: rareModel }, { session: long }],
  [{ fingerprintId: rareFingerprint }, {}],
  [{ fingerprintId: rareFingerprint }, { person: bob, session: other }],
  [{ api: "aisdk" }, { agentVersion: version(2) }],
  [{ traceId: traceOf(400)! }, {}],
  [
    { traceId: traceOf(400)!, api: "aisdk" },
    { session: long, agent: main }
  ],
  [{ traceId: traceOf(0)! }, { session: other, agent: AgentName.make(absent) }],
  [{ traceId: TraceId.make("f".repeat(32)) }, {}],
  [{ isError: true }, {}],
  [{ isError: true }, { agent: busy }],
  [{ isError: false }, { session: other }],
  [{ failure: { status: 400, type: "invalid_request_error", code: "model_not_found" } }, {}],
  [{ failure: { status: 400, type: "invalid_request_error", code: null } }, { session: long }],
  [{ failure: { status: 529, type: "overloaded_error", code: null }, isError: true }, {}],
  [{ failure: { status: null, type: "cut", code: null } }, { person: bob }],
  [{ failure: { status: 200, type: "cut", code: null } }, {}]
]

/** Both orders, from their beginning and from their middle. */
export const pagesOf = (events: number, limit: number): ReadonlyArray<Pick<EventQuery, "after" | "limit" | "order">> =>
  (["asc", "desc"] as const).flatMap((order) => [
    { order, limit },
    { order, limit, after: eventId(Math.floor(events / 2)) }
  ])

const isOf = ({ code, status, type }: NonNullable<FieldFilter["failure"]>, summary: EventSummary): boolean => {
  const { errorCode, errorStatus, errorType, httpStatus } = summary
  const isStatus = [errorStatus, httpStatus === 200 ? null : httpStatus].find((each) => each !== null) ?? null
  return errorType === type && errorCode === code && isStatus === status
}

/** The events of a page, found in all of them. */
export const expected = (
  all: ReadonlyArray<EventSummary>,
  { above, after, below, failure, isError, limit, order, ...filter }: EventQuery & FieldFilter
) => {
  const wanted = Object.entries(filter)
  const matching = all.filter(
    (summary) =>
      wanted.every(([field, name]) => summary[field as keyof EventSummary] === name) &&
      (isError === undefined || isError === (summary.errorType !== null)) &&
      (failure === undefined || isOf(failure, summary)) &&
      (above === undefined || summary.id > above) &&
      (below === undefined || summary.id < below) &&
      (after === undefined || (order === "asc" ? summary.id > after : summary.id < after))
  )
  return (order === "asc" ? matching : matching.toReversed()).slice(0, limit)
}
