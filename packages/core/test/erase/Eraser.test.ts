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

/** An eraser over a storage, as of another process. */
const eraserOver = (storage: Service) =>
  Effect.provide(Eraser, Eraser.layer.pipe(Layer.provide(Layer.succeed(Storage, storage))))

/** Does something else once, behind the first step of a sweep. */
const afterFirstStep = (storage: Service, other: Effect.Effect<unknown, unknown>): Service => {
  let isFirst = true
  return {
    ...storage,
    sweepPacks: (...args) =>
      Effect.tap(storage.sweepPacks(...args), () => {
        const runs = isFirst
        isFirst = false
        return runs ? Effect.orDie(other) : Effect.void
      })
  }
}

/** A session that takes several steps to sweep. */
const long = (people: ReadonlyArray<string>) => Calls.take(Calls.calls("long", people, 1), 600)

const looked = (storage: Service, ...people: ReadonlyArray<string>) =>
  Effect.map(StoreCheck.look(storage, defaultProject, people.map(Calls.markOf)), ({ problems }) => problems.slice(0, 3))

describe("Eraser", () => {
  it.effect("leaves nothing of two people who are erased at the same time", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* record(storage, long(["alice", "bob", "carol"]))
      // Somebody else is erasing, too, and has come so far while this sweep is under way.
      const others = storage.eraseEvents(defaultProject, { person: bob }, 1000)
      const eraser = yield* eraserOver(afterFirstStep(storage, others))
      yield* eraser.erasePerson(defaultProject, alice)
      yield* (yield* eraserOver(storage)).erasePerson(defaultProject, bob)
      assert.deepStrictEqual(yield* looked(storage, "alice", "bob"), [])
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
      assert.deepStrictEqual(yield* looked(storage, "alice"), [])
      const left = yield* StoreCheck.listAll(storage, defaultProject)
      assert.strictEqual(left.length, calls.filter(({ person }) => person === "bob").length)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("keeps what an event names that is recorded between two steps, however old that is", () =>
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
        ...Array.from({ length: 300 }, (_, n) => call("bob", `"a message of bob's, number ${n}"`))
      ])
      const last = call("bob", `"before it",${old}`)
      const ids: Array<EventId> = []
      const later = Effect.map(record(storage, [last]), (found) => ids.push(...found))
      yield* (yield* eraserOver(afterFirstStep(storage, later))).erasePerson(defaultProject, alice)
      assert.deepStrictEqual(yield* looked(storage), [])
      const recorder = yield* Effect.provide(Recorder, Calls.recorderOver(storage))
      assert.isTrue(yield* Calls.isAsSent(recorder, ids[0]!, last))
      // It was not stored again.
      assert.isBelow((yield* storage.usage(defaultProject, 1)).sessions[0]!.storedBytes, 10_000)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("erases those again of whom somebody records meanwhile, until the person is gone", () =>
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
      assert.deepStrictEqual(yield* looked(storage, "alice"), [])
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("says whom and what it does not know", () =>
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
        bytes: 0
      })
      assert.strictEqual((yield* Effect.flip(eraser.erasePerson(defaultProject, alice)))._tag, "person-not-found")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("erases what is older, and sweeps what an interrupted erasure has left", () =>
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
      assert.deepStrictEqual(yield* looked(storage, "alice"), [])
      for (const { id } of yield* StoreCheck.listAll(storage, defaultProject)) assert.isTrue(id >= before)
      // Each transaction was handed over: events, the list, and more than one step of the sweep.
      assert.isAbove(steps, 3)
      assert.deepStrictEqual(yield* eraser.eraseOlder(defaultProject, before, count), {
        events: 0,
        sessions: 0,
        pieces: 0,
        bytes: 0
      })
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
