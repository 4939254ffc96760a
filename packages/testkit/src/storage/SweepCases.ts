/** Erasing events, and sweeping their sessions. */
import { type Erasable, PersonId, ProjectId, SessionId, type SweepPacks, type SweepRequest } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { append, appendEvent, eventId, project } from "../Samples.ts"
import { other, tagOf, type Test } from "./Cases.ts"
import * as StoreCheck from "../check/StoreCheck.ts"
import { eventIn, numberOf, p1, p2, removed, s1, shown, sweep } from "../check/SweepSteps.ts"

export const define = (test: Test) => {
  test("erases events by person, session or age, oldest first, up to a limit", (storage) =>
    Effect.gen(function* () {
      const people = [p1, p2, null]
      // The order of appending is not that of the ids.
      const order = Array.from({ length: 30 }, (_, n) => ((n * 7) % 30) + 1)
      const fields = (n: number) => ({ person: people[n % 3]!, session: SessionId.make(`s${n % 2}`) })
      yield* append(
        storage,
        order.map((n) => appendEvent(eventId(n), fields(n)))
      )
      yield* append(storage, [appendEvent(eventId(40), fields(0), other)])
      const left = Effect.map(StoreCheck.listAll(storage, project), (events) =>
        events.map(({ id }) => Number(id.slice(-8)))
      )
      const erase = (which: Erasable, limit: number) => storage.eraseEvents(project, which, limit)
      let expected = Array.from({ length: 30 }, (_, n) => n + 1)
      const take = Effect.fnUntraced(function* (which: Erasable, limit: number, is: (n: number) => boolean) {
        const gone = expected.filter(is).slice(0, limit)
        expect(yield* erase(which, limit)).toEqual({ events: gone.length })
        expected = expected.filter((n) => !gone.includes(n))
        expect(yield* left).toEqual(expected)
        for (const n of gone) expect(yield* tagOf(storage.getEvent(project, eventId(n)))).toBe("event-not-found")
      })

      for (const unmatched of [
        { person: PersonId.make("p3") },
        { session: SessionId.make("s3") },
        { before: eventId(1) }
      ]) {
        expect(yield* erase(unmatched, 10)).toEqual({ events: 0 })
      }
      expect(yield* storage.listPendingSweep(project, 10)).toEqual([])
      expect(yield* storage.eraseEvents(ProjectId.make("none"), { before: eventId(99) }, 10)).toEqual({ events: 0 })

      yield* take({ person: p1 }, 4, (n) => n % 3 === 0)
      yield* take({ session: SessionId.make("s1") }, 3, (n) => n % 2 === 1)
      yield* take({ before: eventId(11) }, 2, (n) => n < 11)
      yield* take({ before: eventId(11) }, 100, (n) => n < 11)
      yield* take({ person: p2 }, 100, (n) => n % 3 === 1)
      yield* take({ session: SessionId.make("s0") }, 100, (n) => n % 2 === 0)
      yield* take({ session: SessionId.make("s0") }, 100, () => false)
      expect(yield* StoreCheck.listAll(storage, other)).toHaveLength(1)
      expect(yield* storage.listPendingSweep(other, 10)).toEqual([])
    }))

  test("lists sessions with erased events by number, until they are swept", (storage) =>
    Effect.gen(function* () {
      const all = [1, 2, 3, 4, 5].map((n) => eventIn(n, `s${n}`))
      yield* append(storage, all)
      yield* append(storage, [eventIn(11, "s4")])
      const [one, three, four] = (yield* Effect.forEach([1, 3, 4], (n) => numberOf(storage, `s${n}`))) as [
        number,
        number,
        number
      ]
      const numbers = [one, three, four].sort((a, b) => a - b)
      for (const n of [4, 1, 3]) yield* storage.eraseEvents(project, { session: SessionId.make(`s${n}`) }, 1)
      expect(yield* storage.listPendingSweep(project, 10)).toEqual(numbers)
      expect(yield* storage.listPendingSweep(project, 2)).toEqual(numbers.slice(0, 2))
      expect(yield* storage.listPendingSweep(other, 10)).toEqual([])
      // Only the last step removes a session from the list.
      yield* sweep(storage, one, {}, { packs: [removed(1)] })
      expect(yield* storage.listPendingSweep(project, 10)).toEqual(numbers)
      const done = yield* sweep(storage, one, {}, { done: { owned: [] } })
      expect(done?.erased).toEqual({ pieces: 0, bytes: 0, session: true })
      expect(yield* storage.getSession(project, s1)).toBeUndefined()
      expect(yield* storage.listPendingSweep(project, 10)).toEqual(numbers.filter((number) => number !== one))
      // Session s4 has an event left, and is kept.
      yield* sweep(storage, four, {}, { packs: [removed(1)], done: { owned: [] } })
      expect(yield* storage.listPendingSweep(project, 10)).toEqual([three])
      expect((yield* storage.getSession(project, SessionId.make("s4")))?.number).toBe(four)
      expect((yield* storage.getEvent(project, eventId(11))).pack.number).toBe(2)
    }))

  test("passes the requested packs to a sweep", (storage) =>
    Effect.gen(function* () {
      const people = new Map([
        [2, p1],
        [6, p2]
      ])
      yield* append(
        storage,
        Array.from({ length: 10 }, (_, n) => eventIn(n + 1, "s1", [], people.get(n) ?? null))
      )
      yield* append(storage, [eventIn(20, "s2", [], p1)])
      for (const person of [p1, p2]) yield* storage.eraseEvents(project, { person }, 10)
      const session = yield* numberOf(storage, "s1")
      const steps: ReadonlyArray<readonly [Partial<SweepRequest>, ReturnType<typeof shown>]> = [
        [{}, { packs: [1, 2, -3, 4, 5, 6, -7, 8, 9, 10], added: [], isLast: true }],
        [{ limit: 10 }, { packs: [1, 2, -3, 4, 5, 6, -7, 8, 9, 10], added: [], isLast: true }],
        [{ limit: 9 }, { packs: [2, -3, 4, 5, 6, -7, 8, 9, 10], added: [], isLast: false }],
        [{ limit: 1 }, { packs: [10], added: [], isLast: false }],
        [
          { to: 7, limit: 4, above: 8 },
          { packs: [4, 5, 6, -7], added: [9, 10], isLast: false }
        ],
        [
          { to: 3, limit: 3, above: 6 },
          { packs: [1, 2, -3], added: [-7, 8, 9, 10], isLast: true }
        ],
        [
          { to: 0, above: 10 },
          { packs: [], added: [], isLast: true }
        ]
      ]
      const state = yield* storage.getSession(project, s1)
      for (const [request, expected] of steps) {
        const step = yield* sweep(storage, session, request)
        expect(shown(step!.value as SweepPacks)).toEqual(expected)
        expect(step?.value).toMatchObject({ state })
        expect(step?.erased).toEqual({ pieces: 0, bytes: 0, session: false })
        const { packs } = step!.value as SweepPacks
        for (const { bytes, number } of packs)
          expect(Array.from(bytes)).toEqual([0, Number.parseInt(String(number), 16), 255])
      }
      // Deleted packs do not count towards the limit.
      yield* sweep(storage, session, {}, { packs: [removed(3), removed(7)] })
      const { value } = (yield* sweep(storage, session, { to: 8, limit: 4, above: 6 }))!
      expect(shown(value as SweepPacks)).toEqual({ packs: [4, 5, 6, 8], added: [8, 9, 10], isLast: false })
      expect(yield* sweep(storage, 99, {})).toBeUndefined()
      expect(
        yield* storage.sweepPacks(ProjectId.make("none"), session, { to: 9, limit: 9, above: 9 }, () => {
          throw new Error("There is nothing to rewrite")
        })
      ).toBeUndefined()
    }))

  test("applies the changes of a sweep, and raises the generation if there are any", (storage) =>
    Effect.gen(function* () {
      yield* append(
        storage,
        [1, 2, 3].map((n) => eventIn(n, "s1", [], n === 1 ? p1 : null))
      )
      yield* storage.eraseEvents(project, { person: p1 }, 10)
      const session = yield* numberOf(storage, "s1")
      const generation = Effect.map(storage.getSession(project, s1), (state) => state!.generation)
      const first = yield* generation
      yield* sweep(storage, session, {})
      expect(yield* generation).toBe(first)
      const before = yield* storage.usage(project, 9)
      const bytes = Buffer.from("rewritten")
      yield* sweep(
        storage,
        session,
        {},
        {
          packs: [removed(1), { number: 2, bytes, formerNewBytes: 5, newBytes: 4 }]
        }
      )
      expect(yield* generation).toBeGreaterThan(first)
      const changed = yield* generation
      const packs = yield* storage.readPacks(project, session, [{ from: 1, to: 9 }])
      expect(packs.map(({ bytes, number }) => [number, Array.from(bytes)])).toEqual([
        [2, Array.from(bytes)],
        [3, [0, 3, 255]]
      ])
      expect(Array.from((yield* storage.getEvent(project, eventId(2))).pack.bytes!)).toEqual(Array.from(bytes))
      const { agents, newBytes, sessions, storedBytes } = yield* storage.usage(project, 9)
      expect([newBytes - before.newBytes, storedBytes - before.storedBytes]).toEqual([-5 - 1, -3 + 6])
      for (const each of [agents[0], sessions[0]]) expect(each).toMatchObject({ events: 2, newBytes, storedBytes })
      yield* sweep(storage, session, {}, { done: { owned: [] } })
      expect(yield* generation).toBe(changed)
      expect((yield* storage.getSession(project, s1))?.packs).toBe(3)
    }))

  test("keeps a session pending if events were erased since the sweep began", (storage) =>
    Effect.gen(function* () {
      yield* append(
        storage,
        [1, 2, 3, 4].map((n) => eventIn(n, "s1"))
      )
      const session = yield* numberOf(storage, "s1")
      const erase = (n: number) => storage.eraseEvents(project, { before: eventId(n + 1) }, 1)
      yield* erase(1)
      const { pendingSweep } = (yield* sweep(storage, session, {}))!.value
      yield* erase(2)
      yield* sweep(storage, session, {}, { done: { owned: [], pendingSweep } })
      expect(yield* storage.listPendingSweep(project, 9)).toEqual([session])
      yield* sweep(storage, session, {}, { packs: [removed(1), removed(2)], done: { owned: [] } })
      expect(yield* storage.listPendingSweep(project, 9)).toEqual([])
      for (const n of [3, 4]) {
        yield* erase(n)
        const late = yield* sweep(storage, session, {}, { done: { owned: [], pendingSweep } })
        expect(late?.erased.session).toBe(false)
        expect(yield* storage.listPendingSweep(project, 9)).toEqual([session])
      }
      const last = yield* sweep(storage, session, {}, { packs: [removed(3), removed(4)], done: { owned: [] } })
      expect(last?.erased.session).toBe(true)
    }))

  test("changes nothing if a sweep fails", (storage) =>
    Effect.gen(function* () {
      yield* append(storage, [eventIn(1, "s1", ["a"]), eventIn(2, "s1")])
      yield* storage.eraseEvents(project, { before: eventId(2) }, 10)
      const session = yield* numberOf(storage, "s1")
      const before = [yield* storage.getSession(project, s1), yield* storage.usage(project, 9)]
      const broken = storage.sweepPacks(project, session, { to: 9, limit: 9, above: 9 }, () => {
        throw new Error("injected failure")
      })
      expect((yield* Effect.exit(broken))._tag).toBe("Failure")
      expect([yield* storage.getSession(project, s1), yield* storage.usage(project, 9)]).toEqual(before)
      expect(yield* storage.listPendingSweep(project, 9)).toEqual([session])
      yield* append(storage, [eventIn(3, "s1")])
    }))
}
