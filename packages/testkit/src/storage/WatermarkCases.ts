/** Watermarks: no event appears below one that was returned. Several storages over one database: `check/Settled.ts`. */
import { type EventId, EventTime, ProjectId, StaleIds, type Storage } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { expect } from "vitest"
import * as Settled from "../check/Settled.ts"
import * as StoreCheck from "../check/StoreCheck.ts"
import { append, appendEvent, appendOnce, project } from "../Samples.ts"
import type { Test } from "./Cases.ts"

const other = ProjectId.make("other")

/** The first id of the present time. */
const presentId = Effect.map(DateTime.now, ({ epochMilliseconds }) => EventTime.firstIdOf(epochMilliseconds))

/** The id as many milliseconds later. */
const plus = (id: EventId, ms: number): EventId => EventTime.firstIdOf(EventTime.of(id) + ms)

/** Waits until an id is at or below the watermark. */
const settled = (storage: Storage["Service"], id: EventId) =>
  Effect.repeat(storage.watermark(project), {
    until: (watermark) => watermark >= id,
    schedule: Schedule.spaced("20 millis"),
    times: 500
  })

export const define = (test: Test) => {
  test("reaches each event", (storage) =>
    Effect.gen(function* () {
      const before = yield* storage.watermark(project)
      const id = yield* presentId
      expect(before < id).toBe(true)
      yield* append(storage, [{ ...appendEvent(id), hasNewId: true }])
      expect((yield* settled(storage, id)) >= id).toBe(true)
    }))

  test("refuses new ids at and below the watermark, and takes those that events had before", (storage) =>
    Effect.gen(function* () {
      const id = yield* presentId
      yield* append(storage, [{ ...appendEvent(id), hasNewId: true }])
      const watermark = yield* settled(storage, id)
      for (const low of [watermark, plus(watermark, -1), plus(watermark, -60_000)]) {
        const above = plus(yield* presentId, 60_000)
        const events = [above, low].map((id) => ({ ...appendEvent(id), hasNewId: true }))
        const error = yield* Effect.flip(appendOnce(storage, events))
        expect(error).toBeInstanceOf(StaleIds)
        // An id of that time is accepted.
        const { notBefore } = error as StaleIds
        expect(notBefore).toBeGreaterThan(EventTime.of(low))
        expect(EventTime.firstIdOf(notBefore) > watermark).toBe(true)
      }
      expect((yield* StoreCheck.listAll(storage, project)).map(({ id }) => id)).toEqual([id])
      // Not below the watermark itself, which may be one more than the id.
      yield* append(storage, [appendEvent(plus(id, -1))])
      yield* append(storage, [{ ...appendEvent(plus(yield* presentId, 1)), hasNewId: true }])
      expect((yield* StoreCheck.listAll(storage, project)).length).toBe(3)
    }))

  test("stays where it was when the newest event is erased", (storage) =>
    Effect.gen(function* () {
      const id = yield* presentId
      const { summary } = appendEvent(id)
      yield* append(storage, [{ ...appendEvent(id), hasNewId: true }])
      const watermark = yield* settled(storage, id)
      yield* storage.eraseEvents(project, { session: summary.session }, 10)
      expect(yield* StoreCheck.listAll(storage, project)).toEqual([])
      expect((yield* storage.watermark(project)) >= watermark).toBe(true)
      expect(yield* Effect.flip(appendOnce(storage, [{ ...appendEvent(id), hasNewId: true }]))).toBeInstanceOf(StaleIds)
    }))

  test("is not moved far ahead by an imported event of the future", (storage) =>
    Effect.gen(function* () {
      const future = plus(yield* presentId, 400 * 24 * 60 * 60 * 1000)
      yield* append(storage, [appendEvent(future)])
      expect((yield* storage.watermark(project)) < future).toBe(true)
      const id = yield* presentId
      yield* append(storage, [{ ...appendEvent(id), hasNewId: true }])
      expect((yield* settled(storage, id)) < future).toBe(true)
    }))

  test("is that of a project", (storage) =>
    Effect.gen(function* () {
      const later = plus(yield* presentId, 60_000)
      yield* append(storage, [{ ...appendEvent(later, {}, other), hasNewId: true }])
      // Not before: it would be too old if the first took a second.
      const id = yield* presentId
      yield* append(storage, [{ ...appendEvent(id), hasNewId: true }])
      expect((yield* settled(storage, id)) < later).toBe(true)
    }))

  test("has no event appear below it while two recorders record, one of whose clocks is behind", (storage) =>
    Effect.gen(function* () {
      const { problems, watermarks } = yield* Settled.look([{ storage }, { storage, aheadMs: -20_000 }], storage, 1, 60)
      expect(problems).toEqual([])
      expect(watermarks).toBeGreaterThan(1)
    }))
}
