import { assert, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { defaultProject, MemoryStorage, Storage, WaitingMetrics } from "../../src/index.ts"

it.effect("shows how many parts waited when they were counted, until another process finishes them", () =>
  Effect.gen(function* () {
    const shown = Effect.map(Metric.snapshot, (all) => all.find(({ id }) => id === "tachograph_otlp_waiting")?.state)
    const storage = yield* Storage
    const metrics = yield* WaitingMetrics.make(storage.countWaiting)
    const part = { group: "g", since: 0, due: 0, size: 1, content: new Uint8Array(1) }
    const parts = ["1", "2"].map((name) => ({ ...part, part: name }))
    yield* storage.hold(defaultProject, parts)
    assert.deepStrictEqual(yield* shown, { value: 0 })
    yield* metrics.count
    assert.deepStrictEqual(yield* shown, { value: 2 })
    yield* metrics.clear
    assert.deepStrictEqual(yield* shown, { value: 0 })
  }).pipe(Effect.scoped, Effect.provide(MemoryStorage.layer))
)
