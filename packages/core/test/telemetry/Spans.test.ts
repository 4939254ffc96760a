import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Tracer } from "effect"
import * as Spans from "../../src/telemetry/Spans.ts"

const nameOfSpan = Effect.map(
  Effect.option(Effect.currentSpan),
  Option.map(({ name }) => name)
).pipe(Spans.spanIfTraced("of a test"))

describe("Spans", () => {
  it.effect("are made where a tracer listens", () =>
    Effect.gen(function* () {
      const names: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          names.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      const found = yield* Effect.provideService(nameOfSpan, Tracer.Tracer, tracer)
      assert.deepStrictEqual([found, names], [Option.some("of a test"), ["of a test"]])
    })
  )

  it.effect("are not made where none does", () =>
    Effect.map(nameOfSpan, (found) => assert.deepStrictEqual(found, Option.none()))
  )
})
