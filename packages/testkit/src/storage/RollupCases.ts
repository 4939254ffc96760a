/**
 * What events add up to: the same before, while and after the storage derives it, and after erasures, as is counted in memory. The
 * figures of a few events are written out.
 */
import {
  AgentName,
  AgentVersionName,
  type AppendEvent,
  type DerivedPlace,
  type Dimension,
  type EventRanking,
  type EventSummary,
  PersonId,
  type SessionFilter,
  SessionId,
  type SessionRanking,
  type Sort,
  sorts,
  type StoredSession,
  type UsageGroup,
  type UsageQuery
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { append, appendEvent, project } from "../Samples.ts"
import type { Test } from "./Cases.ts"
import {
  allSessions,
  beginMs,
  count,
  deriveAll,
  eventOf,
  eventsOf,
  fieldsOf,
  fill,
  idAt,
  inMemory,
  type Port,
  timeAt
} from "./RollupEvents.ts"

const sessionFilters: ReadonlyArray<SessionFilter> = [
  {},
  { agent: AgentName.make("a1") },
  { agent: AgentName.make("a0"), agentVersion: AgentVersionName.make("v1"), person: PersonId.make("p2") },
  { agentVersion: AgentVersionName.make("v0") },
  { person: PersonId.make("p3") },
  { model: "m1-dated" },
  { model: "m3", isError: true },
  { isError: false },
  { agent: AgentName.make("nobody") }
]

const dimensions: ReadonlyArray<ReadonlyArray<Dimension>> = [
  [],
  ["day"],
  ["hour"],
  ["agent"],
  ["agent_version"],
  ["model"],
  ["person"],
  ["session"],
  ["api"],
  ["day", "model"],
  ["person", "day"],
  ["session", "agent"],
  ["agent", "hour"]
]

const timeZones = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe"]

type Usage = Omit<UsageQuery, "groupBy" | "timeZone" | "limit" | "after">

const usageFilters: ReadonlyArray<Usage> = [
  {},
  { fromMs: timeAt(40), toMs: timeAt(180) + 1 },
  { fromMs: timeAt(120), toMs: timeAt(121) },
  { fromMs: timeAt(121), agent: AgentName.make("a2"), api: "aisdk" },
  { toMs: timeAt(150), person: PersonId.make("p1") },
  { model: "m1", agentVersion: AgentVersionName.make("v1") }
]

const allUsage = Effect.fnUntraced(function* (
  storage: Port,
  query: Omit<UsageQuery, "limit" | "after">,
  limit: number
) {
  const groups: Array<UsageGroup> = []
  let after: UsageQuery["after"]
  do {
    const page = yield* storage.sumUsage(project, { ...query, limit, after })
    expect(page.groups.length).toBeLessThanOrEqual(limit)
    groups.push(...page.groups)
    after = page.next
  } while (after !== undefined)
  return groups
})

const text = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part))

/** Numbers of names may differ between storages, and with them the order of groups. */
const isOrdered = (groupBy: ReadonlyArray<Dimension>) =>
  groupBy.every((dimension) => dimension !== "agent" && dimension !== "person" && dimension !== "session")

const texts = (rows: ReadonlyArray<unknown>, areOrdered: boolean): ReadonlyArray<string> =>
  areOrdered ? rows.map(text) : rows.map(text).sort()

/** The names in a summary are in the order of their numbers. */
const sorted = ({ agents, agentVersions, people, ...summary }: StoredSession) => ({
  ...summary,
  agents: agents.toSorted(),
  agentVersions: agentVersions.toSorted(),
  people: people.toSorted()
})

/** Names and models, alone and with a time. */
const sortedDimensions: ReadonlyArray<ReadonlyArray<Dimension>> = [
  ["agent"],
  ["agent_version"],
  ["model"],
  ["person"],
  ["person", "day"]
]

const eventRankings: ReadonlyArray<Omit<EventRanking, "limit">> = [
  { sort: "duration", order: "desc", fields: {} },
  { sort: "tokens", order: "asc", fields: { isError: false } },
  { sort: "cost", order: "desc", fields: { isError: false }, agent: AgentName.make("a1") },
  { sort: "tokens", order: "desc", fields: { model: "m1-dated" }, fromMs: timeAt(30), toMs: timeAt(160) },
  { sort: "cost", order: "desc", fields: { api: "aisdk" }, agentVersion: AgentVersionName.make("v1") },
  { sort: "tokens", order: "desc", fields: { isError: true }, person: PersonId.make("p1") },
  { sort: "duration", order: "desc", fields: {}, session: SessionId.make("s7") },
  { sort: "duration", order: "desc", fields: {}, agent: AgentName.make("nobody") }
]

const sortedSessions = Effect.fnUntraced(function* (
  storage: Port,
  query: Omit<SessionRanking, "limit" | "after">,
  limit: number
) {
  const rows: Array<StoredSession> = []
  let after: SessionRanking["after"]
  do {
    const page = yield* storage.rankSessions(project, { ...query, limit, after })
    rows.push(...page.rows)
    after = page.next
  } while (after !== undefined)
  return rows
})

const sortedEvents = Effect.fnUntraced(function* (storage: Port, query: Omit<EventRanking, "limit">, limit: number) {
  const ids: Array<string> = []
  let after: EventRanking["after"]
  do {
    const page = yield* storage.rankEvents(project, { ...query, limit, after })
    ids.push(...page.rows.map(({ id }) => id))
    after = page.next
  } while (after !== undefined)
  return ids
})

/** The figure by which a group is sorted. */
const figureIn = (group: UsageGroup, sort: Sort): unknown =>
  ({
    last: group.lastEventAt?.epochMilliseconds,
    cost: group.costUsd,
    calls: group.events,
    tokens: group.inputTokens + group.outputTokens,
    errors: group.errors,
    duration: group.durationMsP50
  })[sort] ?? null

/** The figure by which a session is sorted. */
const figureOfSession = (session: StoredSession, sort: Sort): unknown =>
  ({
    last: session.lastEventAt.epochMilliseconds,
    cost: session.costUsd,
    calls: session.events,
    tokens: session.inputTokens + session.outputTokens,
    errors: session.errors,
    duration: session.lastEventAt.epochMilliseconds - session.firstEventAt.epochMilliseconds
  })[sort]

const filtersOfSessions = [...sessionFilters, { fromMs: timeAt(80), toMs: timeAt(150) }]

/** With filters of times alone, days and hours are asked for in every time zone. */
const filtersOfTimes = 2

/** In one of this many states a question is asked: each is asked in several. */
const turns = 5

const summarised = SessionId.make("s7")

/** What a storage in memory answers, until it changes. */
const referenceOf = (memory: Port) => {
  const answers = new Map<string, ReadonlyArray<string>>()
  let states = 0
  const answer = Effect.fnUntraced(function* <E>(
    question: string,
    read: Effect.Effect<ReadonlyArray<string>, E>
  ): Effect.fn.Return<ReadonlyArray<string>, E> {
    const known = answers.get(question)
    if (known !== undefined) return known
    const found = yield* read
    answers.set(question, found)
    return found
  })

  /** Whether a storage answers the same. */
  const expectSame = Effect.fnUntraced(function* (storage: Port, what: string) {
    const state = states++
    for (const [index, filter] of filtersOfSessions.entries()) {
      for (const [which, order] of (["asc", "desc"] as const).entries()) {
        if ((state + index + which) % turns !== 0) continue
        const question = `sessions by ${text(filter)}, ${order}`
        const sessions = (from: Port, limit: number) =>
          Effect.map(allSessions(from, filter, order, limit), (rows) => rows.map((row) => text(sorted(row))))
        const expected = yield* answer(question, sessions(memory, count))
        expect(yield* sessions(storage, order === "asc" ? 7 : 20), `${what}: ${question}`).toEqual(expected)
      }
    }
    for (const [index, filter] of usageFilters.entries()) {
      for (const [which, groupBy] of dimensions.entries()) {
        if ((state + index + which) % turns !== 0) continue
        const isOfTimes = index < filtersOfTimes
        const isInTimeZones = groupBy.length === 1 && (groupBy.includes("day") || groupBy.includes("hour")) && isOfTimes
        // Several pages each, some of which end within a person or a session, but not many: each page adds all events up again.
        const ofDimensions = groupBy.length === 2 ? 15 : 25
        const limit = groupBy.includes("hour") ? 60 : ofDimensions
        for (const timeZone of isInTimeZones ? timeZones : ["UTC"]) {
          const query = { ...filter, groupBy, timeZone }
          const question = `usage by ${text(query)}`
          const usage = (from: Port, pageSize: number) =>
            Effect.map(allUsage(from, query, pageSize), (groups) => texts(groups, isOrdered(groupBy)))
          const expected = yield* answer(question, usage(memory, 10_000))
          expect(yield* usage(storage, limit), `${what}: ${question}`).toEqual(expected)
        }
      }
    }
    for (const [index, filter] of filtersOfSessions.entries()) {
      for (const [which, sort] of sorts.entries()) {
        if ((state + index + which) % turns !== 0) continue
        const order = (index + which) % 2 === 0 ? "asc" : "desc"
        const question = `sessions by ${text(filter)}, ${sort}, ${order}`
        const sessions = (from: Port, limit: number) =>
          Effect.map(sortedSessions(from, { ...filter, sort, order }, limit), (rows) => [
            // Those with the same figure are in the order of their numbers, which are the storage's own.
            ...rows.map((row) => text(figureOfSession(row, sort))),
            ...rows.map((row) => text(sorted(row))).sort()
          ])
        const expected = yield* answer(question, sessions(memory, count))
        expect(yield* sessions(storage, 9), `${what}: ${question}`).toEqual(expected)
      }
    }
    for (const [index, query] of eventRankings.entries()) {
      if ((state + index) % 2 !== 0) continue
      const question = `calls by ${text(query)}`
      const expected = yield* answer(question, sortedEvents(memory, query, count))
      expect(yield* sortedEvents(storage, query, 7), `${what}: ${question}`).toEqual(expected)
    }
    for (const [index, filter] of usageFilters.entries()) {
      for (const [which, groupBy] of sortedDimensions.entries()) {
        if ((state + index + which) % turns !== 0) continue
        const sort = sorts[(index + which) % sorts.length]!
        const query = { ...filter, groupBy, timeZone: "UTC", sort }
        const question = `usage by ${text(query)}`
        const usage = (from: Port, limit: number) =>
          Effect.map(allUsage(from, query, limit), (groups) => [
            // Groups with the same figure are in any order.
            ...groups.map((group) => text(figureIn(group, sort))),
            ...groups.map(text).sort()
          ])
        const expected = yield* answer(question, usage(memory, 10_000))
        expect(yield* usage(storage, 4), `${what}: ${question}`).toEqual(expected)
      }
    }
    const summary = (from: Port) =>
      Effect.map(from.sessionSummary(project, summarised), (found) =>
        found === undefined ? [] : [text(sorted(found))]
      )
    expect(yield* summary(storage), what).toEqual(yield* answer("summary", summary(memory)))
  })

  return { expectSame, changed: () => answers.clear() }
}

export const define = (test: Test) => {
  test("adds events up, whether or not they have been derived, and takes erased ones away", (storage) =>
    inMemory((memory) =>
      Effect.gen(function* () {
        const { changed, expectSame } = referenceOf(memory)
        yield* fill(memory)
        yield* fill(storage)
        yield* expectSame(storage, "nothing derived")
        expect(yield* storage.deriveEvents(project, eventOf(110).summary.id, 60)).toBeLessThanOrEqual(60)
        yield* deriveAll(storage, 60, eventOf(110).summary.id)
        yield* expectSame(storage, "some derived")
        for (const which of [
          { person: PersonId.make("p2") },
          { session: summarised },
          { before: eventOf(50).summary.id }
        ]) {
          for (const each of [storage, memory]) {
            while ((yield* each.eraseEvents(project, which, 20)).events === 20);
          }
          changed()
          yield* expectSame(storage, `erased ${text(which)}`)
        }
        yield* deriveAll(storage, 500)
        yield* expectSame(storage, "all derived")
        yield* storage.dropDerived(project)
        yield* expectSame(storage, "dropped")
        yield* deriveAll(storage, 77)
        yield* expectSame(storage, "derived again")
        const all = { before: eventOf(count).summary.id }
        for (const each of [storage, memory]) {
          while ((yield* each.eraseEvents(project, all, 500)).events === 500);
        }
        changed()
        yield* expectSame(storage, "all erased")
        expect(yield* allUsage(storage, { groupBy: [], timeZone: "UTC" }, 10)).toEqual([])
      })
    ))

  test("adds up events that are appended below others that have been derived", (storage) =>
    inMemory((memory) =>
      Effect.gen(function* () {
        const { expectSame } = referenceOf(memory)
        yield* fill(memory)
        yield* fill(storage, 110, count)
        yield* deriveAll(storage, 500)
        yield* fill(storage, 0, 110)
        yield* expectSame(storage, "late")
        yield* deriveAll(storage, 500)
        yield* expectSame(storage, "late, and derived")
      })
    ))

  test("says exactly what a few calls add up to", (storage) =>
    Effect.gen(function* () {
      const at = Date.UTC(2026, 2, 29, 0, 59, 59, 999)
      const most = Number.MAX_SAFE_INTEGER
      const statedWhole = { statedCostUsd: most, listCostUsd: 1, unpricedParts: ["audio"] } as const
      const calls: ReadonlyArray<readonly [ms: number, fields: Partial<EventSummary>]> = [
        [at, { model: "m", inputTokens: 1, costUsd: most, unpricedParts: ["audio"], durationMs: 1000 }],
        [at + 1, { model: "m", outputTokens: 2, costUsd: most, ...statedWhole, durationMs: 2000 }],
        [at + 2, { model: "m", errorType: "e", person: PersonId.make("p"), durationMs: 60_000 }]
      ]
      yield* append(
        storage,
        calls.map(([ms, fields], n) => appendEvent(idAt(ms, n), { ...fields, receivedAt: DateTime.makeUnsafe(ms) }))
      )
      const sums = {
        ...{ events: 3, errors: 1, unpricedEvents: 1, partlyPricedEvents: 1, inputTokens: 1, outputTokens: 2 },
        ...{ cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, costUsd: 18_014_398_509_481_982n }
      }
      for (const isDerived of [false, true]) {
        if (isDerived) yield* deriveAll(storage, 2)
        const [whole] = yield* allUsage(storage, { groupBy: [], timeZone: "UTC" }, 10)
        expect(whole).toMatchObject(sums)
        const { durationMsP50, durationMsP95, durationMsP99 } = whole!
        for (const [found, expected] of [
          [durationMsP50, 2000],
          [durationMsP95, 60_000],
          [durationMsP99, 60_000]
        ] as const) {
          expect(Math.abs(found! - expected) / expected).toBeLessThanOrEqual(0.01)
        }
        // Summer time begins with the second call.
        const hours = yield* allUsage(storage, { groupBy: ["hour"], timeZone: "Europe/Berlin" }, 10)
        expect(hours.map(({ events, hour }) => [hour, events])).toEqual([
          ["2026-03-29T01:00:00+01:00", 1],
          ["2026-03-29T03:00:00+02:00", 2]
        ])
        const unpriced = yield* allUsage(storage, { groupBy: ["person"], timeZone: "UTC" }, 10)
        expect(unpriced.map(({ costUsd, person }) => [person, costUsd])).toEqual([
          [null, sums.costUsd],
          ["p", null]
        ])
        const days = yield* allUsage(storage, { groupBy: ["day"], timeZone: "Asia/Kathmandu" }, 10)
        expect(days.map(({ day, events }) => [day, events])).toEqual([["2026-03-29", 3]])
        expect(yield* allSessions(storage, {}, "desc", 10)).toEqual([
          {
            session: "s1",
            firstEvent: idAt(at, 0),
            firstEventAt: DateTime.makeUnsafe(at),
            lastEventAt: DateTime.makeUnsafe(at + 2),
            ...sums,
            agents: ["bot"],
            agentVersions: ["v1"],
            people: ["p"],
            models: ["m"],
            sentBytes: 12,
            newBytes: 15
          }
        ])
      }
      expect(yield* storage.sessionSummary(project, SessionId.make("none"))).toBeUndefined()
    }))

  test("adds up every session, of however many parts it is", (storage) =>
    Effect.gen(function* () {
      // As many as one step reads, the last of which has a part that is later than what is asked for.
      const sessions = 1_000
      const at = (ms: number, session: number, person: string) =>
        appendEvent(idAt(beginMs + ms, session), {
          session: SessionId.make(`s${session}`),
          person: PersonId.make(person),
          receivedAt: DateTime.makeUnsafe(beginMs + ms)
        })
      const ofAll = Array.from({ length: sessions }, (_, n) => at(n, n, n === sessions - 1 ? "second" : "first"))
      for (let from = 0; from < sessions; from += 250) yield* append(storage, ofAll.slice(from, from + 250))
      yield* append(storage, [at(10_000, sessions - 1, "first")])
      yield* deriveAll(storage, 500, idAt(beginMs + 20_000, 0))
      const query = { groupBy: ["session"], timeZone: "UTC", toMs: beginMs + 10_000 } as const
      expect(yield* allUsage(storage, query, 1000)).toHaveLength(sessions)
    }))

  test("sorts many sessions, whatever has become of them since they were added up", (storage) =>
    inMemory((memory) =>
      Effect.gen(function* () {
        const sessions = 1_300
        const event = (n: number, session: number) =>
          appendEvent(idAt(beginMs + 1_000 * n, n), {
            ...fieldsOf(n),
            session: SessionId.make(`s${session}`),
            receivedAt: DateTime.makeUnsafe(beginMs + 1_000 * n)
          })
        const both = [storage, memory]
        const add = Effect.fnUntraced(function* (events: ReadonlyArray<AppendEvent>) {
          for (const each of both) {
            for (let from = 0; from < events.length; from += 250) yield* append(each, events.slice(from, from + 250))
          }
        })
        const derive = deriveAll(storage, 500, idAt(beginMs + 10_000_000, 0))
        const expectSame = Effect.fnUntraced(function* (what: string) {
          for (const sort of sorts) {
            const [found, expected] = yield* Effect.forEach(both, (each) =>
              Effect.map(each.rankSessions(project, { sort, order: "desc", model: "m1", limit: 40 }), ({ rows }) =>
                rows.map((row) => text(figureOfSession(row, sort)))
              )
            )
            expect(found, `${what}: ${sort}`).toEqual(expected)
          }
          for (const groupBy of [["agent_version"], ["person", "day"]] as const) {
            const [found, expected] = yield* Effect.forEach(both, (each) =>
              Effect.map(allUsage(each, { groupBy, timeZone: "UTC" }, 500), (groups) => groups.map(text).sort())
            )
            expect(found, `${what}: ${groupBy.join()}`).toEqual(expected)
          }
        })
        yield* add(Array.from({ length: sessions }, (_, n) => event(n, n)))
        yield* derive
        yield* derive
        yield* expectSame("added up")
        yield* add(Array.from({ length: 40 }, (_, n) => event(sessions + n, 31 * n)))
        yield* expectSame("with later calls")
        yield* derive
        yield* expectSame("with later calls that are added up")
        // Of some sessions only the first call goes, which has their largest figures or not.
        for (const which of [{ person: PersonId.make("p1") }, { before: idAt(beginMs + 200_000, 0) }]) {
          for (const each of both) while ((yield* each.eraseEvents(project, which, 100)).events === 100);
        }
        yield* expectSame("without a person")
        yield* derive
        yield* expectSame("without a person, made anew")
        for (let place: DerivedPlace | undefined; ;) {
          const { damage, next } = yield* storage.checkDerived(project, place)
          expect(damage).toEqual([])
          if (next === undefined) break
          place = next
        }
      })
    ))

  test("finds nothing wrong when events are added up between two steps of a check", (storage) =>
    Effect.gen(function* () {
      yield* append(storage, eventsOf(0, 2))
      let recorded = 2
      // A check of nothing has as many steps before its last one.
      for (let stepsBefore = 1; stepsBefore <= 3; stepsBefore++) {
        yield* storage.dropDerived(project)
        let step = 0
        for (let place: DerivedPlace | undefined; ;) {
          const { damage, next } = yield* storage.checkDerived(project, place)
          expect(damage, `step ${step}, added up after step ${stepsBefore}`).toEqual([])
          if (next === undefined) break
          place = next
          if (++step !== stepsBefore) continue
          yield* append(storage, eventsOf(recorded, recorded + 2))
          recorded += 2
          yield* deriveAll(storage, 500)
        }
      }
    }))
}
