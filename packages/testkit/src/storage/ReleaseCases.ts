/** Data that is deleted once nothing refers to it: shared pieces, usage counters, people. */
import { ProjectId, SessionId } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { append, eventId, project, sharedPiece } from "../Samples.ts"
import { now, other, tagOf, type Test } from "./Cases.ts"
import * as StoreCheck from "../check/StoreCheck.ts"
import { eventIn, names, numberOf, p1, p2, removed, sweep } from "../check/SweepSteps.ts"

export const define = (test: Test) => {
  test("deletes a shared piece when its last session releases it", (storage) =>
    Effect.gen(function* () {
      yield* append(storage, [eventIn(1, "s1", ["a", "b", "c"]), eventIn(2, "s2", ["b", "c", "d"]), eventIn(3, "s1")])
      const stored = Effect.map(storage.readShared(project, names("a", "b", "c", "d")), (found) => found.length)
      const of = (text: string) => sharedPiece(text).bytes().length
      yield* storage.eraseEvents(project, { before: eventId(3) }, 10)
      const [one, two] = [yield* numberOf(storage, "s1"), yield* numberOf(storage, "s2")]
      expect(yield* stored).toBe(4)
      // Session 1 releases a and b; session 2 still owns b.
      const first = yield* sweep(storage, one, {}, { packs: [removed(1)], done: { owned: names("c") } })
      expect(first?.erased).toEqual({ pieces: 1, bytes: of("a"), session: false })
      expect(yield* stored).toBe(3)
      const second = yield* sweep(storage, two, {}, { packs: [removed(1)], done: { owned: [] } })
      expect(second?.erased).toEqual({ pieces: 2, bytes: of("b") + of("d"), session: true })
      expect((yield* storage.readShared(project, names("c"))).length).toBe(1)
      expect((yield* storage.usage(project, 9)).shared).toEqual({ pieces: 1, newBytes: 1, storedBytes: of("c") })
      // The last session releases the last piece.
      yield* storage.eraseEvents(project, { before: eventId(9) }, 10)
      const last = yield* sweep(storage, one, {}, { packs: [removed(2)], done: { owned: [] } })
      expect(last?.erased).toEqual({ pieces: 1, bytes: of("c"), session: true })
      expect(yield* storage.usage(project, 9)).toEqual({
        events: 0,
        sentBytes: 0,
        newBytes: 0,
        storedBytes: 0,
        shared: { pieces: 0, newBytes: 0, storedBytes: 0 },
        agents: [],
        sessions: []
      })
      // Session numbers are never reused.
      yield* append(storage, [eventIn(4, "s1")])
      expect(yield* numberOf(storage, "s1")).toBeGreaterThan(two)
    }))

  test("keeps a shared piece that one session adds while another releases it", (storage) =>
    Effect.gen(function* () {
      for (let round = 1; round <= 10; round++) {
        const [name, from, to] = [`piece ${round}`, `from ${round}`, `to ${round}`]
        yield* append(storage, [eventIn(2 * round, from, [name])])
        const session = yield* numberOf(storage, from)
        yield* storage.eraseEvents(project, { session: SessionId.make(from) }, 1)
        yield* Effect.all(
          [
            Effect.delay(sweep(storage, session, {}, { packs: [removed(1)], done: { owned: [] } }), round % 10),
            append(storage, [eventIn(2 * round + 1, to, [name])])
          ],
          { concurrency: "unbounded" }
        )
        expect(yield* storage.readShared(project, names(name))).toHaveLength(1)
        expect((yield* storage.usage(project, 0)).shared.pieces).toBe(round)
      }
    }))

  test("drops an agent without events from the usage", (storage) =>
    Effect.gen(function* () {
      const second = eventIn(2, "s1", [], p1)
      yield* append(storage, [
        eventIn(1, "s1"),
        { ...second, summary: { ...second.summary, agent: "second" as typeof second.summary.agent } }
      ])
      yield* storage.eraseEvents(project, { person: p1 }, 10)
      yield* sweep(storage, yield* numberOf(storage, "s1"), {}, { packs: [removed(2)], done: { owned: [] } })
      expect((yield* storage.usage(project, 9)).agents.map(({ agent }) => agent)).toEqual(["bot"])
    }))

  test("deletes a person only if no event is left", (storage) =>
    Effect.gen(function* () {
      expect(yield* tagOf(storage.deletePerson(project, p1))).toBe("person-not-found")
      expect(yield* tagOf(storage.deletePerson(ProjectId.make("none"), p1))).toBe("person-not-found")
      yield* append(storage, [eventIn(1, "s1", [], p1), eventIn(2, "s1", [], p1), eventIn(3, "s1", [], p2)])
      expect(yield* storage.deletePerson(project, p1)).toBe(false)
      yield* storage.eraseEvents(project, { person: p1 }, 1)
      expect(yield* storage.deletePerson(project, p1)).toBe(false)
      expect((yield* storage.getPerson(project, p1)).id).toBe(p1)
      yield* storage.eraseEvents(project, { person: p1 }, 1)
      expect(yield* tagOf(storage.deletePerson(other, p1))).toBe("person-not-found")
      expect(yield* storage.deletePerson(project, p1)).toBe(true)
      expect(yield* tagOf(storage.getPerson(project, p1))).toBe("person-not-found")
      expect(yield* tagOf(storage.deletePerson(project, p1))).toBe("person-not-found")
      expect((yield* storage.getPerson(project, p2)).id).toBe(p2)
      // The person can be created again.
      const again = { id: p1, properties: "{}" as never, createdAt: DateTime.add(now, { days: 1 }) }
      expect(yield* storage.putPerson(project, again)).toMatchObject({ createdAt: again.createdAt })
      yield* append(storage, [eventIn(4, "s1", [], p1)])
      expect((yield* StoreCheck.listAll(storage, project)).map(({ person }) => person)).toEqual([p2, p1])
    }))
}
