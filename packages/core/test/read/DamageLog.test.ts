import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { firstIdOf } from "../../src/domain/EventTime.ts"
import { Damage } from "../../src/payload/format/Damage.ts"
import * as DamageLog from "../../src/read/DamageLog.ts"

it.effect("logs an event once, and once more for another storage", () =>
  Effect.gen(function* () {
    const lines: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ message }) => void lines.push(message))
    const damage = new Damage("The checksum of pack 1 differs")
    yield* Effect.forEach([DamageLog.make(), DamageLog.make()], (found) =>
      Effect.all([found(firstIdOf(1), damage), found(firstIdOf(1), damage), found(firstIdOf(2), damage)])
    ).pipe(Effect.provide(Logger.layer([logger])))
    assert.lengthOf(lines, 4)
  })
)
