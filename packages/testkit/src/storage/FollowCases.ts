/** Following events, and pages of lists, while others record. Several servers over one database: `check/Following.ts`. */
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import * as Following from "../check/Following.ts"
import * as Paging from "../check/Paging.ts"
import * as RandomJson from "../RandomJson.ts"
import type { Test } from "./Cases.ts"

export const define = (test: Test) => {
  test("gives each event once to those who follow, while two recorders record", (storage) =>
    Effect.gen(function* () {
      const count = RandomJson.runs(240)
      const { events, problems } = yield* Following.look({ storages: [storage, storage], seed: 1, count })
      expect(problems).toEqual([])
      expect(events).toBe(2 * count)
    }))

  test("loses and repeats nothing in pages while two recorders record", (storage) =>
    Effect.gen(function* () {
      const { passes, problems } = yield* Paging.look([storage, storage], 1, RandomJson.runs(300))
      expect(problems).toEqual([])
      expect(passes).toBeGreaterThan(2)
    }))
}
