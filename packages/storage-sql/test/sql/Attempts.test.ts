import { Effect } from "effect"
import { expect, it } from "vitest"
import * as Attempts from "../../src/sql/Attempts.ts"
import { translate } from "../../src/sql/SqlErrors.ts"

it("ends a loop that gets no further as storage-unavailable", async () => {
  let steps = 0
  const attempt = Attempts.make("A list")
  const loop = Effect.forever(
    Effect.andThen(
      attempt,
      Effect.sync(() => void steps++)
    )
  )
  const error = await Effect.runPromise(Effect.flip(translate(loop)))
  expect(error._tag).toBe("storage-unavailable")
  expect(String((error.cause as Error).message)).toMatch(/A list gets no further: an index of the database is damaged/)
  expect(steps).toBe(100)
})
