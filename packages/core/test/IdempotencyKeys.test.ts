/** Idempotency keys in the recorder. `StorageSuite` tests them in the storages. */
import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@tachograph/testkit"
import { Deferred, Effect, Fiber } from "effect"
import { StorageUnavailable } from "../src/domain/Errors.ts"
import { defaultProject } from "../src/domain/Project.ts"
import * as MemoryStorage from "../src/memory/MemoryStorage.ts"
import type { Recorder } from "../src/Recorder.ts"
import { Storage } from "../src/Storage.ts"
import { type Call, callsOf, recording, type Service } from "./Recording.ts"

const { Calls, StoreCheck } = StorageSuite

const recordConcurrently = (recorder: Recorder["Service"], calls: ReadonlyArray<Call>) =>
  Effect.forEach(calls, (call) => Effect.map(Calls.recordOnce(recorder, call), String), { concurrency: "unbounded" })

describe("An idempotency key", () => {
  it.effect("replays its event within a batch, and the other events of the batch are recorded", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const calls = callsOf("a", 60).map((call, n) => ({ ...call, key: n % 3 === 0 ? `k${n}` : undefined }))
      const keyed = calls.filter(({ key }) => key !== undefined)
      // Another process has recorded every third call.
      const before = yield* recording(storage, (recorder) => recordConcurrently(recorder, keyed))
      const ids = yield* recording(storage, (recorder) => recordConcurrently(recorder, calls))
      assert.deepStrictEqual(
        ids.filter((_, n) => n % 3 === 0),
        before
      )
      const { events, problems } = yield* StoreCheck.look(storage, defaultProject)
      assert.deepStrictEqual(problems, [])
      assert.strictEqual(events.size, calls.length)
      yield* recording(storage, (recorder) =>
        Effect.forEach(calls, (call, n) =>
          Effect.map(Calls.isAsSent(recorder, ids[n] as Parameters<typeof Calls.isAsSent>[1], call), (isAsSent) =>
            assert.isTrue(isAsSent)
          )
        )
      )
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("makes a repeated request wait for the first one, and fail with it", () =>
    Effect.gen(function* () {
      const memory = yield* Storage
      const gate = yield* Deferred.make<void>()
      let appends = 0
      const storage: Service = {
        ...memory,
        appendEvents: (events) =>
          Effect.andThen(
            Deferred.await(gate),
            appends++ === 0 ? Effect.fail(new StorageUnavailable({ cause: undefined })) : memory.appendEvents(events)
          )
      }
      const [call] = callsOf("a", 1) as [Call]
      const keyed = { ...call, key: "k" }
      yield* recording(storage, (recorder) =>
        Effect.gen(function* () {
          const waiting = yield* Effect.forEach(
            Array.from({ length: 10 }, () => keyed),
            (each) => Effect.forkChild(Effect.flip(Calls.recordOnce(recorder, each)))
          )
          for (let n = 0; n < 50; n++) yield* Effect.yieldNow
          yield* Deferred.succeed(gate, undefined)
          for (const fiber of waiting) {
            const failure = (yield* Fiber.join(fiber)) as { readonly _tag: string }
            assert.strictEqual(failure._tag, "storage-unavailable")
          }
          assert.strictEqual(appends, 1)
          // Nothing was stored, so the key is free.
          yield* Calls.recordOnce(recorder, keyed)
          const another = { ...keyed, inputs: "{}" }
          const refused = (yield* Effect.flip(Calls.recordOnce(recorder, another))) as { readonly _tag: string }
          assert.strictEqual(refused._tag, "idempotency-key-reused")
        })
      )
      assert.lengthOf(yield* StoreCheck.listAll(memory, defaultProject), 1)
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
