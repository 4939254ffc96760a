/** Recorders with memories of their own over one storage, as processes have them, and one that remembers nothing. */
import { CurrentProject, type EventId, ProjectId, Recorder, SessionCacheBytes, type Storage } from "@tachograph/core"
import { Effect, Layer } from "effect"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import type { Test } from "./Cases.ts"
import * as StoreCheck from "../check/StoreCheck.ts"

/** The calls of several sessions, in turn. */
const calls = (count: number): ReadonlyArray<Calls.Call> => {
  const sessions = ["one", "two"].map((name, seed) => Calls.calls(name, ["alice", "bob"], 20 + seed))
  return Array.from({ length: count }, (_, n) => sessions[n % 2]!.next().value)
}

/** Records into a project of its own, and answers what is stored then. `record` says by whom and how each call is. */
const storedBy = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  name: string,
  recorders: ReadonlyArray<Layer.Layer<Recorder>>,
  concurrency: number,
  all: ReadonlyArray<Calls.Call>
) {
  const project = ProjectId.make(name)
  const work = Effect.gen(function* () {
    yield* Calls.putFingerprint(storage, project)
    const contexts = yield* Effect.forEach(recorders, (layer) => Layer.build(layer))
    const services = yield* Effect.forEach(contexts, (context) => Effect.provide(Recorder, context))
    const ids: ReadonlyArray<EventId> = yield* Effect.forEach(
      all,
      (call, index) => Calls.record(services[index % services.length]!, call),
      { concurrency }
    )
    for (const [index, id] of ids.entries()) {
      expect(yield* Calls.isAsSent(services[(index + 1) % services.length]!, id, all[index]!)).toBe(true)
    }
    const { bytes, events, problems } = yield* StoreCheck.look(storage, project)
    expect(problems).toEqual([])
    expect(events.size).toBe(all.length)
    return bytes
  })
  return yield* Effect.scoped(work).pipe(Effect.provideService(CurrentProject, project))
})

export const define = (test: Test) => {
  test("a process that forgets everything at once stores nothing twice", (storage) =>
    Effect.gen(function* () {
      const remembering = Calls.recorderOver(storage)
      let asked = 0
      const asking = {
        ...storage,
        getSession: (...args: Parameters<typeof storage.getSession>) => (asked++, storage.getSession(...args))
      }
      const forgetful = Calls.recorderOver(asking).pipe(Layer.provide(Layer.succeed(SessionCacheBytes, 0)))
      const all = calls(60)
      const expected = yield* storedBy(storage, "remembering", [remembering], 1, all)
      expect(yield* storedBy(storage, "forgetful", [forgetful], 1, all)).toBe(expected)
      // It had to look each time.
      expect(asked).toBeGreaterThanOrEqual(60)
    }))

  test("two processes that append to the same sessions store hardly more than one", (storage) =>
    Effect.gen(function* () {
      const all = calls(100)
      const process = () => Calls.recorderOver(storage)
      const alone = yield* storedBy(storage, "alone", [process()], 1, all)
      // Turn by turn: every second call of each session is the other's.
      const turns = all.toSorted((a, b) => (a.session < b.session ? -1 : a.session > b.session ? 1 : 0))
      expect(yield* storedBy(storage, "in turn", [process(), process()], 1, turns)).toBeLessThanOrEqual(1.05 * alone)
      expect(yield* storedBy(storage, "at once", [process(), process()], 8, turns)).toBeLessThanOrEqual(1.05 * alone)
    }))
}
