import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { DateTime, Effect, Layer } from "effect"
import { type EventId } from "../../src/domain/Event.ts"
import * as JsonText from "../../src/domain/JsonText.ts"
import { PersonId } from "../../src/domain/Person.ts"
import { defaultProject } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import { Eraser } from "../../src/erase/Eraser.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import { Recorder } from "../../src/Recorder.ts"
import { Storage } from "../../src/Storage.ts"

const { Calls, StoreCheck } = StorageSuite
const maxPack = 2 ** 31 - 1

type Service = Storage["Service"]

const alice = PersonId.make("alice")
const bob = PersonId.make("bob")

const record = Effect.fnUntraced(function* (storage: Service, calls: ReadonlyArray<StorageSuite.Calls.Call>) {
  yield* Calls.putFingerprint(storage, defaultProject)
  return yield* Effect.provide(
    Effect.flatMap(Recorder, (recorder) =>
      Effect.forEach(calls, (call) => Calls.record(recorder, call), { concurrency: 64 })
    ),
    Calls.recorderOver(storage)
  )
})

/** An eraser over a storage, as in another process. */
const eraserOver = (storage: Service) =>
  Effect.provide(Eraser, Eraser.layer.pipe(Layer.provide(Layer.succeed(Storage, storage))))

/** Runs `other` once, after the first step of a sweep. */
const afterFirstStep = (storage: Service, other: Effect.Effect<unknown, unknown>): Service => {
  let isFirst = true
  return {
    ...storage,
    sweepPacks: (...args) =>
      Effect.tap(storage.sweepPacks(...args), () => {
        if (!isFirst) return Effect.void
        isFirst = false
        return Effect.orDie(other)
      })
  }
}

/** A session that takes several steps to sweep. */
const long = (people: ReadonlyArray<string>) => Calls.take(Calls.calls("long", people, 1), 600)

const problemsIn = (storage: Service, ...people: ReadonlyArray<string>) =>
  Effect.map(StoreCheck.look(storage, defaultProject, people.map(Calls.markOf)), ({ problems }) => problems.slice(0, 3))

describe("Eraser", () => {
  it.effect("erases everything of two people who are erased concurrently", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* record(storage, long(["alice", "bob", "carol"]))
      // Another erasure deletes its events while this sweep is in progress.
      const deletion = storage.eraseEvents(defaultProject, { person: bob }, 1000)
      const eraser = yield* eraserOver(afterFirstStep(storage, deletion))
      yield* eraser.erasePerson(defaultProject, alice)
      yield* (yield* eraserOver(storage)).erasePerson(defaultProject, bob)
      assert.deepStrictEqual(yield* problemsIn(storage, "alice", "bob"), [])
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("keeps what is recorded between two steps of a sweep", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const calls = long(["alice", "bob"])
      yield* record(storage, calls.slice(0, 580))
      const later = record(storage, calls.slice(580))
      const eraser = yield* eraserOver(afterFirstStep(storage, later))
      const receipt = yield* eraser.erasePerson(defaultProject, alice)
      assert.strictEqual(receipt.events, calls.filter(({ person }) => person === "alice").length)
      assert.deepStrictEqual(yield* problemsIn(storage, "alice"), [])
      const left = yield* StoreCheck.listAll(storage, defaultProject)
      assert.strictEqual(left.length, calls.filter(({ person }) => person === "bob").length)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("keeps old pieces that are referenced by an event recorded between two steps", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const old = `{"role":"user","content":"${Calls.noise(1, 300)}"}`
      const call = (person: string, messages: string) => ({
        session: "long",
        person,
        inputs: `{"messages":[${messages}]}`,
        output: "{}"
      })
      yield* record(storage, [
        call("alice", old),
        ...Array.from({ length: 300 }, (_, n) => call("bob", `"message ${n} of bob"`))
      ])
      const last = call("bob", `"before it",${old}`)
      const ids: Array<EventId> = []
      const later = Effect.map(record(storage, [last]), (recorded) => ids.push(...recorded))
      yield* (yield* eraserOver(afterFirstStep(storage, later))).erasePerson(defaultProject, alice)
      assert.deepStrictEqual(yield* problemsIn(storage), [])
      const recorder = yield* Effect.provide(Recorder, Calls.recorderOver(storage))
      assert.isTrue(yield* Calls.isAsSent(recorder, ids[0]!, last))
      // The old message was not stored again.
      assert.isBelow((yield* storage.usage(defaultProject, 1)).sessions[0]!.storedBytes, 10_000)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("erases events that are recorded during the erasure, until the person is deleted", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const calls = Calls.take(Calls.calls("s", ["alice"], 1), 12)
      yield* record(storage, calls.slice(0, 6))
      let left = 3
      const eraser = yield* eraserOver({
        ...storage,
        deletePerson: (...args) =>
          left-- > 0
            ? Effect.andThen(
                Effect.orDie(record(storage, calls.slice(6 + 2 * left, 8 + 2 * left))),
                storage.deletePerson(...args)
              )
            : storage.deletePerson(...args)
      })
      const receipt = yield* eraser.erasePerson(defaultProject, alice)
      assert.deepInclude(receipt, { events: 12, sessions: 4 })
      assert.strictEqual((yield* Effect.flip(storage.getPerson(defaultProject, alice)))._tag, "person-not-found")
      assert.deepStrictEqual(yield* problemsIn(storage, "alice"), [])
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("fails for an unknown person or session", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const eraser = yield* eraserOver(storage)
      assert.strictEqual((yield* Effect.flip(eraser.erasePerson(defaultProject, alice)))._tag, "person-not-found")
      const session = SessionId.make("s")
      assert.strictEqual((yield* Effect.flip(eraser.eraseSession(defaultProject, session)))._tag, "session-not-found")
      yield* storage.putPerson(defaultProject, {
        id: alice,
        properties: JsonText.unsafe("{}"),
        createdAt: yield* DateTime.now
      })
      assert.deepStrictEqual(yield* eraser.erasePerson(defaultProject, alice), {
        events: 0,
        sessions: 0,
        pieces: 0,
        bytes: 0,
        damaged: 0
      })
      assert.strictEqual((yield* Effect.flip(eraser.erasePerson(defaultProject, alice)))._tag, "person-not-found")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("erases older events, and sweeps sessions that an interrupted erasure left", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const ids = yield* record(storage, long(["alice", "bob"]))
      const eraser = yield* eraserOver(storage)
      let steps = 0
      const count = <A, E>(step: Effect.Effect<A, E>) => Effect.tap(step, () => Effect.sync(() => steps++))
      yield* storage.eraseEvents(defaultProject, { person: alice }, 1000)
      const before = [...ids].sort()[300]! as EventId
      const receipt = yield* eraser.eraseOlder(defaultProject, before, count)
      assert.isAbove(receipt.events, 0)
      assert.deepStrictEqual(yield* problemsIn(storage, "alice"), [])
      for (const { id } of yield* StoreCheck.listAll(storage, defaultProject)) assert.isTrue(id >= before)
      // Each transaction ran through the throttle: events, the list, and several steps of the sweep.
      assert.isAbove(steps, 3)
      assert.deepStrictEqual(yield* eraser.eraseOlder(defaultProject, before, count), {
        events: 0,
        sessions: 0,
        pieces: 0,
        bytes: 0,
        damaged: 0
      })
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("fails where an erasure would not end, because a damaged index leads to nothing", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* record(storage, Calls.take(Calls.calls("s", ["alice", "bob"], 1), 20))
      const without = yield* eraserOver({ ...storage, eraseEvents: () => Effect.succeed({ events: 0 }) })
      const error = yield* Effect.flip(without.erasePerson(defaultProject, alice))
      assert.strictEqual(error._tag, "storage-unavailable")

      yield* storage.eraseEvents(defaultProject, { person: alice }, 1000)
      const backwards = yield* eraserOver({
        ...storage,
        sweepPacks: (project, session, request, rewrite) =>
          storage.sweepPacks(project, session, { ...request, to: maxPack }, (packs) =>
            rewrite({ ...packs, isLast: false, packs: packs.packs.slice(-3) })
          )
      })
      const other = yield* Effect.flip(backwards.erasePerson(defaultProject, alice))
      assert.strictEqual(other._tag, "storage-unavailable")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
