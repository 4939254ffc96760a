import { DeriveInBackground } from "../../src/derive/Deriver.ts"
import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { StorageUnavailable } from "../../src/domain/Errors.ts"
import { FingerprintId } from "../../src/domain/Fingerprint.ts"
import * as JsonText from "../../src/domain/JsonText.ts"
import { CurrentProject, ProjectId } from "../../src/domain/Project.ts"
import { SessionId } from "../../src/domain/Session.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import * as ReadFacts from "../../src/facts/ReadFacts.ts"
import * as PieceScanner from "../../src/payload/scan/PieceScanner.ts"
import { Recorder } from "../../src/Recorder.ts"
import * as Retention from "../../src/erase/Retention.ts"
import { Storage } from "../../src/Storage.ts"
import type { Erasable } from "../../src/storage/Erasing.ts"

/** It looks for new events every second, and the cases let years pass. */
const recorderLayer = Recorder.layer.pipe(Layer.provide(Layer.succeed(DeriveInBackground, false)))

const start = Date.parse("2026-06-01T00:00:00Z")
const day = 86_400_000

/** A memory storage with leases as in a database, and with some operations replaced. */
const storageWith = (change: (storage: Storage["Service"]) => Partial<Storage["Service"]>) =>
  Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => {
      let lease = { holder: "", until: 0 }
      return Storage.of({
        ...storage,
        takeLease: (_, holder, until) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            if (lease.holder !== holder && lease.until >= now) return false
            lease = { holder, until: until.epochMilliseconds }
            return true
          }),
        ...change(storage)
      })
    })
  ).pipe(Layer.provide(MemoryStorage.layer))

/** Collects the times, in milliseconds since the start, at which `note` ran. */
const timesOf = () => {
  const times: Array<number> = []
  const note = Effect.map(Clock.currentTimeMillis, (now) => void times.push(now - start))
  return { times, note }
}

/** Runs retention until the scope of the test is closed. */
const retaining = (keep: `${number} days` | `${number} hours`) => Layer.build(Retention.layer({ keep }))

/** Collects log lines. */
const logged = () => {
  const lines: Array<{ readonly level: string; readonly message: string; readonly annotations: object }> = []
  const logger = Logger.map(Logger.formatStructured, (line) => {
    lines.push({ level: line.level, message: String(line.message), annotations: line.annotations })
  })
  return { lines, layer: Logger.layer([logger]) }
}

const fingerprintId = FingerprintId.make("11111111-1111-4111-8111-111111111111")

/** Records an event with the payload `{"at": …}`. */
const record = Effect.fnUntraced(function* (project: ProjectId, at: number) {
  yield* TestClock.setTime(at)
  const storage = yield* Storage
  const recorder = yield* Recorder
  yield* storage.putFingerprint(project, {
    id: fingerprintId,
    fields: JsonText.unsafe("{}"),
    createdAt: yield* DateTime.now
  })
  const facts = ReadFacts.read("aisdk", {}, {})
  const payload = PieceScanner.ofTexts(`{ "at": ${at} }`, "{}")
  const event = { api: "aisdk", fingerprintId, session: SessionId.make("s"), payload, facts } as const
  return yield* Effect.provideService(recorder.createEvent(event), CurrentProject, project)
})

describe("Retention", () => {
  it.effect("starts after ten seconds, and repeats at a fraction of the retention period, at most an hour", () =>
    Effect.gen(function* () {
      for (const [keep, between] of [
        ["90 days", 3600],
        ["12 hours", 1800],
        ["1 hours", 150]
      ] as const) {
        yield* TestClock.setTime(start)
        const { note, times } = timesOf()
        yield* Effect.gen(function* () {
          yield* retaining(keep)
          yield* TestClock.adjust(10_000 + 3_000 * between)
        }).pipe(Effect.scoped, Effect.provide(storageWith(() => ({ listProjects: Effect.as(note, []) }))))
        assert.deepStrictEqual(
          times,
          [0, 1, 2, 3].map((pass) => 10_000 + pass * 1_000 * between)
        )
      }
    })
  )

  it.effect(
    "erases events of all projects by the time in their ids, but not those of the cutoff millisecond or newer",
    () => {
      const { layer, lines } = logged()
      return Effect.gen(function* () {
        const storage = yield* Storage
        const recorder = yield* Recorder
        const projects = ["one", "other"].map((name) => ProjectId.make(name))
        // The first pass is ten seconds after the start.
        const bound = start + 10_000 - 90 * day
        for (const at of [bound - 90 * day, bound - 1, bound, bound + 1])
          for (const project of projects) yield* record(project, at)
        yield* TestClock.setTime(start)
        yield* retaining("90 days")
        yield* TestClock.adjust("20 seconds")
        for (const project of projects) {
          const left = yield* storage.listEvents(project, { order: "asc", limit: 10 })
          const read = yield* Effect.provideService(
            Effect.forEach(left, ({ id }) => recorder.getEvent(id)),
            CurrentProject,
            project
          )
          assert.deepStrictEqual(
            read.map(({ payload }) => Buffer.from(payload.inputs).toString()),
            [`{ "at": ${bound} }`, `{ "at": ${bound + 1} }`]
          )
          assert.deepStrictEqual(yield* storage.listPendingSweep(project, 10), [])
        }
        assert.strictEqual(lines.length, 1)
        assert.include(lines[0]!.message, "older")
        assert.include(lines[0]!.annotations, { events: 4, sessions: 0 })
        // An hour later the other events are old enough, and their sessions are deleted. Then nothing is logged.
        yield* TestClock.adjust("1 hour")
        assert.include(lines[1]!.annotations, { events: 4, sessions: 2 })
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(lines.length, 2)
        // The audit log has each run that erased something.
        for (const project of projects) {
          assert.deepStrictEqual(
            (yield* storage.listAudit(project, { limit: 9 })).rows.map(({ action, actor, events, subject }) => ({
              ...{ action, actor, events, subject }
            })),
            [2, 2].map((events) => ({ action: "retention" as const, actor: "retention", subject: null, events }))
          )
        }
      }).pipe(Effect.scoped, Effect.provide([recorderLayer.pipe(Layer.provideMerge(storageWith(() => ({})))), layer]))
    }
  )

  it.effect("sweeps sessions that an interrupted erasure left", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const project = ProjectId.make("p")
      yield* record(project, start)
      yield* record(project, start + 1)
      yield* storage.eraseEvents(project, { session: SessionId.make("s") }, 1)
      assert.lengthOf(yield* storage.listPendingSweep(project, 10), 1)
      const before = yield* storage.usage(project, 0)
      yield* retaining("90 days")
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* storage.listPendingSweep(project, 10), [])
      const after = yield* storage.usage(project, 0)
      assert.isBelow(after.storedBytes, before.storedBytes)
      assert.strictEqual(after.events, 1)
    }).pipe(Effect.scoped, Effect.provide(recorderLayer.pipe(Layer.provideMerge(storageWith(() => ({}))))))
  )

  it.effect("pauses nine times as long as each step takes", () => {
    const { note, times } = timesOf()
    const eraseEvents = (_: ProjectId, __: Erasable, limit: number) =>
      Effect.map(Effect.andThen(note, Effect.sleep(100)), () => ({ events: times.length < 5 ? limit : 0 }))
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      yield* retaining("90 days")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times, [10_000, 11_000, 12_000, 13_000, 14_000])
    }).pipe(
      Effect.scoped,
      Effect.provide(storageWith(() => ({ eraseEvents, listProjects: Effect.succeed([ProjectId.make("p")]) })))
    )
  })

  it.effect("logs that a pass failed, and retries after a minute", () => {
    const { note, times } = timesOf()
    const { layer, lines } = logged()
    const failing = Effect.suspend((): Effect.Effect<ReadonlyArray<ProjectId>, StorageUnavailable> => {
      if (times.length === 1) return Effect.fail(new StorageUnavailable({ cause: "away" }))
      return times.length === 2 ? Effect.die("broken") : Effect.succeed([])
    })
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      yield* retaining("90 days")
      yield* TestClock.adjust("3 minutes")
      assert.deepStrictEqual(times, [10_000, 70_000, 130_000])
      assert.deepStrictEqual(
        lines.map(({ level }) => level),
        ["WARN", "WARN"]
      )
    }).pipe(
      Effect.scoped,
      Effect.provide([storageWith(() => ({ listProjects: Effect.andThen(note, failing) })), layer])
    )
  })

  it.effect("holds the lease during a pass, and releases it on shutdown", () => {
    let working = 0
    let finished = 0
    const listProjects = Effect.acquireUseRelease(
      Effect.sync(() => void working++),
      () => Effect.as(Effect.sleep("10 minutes"), []),
      () => Effect.sync(() => void (working--, finished++))
    )
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const [first] = yield* Effect.forEach([1, 2], () =>
        Effect.forkChild(Effect.scoped(Effect.andThen(retaining("1 hours"), Effect.never)))
      )
      for (let minute = 0; minute < 9; minute++) {
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(working, 1)
      }
      yield* Fiber.interrupt(first!)
      assert.deepStrictEqual([working, finished], [0, 1])
      // The other process retries 150 seconds after it found the lease taken, and finds it released.
      yield* TestClock.adjust("150 seconds")
      assert.strictEqual(working, 1)
    }).pipe(Effect.scoped, Effect.provide(storageWith(() => ({ listProjects }))))
  })

  it.effect("takes over the lease of a crashed process when it expires", () => {
    const { note, times } = timesOf()
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const storage = yield* Storage
      yield* storage.takeLease("retention", "crashed", DateTime.add(yield* DateTime.now, { minutes: 1 }))
      yield* retaining("1 hours")
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(times[0], 160_000)
    }).pipe(Effect.scoped, Effect.provide(storageWith(() => ({ listProjects: Effect.as(note, []) }))))
  })

  it.effect("stops when another process has taken the lease", () => {
    let isInterrupted = false
    const listProjects = Effect.onInterrupt(Effect.as(Effect.never, []), () =>
      Effect.sync(() => {
        isInterrupted = true
      })
    )
    let isLost = false
    const takeLease = () => Effect.sync(() => !isLost)
    return Effect.gen(function* () {
      yield* TestClock.setTime(start)
      yield* retaining("90 days")
      yield* TestClock.adjust("5 minutes")
      assert.isFalse(isInterrupted)
      isLost = true
      yield* TestClock.adjust("20 seconds")
      assert.isTrue(isInterrupted)
    }).pipe(Effect.scoped, Effect.provide(storageWith(() => ({ listProjects, takeLease }))))
  })
})
