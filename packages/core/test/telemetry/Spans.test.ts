import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Tracer } from "effect"
import * as Spans from "../../src/telemetry/Spans.ts"

const nameOfSpan = Effect.map(
  Effect.option(Effect.currentSpan),
  Option.map(({ name }) => name)
).pipe(Spans.spanIfTraced("test span"))

describe("Spans", () => {
  it.effect("are created if a tracer is installed", () =>
    Effect.gen(function* () {
      const names: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          names.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      const current = yield* Effect.provideService(nameOfSpan, Tracer.Tracer, tracer)
      assert.deepStrictEqual([current, names], [Option.some("test span"), ["test span"]])
    })
  )

  it.effect("are not created if none is installed", () =>
    Effect.map(nameOfSpan, (name) => assert.deepStrictEqual(name, Option.none()))
  )
})
