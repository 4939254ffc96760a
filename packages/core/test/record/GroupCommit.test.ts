import { assert, beforeAll, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { StorageUnavailable } from "../../src/domain/Errors.ts"
import { PersonId } from "../../src/domain/Person.ts"
import { defaultProject } from "../../src/domain/Project.ts"
import { defaultCommitLimits, CommitLimits } from "../../src/record/CommitLimits.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import { Recorder } from "../../src/Recorder.ts"
import { Storage } from "../../src/Storage.ts"
import { type AppendEvent, SessionConflict } from "../../src/storage/Appending.ts"
import { type Call, callsOf, recording, type Service } from "../Recording.ts"

const { Calls, StoreCheck } = StorageSuite

// A recorder imports them with its first event, which takes longer than `drain` waits.
beforeAll(async () => {
  await import("@tachograph/prices")
})

const { queue } = defaultCommitLimits

const recordAll = (storage: Service, calls: ReadonlyArray<Call>) =>
  recording(storage, (recorder) => Effect.forEach(calls, (call) => Calls.recordOnce(recorder, call)))

/** A storage whose appends wait until `open`, and that lists their batches. */
const gated = (storage: Service) =>
  Effect.map(Deferred.make<void>(), (gate) => {
    const batches: Array<ReadonlyArray<AppendEvent>> = []
    const waiting: Service = {
      ...storage,
      appendConcurrency: 2,
      appendEvents: (events) => {
        batches.push(events)
        return Effect.andThen(Deferred.await(gate), storage.appendEvents(events))
      }
    }
    return { storage: waiting, batches, open: Deferred.succeed(gate, undefined) }
  })

const drain = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** Starts to record a call, and returns when it is in the queue. */
const starting = (recorder: Recorder["Service"]) =>
  Effect.fnUntraced(function* (call: Call) {
    const fiber = yield* Effect.forkChild(Effect.exit(Calls.recordOnce(recorder, call)))
    yield* drain
    return fiber
  })

const sessionsOf = (batch: ReadonlyArray<AppendEvent>) => batch.map(({ summary }) => String(summary.session))

describe("GroupCommit", () => {
  it.effect("gathers events while others are committed, with a session in one batch at a time and in order", () =>
    Effect.gen(function* () {
      const memory = yield* Storage
      const { batches, open, storage } = yield* gated(memory)
      yield* recording(storage, (recorder) =>
        Effect.gen(function* () {
          const started: Array<Fiber.Fiber<unknown, unknown>> = []
          const start = Effect.fnUntraced(function* (call: Call) {
            started.push(yield* Effect.forkChild(Calls.recordOnce(recorder, call)))
            yield* drain
          })
          const [a, b, c] = [callsOf("a", 3), callsOf("b", 2), callsOf("c", 1)]
          yield* start(a[0]!)
          yield* start(a[1]!)
          yield* start(b[0]!)
          // Two batches are active, which is the limit: later events wait.
          yield* start(a[2]!)
          yield* start(c[0]!)
          yield* start(b[1]!)
          assert.deepStrictEqual(batches.map(sessionsOf), [["a"], ["b"]])
          yield* open
          yield* Effect.forEach(started, Fiber.join)
          assert.deepStrictEqual(batches.map(sessionsOf).flat().sort(), ["a", "a", "a", "b", "b", "c"])
          // At least one batch has several events.
          assert.isBelow(batches.length, 6)
        })
      )
      const { events, problems } = yield* StoreCheck.look(memory, defaultProject)
      assert.deepStrictEqual(problems, [])
      assert.strictEqual(events.size, 6)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("commits events whose callers were interrupted, and all others before its scope closes", () =>
    Effect.gen(function* () {
      const memory = yield* Storage
      const { open, storage } = yield* gated(memory)
      yield* Calls.putFingerprint(storage, defaultProject)
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Calls.recorderOver(storage), scope)
      const recorder = yield* Effect.provide(Recorder, context)
      const fibers = []
      for (const call of [...callsOf("a", 2), ...callsOf("b", 1)]) {
        fibers.push(yield* Effect.forkChild(Calls.recordOnce(recorder, call)))
        yield* drain
      }
      yield* Effect.forEach(fibers, (fiber) => Fiber.interrupt(fiber))
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* drain
      assert.strictEqual((yield* StoreCheck.listAll(memory, defaultProject)).length, 0)
      yield* open
      yield* Fiber.join(closing)
      assert.strictEqual((yield* StoreCheck.listAll(memory, defaultProject)).length, 3)
      const late = yield* Effect.flip(Calls.recordOnce(recorder, callsOf("c", 1)[0]!))
      assert.strictEqual(late._tag, "storage-unavailable")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("lets no event wait when its scope has closed, although the storage never returns", () =>
    Effect.gen(function* () {
      const { storage } = yield* gated(yield* Storage)
      yield* Calls.putFingerprint(storage, defaultProject)
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Calls.recorderOver(storage), scope)
      const start = starting(yield* Effect.provide(Recorder, context))
      // One is in a batch, the other one in the queue.
      const [first, second] = callsOf("a", 2)
      const inBatch = yield* start(first!)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* drain
      yield* TestClock.adjust(defaultCommitLimits.closingMs - 1)
      const inQueue = yield* start(second!)
      yield* TestClock.adjust(1)
      yield* Fiber.join(closing)
      yield* drain
      assert.deepStrictEqual(
        [inBatch, inQueue].map((fiber) => fiber.pollUnsafe() !== undefined),
        [true, true]
      )
      for (const fiber of [inBatch, inQueue]) assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("fails every event of a failed batch, and continues", () =>
    Effect.gen(function* () {
      const memory = yield* Storage
      let left = 1
      const storage: Service = {
        ...memory,
        appendEvents: (events) =>
          left-- > 0 ? Effect.fail(new StorageUnavailable({ cause: new Error("away") })) : memory.appendEvents(events)
      }
      yield* recording(storage, (recorder) =>
        Effect.gen(function* () {
          const calls = [...callsOf("a", 10), ...callsOf("b", 10)]
          const exits = yield* Effect.forEach(calls, (call) => Effect.exit(Calls.recordOnce(recorder, call)), {
            concurrency: "unbounded"
          })
          const kept = exits.flatMap((exit, index) =>
            exit._tag === "Success" ? [[exit.value, calls[index]!] as const] : []
          )
          const events = yield* StoreCheck.listAll(memory, defaultProject)
          assert.deepStrictEqual(events.map(({ id }) => id).sort(), kept.map(([id]) => id).sort())
          assert.isBelow(kept.length, calls.length)
          // The packs of the failed batch are not in the session cache.
          for (const call of calls) {
            const id = yield* Calls.recordOnce(recorder, call)
            assert.isTrue(yield* Calls.isAsSent(recorder, id, call))
          }
        })
      )
      assert.deepStrictEqual((yield* StoreCheck.look(memory, defaultProject)).problems, [])
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("rewrites the events of sessions that another process has appended to", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const mine = callsOf("a", 40)
      const theirs = callsOf("a", 40)
      yield* recording(storage, (one) =>
        recording(storage, (two) =>
          Effect.gen(function* () {
            const sent: Array<readonly [Recorder["Service"], Call]> = []
            for (let n = 0; n < 40; n++) sent.push([one, mine[n]!], [two, theirs[n]!])
            const ids = yield* Effect.forEach(sent, ([recorder, call]) => Calls.recordOnce(recorder, call), {
              concurrency: 8
            })
            for (const [index, id] of ids.entries()) assert.isTrue(yield* Calls.isAsSent(one, id, sent[index]![1]))
          })
        )
      )
      assert.deepStrictEqual((yield* StoreCheck.look(storage, defaultProject)).problems, [])
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("fails an event whose session always conflicts, although nothing else is appended to it", () =>
    Effect.gen(function* () {
      const memory = yield* Storage
      const damaged: Service = {
        ...memory,
        appendEvents: (events) =>
          Effect.fail(
            new SessionConflict({
              sessions: events.map(({ project, summary }) => ({ project, session: summary.session }))
            })
          )
      }
      const error = yield* Effect.flip(recordAll(damaged, callsOf("s", 1)))
      assert.strictEqual(error._tag, "storage-unavailable")
      assert.match(String((error as StorageUnavailable).cause), /conflicts with its own state/)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("records while an erasure removes what it reads to load the session", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const calls = callsOf("a", 30)
      yield* recordAll(storage, calls.slice(0, 20))
      let isFirst = true
      const erased: Service = {
        ...storage,
        // After the packs are read, and before the shared pieces that they reference.
        readPacks: (...args) =>
          Effect.tap(storage.readPacks(...args), () => {
            const erases = isFirst
            isFirst = false
            return erases
              ? Effect.orDie(recording(storage, (recorder) => recorder.erasePerson(PersonId.make("alice"))))
              : Effect.void
          })
      }
      yield* recordAll(erased, calls.slice(20))
      const { events, problems } = yield* StoreCheck.look(storage, defaultProject)
      assert.deepStrictEqual(problems, [])
      const kept = calls.slice(0, 20).filter(({ person }) => person === "bob")
      assert.strictEqual(events.size, kept.length + 10)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("refuses events beyond the queue's limit, keeps nothing of them, and accepts more when there is room", () =>
    Effect.gen(function* () {
      const memory = yield* Storage
      const { open, storage } = yield* gated(memory)
      const calls = callsOf("a", 6)
      yield* Calls.putFingerprint(storage, defaultProject)
      const limited = Calls.recorderOver(storage).pipe(
        Layer.provide(
          Layer.succeed(CommitLimits, {
            ...defaultCommitLimits,
            queue: { ...queue, events: 3, bytes: Number.POSITIVE_INFINITY }
          })
        )
      )
      yield* Effect.provide(
        Effect.gen(function* () {
          const recorder = yield* Recorder
          const waiting: Array<Fiber.Fiber<unknown, unknown>> = []
          for (const call of calls.slice(0, 3)) {
            waiting.push(yield* Effect.forkChild(Calls.recordOnce(recorder, call)))
            yield* drain
          }
          const refused = yield* Effect.flip(Calls.recordOnce(recorder, calls[3]!))
          assert.strictEqual((refused as { readonly _tag: string })._tag, "overloaded")
          yield* open
          yield* Effect.forEach(waiting, Fiber.join)
          yield* Calls.recordOnce(recorder, calls[4]!)
        }),
        limited
      )
      assert.lengthOf(yield* StoreCheck.listAll(memory, defaultProject), 4)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("fails events that have waited for too long, but not events that are being committed", () =>
    Effect.gen(function* () {
      const memory = yield* Storage
      const { batches, open, storage } = yield* gated(memory)
      yield* recording(storage, (recorder) =>
        Effect.gen(function* () {
          const start = starting(recorder)
          const [a, b] = [callsOf("a", 2), callsOf("b", 2)] as const
          const written = [yield* start(a[0]!), yield* start(b[0]!)]
          const late = yield* start(a[1]!)
          yield* TestClock.adjust(queue.waitMs / 2)
          const later = yield* start(b[1]!)
          yield* TestClock.adjust(queue.waitMs / 2 + 100)
          const refused = yield* Fiber.join(late)
          assert.strictEqual(Exit.isFailure(refused) && (Cause.squash(refused.cause) as Error).name, "overloaded")
          assert.lengthOf(batches, 2)
          yield* open
          for (const fiber of [...written, later]) assert.isTrue(Exit.isSuccess(yield* Fiber.join(fiber)))
        })
      )
      assert.lengthOf(yield* StoreCheck.listAll(memory, defaultProject), 3)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("is saturated while an event is overdue for a batch, but not for a batch of its own session", () =>
    Effect.gen(function* () {
      const { open, storage } = yield* gated(yield* Storage)
      yield* recording(storage, (recorder) =>
        Effect.gen(function* () {
          const start = starting(recorder)
          const [a, b, c] = [callsOf("a", 2), callsOf("b", 1), callsOf("c", 1)] as const
          // One event alone is always admitted, so keep another one queued.
          recorder.admission.permit().enqueue()
          const isSaturated = () => !recorder.admission.canAdmit(1)
          const fibers = [yield* start(a[0]!), yield* start(a[1]!)]
          yield* TestClock.adjust(0.9 * queue.waitMs)
          assert.isFalse(isSaturated())
          fibers.push(yield* start(b[0]!), yield* start(c[0]!))
          yield* TestClock.adjust(queue.waitMs / 2)
          assert.isFalse(isSaturated())
          yield* TestClock.adjust(queue.waitMs / 4)
          assert.isTrue(isSaturated())
          yield* open
          yield* Effect.forEach(fibers, Fiber.join)
          assert.isFalse(isSaturated())
        })
      )
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.live("is saturated as soon as the queue exceeds what the sampled throughput commits within the wait budget", () =>
    Effect.gen(function* () {
      const memory = yield* Storage
      const slow: Service = {
        ...memory,
        appendEvents: (events) => Effect.delay(memory.appendEvents(events), "150 millis")
      }
      yield* recording(slow, (recorder) =>
        Effect.gen(function* () {
          recorder.admission.permit().enqueue()
          const isSaturated = () => !recorder.admission.canAdmit(1)
          const record = (from: number, count: number) =>
            Effect.forkChild(
              Effect.forEach(
                Array.from({ length: count }, (_, n) => callsOf(`s${from + n}`, 1)[0]!),
                (call) => Effect.exit(Calls.recordOnce(recorder, call)),
                { concurrency: "unbounded" }
              )
            )
          // 40 events in 150 ms are at most 266 a second: 80 within the wait budget.
          yield* Fiber.join(yield* record(0, 40))
          const fiber = yield* record(100, 600)
          yield* drain
          assert.isTrue(isSaturated())
          yield* Fiber.join(fiber)
        })
      )
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("accepts one event alone, whatever its size", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* Calls.putFingerprint(storage, defaultProject)
      const limited = Calls.recorderOver(storage).pipe(
        Layer.provide(
          Layer.succeed(CommitLimits, { ...defaultCommitLimits, queue: { ...queue, events: 10, bytes: 1 } })
        )
      )
      yield* Effect.provide(
        Effect.flatMap(Recorder, (recorder) =>
          Effect.forEach(callsOf("a", 3), (call) => Calls.recordOnce(recorder, call))
        ),
        limited
      )
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("fails no event because the storage refuses another one of its batch", () =>
    Effect.gen(function* () {
      const memory = yield* Storage
      const storage: Service = {
        ...memory,
        appendEvents: (events) =>
          events.some(({ summary }) => summary.session === "refused")
            ? Effect.die(new Error("planted by the test"))
            : memory.appendEvents(events)
      }
      const [before, after] = [
        ["a", "b"],
        ["c", "d"]
      ].map((sessions) => sessions.flatMap((name) => callsOf(name, 25)))
      const calls = [...before!, ...callsOf("refused", 1), ...after!]
      const exits = yield* recording(storage, (recorder) =>
        Effect.forEach(calls, (call) => Effect.exit(Calls.recordOnce(recorder, call)), { concurrency: "unbounded" })
      )
      assert.lengthOf(exits.filter(Exit.isFailure), 1)
      const { events, problems } = yield* StoreCheck.look(memory, defaultProject)
      assert.deepStrictEqual([events.size, problems], [100, []])
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
