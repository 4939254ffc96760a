import { RandomJson, TestSeed } from "@tachograph/testkit"
import { expect, inject, it } from "vitest"
import * as Damage from "../../src/fuzz/Damage.ts"
import * as DamageStore from "../../src/fuzz/DamageStore.ts"
import * as Postgres from "../../src/harness/Postgres.ts"

const { seed } = TestSeed

it(`finds nothing wrong with flipped bits of rows, seed ${seed}`, async () => {
  const store = await DamageStore.postgres(Postgres.databaseAt(inject("postgresUrl")))
  const rounds = RandomJson.runs(8)
  const tally = await Damage.run(store, { seed, from: 1, rounds, where: "rows", progress: () => {} })
  await store.remove()
  expect(tally.wrong).toEqual([])
  expect(tally.of("reads")).toBeGreaterThan(100 * rounds)
})
