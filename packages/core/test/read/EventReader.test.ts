import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Effect } from "effect"
import { PersonId } from "../../src/domain/Person.ts"
import { defaultProject } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as EventReader from "../../src/read/EventReader.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import { Recorder } from "../../src/Recorder.ts"
import { Storage } from "../../src/Storage.ts"

const { Calls } = StorageSuite

type Service = Storage["Service"]

const recording = <A, E>(storage: Service, body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
  Effect.andThen(
    Calls.putFingerprint(storage, defaultProject),
    Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))
  )

/** Does something else, so many times, behind a round trip to the storage. */
const between = (
  storage: Service,
  trip: "getEvent" | "readPacks",
  times: number,
  other: Effect.Effect<unknown, unknown>
): Service => {
  let left = times
  const then = Effect.suspend(() => (left-- > 0 ? Effect.orDie(other) : Effect.void))
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
    "reads an event whose packs somebody rewrites behind %s",
    Effect.fnUntraced(function* (trip) {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const erase = recording(storage, (recorder) => recorder.erasePerson(PersonId.make("alice")))
      // The last of those that stay rests on the most packs.
      const { call, id } = recorded.findLast(({ call }) => call.person === "bob" && call.inputs.length > 4_000)!
      const event = yield* EventReader.read(between(storage, trip, 1, erase), defaultProject, id)
      assert.strictEqual(Buffer.from(event.payload.inputs).toString(), call.inputs)
      assert.strictEqual(Buffer.from(event.payload.output).toString(), call.output)
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect.each(["getEvent", "readPacks"] as const)(
    "finds no event that somebody erases behind %s, or reads all of it",
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
        const exit = yield* Effect.exit(EventReader.read(between(storage, trip, 1, erase), defaultProject, id))
        if (exit._tag === "Success") assert.strictEqual(Buffer.from(exit.value.payload.inputs).toString(), call.inputs)
        else assert.include(String(exit.cause), "event-not-found")
        yield* recording(storage, (recorder) => Effect.forEach(recorded, ({ call }) => Calls.record(recorder, call)))
      }
    }, Effect.provide(MemoryStorage.layer))
  )

  it.effect("finds no event of which only what others need is left", () =>
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
      const read = EventReader.read(between(storage, "getEvent", 1, erase), defaultProject, ids[1]!)
      assert.strictEqual((yield* Effect.flip(read))._tag, "event-not-found")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("says that something is wrong where a piece is gone for good", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const recorded = yield* recordShared(storage)
      const { id } = recorded.findLast(({ call }) => call.inputs.length > 4_000)!
      let asked = 0
      const broken = {
        ...storage,
        readPacks: () => Effect.sync(() => (asked++, [])),
        readShared: () => Effect.succeed([])
      }
      const exit = yield* Effect.exit(EventReader.read(broken, defaultProject, id))
      assert.strictEqual(exit._tag, "Failure")
      assert.isBelow(asked, 10)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
