import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { PersonId } from "../../src/domain/Person.ts"
import { defaultProject } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as Retention from "../../src/erase/Retention.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import { Recorder } from "../../src/Recorder.ts"
import { Storage } from "../../src/Storage.ts"
import type { Call } from "../Recording.ts"

const { Calls } = StorageSuite

/** Calls of a conversation that is long enough for its beginning to be cached. */
const conversation = (session: string, person: string, count: number): ReadonlyArray<Call> => {
  const messages = Array.from(
    { length: 20 },
    (_, n) => `{"role":"user","content":"${session} ${n} ${Calls.noise(n, 50)}"}`
  )
  const call = (n: number) => ({
    session,
    person,
    inputs: `{"messages":[${[...messages, `"call ${n}"`].join()}]}`,
    output: "{}"
  })
  return Array.from({ length: count }, (_, n) => call(n))
}

const record = Effect.fnUntraced(function* (calls: ReadonlyArray<Call>) {
  yield* Calls.putFingerprint(yield* Storage, defaultProject)
  const recorder = yield* Recorder
  yield* Effect.forEach(calls, (call) => Calls.recordOnce(recorder, call))
})

/** How many beginnings of conversations the session cache holds of a session. */
const cached = (session: string) =>
  Effect.map(Recorder, (recorder) => recorder.knownPrefixesOf(defaultProject, session).list.length)

/** Recorders of one process are built from the same layers over the same storage. */
const over = (storage: Layer.Layer<Storage>) => Recorder.layer.pipe(Layer.provideMerge(storage))

describe("The session cache, after an erasure", () => {
  it.effect("holds nothing of the sessions that were swept", () =>
    Effect.gen(function* () {
      yield* record([
        ...conversation("a", "alice", 2),
        ...conversation("b", "alice", 1),
        ...conversation("b", "bob", 1),
        ...conversation("c", "bob", 2)
      ])
      const recorder = yield* Recorder
      for (const session of ["a", "b", "c"]) assert.notStrictEqual(yield* cached(session), 0)
      yield* recorder.eraseSession(SessionId.make("a"))
      assert.strictEqual(yield* cached("a"), 0)
      assert.notStrictEqual(yield* cached("b"), 0)
      yield* recorder.erasePerson(PersonId.make("alice"))
      assert.strictEqual(yield* cached("b"), 0)
      assert.notStrictEqual(yield* cached("c"), 0)
    }).pipe(Effect.provide(over(MemoryStorage.layer)))
  )

  it.effect("holds nothing of the sessions that retention has erased", () =>
    Effect.gen(function* () {
      yield* record(conversation("a", "alice", 2))
      assert.notStrictEqual(yield* cached("a"), 0)
      yield* TestClock.adjust("3 days")
      assert.strictEqual(yield* cached("a"), 0)
    }).pipe(Effect.provide(over(Retention.layer({ keep: "1 day" }).pipe(Layer.provideMerge(MemoryStorage.layer)))))
  )

  it.effect("holds nothing of a session that was swept while its batch ended", () => {
    const committed = Deferred.makeUnsafe<void>()
    const answer = Deferred.makeUnsafe<void>()
    let isDelayed = false
    const slow = Layer.effect(
      Storage,
      Effect.map(Storage, (storage) => ({
        ...storage,
        appendEvents: (events) =>
          Effect.tap(storage.appendEvents(events), () =>
            isDelayed ? Effect.andThen(Deferred.succeed(committed, undefined), Deferred.await(answer)) : Effect.void
          )
      }))
    ).pipe(Layer.provide(MemoryStorage.layer))
    return Effect.gen(function* () {
      const [first, ...rest] = conversation("a", "alice", 2)
      yield* record([first!])
      isDelayed = true
      const recording = yield* Effect.forkChild(record(rest))
      yield* Deferred.await(committed)
      yield* (yield* Recorder).eraseSession(SessionId.make("a"))
      yield* Deferred.succeed(answer, undefined)
      yield* Fiber.join(recording)
      assert.strictEqual(yield* cached("a"), 0)
    }).pipe(Effect.provide(over(slow)))
  })
})

describe("The session cache, after a read has found damage", () => {
  it.effect("is without the session, so that the next event does not build on the damage", () => {
    let isDamaged = false
    const flipped = (bytes: Uint8Array) => {
      const other = Buffer.from(bytes)
      if (isDamaged) other[other.length >>> 1]! ^= 1
      return other
    }
    const damaging = Layer.effect(
      Storage,
      Effect.map(Storage, (storage) => ({
        ...storage,
        getEvent: (...args) =>
          Effect.map(storage.getEvent(...args), ({ pack, ...event }) => ({
            ...event,
            pack: pack.number === 1 ? { number: 1, bytes: flipped(pack.bytes!) } : pack
          })),
        readPacks: (...args) =>
          Effect.map(storage.readPacks(...args), (packs) =>
            packs.map(({ bytes, number }) => ({ number, bytes: number === 1 ? flipped(bytes) : bytes }))
          )
      }))
    ).pipe(Layer.provide(MemoryStorage.layer))
    return Effect.gen(function* () {
      yield* Calls.putFingerprint(yield* Storage, defaultProject)
      const recorder = yield* Recorder
      const recordOne = (call: Call) => Calls.recordOnce(recorder, call)
      const calls = conversation("a", "alice", 4)
      const first = yield* recordOne(calls[0]!)
      yield* recordOne(calls[1]!)
      isDamaged = true
      // Nothing has shown the process that its session is damaged.
      const unaware = yield* recordOne(calls[2]!)
      for (const id of [first, unaware])
        assert.strictEqual((yield* Effect.flip(recorder.getEvent(id)))._tag, "event-damaged")
      assert.strictEqual(yield* cached("a"), 0)
      const aware = yield* recordOne(calls[3]!)
      assert.isTrue(yield* Calls.isAsSent(recorder, aware, calls[3]!))
    }).pipe(Effect.provide(over(damaging)))
  })
})
