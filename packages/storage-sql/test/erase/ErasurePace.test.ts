import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import * as ErasurePace from "../../src/erase/ErasurePace.ts"

/** Runs steps of 100 ms, and lists when they began. */
const stepping = Effect.fnUntraced(function* () {
  const pace = yield* ErasurePace.make()
  const times: Array<number> = []
  const step = pace.erase(
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      times.push(now)
      return Effect.sleep(100)
    })
  )
  const steps = (count: number) => Effect.forkChild(Effect.repeat(step, { times: count - 1 }))
  return { pace, step, steps, times }
})

describe("ErasurePace", () => {
  it.effect("runs the steps of erasures without pauses while nothing is appended", () =>
    Effect.gen(function* () {
      const { pace, steps, times } = yield* stepping()
      yield* pace.append(Effect.void)
      yield* steps(3)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(times, [0, 100, 200])
    })
  )

  it.effect("pauses nine times as long as a step if something was appended meanwhile, over all erasures", () =>
    Effect.gen(function* () {
      const { pace, steps, times } = yield* stepping()
      yield* Effect.forkChild(Effect.forever(pace.append(Effect.sleep(10))))
      yield* steps(2)
      yield* steps(2)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(times, [0, 1000, 2000, 3000])
    })
  )

  it.effect("counts an append that began before a step and ended after it", () =>
    Effect.gen(function* () {
      const { pace, steps, times } = yield* stepping()
      yield* Effect.forkChild(pace.append(Effect.sleep(150)))
      yield* steps(3)
      yield* TestClock.adjust("10 seconds")
      // It is in progress at the second step, which is the last one that waits for it.
      assert.deepStrictEqual(times, [0, 100, 1100])
    })
  )

  it.effect("does not delay the answer of a step, nor a step after the pause", () =>
    Effect.gen(function* () {
      const { pace, step, times } = yield* stepping()
      const first = yield* Effect.forkChild(step)
      yield* pace.append(Effect.void)
      yield* TestClock.adjust("100 millis")
      assert.isTrue(Exit.isSuccess(first.pollUnsafe()!))
      yield* TestClock.adjust("1 second")
      yield* Effect.forkChild(step)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(times, [0, 1100])
    })
  )

  it.effect("passes the failure of a step on, and runs the next one", () =>
    Effect.gen(function* () {
      const pace = yield* ErasurePace.make()
      assert.strictEqual(yield* Effect.flip(pace.erase(Effect.fail("no"))), "no")
      assert.strictEqual(yield* pace.erase(Effect.succeed(1)), 1)
    })
  )
})
