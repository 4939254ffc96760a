/** Lists of few events among many. */
import type { EventId, EventPack, EventQuery } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import * as ManyEvents from "../check/ManyEvents.ts"
import { eventId, project } from "../Samples.ts"
import { other, type Test } from "./Cases.ts"

/** More than any list has a limit for, and than may be looked at for it. */
const events = 1_200
const most = 420

export const define = (test: Test) => {
  test("lists by each combination of filters among many events", (storage) =>
    Effect.gen(function* () {
      yield* ManyEvents.fill(storage, events)
      const all = ManyEvents.summariesOf(events)
      const filters = [
        ...Object.values(ManyEvents.exact),
        ...Object.values(ManyEvents.intersections),
        ...ManyEvents.unknown
      ]
      for (const filter of filters) {
        for (const page of [...ManyEvents.pagesOf(events, 30), ...ManyEvents.pagesOf(events, most)]) {
          const query = { ...filter, ...page }
          const found = yield* storage.listEvents(project, query)
          const ids = ManyEvents.expected(all, query).map(({ id }) => id)
          expect(
            found.map(({ id }) => id),
            JSON.stringify(query)
          ).toEqual(ids)
        }
      }
    }))
  test("lists by fields of the events, and looks at no more of them than it may", (storage) =>
    Effect.gen(function* () {
      yield* ManyEvents.fill(storage, events)
      const all = ManyEvents.summariesOf(events)
      const limit = 4
      for (const [fields, names] of ManyEvents.fields) {
        for (const order of ["asc", "desc"] as const) {
          const matching = ManyEvents.expected(all, { ...fields, ...names, order, limit: events }).map(({ id }) => id)
          for (const maxLooked of [events + 1, most]) {
            const found: Array<EventId> = []
            let after: EventId | undefined
            let pages = 0
            // The first pages, and the rest in one.
            do {
              const query: EventQuery = { ...names, order, limit: pages++ < 3 ? limit : events, after }
              const { next, rows } = yield* storage.findEvents(project, query, fields, maxLooked)
              expect(rows.length).toBeLessThanOrEqual(query.limit)
              found.push(...rows.map(({ id }) => id))
              after = next
            } while (after !== undefined)
            const what = JSON.stringify({ fields, names, order, maxLooked })
            expect(found, what).toEqual(matching)
            if (maxLooked > events)
              expect(pages, what).toBe(Math.min(4, Math.max(1, Math.ceil(matching.length / limit))))
          }
        }
      }
      // Stops before it has found any.
      const rare = { model: ManyEvents.rareModel }
      const first = yield* storage.findEvents(project, { order: "asc", limit }, rare, most)
      expect(first).toEqual({ rows: [], next: all[most - 1]!.id })
    }))

  test("says where the packs of the events of a list are", (storage) =>
    Effect.gen(function* () {
      yield* ManyEvents.fill(storage, events)
      const all = ManyEvents.summariesOf(events)
      const sessions = new Map<string, number>()
      const packs = new Map<string, number>()
      const expected = new Map<EventId, EventPack>()
      for (const { api, id, occurredAt, receivedAt, session } of all) {
        if (!sessions.has(session)) sessions.set(session, (yield* storage.getSession(project, session))!.number)
        packs.set(session, (packs.get(session) ?? 0) + 1)
        const place = { session: sessions.get(session)!, pack: packs.get(session)! }
        const receivedAtMs = receivedAt.epochMilliseconds
        expected.set(id, { id, ...place, api, receivedAtMs, occurredAtMs: occurredAt?.epochMilliseconds })
      }
      const filters = [
        {},
        ...Object.values(ManyEvents.exact).slice(0, 4),
        ...Object.values(ManyEvents.intersections).slice(0, 2),
        ...ManyEvents.unknown.slice(0, 1)
      ]
      for (const [fields, names] of [
        ...filters.map((filter) => [{}, filter] as const),
        ...ManyEvents.fields.slice(0, 4)
      ]) {
        for (const order of ["asc", "desc"] as const) {
          const matching = ManyEvents.expected(all, { ...fields, ...names, order, limit: events }).map(({ id }) => id)
          for (const limit of [180, events]) {
            const found: Array<EventId> = []
            let after: EventId | undefined
            do {
              const query: EventQuery = { ...names, order, limit, after }
              const { next, rows } = yield* storage.findPacks(project, query, fields, most)
              expect(rows.length).toBeLessThanOrEqual(limit)
              expect(rows).toEqual(rows.map(({ id }) => expected.get(id)))
              found.push(...rows.map(({ id }) => id))
              after = next
            } while (after !== undefined)
            expect(found, JSON.stringify({ fields, names, order, limit })).toEqual(matching)
          }
        }
      }
      expect(yield* storage.findPacks(other, { order: "asc", limit: 5 }, {}, most)).toEqual({
        rows: [],
        next: undefined
      })
    }))

  test("lists the events between two ids", (storage) =>
    Effect.gen(function* () {
      yield* ManyEvents.fill(storage, events)
      const all = ManyEvents.summariesOf(events)
      const filters = [
        {},
        ...Object.values(ManyEvents.exact).slice(1, 4),
        ...Object.values(ManyEvents.intersections).slice(0, 2)
      ]
      for (const filter of filters) {
        for (const order of ["asc", "desc"] as const) {
          for (const [above, below, after] of [
            [60, 540, undefined],
            [60, 540, 300],
            [undefined, 180, 300],
            [900, undefined, 300],
            [420, 180, undefined]
          ] as const) {
            const id = (n: number | undefined) => (n === undefined ? undefined : eventId(n))
            const query = { ...filter, order, above: id(above), below: id(below), after: id(after), limit: 50 }
            const found = yield* storage.listEvents(project, query)
            const ids = ManyEvents.expected(all, query).map(({ id }) => id)
            expect(
              found.map(({ id }) => id),
              JSON.stringify(query)
            ).toEqual(ids)
          }
        }
      }
    }))
}
