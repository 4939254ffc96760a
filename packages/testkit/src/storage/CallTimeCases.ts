/** Sums and lists by the times of calls, whenever these were recorded, derived and erased. Sums are the same as in memory. */
import {
  AgentName,
  AgentVersionName,
  type AppendEvent,
  CallTime,
  type DerivedPlace,
  type EventId,
  type EventQuery,
  type EventSummary,
  type ListPage,
  PersonId,
  SessionId,
  type UsageQuery
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import { append, appendEvent, project } from "../Samples.ts"
import type { Test } from "./Cases.ts"
import { beginMs, fieldsOf, idAt, inMemory, type Port } from "./RollupEvents.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** How long before its receipt a call took place (ms): a moment, about an hour, days or years; or after it, where a clock is wrong. */
const delays = [
  ...[0, 1, 40_000, hourMs - 1, hourMs, hourMs + 1, 2 * hourMs, 3 * dayMs, 10 * 365 * dayMs],
  ...[-1, -hourMs, -hourMs - 1, -2 * dayMs, -1000 * 365 * dayMs]
]

const receivedMs = (n: number) => beginMs + n * 31 * 60_000

/** Every seventh call has another one of the delays, so that each of them occurs. */
const step = 7

/** The nth event, received half an hour after the one before it. Summer time ends in Europe during them. */
const callOf = (n: number, next: (below: number) => number): AppendEvent => {
  const ms = receivedMs(n)
  const isOfDelays = n % step === 0
  const isStated = isOfDelays || next(4) > 0
  const delay = delays[isOfDelays ? (n / step) % delays.length : next(3)]!
  const occurredMs = !isOfDelays && next(25) === 0 ? Date.UTC(1, 0) : ms - delay
  return appendEvent(idAt(ms, n), {
    ...fieldsOf(n),
    session: SessionId.make(`s${next(6)}`),
    occurredAt: isStated ? DateTime.makeUnsafe(occurredMs) : null,
    receivedAt: DateTime.makeUnsafe(next(9) === 0 ? ms + 90 * 60_000 : ms)
  })
}

const count = 160
const lastId = idAt(receivedMs(count), 0)

/** Bounds of time: any, whole days, parts of a quarter, and those at which calls are just within or without. */
const times: ReadonlyArray<Pick<UsageQuery, "fromMs" | "toMs">> = [
  {},
  { fromMs: receivedMs(40), toMs: receivedMs(110) },
  { fromMs: Math.ceil(receivedMs(20) / dayMs) * dayMs, toMs: Math.ceil(receivedMs(90) / dayMs) * dayMs },
  { fromMs: receivedMs(60) - 2 * hourMs, toMs: receivedMs(60) },
  { toMs: receivedMs(1) },
  { fromMs: receivedMs(count) },
  { fromMs: 0, toMs: receivedMs(0) - dayMs },
  { fromMs: receivedMs(50), toMs: receivedMs(50) },
  // The millisecond of a call that was received an hour before or after it, or a millisecond more.
  ...[hourMs, hourMs + 1, -hourMs, -hourMs - 1].map((delay) => {
    const ms = receivedMs(step * delays.indexOf(delay)) - delay
    return { fromMs: ms, toMs: ms + 1 }
  })
]

const text = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part))

const usageOf = Effect.fnUntraced(function* (storage: Port, query: Omit<UsageQuery, "after">) {
  const found: Array<string> = []
  let after: UsageQuery["after"]
  do {
    const { groups, next } = yield* storage.sumUsage(project, { ...query, after })
    found.push(...groups.map(text))
    after = next
  } while (after !== undefined)
  return found.sort()
})

const groupings = [
  ...[[], ["day"], ["hour"]].map((groupBy) => ({ groupBy, timeZone: "UTC" })),
  ...[["day"], ["hour"]].map((groupBy) => ({ groupBy, timeZone: "Europe/Berlin" })),
  ...[["day"], ["hour"]].map((groupBy) => ({ groupBy, timeZone: "Australia/Lord_Howe" })),
  ...[["session"], ["person", "day"], ["agent"]].map((groupBy) => ({ groupBy, timeZone: "UTC" }))
] as ReadonlyArray<Pick<UsageQuery, "groupBy" | "timeZone">>

/** Names of `fieldsOf`, alone and together. */
const names: ReadonlyArray<Partial<EventQuery>> = [
  {},
  { session: SessionId.make("s2") },
  { agent: AgentName.make("a1") },
  { person: PersonId.make("p1") },
  { agentVersion: AgentVersionName.make("v1") },
  { session: SessionId.make("s3"), agent: AgentName.make("a0") },
  { person: PersonId.make("p3"), agentVersion: AgentVersionName.make("v0") }
]

type Filter = Omit<EventQuery, "order" | "limit">

const isOf =
  ({ above = idAt(0, 0), below, fromMs = 0, toMs = Number.POSITIVE_INFINITY, ...equal }: Filter) =>
  (summary: EventSummary): boolean =>
    summary.id > above &&
    (below === undefined || summary.id < below) &&
    CallTime.of(summary) >= fromMs &&
    CallTime.of(summary) < toMs &&
    Object.entries(equal).every(([name, value]) => summary[name as keyof EventSummary] === value)

/** All ids of a list, page by page. */
const idsOf = Effect.fnUntraced(function* <E>(
  query: EventQuery,
  page: (query: EventQuery) => Effect.Effect<ListPage<{ readonly id: EventId }, EventId>, E>
) {
  const found: Array<EventId> = []
  for (let after = query.after; ;) {
    const { next, rows } = yield* page({ ...query, after })
    expect(rows.length).toBeLessThanOrEqual(query.limit)
    found.push(...rows.map(({ id }) => id))
    if (next === undefined) return found
    after = next
  }
})

/** A list of a storage is what a filter leaves of all events, in each order, in pages of few events and of many. */
const expectLists = Effect.fnUntraced(function* (
  storage: Port,
  events: ReadonlyArray<AppendEvent>,
  filters: ReadonlyArray<Filter>,
  limit: number
) {
  const summaries = events.map(({ summary }) => summary).sort((a, b) => (a.id < b.id ? -1 : 1))
  for (const [n, filter] of filters.entries()) {
    const order = n % 2 === 0 ? "asc" : "desc"
    const query: EventQuery = { ...filter, order, limit }
    const what = text(query)
    const matching = summaries.filter(isOf(filter))
    if (order === "desc") matching.reverse()
    const expected = matching.map(({ id }) => id)
    const listed = (each: EventQuery) =>
      Effect.map(storage.listEvents(project, each), (rows) => ({
        rows,
        next: rows.length < limit ? undefined : rows.at(-1)!.id
      }))
    expect(yield* idsOf(query, listed), what).toEqual(expected)
    expect(yield* idsOf(query, (each) => storage.findPacks(project, each, {}, 500)), what).toEqual(expected)
    const model = "m1-dated"
    const ofModel = matching.filter(({ responseModel }) => responseModel === model).map(({ id }) => id)
    expect(yield* idsOf(query, (each) => storage.findEvents(project, each, { model }, 40)), what).toEqual(ofModel)
  }
})

export const define = (test: Test) => {
  test("adds calls up by their times, whenever they were recorded, derived and erased", (storage) =>
    inMemory((memory) =>
      Effect.gen(function* () {
        const next = Calls.random(1)
        const events = Array.from({ length: count }, (_, n) => callOf(n, next))
        let state = 0
        const expectSame = Effect.fnUntraced(function* (what: string) {
          state++
          for (const [n, { groupBy, timeZone }] of groupings.entries()) {
            for (const [m, time] of times.entries()) {
              // Each state has each grouping and each time, but not all of both.
              if (m > 0 && (state + n + m) % 7 > 0) continue
              const query = { groupBy, timeZone, ...time }
              const expected = yield* usageOf(memory, { ...query, limit: 10_000 })
              expect(yield* usageOf(storage, { ...query, limit: 25 }), `${what}: ${text(query)}`).toEqual(expected)
            }
          }
          for (let place: DerivedPlace | undefined; ;) {
            const check: { readonly damage: ReadonlyArray<string>; readonly next: DerivedPlace | undefined } =
              yield* storage.checkDerived(project, place)
            expect(check.damage, what).toEqual([])
            if (check.next === undefined) break
            place = check.next
          }
        })
        for (const each of [storage, memory]) yield* append(each, events.slice(40, 100))
        yield* expectSame("nothing derived")
        yield* storage.deriveEvents(project, events[70]!.summary.id, 500)
        yield* expectSame("some derived")
        yield* storage.deriveEvents(project, lastId, 500)
        for (const each of [storage, memory]) yield* append(each, [...events.slice(0, 40), ...events.slice(100)])
        yield* expectSame("earlier ones imported, and more recorded")
        yield* storage.deriveEvents(project, lastId, 500)
        yield* expectSame("all derived")
        for (const which of [{ person: PersonId.make("p2") }, { before: events[60]!.summary.id }]) {
          for (const each of [storage, memory]) while ((yield* each.eraseEvents(project, which, 50)).events === 50);
          yield* expectSame(`erased ${text(which)}`)
        }
        yield* storage.dropDerived(project)
        yield* storage.deriveEvents(project, lastId, 500)
        yield* expectSame("derived anew")
        for (const each of [storage, memory]) {
          while ((yield* each.eraseEvents(project, { before: lastId }, 500)).events === 500);
        }
        yield* expectSame("all erased")
      })
    ))

  test("lists calls by their times, in the order in which they were recorded", (storage) =>
    Effect.gen(function* () {
      const next = Calls.random(1)
      const events = Array.from({ length: count }, (_, n) => callOf(n, next))
      yield* append(storage, events)
      // Each time and each name, but not all of both.
      const filters = times
        .slice(1)
        .flatMap((time) => names.map((each) => ({ ...each, ...time })))
        .filter((_, n) => n % 3 === 0)
      const ids = { above: events[30]!.summary.id, below: events[120]!.summary.id }
      const withIds = filters.filter((_, n) => n % 4 === 0).map((filter) => ({ ...filter, ...ids }))
      yield* expectLists(storage, events, [...filters, ...withIds], 7)
    }))

  test("lists calls of a time among many that were recorded years after they took place", (storage) =>
    Effect.gen(function* () {
      const firstMs = beginMs - 400 * dayMs
      // More than one statement puts in order, received in the order of another time.
      const old = Array.from({ length: 1_200 }, (_, n) =>
        appendEvent(idAt(receivedMs(200) + n, n), {
          ...fieldsOf(n % 50),
          occurredAt: DateTime.makeUnsafe(firstMs + ((n * 7) % 1_200) * 60_000)
        })
      )
      const recent = Array.from({ length: 20 }, (_, n) => appendEvent(idAt(receivedMs(n), n), fieldsOf(n)))
      const events = [...recent, ...old]
      for (let at = 0; at < events.length; at += 500) yield* append(storage, events.slice(at, at + 500))
      const filters: ReadonlyArray<Filter> = [
        { fromMs: firstMs },
        { toMs: receivedMs(10) },
        { fromMs: firstMs + 60_000, toMs: receivedMs(10) },
        { fromMs: firstMs, agent: AgentName.make("a1") },
        { fromMs: firstMs + 600 * 60_000, toMs: firstMs + 630 * 60_000 },
        { fromMs: firstMs + 600 * 60_000, toMs: firstMs + 630 * 60_000, person: PersonId.make("p1") }
      ]
      yield* expectLists(storage, events, filters, 500)
    }))
}
