import { Effect } from "effect"
import { expect, it } from "vitest"
import { EventIds } from "../../src/record/EventIds.ts"
import * as Bucket from "../../src/sessions/Bucket.ts"

it("is the same for a name for ever", () => {
  expect(["", "s1", "session-1", "Zürich \u{1F600}"].map(Bucket.ofSession)).toEqual([0, 240, 46, 20])
})

it("spreads names evenly", () => {
  const sessions = Array.from({ length: Bucket.count }, () => 0)
  for (let n = 0; n < 100 * Bucket.count; n++) sessions[Bucket.ofSession(`session-${n}`)]!++
  expect(Math.min(...sessions)).toBeGreaterThan(50)
  expect(Math.max(...sessions)).toBeLessThan(200)
})

it("is in the ids of a session's events", async () => {
  const sessions = Array.from({ length: 1000 }, (_, n) => `session-${n}`)
  const { ids } = await Effect.runPromise(
    Effect.map(EventIds, ({ next }) => next(sessions)).pipe(Effect.provide(EventIds.layer))
  )
  expect(ids.map(Bucket.ofId)).toEqual(sessions.map(Bucket.ofSession))
})
