import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Clock, Effect } from "effect"
import { PersonId } from "../../src/domain/Person.ts"
import { defaultProject } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import { Storage } from "../../src/Storage.ts"
import { type Call, recording, type Service } from "../Recording.ts"

const { Calls, Steps, Verifying } = StorageSuite

const recordAll = (storage: Service, calls: ReadonlyArray<Call>) =>
  recording(storage, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))

/** Two groups of steps. */
const recordSteps = (storage: Service) =>
  recording(storage, (recorder) =>
    Effect.forEach(["alice", "bob"], (person, n) =>
      recorder.recordSteps({
        session: SessionId.make("one"),
        person: PersonId.make(person),
        steps: [1, 2].map((m) => Steps.stepOf(10 * n + m))
      })
    )
  )

const callsOf = (session: string, seed: number, count: number) =>
  Calls.take(Calls.calls(session, ["alice", "bob"], seed), count)

/** Calls that a verification makes, all of which only read. */
const reads = [
  "getEvent",
  "listEvents",
  "getSession",
  "readPacks",
  "readShared",
  "hasFingerprint",
  "nextSession",
  "sessionEvents",
  "listSteps",
  "listPacks",
  "listShared",
  "sessionAccount",
  "projectAccount",
  "checkDerived",
  "rulesInUse",
  "checkTable"
] as const

/** Runs `other` before the call of a storage with this index, counted from 0. Every other operation dies. */
const interrupted = (storage: Service, at: number, other: Effect.Effect<unknown, unknown>) => {
  const calls = { count: 0 }
  const before = Effect.suspend(() => (calls.count++ === at ? Effect.orDie(other) : Effect.void))
  const wrapped = Object.fromEntries(
    reads.map((name) => [
      name,
      (...args: ReadonlyArray<never>) =>
        Effect.andThen(
          before,
          Effect.suspend(() =>
            (storage[name] as (...args: ReadonlyArray<never>) => Effect.Effect<unknown, unknown>)(...args)
          )
        )
    ])
  )
  const { listProjects, ping } = storage
  return { calls, storage: { listProjects, ping, ...wrapped } as unknown as Service }
}

/** Chains of packs are cut by the ends of pages. */
const withSmallPages = (storage: Service): Service => ({
  ...storage,
  listPacks: (project, session, above) => storage.listPacks(project, session, above, 1_000)
})

/** Pauses take no time. */
const withoutPauses = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.clockWith((clock) =>
    Effect.provideService(effect, Clock.Clock, { ...clock, sleep: () => Effect.yieldNow } as Clock.Clock)
  )

const erase = {
  "a person is erased": (storage: Service) =>
    recording(storage, (recorder) => recorder.erasePerson(PersonId.make("alice"))),
  "a session is erased": (storage: Service) =>
    recording(storage, (recorder) => recorder.eraseSession(SessionId.make("one"))),
  "events are deleted, and not swept": (storage: Service) =>
    storage.eraseEvents(defaultProject, { person: PersonId.make("bob") }, 1_000),
  "calls are recorded": (storage: Service) => recordAll(storage, [...callsOf("one", 3, 4), ...callsOf("three", 4, 2)]),
  "a session is erased and recorded again": (storage: Service) =>
    Effect.andThen(
      recording(storage, (recorder) => recorder.eraseSession(SessionId.make("one"))),
      recordAll(storage, callsOf("one", 1, 3))
    )
}

describe("Verifier", () => {
  it.effect("finds nothing wrong in an empty storage, and in one with recorded and erased events", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      assert.deepStrictEqual((yield* Verifying.verify(storage)).findings, [])
      yield* recordAll(storage, [...callsOf("one", 1, 60), ...callsOf("two", 2, 20)])
      const { counts, findings } = yield* Verifying.verify(storage)
      assert.deepStrictEqual(findings, [])
      assert.deepInclude(counts, { projects: 1, sessions: 2, events: 80, packs: 80, damagedEvents: 0, problems: 0 })
      yield* erase["a person is erased"](storage)
      yield* storage.eraseEvents(defaultProject, { session: SessionId.make("two") }, 5)
      const after = yield* Verifying.verify(storage)
      assert.deepStrictEqual(after.findings, [])
      assert.deepInclude(after.counts, { sessions: 2, pendingErasures: 1, problems: 0 })
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  for (const [name, other] of Object.entries(erase)) {
    it.effect(`reports nothing if between any two of its reads ${name}`, () =>
      withoutPauses(
        Effect.gen(function* () {
          const recorded = [...callsOf("one", 1, 7), ...callsOf("two", 2, 2)]
          let total = Number.POSITIVE_INFINITY
          for (let at = 0; at < total; at++) {
            const { calls, findings } = yield* Effect.gen(function* () {
              const storage = yield* Storage
              yield* recordAll(storage, recorded)
              yield* recordSteps(storage)
              const { calls, storage: interfered } = interrupted(withSmallPages(storage), at, other(storage))
              return { calls, ...(yield* Verifying.verify(interfered)) }
            }).pipe(Effect.provide(MemoryStorage.layer))
            assert.deepStrictEqual(findings, [], `interrupted at ${at}`)
            total = calls.count
          }
          assert.isAbove(total, 40)
        })
      )
    )
  }
})
