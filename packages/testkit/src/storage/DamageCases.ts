/** Damage end to end: reads, recording and erasing in a session some of whose packs have other bits. */
import { CurrentProject, type EventId, PersonId, Recorder, SessionId, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import * as DamagedPack from "../check/DamagedPack.ts"
import * as StoreCheck from "../check/StoreCheck.ts"
import { appendEvent, append, eventId, project } from "../Samples.ts"
import type { Test } from "./Cases.ts"

type Service = Storage["Service"]
type Recorded = ReadonlyArray<{ readonly id: EventId; readonly call: Calls.Call }>

const alice = "alice"
const session = "shared"

/** Runs with a recorder of its own, as another process would. */
const within = <A, E>(storage: Service, body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))

const recordAll = Effect.fnUntraced(function* (storage: Service, calls: ReadonlyArray<Calls.Call>) {
  yield* Calls.putFingerprint(storage, yield* CurrentProject)
  return yield* within(storage, (recorder) =>
    Effect.forEach(calls, (call) => Effect.map(Calls.record(recorder, call), (id) => ({ id, call })))
  )
})

/** The damaged events. Fails if one is returned with other bytes, or not found. */
const damagedOf = Effect.fnUntraced(function* (storage: Service, recorded: Recorded) {
  const damaged = new Set<EventId>()
  yield* within(storage, (recorder) =>
    Effect.forEach(recorded, ({ call, id }) =>
      Effect.matchEffect(Calls.isAsSent(recorder, id, call), {
        onFailure: ({ _tag }) => Effect.sync(() => (expect(_tag).toBe("event-damaged"), damaged.add(id))),
        onSuccess: (isAsSent) => Effect.sync(() => expect(isAsSent).toBe(true))
      })
    )
  )
  return damaged
})

const numberOf = (storage: Service) =>
  Effect.map(storage.getSession(project, SessionId.make(session)), (state) => state!.number)

export const define = (test: Test) => {
  test("reads, records and erases in a session with damaged packs", (storage) =>
    Effect.gen(function* () {
      const recorded = yield* recordAll(storage, [
        ...Calls.take(Calls.calls(session, [alice, "bob"], 1), 60),
        ...Calls.take(Calls.calls("other", [alice, "bob"], 2), 20)
      ])
      yield* DamagedPack.flipBits(storage, project, yield* numberOf(storage), (pack) => pack === 7 || pack % 25 === 0)
      const damaged = yield* damagedOf(storage, recorded)
      expect(damaged.size).toBeGreaterThan(1)
      expect(damaged.size).toBeLessThan(60)
      for (const { call, id } of recorded) if (call.session !== session) expect(damaged.has(id)).toBe(false)

      const later = yield* recordAll(storage, Calls.take(Calls.calls(session, [alice, "bob"], 1), 30))
      expect(yield* damagedOf(storage, later)).toEqual(new Set())

      const receipt = yield* within(storage, (recorder) => recorder.erasePerson(PersonId.make(alice)))
      expect(receipt.damaged).toBeGreaterThan(2)
      const left = [...recorded, ...later].filter(({ call }) => call.person !== alice)
      expect(receipt.events).toBe(recorded.length + later.length - left.length)
      for (const id of yield* damagedOf(storage, left)) expect(damaged.has(id)).toBe(true)
      const { problems } = yield* StoreCheck.look(storage, project, [Calls.markOf(alice)])
      // What remains of the damage: events without a pack, or that reach into one that is gone.
      const expected = /^(event \S+ (has no pack|cannot be read)|usage)/
      expect(problems.filter((problem) => !expected.test(problem))).toEqual([])

      yield* within(storage, (recorder) => recorder.eraseSession(SessionId.make(session)))
      const after = yield* StoreCheck.look(storage, project)
      expect([after.problems, after.sessions]).toEqual([[], 1])
    }))

  test("records into a session none of whose packs can be opened, and erases it without opening any", (storage) =>
    Effect.gen(function* () {
      const calls = Calls.take(Calls.calls(session, [alice], 1), 30)
      const recorded = yield* recordAll(storage, calls)
      yield* DamagedPack.flipBits(storage, project, yield* numberOf(storage), () => true)
      expect((yield* damagedOf(storage, recorded)).size).toBe(30)
      expect(yield* damagedOf(storage, yield* recordAll(storage, calls))).toEqual(new Set())
      yield* DamagedPack.flipBits(storage, project, yield* numberOf(storage), () => true)
      const receipt = yield* within(storage, (recorder) => recorder.erasePerson(PersonId.make(alice)))
      expect(receipt).toMatchObject({ events: 60, sessions: 1, damaged: 0 })
      const after = yield* StoreCheck.look(storage, project)
      expect([after.problems, after.sessions, after.bytes]).toEqual([[], 0, 0])
      expect(yield* storage.usage(project, 10)).toMatchObject({ events: 0, newBytes: 0, storedBytes: 0, sessions: [] })
    }))

  test("deletes a session without events in steps, and none with events", (storage) =>
    Effect.gen(function* () {
      yield* append(
        storage,
        [1, 2, 3].map((n) => appendEvent(eventId(n)))
      )
      const id = SessionId.make("s1")
      const { generation, number } = (yield* storage.getSession(project, id))!
      const deleted = storage.deleteEmptySession(project, number, 2)
      expect(yield* deleted).toBeUndefined()
      yield* storage.eraseEvents(project, { session: id }, 2)
      expect(yield* deleted).toBeUndefined()
      yield* storage.eraseEvents(project, { session: id }, 2)
      expect(yield* deleted).toEqual({ pieces: 0, bytes: 6, session: false })
      // An append that knows the session from before conflicts.
      expect((yield* storage.getSession(project, id))!.generation).toBeGreaterThan(generation)
      expect(yield* deleted).toEqual({ pieces: 0, bytes: 3, session: true })
      expect(yield* deleted).toBeUndefined()
      expect(yield* storage.getSession(project, id)).toBeUndefined()
    }))
}
