/** Several recorders over one storage, each with its own session cache as in separate processes, or with none. */
import { CurrentProject, type EventId, ProjectId, Recorder, SessionCacheBytes, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import type { Test } from "./Cases.ts"
import * as StoreCheck from "../check/StoreCheck.ts"

/** The calls of two sessions, alternating. */
const calls = (count: number): ReadonlyArray<Calls.Call> => {
  const sessions = ["one", "two"].map((name, seed) => Calls.calls(name, ["alice", "bob"], 20 + seed))
  return Array.from({ length: count }, (_, n) => sessions[n % 2]!.next().value)
}

/** Records calls into a new project, by the recorders in turn, and returns the number of stored bytes. */
const storedBytes = Effect.fnUntraced(function* (
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
  test("stores nothing twice without a session cache", (storage) =>
    Effect.gen(function* () {
      const cached = Calls.recorderOver(storage)
      let reads = 0
      const counting = {
        ...storage,
        getSessions: (...args: Parameters<typeof storage.getSessions>) => (reads++, storage.getSessions(...args))
      }
      const uncached = Calls.recorderOver(counting).pipe(Layer.provide(Layer.succeed(SessionCacheBytes, 0)))
      const all = calls(60)
      const expected = yield* storedBytes(storage, "cached", [cached], 1, all)
      expect(yield* storedBytes(storage, "uncached", [uncached], 1, all)).toBe(expected)
      // It reads the session for each call.
      expect(reads).toBeGreaterThanOrEqual(60)
    }))

  test("two processes that append to the same sessions store at most 5% more than one", (storage) =>
    Effect.gen(function* () {
      const all = calls(100)
      const process = () => Calls.recorderOver(storage)
      const alone = yield* storedBytes(storage, "alone", [process()], 1, all)
      // Sorted by session, so that the processes alternate within each session.
      const bySession = all.toSorted((a, b) => a.session.localeCompare(b.session))
      expect(yield* storedBytes(storage, "in turn", [process(), process()], 1, bySession)).toBeLessThanOrEqual(
        1.05 * alone
      )
      expect(yield* storedBytes(storage, "concurrent", [process(), process()], 8, bySession)).toBeLessThanOrEqual(
        1.05 * alone
      )
    }))
}
