import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Fiber } from "effect"
import { hash } from "node:crypto"
import { defaultProject, type ProjectId } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import * as Join from "../../src/payload/Join.ts"
import { Recorder } from "../../src/Recorder.ts"
import { type KnownSession, unknownSession } from "../../src/sessions/SessionCache.ts"
import * as SessionLoader from "../../src/sessions/SessionLoader.ts"
import { Storage } from "../../src/Storage.ts"

const { Calls, StoreCheck } = StorageSuite

type Service = Storage["Service"]

const session = SessionId.make("s")

const recordAll = (storage: Service, calls: ReadonlyArray<StorageSuite.Calls.Call>) =>
  Effect.andThen(
    Calls.putFingerprint(storage, defaultProject),
    Effect.provide(
      Effect.flatMap(Recorder, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call))),
      Calls.recorderOver(storage)
    )
  )

const refresh = (storage: Service, project: ProjectId, name: SessionId, known: KnownSession) =>
  Effect.map(SessionLoader.refresh(storage, project, new Map([[name, known]])), (all) => all.get(name)!)

/** Collects the numbers of the packs that are read. */
const counting = (storage: Service) => {
  const read: Array<number> = []
  const counted: Service = {
    ...storage,
    readPacks: (...args) =>
      Effect.tap(storage.readPacks(...args), (packs) =>
        Effect.sync(() => read.push(...packs.map(({ number }) => number)))
      )
  }
  return { storage: counted, read }
}

/** A call with one incompressible message of 1 MiB in 400 parts. */
const large = (n: number): StorageSuite.Calls.Call => ({
  session,
  person: "alice",
  inputs: `{"messages":[{"n":${n},"parts":[${Array.from({ length: 400 }, (_, part) => `"${Calls.noise(n * 1_000 + part, 2_600)}"`).join()}]}]}`,
  output: `{"n":${n}}`
})

describe("SessionLoader", () => {
  it.effect("returns an empty index for a session that does not exist", () =>
    Effect.gen(function* () {
      const known = yield* refresh(yield* Storage, defaultProject, session, unknownSession())
      assert.isUndefined(known.state)
      assert.isTrue(known.index.isEmpty)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("reads only missing packs, those of the last chain, and their dependencies", () =>
    Effect.gen(function* () {
      const { read, storage } = counting(yield* Storage)
      const calls = Calls.take(Calls.calls(session, ["alice", "bob"], 1), 300)
      yield* recordAll(storage, calls.slice(0, 290))
      const known = yield* refresh(storage, defaultProject, session, unknownSession())
      assert.strictEqual(known.index.packs, 290)
      read.length = 0
      yield* refresh(storage, defaultProject, session, known)
      assert.deepStrictEqual(read, [])
      yield* recordAll(yield* Storage, calls.slice(290))
      const again = yield* refresh(storage, defaultProject, session, known)
      assert.strictEqual(again.index.packs, 300)
      assert.isBelow(new Set(read).size, 200)
      const state = (yield* storage.getSession(defaultProject, session))!
      assert.deepStrictEqual(again.index.counts, { history: state.history, parts: state.parts })
      assert.deepStrictEqual(again.state, { number: state.number, generation: state.generation })
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("discards the index if the session number or generation has changed", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* recordAll(storage, Calls.take(Calls.calls(session, ["alice", "bob"], 1), 20))
      const known = yield* refresh(storage, defaultProject, session, unknownSession())
      const older = { ...known, state: { ...known.state!, generation: known.state!.generation + 1 } }
      const other = { ...known, state: { ...known.state!, number: known.state!.number + 1 } }
      for (const each of [older, other]) {
        const again = yield* refresh(storage, defaultProject, session, each)
        assert.notStrictEqual(again.index, known.index)
        assert.strictEqual(again.index.packs, 20)
      }
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("reads only the newest packs of a very large session, and events recorded on top of them read back", () =>
    Effect.gen(function* () {
      const { read, storage } = counting(yield* Storage)
      const calls = Array.from({ length: 14 }, (_, n) => large(n))
      yield* recordAll(storage, calls)
      const state = (yield* storage.getSession(defaultProject, session))!
      const known = yield* refresh(storage, defaultProject, session, unknownSession())
      assert.isBelow(read.length, 14)
      assert.isAbove(read.length, 4)
      assert.strictEqual(known.index.packs, 14)
      // Values of the newest packs are in the index. Those of the oldest are not, and are stored again.
      const stored = Effect.map(storage.usage(defaultProject, 1), ({ storedBytes }) => storedBytes)
      const before = yield* stored
      const ids = yield* recordAll(storage, [calls[13]!])
      assert.isBelow((yield* stored) - before, 100_000)
      const older = yield* recordAll(storage, [calls[0]!, calls[13]!])
      assert.isAbove((yield* storage.getSession(defaultProject, session))!.packs, state.packs)
      const recorder = yield* Effect.provide(Recorder, Calls.recorderOver(storage))
      assert.isTrue(yield* Calls.isAsSent(recorder, ids[0]!, calls[13]!))
      assert.isTrue(yield* Calls.isAsSent(recorder, older[0]!, calls[0]!))
      assert.isTrue(yield* Calls.isAsSent(recorder, older[1]!, calls[13]!))
      assert.deepStrictEqual((yield* StoreCheck.look(storage, defaultProject)).problems, [])
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("indexes the newest 100,000 pieces of a session, and lets other fibers run meanwhile", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const each = 45_000
      const call = (n: number): StorageSuite.Calls.Call => ({
        session,
        person: "alice",
        inputs: `{"messages":[${Array.from({ length: each }, (_, at) => `"message ${n * each + at + 1e9}"`).join()}]}`,
        output: "{}"
      })
      yield* recordAll(storage, [call(0), call(1), call(2)])
      let turns = 0
      const other = yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => turns++)
          )
        )
      )
      const { index } = yield* refresh(storage, defaultProject, session, unknownSession())
      yield* Fiber.interrupt(other)
      const key = (n: number) => Join.keyOf(hash("sha256", `"message ${n + 1e9}"`, "buffer"))
      assert.strictEqual(index.packs, 3)
      assert.isUndefined(index.numberOf(key(each - 1)))
      assert.strictEqual(index.numberOf(key(each)), each + 1)
      assert.strictEqual(index.numberOf(key(3 * each - 1)), 3 * each)
      assert.isBelow(index.costBytes, 2 * each * 160 + 10_000)
      // The memory storage does not yield.
      assert.isAbove(turns, 0)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
