/** Sums and lists by the times of calls, whenever these were recorded, derived and erased: the same as in memory. */
import { type AppendEvent, type DerivedPlace, PersonId, SessionId, type UsageQuery } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import { append, appendEvent, project } from "../Samples.ts"
import { seed } from "../TestSeed.ts"
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

/** The nth event, received half an hour after the one before it. Summer time ends in Europe during them. */
const callOf = (n: number, next: (below: number) => number): AppendEvent => {
  const ms = receivedMs(n)
  const occurredMs = next(25) === 0 ? Date.UTC(1, 0) : ms - delays[next(3) > 0 ? next(3) : next(delays.length)]!
  return appendEvent(idAt(ms, n), {
    ...fieldsOf(n),
    session: SessionId.make(`s${next(6)}`),
    occurredAt: next(4) > 0 ? DateTime.makeUnsafe(occurredMs) : null,
    receivedAt: DateTime.makeUnsafe(next(9) === 0 ? ms + 90 * 60_000 : ms)
  })
}

const count = 160
const lastId = idAt(receivedMs(count), 0)

/** Bounds of time: any, whole days, parts of a quarter, and those at which calls are just within or without. */
const timesOf = (events: ReadonlyArray<AppendEvent>): ReadonlyArray<Pick<UsageQuery, "fromMs" | "toMs">> => {
  const at = (n: number) => receivedMs(n)
  const { occurredAt, receivedAt } = events[77]!.summary
  const exact = DateTime.toEpochMillis(occurredAt ?? receivedAt)
  return [
    {},
    { fromMs: at(40), toMs: at(110) },
    { fromMs: Math.ceil(at(20) / dayMs) * dayMs, toMs: Math.ceil(at(90) / dayMs) * dayMs },
    { fromMs: exact, toMs: exact + 1 },
    { fromMs: exact + 1, toMs: exact + 5 * 60_000 },
    { fromMs: at(60) - 2 * hourMs, toMs: at(60) },
    { toMs: at(1) },
    { fromMs: at(count) },
    { fromMs: 0, toMs: at(0) - dayMs },
    { fromMs: at(50), toMs: at(50) }
  ]
}

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

export const define = (test: Test) => {
  test(`adds calls up by their times, whenever they were recorded, derived and erased, seed ${seed}`, (storage) =>
    inMemory((memory) =>
      Effect.gen(function* () {
        const next = Calls.random(seed)
        const events = Array.from({ length: count }, (_, n) => callOf(n, next))
        const times = timesOf(events)
        let state = 0
        const expectSame = Effect.fnUntraced(function* (what: string) {
          state++
          for (const [n, { groupBy, timeZone }] of groupings.entries()) {
            for (const [m, time] of times.entries()) {
              // Each state has each grouping and each time, but not all of both.
              if (m > 0 && (state + n + m) % 3 > 0) continue
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
}
