import {
  checksumOfSummary,
  CurrentProject,
  type EventId,
  type EventPage,
  EventTime,
  Recorder,
  SessionId,
  type SessionPlace,
  type Storage,
  type StoredSession
} from "@tachograph/core"
import { Samples, StorageSuite, TestSeed } from "@tachograph/testkit"
import { Deferred, Effect, Fiber, Schedule, Stream } from "effect"
import { expect, it } from "vitest"
import { emptySchema } from "./EmptySchema.ts"
import { whileHeld, withServers } from "./Servers.ts"

const newEvent = (session: string) =>
  Effect.sync(() => {
    const event = Samples.appendEvent(EventTime.firstIdOf(Date.now()), { session: SessionId.make(session) })
    const checksums = { ...event.checksums, summary: checksumOfSummary(event.project, event.summary) }
    return { ...event, checksums, hasNewId: true }
  })

const { project } = Samples

/** Waits until the watermark is above a time. */
const above = (storage: Storage["Service"], ms: number) =>
  Effect.repeat(storage.watermark(project), {
    until: (watermark) => EventTime.of(watermark) > ms,
    schedule: Schedule.spaced("20 millis"),
    times: 500
  })

const idsOf = (storage: Storage["Service"]) =>
  Effect.map(StorageSuite.StoreCheck.listAll(storage, project), (events) => events.map(({ id }): EventId => id))

it("stands still while a transaction with an older event is held, and passes it when that is committed", () =>
  withServers(emptySchema, ({ sql, storage }, { storage: two }) =>
    Effect.gen(function* () {
      // A transaction that creates names would hold those of the other server.
      for (const session of ["held", "later"]) yield* Samples.append(storage, [yield* newEvent(session)])
      const before = yield* idsOf(two)
      const held = yield* newEvent("held")
      const [inserted, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const untilReleased = Effect.andThen(Deferred.succeed(inserted, undefined), Deferred.await(release))
      const transaction = yield* Effect.forkChild(
        sql.withTransaction(Effect.andThen(Samples.append(storage, [held]), untilReleased))
      )
      yield* Deferred.await(inserted)
      // Another server goes on.
      const later = yield* newEvent("later")
      yield* Samples.append(two, [later])
      const end = EventTime.of(later.summary.id) + 1_500
      while (Date.now() < end) {
        expect((yield* two.watermark(project)) < held.summary.id).toBe(true)
        yield* Effect.sleep(20)
      }
      expect(yield* idsOf(two)).toEqual([...before, later.summary.id])
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(transaction)
      expect((yield* above(two, EventTime.of(later.summary.id))) > later.summary.id).toBe(true)
      expect(yield* idsOf(two)).toEqual([...before, held.summary.id, later.summary.id])
    })
  ))

it("knows what is settled before a held transaction, also if it looks for the first time", () =>
  withServers(emptySchema, (one, { storage: two }) =>
    Effect.gen(function* () {
      yield* Samples.append(one.storage, [yield* newEvent("held")])
      const beforeMs = Date.now()
      const held = yield* newEvent("held")
      const [, watermark] = yield* whileHeld(one, Samples.append(one.storage, [held]), two.watermark(project))
      expect(EventTime.of(watermark)).toBeGreaterThanOrEqual(beforeMs - 1_000)
      expect(watermark < held.summary.id).toBe(true)
    })
  ))

it("ends pages in ascending order before what a held transaction may still commit", () =>
  withServers(emptySchema, ({ sql, storage }, { storage: two }) =>
    Effect.gen(function* () {
      for (const session of ["held", "later"]) yield* Samples.append(storage, [yield* newEvent(session)])
      const after = (yield* idsOf(two)).at(-1)!
      yield* above(two, EventTime.of(after))
      const held = yield* newEvent("held")
      const [inserted, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const untilReleased = Effect.andThen(Deferred.succeed(inserted, undefined), Deferred.await(release))
      const transaction = yield* Effect.forkChild(
        sql.withTransaction(Effect.andThen(Samples.append(storage, [held]), untilReleased))
      )
      yield* Deferred.await(inserted)
      const later: Array<EventId> = []
      for (let n = 0; n < 5; n++) {
        const event = yield* newEvent("later")
        yield* Samples.append(two, [event])
        later.push(event.summary.id)
      }
      const list = (after: EventId) =>
        Effect.flatMap(Recorder, (recorder) => recorder.listEvents({ order: "asc", limit: 2, after })).pipe(
          Effect.provide(StorageSuite.Calls.recorderOver(two))
        )
      const page = yield* list(after)
      expect([page.events, page.next! < held.summary.id]).toEqual([[], true])
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(transaction)
      const ids: Array<EventId> = []
      for (let next: EventId | undefined = page.next; next !== undefined;) {
        const { events, next: last }: EventPage = yield* list(next)
        for (const { id } of events) ids.push(id)
        next = last
      }
      expect(ids).toEqual([held.summary.id, ...later])
    })
  ))

it("exports what was acknowledged although a transaction is held, and has the next export begin before that", () =>
  withServers(emptySchema, (one, { storage: two }) =>
    Effect.gen(function* () {
      for (const session of ["held", "later"]) yield* Samples.append(one.storage, [yield* newEvent(session)])
      yield* Effect.sleep(2)
      const held = yield* newEvent("held")
      yield* Effect.sleep(2)
      const later = yield* newEvent("later")
      /** The ids of events, all of which Samples makes with packs that cannot be read, and where the next export begins. */
      const exportAfter = Effect.fnUntraced(
        function* (after: EventId | undefined) {
          const recorder = yield* Recorder
          const items = (yield* Stream.runCollect(yield* recorder.exportEvents({ after }))).flat()
          const end = items.at(-1)
          return {
            ids: items.flatMap((item) => (item.type === "damaged" ? [item.id] : [])),
            unsettled: items.flatMap((item) => (item.type === "damaged" && !item.isSettled ? [item.id] : [])),
            next: end?.type === "end" && end.isWhole ? end.after : undefined
          }
        },
        Effect.provide(StorageSuite.Calls.recorderOver(two)),
        Effect.provideService(CurrentProject, project)
      )
      const record = Effect.andThen(Samples.append(two, [later]), exportAfter(undefined))
      const [, { ids, next, unsettled }] = yield* whileHeld(one, Samples.append(one.storage, [held]), record)
      expect(ids).toHaveLength(3)
      expect(ids.at(-1)).toBe(later.summary.id)
      // The allowance for clocks holds the first two back as well.
      expect(unsettled).toEqual(ids)
      expect(next! < held.summary.id).toBe(true)
      const after = yield* exportAfter(next)
      expect(after.ids.slice(-2)).toEqual([held.summary.id, later.summary.id])
      expect([after.next, after.unsettled]).toEqual([later.summary.id, []])
      const ahead = EventTime.firstIdOf(Date.now() + 3_600_000)
      expect((yield* exportAfter(ahead)).next! < ahead).toBe(true)
    })
  ))

for (const order of ["asc", "desc"] as const) {
  for (const isSettled of [false, true]) {
    it(`lists each session once, ${order}, of which a held transaction commits an event between two pages${isSettled ? ", when the others are settled" : ""}`, () =>
      withServers(emptySchema, (one, { storage: two }) =>
        Effect.gen(function* () {
          const sessions = ["held", "s1", "s2", "s3", "s4"]
          for (const session of sessions) {
            yield* Samples.append(one.storage, [yield* newEvent(session)])
            yield* Effect.sleep(2)
          }
          if (isSettled) yield* above(two, EventTime.of((yield* idsOf(two)).at(-1)!))
          const list = (after?: SessionPlace) => two.listSessions(project, { order, limit: 2, after })
          const held = yield* newEvent("held")
          yield* Effect.sleep(2)
          const whileItIs = Effect.gen(function* () {
            yield* Samples.append(two, [yield* newEvent("s4")])
            return yield* list()
          })
          const [, page] = yield* whileHeld(one, Samples.append(one.storage, [held]), whileItIs)
          const found = page.rows.map(({ session }) => session)
          for (let after = page.next; after !== undefined;) {
            const { next, rows } = yield* list(after)
            for (const { session } of rows) found.push(session)
            after = next
          }
          expect(found).toEqual(order === "asc" ? sessions : sessions.toReversed())
        })
      ))
  }
}

it("lists each of many sessions once that are not settled", () =>
  withServers(emptySchema, (one, { storage: two }) =>
    Effect.gen(function* () {
      // More than a cursor names.
      const sessions = Array.from({ length: 700 }, (_, n) => `s${n}`)
      // Ahead of every watermark of the test.
      const beginMs = Date.now() + 3_600_000
      const eventOf = (session: string, n: number) =>
        Samples.appendEvent(EventTime.firstIdOf(beginMs + n), { session: SessionId.make(session) })
      yield* Samples.append(one.storage, sessions.map(eventOf))
      for (const order of ["asc", "desc"] as const) {
        const found: Array<string> = []
        let after: SessionPlace | undefined
        do {
          const page: { readonly rows: ReadonlyArray<StoredSession>; readonly next: SessionPlace | undefined } =
            yield* two.listSessions(project, { order, limit: 90, after })
          for (const { session } of page.rows) found.push(session)
          after = page.next
          expect(after?.recent.length ?? 500).toBe(500)
        } while (after !== undefined)
        expect(found).toEqual(order === "asc" ? sessions : sessions.toReversed())
      }
    })
  ))

it("does not wait for a transaction that writes other tables", () =>
  withServers(emptySchema, ({ sql }, { storage: two }) =>
    Effect.gen(function* () {
      const [inserted, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const untilReleased = Effect.andThen(Deferred.succeed(inserted, undefined), Deferred.await(release))
      const transaction = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.andThen(sql`INSERT INTO leases (lease_name, holder, expires_at) VALUES ('a', 'b', 1)`, untilReleased)
        )
      )
      yield* Deferred.await(inserted)
      const begun = Date.now()
      expect(EventTime.of(yield* above(two, begun))).toBeGreaterThan(begun)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(transaction)
    })
  ))

it(`has no event appear below it while servers record, whose clocks are ahead and behind, seed ${TestSeed.seed}`, () =>
  withServers(emptySchema, ({ storage }, { storage: two }) =>
    Effect.gen(function* () {
      const writers = [{ storage }, { storage: two, aheadMs: -20_000 }, { storage: two, aheadMs: 1_500 }]
      const { problems, watermarks } = yield* StorageSuite.Settled.look(writers, storage, TestSeed.seed, 60)
      expect(problems).toEqual([])
      expect(watermarks).toBeGreaterThan(1)
    })
  ))
