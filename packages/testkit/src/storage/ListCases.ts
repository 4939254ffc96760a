/** Lists of few events among many. */
import { Effect } from "effect"
import { expect } from "vitest"
import * as ManyEvents from "../check/ManyEvents.ts"
import { project } from "../Samples.ts"
import type { Test } from "./Cases.ts"

const events = 2_000

export const define = (test: Test) => {
  test("lists by each combination of filters among many events", (storage) =>
    Effect.gen(function* () {
      yield* ManyEvents.fill(storage, events)
      const all = ManyEvents.summariesOf(events)
      const filters = [
        ...Object.values(ManyEvents.exact),
        ...Object.values(ManyEvents.intersections),
        ...ManyEvents.unknown
      ]
      for (const filter of filters) {
        for (const page of [...ManyEvents.pagesOf(events, 30), ...ManyEvents.pagesOf(events, 700)]) {
          const query = { ...filter, ...page }
          const found = yield* storage.listEvents(project, query)
          const ids = ManyEvents.expected(all, query).map(({ id }) => id)
          expect(
            found.map(({ id }) => id),
            JSON.stringify(query)
          ).toEqual(ids)
        }
      }
    }))
}
