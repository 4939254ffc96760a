import { assert, describe, it } from "@effect/vitest"
import { Errors } from "@tachograph/core"
import { Effect, Fiber, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import { translate } from "../../src/sql/SqlErrors.ts"
import * as StorageMetrics from "../../src/sql/StorageMetrics.ts"

/** The lines of the Prometheus text. */
const lines = Effect.map(PrometheusMetrics.format(), (text) => text.split("\n"))

/** Runs an effect with a metric registry of its own. */
const withRegistry = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(Effect.scoped(effect as Effect.Effect<A, E>), Metric.MetricRegistry, new Map())

describe("StorageMetrics", () => {
  it.effect("measures the duration of an operation, by its name", () =>
    withRegistry(
      Effect.gen(function* () {
        const { timed } = yield* StorageMetrics.make(1)
        const fiber = yield* Effect.forkChild(timed("getEvent")(Effect.sleep("30 millis")))
        yield* TestClock.adjust("30 millis")
        yield* Fiber.join(fiber)
        const text = yield* lines
        assert.include(text, 'tachograph_storage_operation_seconds_sum{operation="getEvent"} 0.03')
        assert.include(text, 'tachograph_storage_operation_seconds_bucket{operation="getEvent",le="0.025"} 0')
        assert.include(text, 'tachograph_storage_operation_seconds_bucket{operation="getEvent",le="0.05"} 1')
        assert.include(text, 'tachograph_storage_failures_total{operation="getEvent"} 0')
      })
    )
  )

  it.effect("counts failures of the database, but no errors of the domain", () =>
    withRegistry(
      Effect.gen(function* () {
        const { timed } = yield* StorageMetrics.make(1)
        const call = timed("getEvent")
        yield* Effect.exit(call(Effect.fail(new Errors.EventNotFound())))
        yield* Effect.exit(call(Effect.interrupt))
        assert.include(yield* lines, 'tachograph_storage_failures_total{operation="getEvent"} 0')
        yield* Effect.exit(call(Effect.fail(new Errors.StorageUnavailable({ cause: "away" }))))
        yield* Effect.exit(call(Effect.die("a wrong statement")))
        assert.include(yield* lines, 'tachograph_storage_failures_total{operation="getEvent"} 2')
        assert.include(yield* lines, 'tachograph_storage_operation_seconds_count{operation="getEvent"} 4')
      })
    )
  )

  it.effect("counts an operation as in progress after its caller has timed out", () =>
    withRegistry(
      Effect.gen(function* () {
        const { tracked } = yield* StorageMetrics.make(10)
        assert.include(yield* lines, "tachograph_storage_pool_size 10")
        const stubborn = Effect.uninterruptible(Effect.sleep("5 seconds"))
        const fiber = yield* Effect.forkChild(Effect.exit(translate(tracked(stubborn), 1_000)))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(fiber))._tag, "Failure")
        assert.include(yield* lines, "tachograph_storage_operations 1")
        yield* TestClock.adjust("4 seconds")
        assert.include(yield* lines, "tachograph_storage_operations 0")
      })
    )
  )

  it.effect("removes the gauges when the storage is closed", () =>
    withRegistry(
      Effect.gen(function* () {
        yield* Effect.scoped(StorageMetrics.make(1))
        assert.deepStrictEqual(yield* lines, [""])
      })
    )
  )
})
