/** A short run of `npm run fuzz -- otlp`. */
import { RandomJson, TestSeed } from "@tachograph/testkit"
import { expect, it } from "vitest"
import * as Otlp from "../src/fuzz/Otlp.ts"
import * as Store from "../src/harness/Store.ts"

const { seed } = TestSeed

it(
  `answers every random post of OpenTelemetry, and keeps every call of it, seed ${seed}`,
  { timeout: 240_000 },
  async () => {
    const store = Store.sqlite()
    const rounds = RandomJson.runs(400)
    const tally = await Otlp.run(store, { seed, from: 1, rounds, progress: () => {} }).finally(store.remove)
    expect(tally.wrong).toEqual([])
    // The run proves little unless many posts were taken and many refused.
    for (const count of ["200", "400", "whole calls"]) expect(tally.of(count)).toBeGreaterThan(rounds / 20)
  }
)
