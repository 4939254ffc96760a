/**
 * Two processes record to the same sessions while a third one erases. They share a database.
 *
 *   RACE_SECONDS=600 TACHOGRAPH_TEST_SEED=7 npm test -- packages/storage-postgres/test/Race
 */
import { Storage } from "@tachograph/core"
import { StorageSuite, TestSeed } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { bundle } from "../../../scripts/vitest/Program.ts"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

const program = await bundle("postgres-race", new URL("fixtures/race.ts", import.meta.url))
const seconds = Number(process.env["RACE_SECONDS"] ?? 2)
const { seed } = TestSeed

describe(`Postgres, recording and erasing for ${seconds} s, seed ${seed}`, () => {
  it(
    "keeps everything that was acknowledged and not erased, and nothing else",
    { timeout: 60_000 + 4_000 * seconds },
    async () => {
      const config = freshSchema()
      const start = (role: StorageSuite.Race.Role, seed: number) =>
        program.run(String(config.url), config.schema!, role, String(seed), String(1000 * seconds))
      const printed = await Promise.all([start("record", seed), start("record", seed + 1), start("erase", seed)])
      const both = Layer.merge(PostgresStorage.layer(config), PostgresStorage.client(config))
      const { stray, ...verdict } = await Effect.runPromise(
        Effect.gen(function* () {
          const verdict = yield* StorageSuite.Race.judge(yield* Storage, printed.join(""))
          return { ...verdict, stray: yield* StorageSuite.TableCheck.look(yield* SqlClient.SqlClient) }
        }).pipe(Effect.provide(both))
      )
      expect([...verdict.wrong, ...stray]).toEqual([])
      expect(verdict.recorded).toBeGreaterThan(20)
      expect(verdict.erasures).toBeGreaterThan(0)
      if (seconds > 10) console.log(verdict)
    }
  )
})
