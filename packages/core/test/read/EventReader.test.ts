import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Cause, Effect, Exit } from "effect"
import { PersonId } from "../../src/domain/Person.ts"
import { defaultProject } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as EventReader from "../../src/read/EventReader.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import type { StoredPack } from "../../src/payload/format/Pack.ts"
import { Recorder } from "../../src/Recorder.ts"
import { Storage } from "../../src/Storage.ts"

const { Calls } = StorageSuite

type Service = Storage["Service"]
type Packs = ReadonlyArray<StoredPack>

const recording = <A, E>(storage: Service, body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
  Effect.andThen(
    Calls.putFingerprint(storage, defaultProject),
    Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))
  )

/** Runs `other` after each of the first `times` calls of a storage operation. */
const afterTrip = (
  storage: Service,
  trip: "getEvent" | "readPacks",
  times: number,
  other: Effect.Effect<unknown, unknown>
): Service => {
  let timesLeft = times
  const then = Effect.suspend(() => (timesLeft-- > 0 ? Effect.orDie(other) : Effect.void))
  return {
    ...storage,
    [trip]: (...args: ReadonlyArray<never>) =>
      Effect.tap(
        (storage[trip] as unknown as (...args: ReadonlyArray<never>) => Effect.Effect<unknown>)(...args),
        () => then
      )
  }
}

const recordShared = Effect.fnUntraced(function* (storage: Service) {
  const calls = Calls.take(Calls.calls("s", ["alice", "bob"], 1), 60)
  const ids = yield* recording(storage, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))
  return calls.map((call, index) => ({ call, id: ids[index]! }))
})

describe("EventReader", () => {
  it.effect.each(["getEvent", "readPacks"] as const)(
    "reads an event whose packs are rewritten after %s",
    Effect.fnUntraced(function* (trip) {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const erase = recording(storage, (recorder) => recorder.erasePerson(PersonId.make("alice")))
      // The last of the remaining events depends on the most packs.
      const { call, id } = recorded.findLast(({ call }) => call.person === "bob" && call.inputs.length > 4_000)!
      const event = yield* EventReader.read(afterTrip(storage, trip, 1, erase), defaultProject, id)
      assert.strictEqual(Buffer.from(event.payload.inputs).toString(), call.inputs)
      assert.strictEqual(Buffer.from(event.payload.output).toString(), call.output)
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect.each(["getEvent", "readPacks"] as const)(
    "finds no event that is erased after %s, or reads all of it",
    Effect.fnUntraced(function* (trip) {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const [one, two] = recorded.filter(({ call }) => call.person === "bob").slice(-2)
      const erasures: ReadonlyArray<(recorder: Recorder["Service"]) => Effect.Effect<unknown, unknown>> = [
        (recorder) => recorder.erasePerson(PersonId.make("bob")),
        (recorder) => recorder.eraseSession(SessionId.make("s"))
      ]
      for (const [index, { call, id }] of [one!, two!].entries()) {
        const erase = recording(storage, erasures[index]!)
        const exit = yield* Effect.exit(EventReader.read(afterTrip(storage, trip, 1, erase), defaultProject, id))
        if (exit._tag === "Success") assert.strictEqual(Buffer.from(exit.value.payload.inputs).toString(), call.inputs)
        else assert.include(String(exit.cause), "event-not-found")
        yield* recording(storage, (recorder) => Effect.forEach(recorded, ({ call }) => Calls.record(recorder, call)))
      }
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect("finds no event whose pack is left only because of other events", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const messages = [1, 2, 3].map((n) => `{"role":"user","content":"${Calls.noise(n, 200)}"}`)
      const calls = ["bob", "alice", "bob"].map((person, n) => ({
        session: "s",
        person,
        inputs: `{"messages":[${messages.slice(0, n + 1).join()}]}`,
        output: "{}"
      }))
      const ids = yield* recording(storage, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))
      const erase = recording(storage, (recorder) => recorder.erasePerson(PersonId.make("alice")))
      const read = EventReader.read(afterTrip(storage, "getEvent", 1, erase), defaultProject, ids[1]!)
      assert.strictEqual((yield* Effect.flip(read))._tag, "event-not-found")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("finds no event if its packs are deleted between two round trips", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const { id } = recorded.at(-1)!
      const erase = recording(storage, (recorder) => recorder.eraseSession(SessionId.make("s")))
      const read = EventReader.read(afterTrip(storage, "getEvent", 1, erase), defaultProject, id)
      assert.strictEqual((yield* Effect.flip(read))._tag, "event-not-found")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect.each([
    [
      "the start of its chain is missing",
      (packs: Packs) => packs.slice(-1),
      /continues a chain whose start is missing/
    ],
    ["its pack is missing", (packs: Packs) => packs.slice(0, -1), /Pack \d+ of event .* is missing/],
    [
      "its pack is damaged",
      (packs: Packs) => packs.with(-1, { ...packs.at(-1)!, bytes: Buffer.of(9) }),
      /pack format 9/
    ]
  ] as const)(
    "dies, after a few attempts, if the event exists but %s",
    Effect.fnUntraced(function* ([, damaged, message]) {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      let reads = 0
      const broken: Service = {
        ...storage,
        readPacks: (...args) => Effect.map(storage.readPacks(...args), (packs) => (reads++, damaged(packs)))
      }
      const exit = yield* Effect.exit(EventReader.read(broken, defaultProject, recorded.at(-1)!.id))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause) && !Cause.hasFails(exit.cause))
      assert.match(String(Exit.isFailure(exit) && Cause.squash(exit.cause)), message)
      assert.isBelow(reads, 10)
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect("dies, after a few attempts, if shared pieces are missing", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const { id } = recorded.findLast(({ call }) => call.inputs.length > 4_000)!
      let reads = 0
      const broken: Service = { ...storage, readShared: () => Effect.sync(() => (reads++, [])) }
      const exit = yield* Effect.exit(EventReader.read(broken, defaultProject, id))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.match(String(Exit.isFailure(exit) && Cause.squash(exit.cause)), /Shared piece [0-9a-f]{64} is missing/)
      assert.isBelow(reads, 10)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
