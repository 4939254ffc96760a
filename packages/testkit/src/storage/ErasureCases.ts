/** Erasure end to end: the erased data, the data that stays unchanged, and the receipt. */
import { CurrentProject, type EventId, PersonId, ProjectId, Recorder, SessionId, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import { project } from "../Samples.ts"
import { tagOf, type Test } from "./Cases.ts"
import * as StoreCheck from "../check/StoreCheck.ts"
import { failingAt } from "../check/FailingStorage.ts"

type Recorded = ReadonlyArray<{ readonly id: EventId; readonly call: Calls.Call }>

const alice = "alice"
const bob = "bob"

/** Two sessions that two people share, and one session of each alone. */
const sessions = (calls: number, seed: number): ReadonlyArray<Calls.Call> => [
  ...Calls.take(Calls.calls("shared", [alice, bob], seed), calls),
  ...Calls.take(Calls.calls("shared too", [alice, bob], seed + 1), calls),
  ...Calls.take(Calls.calls("of alice", [alice], seed + 2), calls),
  ...Calls.take(Calls.calls("of bob", [bob], seed + 3), calls)
]

const recordAll = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  calls: ReadonlyArray<Calls.Call>
): Effect.fn.Return<Recorded, unknown> {
  yield* Calls.putFingerprint(storage, yield* CurrentProject)
  return yield* Effect.provide(
    Effect.flatMap(Recorder, (recorder) =>
      // Concurrent, so that events are committed in batches.
      Effect.forEach(calls, (call) => Effect.map(Calls.record(recorder, call), (id) => ({ id, call })), {
        concurrency: 16
      })
    ),
    Calls.recorderOver(storage)
  )
})

/** Expects the erased events to be gone, and the others to be returned byte for byte. */
const expectEvents = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  recorded: Recorded,
  isErased: (call: Calls.Call) => boolean
) {
  const recorder = yield* Effect.provide(Recorder, Calls.recorderOver(storage))
  for (const { call, id } of recorded) {
    if (isErased(call)) expect(yield* tagOf(recorder.getEvent(id))).toBe("event-not-found")
    else expect(yield* Calls.isAsSent(recorder, id, call)).toBe(true)
  }
})

const within = <A, E, R>(effect: Effect.Effect<A, E, R>, storage: Storage["Service"]) =>
  Effect.provide(effect, Calls.recorderOver(storage))

const isOf = (person: string) => (call: Calls.Call) => call.person === person

export const define = (test: Test) => {
  test("erases a person's texts, leaves all others unchanged, and returns a correct receipt", (storage) =>
    Effect.gen(function* () {
      const recorded = yield* recordAll(storage, sessions(12, 1))
      yield* expectEvents(storage, recorded, () => false)
      const before = yield* StoreCheck.look(storage, project)
      expect(before.problems).toEqual([])
      expect(before.events.size).toBe(recorded.length)

      const receipt = yield* within(
        Effect.flatMap(Recorder, (recorder) => recorder.erasePerson(PersonId.make(alice))),
        storage
      )
      yield* expectEvents(storage, recorded, isOf(alice))
      const after = yield* StoreCheck.look(storage, project, [Calls.markOf(alice)])
      expect(after.problems).toEqual([])
      expect(after.events.size).toBe(recorded.filter(({ call }) => call.person === bob).length)
      expect(receipt).toEqual({
        events: before.events.size - after.events.size,
        sessions: before.sessions - after.sessions,
        pieces: before.pieces - after.pieces,
        bytes: before.bytes - after.bytes,
        damaged: 0
      })
      expect(receipt.sessions).toBe(1)
      expect(yield* tagOf(storage.getPerson(project, PersonId.make(alice)))).toBe("person-not-found")

      // Erased pieces are not reused for the same texts.
      const again = yield* recordAll(storage, sessions(12, 1))
      yield* expectEvents(storage, again, () => false)
      expect((yield* StoreCheck.look(storage, project)).problems).toEqual([])
    }))

  test("erases a whole session, and keeps shared pieces that other sessions own", (storage) =>
    Effect.gen(function* () {
      const recorded = yield* recordAll(storage, sessions(16, 5))
      const before = yield* StoreCheck.look(storage, project)
      const session = "of alice"
      const erase = Effect.flatMap(Recorder, (recorder) => recorder.eraseSession(SessionId.make(session)))
      const receipt = yield* within(erase, storage)
      const after = yield* StoreCheck.look(storage, project)
      expect(after.problems).toEqual([])
      expect(receipt).toEqual({
        events: 16,
        sessions: 1,
        pieces: before.pieces - after.pieces,
        bytes: before.bytes - after.bytes,
        damaged: 0
      })
      yield* expectEvents(storage, recorded, (call) => call.session === session)
      expect(yield* storage.getSession(project, SessionId.make(session))).toBeUndefined()
      expect(yield* tagOf(within(erase, storage))).toBe("session-not-found")

      for (const name of ["shared", "shared too", "of bob"]) {
        yield* within(
          Effect.flatMap(Recorder, (recorder) => recorder.eraseSession(SessionId.make(name))),
          storage
        )
      }
      expect(yield* StoreCheck.look(storage, project)).toMatchObject({ problems: [], sessions: 0, pieces: 0, bytes: 0 })
      expect(yield* storage.usage(project, 10)).toMatchObject({ events: 0, storedBytes: 0, agents: [], sessions: [] })
    }))

  test("erases one event, with what no other one holds", (storage) =>
    Effect.gen(function* () {
      const recorded = yield* recordAll(storage, sessions(12, 2))
      const before = yield* StoreCheck.look(storage, project)
      const erased = recorded[Math.floor(recorded.length / 2)]!
      const erase = Effect.flatMap(Recorder, (recorder) => recorder.eraseEvent(erased.id))
      const receipt = yield* within(erase, storage)
      const after = yield* StoreCheck.look(storage, project)
      expect([after.problems, after.events.size]).toEqual([[], recorded.length - 1])
      expect(after.events.has(erased.id)).toBe(false)
      expect(receipt).toEqual({
        events: 1,
        sessions: before.sessions - after.sessions,
        pieces: before.pieces - after.pieces,
        bytes: before.bytes - after.bytes,
        damaged: 0
      })
      expect(yield* tagOf(within(erase, storage))).toBe("event-not-found")
    }))

  test("sweeps a session of many chains in several steps", (storage) =>
    Effect.gen(function* () {
      const recorded = yield* recordAll(storage, Calls.take(Calls.calls("long", [alice, bob], 9), 290))
      const before = yield* StoreCheck.look(storage, project)
      expect(before.problems).toEqual([])
      const receipt = yield* within(
        Effect.flatMap(Recorder, (recorder) => recorder.erasePerson(PersonId.make(alice))),
        storage
      )
      const after = yield* StoreCheck.look(storage, project, [Calls.markOf(alice)])
      expect(after.problems).toEqual([])
      expect(receipt).toEqual({
        events: before.events.size - after.events.size,
        sessions: 0,
        pieces: before.pieces - after.pieces,
        bytes: before.bytes - after.bytes,
        damaged: 0
      })
      yield* expectEvents(storage, recorded, isOf(alice))
    }))

  test("completes an erasure that has failed at any step", (storage) =>
    Effect.gen(function* () {
      const erase = Effect.flatMap(Recorder, (recorder) => recorder.erasePerson(PersonId.make(alice)))
      const failAt = Effect.fnUntraced(function* (step: number, isDone: boolean) {
        const recorded = yield* recordAll(storage, sessions(3, 100 + step))
        const here = yield* CurrentProject
        const exit = yield* Effect.exit(within(erase, failingAt(storage, step, isDone)))
        expect((yield* StoreCheck.look(storage, here)).problems).toEqual([])
        // If only the last step has failed, the person is gone.
        const last = yield* Effect.exit(within(erase, storage))
        if (last._tag === "Failure") expect(yield* tagOf(within(erase, storage))).toBe("person-not-found")
        expect((yield* StoreCheck.look(storage, here, [Calls.markOf(alice)])).problems).toEqual([])
        yield* expectEvents(storage, recorded, isOf(alice))
        return exit._tag === "Failure"
      })
      for (const isDone of [false, true]) {
        let step = 0
        const inProject = () => Effect.provideService(CurrentProject, ProjectId.make(`step ${step} ${isDone}`))
        while (yield* failAt(step, isDone).pipe(inProject())) step++
        // The steps: events, the list, a session that is deleted, two that have other events and are swept, the person.
        expect(step).toBe(2 + 1 + 2 * 2 + 1)
      }
    }))

  test("completes an erasure that was interrupted", (storage) =>
    Effect.gen(function* () {
      const next = Calls.random(7)
      const people = Array.from({ length: 4 }, (_, n) => `person ${n}`)
      const recorded = yield* recordAll(storage, Calls.take(Calls.calls("one", people, 11), 48))
      for (const [index, person] of people.entries()) {
        const erase = within(
          Effect.flatMap(Recorder, (recorder) => recorder.erasePerson(PersonId.make(person))),
          storage
        )
        const fiber = yield* Effect.forkChild(erase)
        for (let left = next(60); left > 0; left--) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        expect((yield* StoreCheck.look(storage, project)).problems).toEqual([])
        yield* Effect.exit(erase)
        const erased = people.slice(0, index + 1)
        expect((yield* StoreCheck.look(storage, project, erased.map(Calls.markOf))).problems).toEqual([])
        yield* expectEvents(storage, recorded, (call) => erased.includes(call.person))
      }
    }))
}
