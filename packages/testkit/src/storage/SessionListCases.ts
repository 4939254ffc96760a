/** Lists of sessions by the times of their calls, while others record, and as they were. */
import {
  type AppendEvent,
  type DerivedPlace,
  firstIdOf,
  PersonId,
  SessionId,
  type SessionPlace,
  SessionRank,
  type StoredSession
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import { append, appendEvent, project } from "../Samples.ts"
import type { Test } from "./Cases.ts"
import {
  allSessions,
  beginMs,
  deriveAll,
  eventOf,
  fieldsOf,
  fill,
  idAt,
  inMemory,
  type Port,
  timeAt
} from "./RollupEvents.ts"

const seed = 1
const hourMs = 3_600_000

/** How long before its receipt a call took place (ms): mostly a moment, or an hour, or days; before it where a clock is ahead. */
const delays = [
  0,
  1,
  40_000,
  hourMs - 1,
  hourMs,
  hourMs + 1,
  3 * hourMs,
  90 * hourMs,
  -1,
  -hourMs,
  -5 * hourMs,
  -400 * hourMs
]

/** Events of some sessions that are received every six minutes, the nth of which took place at another time than in its id. */
const callsBy = (next: (below: number) => number) => {
  return (n: number, session = `s${next(8)}`): AppendEvent => {
    // No two calls are of the same millisecond.
    const ms = beginMs + n * 360_001
    const isStated = next(4) > 0
    const occurredMs = next(20) === 0 ? Date.UTC(1, 0) : ms - delays[next(3) === 0 ? next(3) : next(delays.length)]!
    return appendEvent(idAt(ms, n), {
      session: SessionId.make(session),
      person: PersonId.make(`p${next(3)}`),
      occurredAt: isStated ? DateTime.makeUnsafe(occurredMs) : null,
      receivedAt: DateTime.makeUnsafe(next(9) === 0 ? ms + 2 * hourMs : ms)
    })
  }
}

const namesOf = (rows: ReadonlyArray<StoredSession>) => rows.map(({ session }) => session)

export const define = (test: Test) => {
  test("lists sessions by the times of their calls, whenever these were recorded, derived and erased", (storage) =>
    inMemory((memory) =>
      Effect.gen(function* () {
        const count = 160
        const callOf = callsBy(Calls.random(seed))
        const events = Array.from({ length: count }, (_, n) => callOf(n))
        const upTo = idAt(beginMs + 1_000 * hourMs, 0)
        const derive = (limit: number) =>
          Effect.repeat(storage.deriveEvents(project, upTo, limit), { until: (n) => n < limit })
        const sessionsOf = (from: Port, filter: object, order: "asc" | "desc", limit: number) =>
          Effect.map(allSessions(from, filter, order, limit), (rows) =>
            rows.map((row) => ({ ...row, people: row.people.toSorted() }))
          )
        let states = 0
        const expectSame = Effect.fnUntraced(function* (what: string) {
          const all = yield* sessionsOf(memory, {}, "asc", 100)
          const lastMs = DateTime.toEpochMillis(all[Math.floor(all.length / 2)]?.lastEventAt ?? DateTime.makeUnsafe(0))
          const filters = [{ fromMs: lastMs }, { fromMs: lastMs + 1 }, { toMs: lastMs }, { toMs: lastMs + 1 }]
          for (const filter of [{}, { person: PersonId.make("p2") }, filters[states++ % filters.length]!]) {
            for (const order of ["asc", "desc"] as const) {
              const expected = yield* sessionsOf(memory, filter, order, 100)
              const found = yield* sessionsOf(storage, filter, order, 3)
              expect(found, `${what}, ${order}, ${JSON.stringify(filter)}`).toEqual(expected)
            }
          }
          const [one] = all
          if (one === undefined) return
          const summary = yield* storage.sessionSummary(project, one.session)
          expect([summary?.firstEvent, summary?.firstEventAt, summary?.lastEventAt]).toEqual([
            one.firstEvent,
            one.firstEventAt,
            one.lastEventAt
          ])
        })
        const expectRight = Effect.fnUntraced(function* (what: string) {
          for (let place: DerivedPlace | undefined = { kind: "session", at: 0, rows: 0, version: undefined }; place;) {
            const { damage, next }: { damage: ReadonlyArray<string>; next: DerivedPlace | undefined } =
              yield* storage.checkDerived(project, place)
            expect(
              damage.filter((reason) => reason.includes("of sessions")),
              what
            ).toEqual([])
            place = next
          }
        })
        for (const each of [storage, memory]) yield* append(each, events.slice(0, 100))
        yield* expectSame("nothing derived")
        yield* storage.deriveEvents(project, events[70]!.summary.id, 500)
        yield* expectSame("some derived")
        yield* derive(30)
        yield* expectSame("all derived")
        yield* expectRight("all derived")
        for (const each of [storage, memory]) yield* append(each, events.slice(100))
        yield* expectSame("more recorded")
        yield* derive(500)
        for (const which of [
          ...[20, 21, 45, 90, 120].map((n) => ({ before: events[n]!.summary.id })),
          { person: PersonId.make("p1") },
          { before: events[150]!.summary.id },
          { before: upTo }
        ]) {
          for (const each of [storage, memory]) while ((yield* each.eraseEvents(project, which, 9)).events === 9);
          yield* expectSame(`erased ${JSON.stringify(which)}`)
          yield* expectRight(`erased ${JSON.stringify(which)}`)
        }
      })
    ))

  test("lists a session as it was by a call that was recorded two hours before another one", (storage) =>
    Effect.gen(function* () {
      const callMs = beginMs + hourMs
      const event = (receivedMs: number, occurredMs: number) =>
        appendEvent(idAt(receivedMs, 1), { occurredAt: DateTime.makeUnsafe(occurredMs) })
      const earlier = event(beginMs, callMs)
      const later = event(callMs + hourMs - 2, callMs - 1)
      const since = event(beginMs + 9 * hourMs, beginMs + 9 * hourMs)
      yield* append(storage, [earlier, later, since])
      yield* storage.deriveEvents(project, since.summary.id, 10)
      const after = { asOf: later.summary.id, last: undefined, recent: [] }
      for (const [filter, listed] of [
        [{ fromMs: callMs }, 1],
        [{ fromMs: callMs + 1 }, 0],
        [{ toMs: callMs }, 0],
        [{ toMs: callMs + 1 }, 1]
      ] as const) {
        const { rows } = yield* storage.listSessions(project, { ...filter, order: "desc", limit: 1, after })
        expect(rows.length, JSON.stringify(filter)).toBe(listed)
      }
    }))

  test("finds the first and the last call that an erasure leaves to a long session", (storage) =>
    Effect.gen(function* () {
      const count = 1_300
      const ms = (n: number) => beginMs + n * 5_000
      // The first and the last calls are among those that are erased. The ones after them are not where the others begin and end.
      const aheadMs = new Map([
        ...([3, 5] as const).map((n): [number, number] => [n, n === 3 ? -90 * hourMs : 90 * hourMs]),
        [610, -58 * 60_000],
        [count - 610, 58 * 60_000]
      ])
      const callOf = (n: number) =>
        appendEvent(idAt(ms(n), n), { occurredAt: DateTime.makeUnsafe(ms(n) + (aheadMs.get(n) ?? 0)) })
      const events = Array.from({ length: count }, (_, n) => callOf(n))
      for (let from = 0; from < count; from += 500) yield* append(storage, events.slice(from, from + 500))
      yield* Effect.repeat(storage.deriveEvents(project, events.at(-1)!.summary.id, 500), {
        while: (added) => added > 0
      })
      const ends = Effect.map(storage.listSessions(project, { order: "desc", limit: 1 }), ({ rows }) =>
        rows.map(({ firstEvent, firstEventAt, lastEventAt }) => [
          firstEvent,
          ...[firstEventAt, lastEventAt].map(DateTime.toEpochMillis)
        ])
      )
      expect(yield* ends).toEqual([[events[3]!.summary.id, ms(3) - 90 * hourMs, ms(5) + 90 * hourMs]])
      expect(yield* storage.eraseEvents(project, { before: events[10]!.summary.id }, 100)).toEqual({ events: 10 })
      const first = 610
      const last = count - 610
      expect(yield* ends).toEqual([[events[first]!.summary.id, ms(first) - 58 * 60_000, ms(last) + 58 * 60_000]])
    }))

  test("loses and repeats no session while late calls and early ones are recorded", (storage) =>
    Effect.gen(function* () {
      const next = Calls.random(seed)
      const callOf = callsBy(next)
      const upTo = idAt(beginMs + 1_000 * hourMs, 0)
      let recorded = 0
      const record = Effect.fnUntraced(function* (count: number, session: () => string) {
        for (let n = 0; n < count; n++) yield* append(storage, [callOf(recorded++, session())])
      })
      yield* record(60, () => `s${recorded % 30}`)
      for (const order of ["asc", "desc"] as const) {
        yield* storage.deriveEvents(project, upTo, order === "asc" ? 20 : 500)
        const before = namesOf(yield* allSessions(storage, {}, order, 1_000))
        const found: Array<string> = []
        let after: SessionPlace | undefined
        do {
          const page = yield* storage.listSessions(project, { order, limit: 4, after })
          found.push(...namesOf(page.rows))
          after = page.next
          // In a session that was listed, in one that was not, and in a new one.
          const sessions = [found.at(-1)!, before.find((each) => !found.includes(each)) ?? before[0]!, `n${recorded}`]
          yield* record(3, () => sessions.pop()!)
          if (next(2) === 0) yield* storage.deriveEvents(project, upTo, next(2) === 0 ? 500 : 1 + next(6))
        } while (after !== undefined)
        expect(found).toEqual(before)
      }
    }))

  test("loses and repeats no session while others are recorded", (storage) =>
    Effect.gen(function* () {
      for (const order of ["asc", "desc"] as const) {
        const offset = order === "asc" ? 0 : 300
        yield* fill(storage, offset, offset + 200)
        const before = (yield* allSessions(storage, {}, order, 1000)).map(({ session }) => session)
        const found: Array<string> = []
        let after: SessionPlace | undefined
        let next = offset + 200
        do {
          const page = yield* storage.listSessions(project, { order, limit: 5, after })
          found.push(...page.rows.map(({ session }) => session))
          after = page.next
          // In the sessions that are in the list and in others, some of which are derived.
          const ms = timeAt(next)
          yield* append(storage, [
            eventOf(next),
            appendEvent(idAt(ms + 1, next), {
              ...fieldsOf(next),
              session: SessionId.make(before[(next * 7) % before.length]!),
              receivedAt: DateTime.makeUnsafe(ms + 1)
            })
          ])
          next++
          if (next % 3 === 0) yield* deriveAll(storage, 100, eventOf(next - 2).summary.id)
        } while (after !== undefined)
        expect(found).toEqual(before)
      }
    }))

  test("loses and repeats no session while others are recorded below an imported event of the future", (storage) =>
    Effect.gen(function* () {
      let ms = 0
      for (const order of ["asc", "desc"] as const) {
        const newEvent = Effect.fnUntraced(function* (session: string) {
          ms = Math.max(ms + 1, DateTime.toEpochMillis(yield* DateTime.now))
          return { ...appendEvent(firstIdOf(ms), { session: SessionId.make(session) }), hasNewId: true }
        })
        const names = Array.from({ length: 12 }, (_, n) => `${order}${n}`)
        for (const [n, name] of names.entries()) {
          const id = idAt(timeAt(n), order === "asc" ? n : 100 + n)
          yield* append(storage, [appendEvent(id, { session: SessionId.make(name) })])
        }
        const future = DateTime.toEpochMillis(yield* DateTime.now) + 5 * 365 * 86_400_000
        yield* append(storage, [
          appendEvent(idAt(future, order === "asc" ? 1 : 2), { session: SessionId.make(names[4]!) })
        ])
        const before = (yield* allSessions(storage, {}, order, 1000)).map(({ session }) => session)
        expect(before.length).toBe(order === "asc" ? 12 : 24)
        const found: Array<string> = []
        let after: SessionPlace | undefined
        do {
          const page = yield* storage.listSessions(project, { order, limit: 2, after })
          found.push(...page.rows.map(({ session }) => session))
          after = page.next
          // One that was listed, and one that will be.
          for (const name of [found.at(-1)!, before.find((each) => !found.includes(each)) ?? before[0]!]) {
            yield* append(storage, [yield* newEvent(name)])
          }
          yield* deriveAll(storage, 500, yield* storage.watermark(project))
        } while (after !== undefined)
        expect(found).toEqual(before)
      }
    }))

  test("lists many sessions as they were, after all of them went on, by calls or by recording", (storage) =>
    Effect.gen(function* () {
      const sessions = 2_100
      const numberOf = (n: number) => (11 * n) % sessions
      /** Some minutes before the receipt, in another order. */
      const callMs = (n: number) => beginMs + n - ((n * 7_919) % 300_007)
      const at = (n: number) =>
        appendEvent(idAt(beginMs + n, n), {
          session: SessionId.make(`s${numberOf(n)}`),
          occurredAt: DateTime.makeUnsafe(callMs(n)),
          receivedAt: DateTime.makeUnsafe(beginMs + n)
        })
      for (let from = 0; from < 2 * sessions; from += 300) {
        yield* append(
          storage,
          Array.from({ length: 300 }, (_, n) => at(from + n))
        )
      }
      yield* deriveAll(storage, 1_000)
      const settled = Array.from({ length: sessions + 100 }, (_, n) => n)
      const recorded = new Map(settled.map((n) => [`s${numberOf(n)}`, n]))
      const lastMs = new Map<string, number>()
      for (const n of settled) {
        const name = `s${numberOf(n)}`
        lastMs.set(name, Math.max(lastMs.get(name) ?? 0, callMs(n)))
      }
      const rankOf = Effect.fnUntraced(function* (name: string) {
        const session = yield* storage.getSession(project, SessionId.make(name))
        return SessionRank.of(lastMs.get(name)!, session!.number)
      })
      const list = Effect.fnUntraced(function* (order: "asc" | "desc", begin: Omit<SessionPlace, "asOf">) {
        const found: Array<string> = []
        let after: SessionPlace | undefined = { asOf: at(settled.at(-1)!).summary.id, ...begin }
        do {
          const page: { readonly rows: ReadonlyArray<StoredSession>; readonly next: SessionPlace | undefined } =
            yield* storage.listSessions(project, { order, limit: 700, after })
          found.push(...namesOf(page.rows))
          after = page.next
        } while (after !== undefined)
        return found
      })
      const ordered = Array.from(lastMs.keys()).sort((a, b) => lastMs.get(a)! - lastMs.get(b)!)
      for (const order of ["asc", "desc"] as const) {
        const inOrderOf = (times: ReadonlyMap<string, number>, names: ReadonlyArray<string>) =>
          names.toSorted((a, b) => (order === "asc" ? 1 : -1) * (times.get(a)! - times.get(b)!))
        const whole = yield* list(order, { last: undefined, recent: [] })
        expect([inOrderOf(lastMs, ordered), inOrderOf(recorded, ordered)]).toContainEqual(whole)
        // Where it was begun in the order of calls, with sessions that have a place of their own.
        const middle = 1_000
        const [behind, ahead] = order === "asc" ? [ordered[5]!, ordered.at(-5)!] : [ordered.at(-5)!, ordered[5]!]
        const rest = order === "asc" ? ordered.slice(middle + 1) : ordered.slice(0, middle)
        const others = inOrderOf(recorded, rest).filter((name) => name !== ahead)
        const byCalls = inOrderOf(lastMs, rest)
        const byEvents = order === "asc" ? [...others, ahead] : [ahead, ...others]
        const recent = [yield* rankOf(behind), yield* rankOf(ahead)].sort(SessionRank.by("asc"))
        const found = yield* list(order, { last: yield* rankOf(ordered[middle]!), recent })
        expect([byCalls, byEvents]).toContainEqual(found)
      }
    }))
}
