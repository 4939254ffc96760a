import { assert, describe, it } from "@effect/vitest"
import { Errors } from "@tachograph/core"
import { Clock, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as ScrubSchedule from "../../src/erase/ScrubSchedule.ts"

/** Runs a schedule whose scrubs take `takesMs`, and fail as long as there are `failures` left. */
const start = Effect.fnUntraced(function* ({ failures = 0, isDue = false, takesMs = 0 } = {}) {
  const runs: Array<{ readonly at: number; readonly maxMs: number }> = []
  let left = failures
  let requests = 0
  const scope = yield* Scope.make()
  const request = yield* ScrubSchedule.make(
    { request: Effect.sync(() => void requests++), isDue: Effect.succeed(isDue), run: () => Effect.void },
    (maxMs) =>
      Effect.gen(function* () {
        runs.push({ at: yield* Clock.currentTimeMillis, maxMs })
        yield* Effect.sleep(takesMs)
        if (left-- > 0) yield* new Errors.StorageUnavailable({ cause: new Error("a reader") })
      })
  ).pipe(Scope.provide(scope))
  return {
    runs,
    request,
    requests: () => requests,
    times: () => runs.map(({ at }) => at),
    close: Scope.close(scope, Exit.void)
  }
})

describe("ScrubSchedule", () => {
  it.effect("scrubs a second after the start, and after the first of any number of erasures", () =>
    Effect.gen(function* () {
      const { request, requests, runs, times } = yield* start()
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(times(), [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(times(), [1000])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times(), [1000])
      for (let n = 0; n < 100; n++) {
        yield* request
        yield* TestClock.adjust("9 millis")
      }
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times(), [1000, 62_000])
      assert.strictEqual(requests(), 100)
      assert.deepStrictEqual(
        runs.map(({ maxMs }) => maxMs),
        [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      )
    })
  )

  it.effect("scrubs again for what was erased during a scrub, after four times as long as that took", () =>
    Effect.gen(function* () {
      const { request, times } = yield* start({ takesMs: 500 })
      yield* TestClock.adjust("1200 millis")
      yield* request
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(times(), [1000, 1000 + 500 + 2000 + 1000])
    })
  )

  it.effect("tries again when a scrub has failed, twice as late each time, up to 5 minutes", () =>
    Effect.gen(function* () {
      const { times } = yield* start({ failures: 9 })
      yield* TestClock.adjust("1 hour")
      const pauses = times().flatMap((at, index) => (index === 0 ? [] : [(at - times()[index - 1]!) / 1000]))
      assert.deepStrictEqual(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300])
    })
  )

  it.effect("scrubs on closing what an earlier process has left, if no scrub has begun", () =>
    Effect.gen(function* () {
      for (const isDue of [true, false]) {
        const { close, runs } = yield* start({ isDue })
        yield* TestClock.adjust("500 millis")
        yield* close
        assert.deepStrictEqual(
          runs.map(({ maxMs }) => maxMs),
          isDue ? [5_000] : []
        )
      }
    })
  )

  it.effect("scrubs on closing what this process has erased, for at most 5 s", () =>
    Effect.gen(function* () {
      const { close, request, runs } = yield* start()
      yield* TestClock.adjust("10 seconds")
      yield* request
      yield* close
      assert.deepStrictEqual(runs.slice(1), [{ at: 10_000, maxMs: 5_000 }])
    })
  )

  it.effect("scrubs on closing what a scrub that failed or was interrupted has left", () =>
    Effect.gen(function* () {
      for (const options of [{ failures: 1 }, { takesMs: 60_000 }]) {
        const { close, request, runs } = yield* start(options)
        yield* request
        yield* TestClock.adjust("3 seconds")
        const closing = yield* Effect.forkChild(close)
        yield* TestClock.adjust("2 minutes")
        yield* Fiber.join(closing)
        assert.deepStrictEqual(
          runs.map(({ maxMs }) => maxMs),
          [Number.POSITIVE_INFINITY, 5_000]
        )
      }
    })
  )

  it.effect("does not scrub on closing if nothing was erased since", () =>
    Effect.gen(function* () {
      const { close, request, runs } = yield* start()
      yield* request
      yield* TestClock.adjust("10 seconds")
      yield* close
      assert.lengthOf(runs, 1)
    })
  )
})
