import { TestSeed } from "@tachograph/testkit"
import { expect, inject, it } from "vitest"
import * as Damage from "../../src/fuzz/Damage.ts"
import * as DamageStore from "../../src/fuzz/DamageStore.ts"
import * as Postgres from "../../src/harness/Postgres.ts"

const { seed } = TestSeed

it(`finds nothing wrong with flipped bits of rows, seed ${seed}`, { timeout: 60_000 }, async () => {
  const store = await DamageStore.postgres(Postgres.databaseAt(inject("postgresUrl")))
  const tally = await Damage.run(store, { seed, from: 1, rounds: 3, where: "rows", progress: () => {} })
  await store.remove()
  expect(tally.wrong).toEqual([])
  expect(tally.of("reads")).toBeGreaterThan(300)
})
