import { it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect } from "vitest"
import { atRate, atRates, type Throttle } from "../src/Throttle.ts"

/** How long a step of 20 ms keeps its caller (ms). */
const durationOf = (throttle: Throttle) =>
  Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.forkChild(throttle(Effect.sleep(20)))
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(1)
    return (yield* Clock.currentTimeMillis) - startedAt
  })

describe("Throttle", () => {
  it.effect("pauses after a step in proportion to its duration", () =>
    Effect.gen(function* () {
      expect(yield* durationOf(atRate(1))).toBe(20)
      expect(yield* durationOf(atRate(0.5))).toBe(40)
      expect(yield* durationOf(atRate(0.1))).toBe(200)
    })
  )

  it.effect("pauses for longer where there is other work", () =>
    Effect.gen(function* () {
      const rates = { busy: 0.2, idle: 0.5 }
      expect(yield* durationOf(atRates(rates, () => false))).toBe(40)
      expect(yield* durationOf(atRates(rates, () => true))).toBe(100)
    })
  )
})
