import { Storage } from "@tachograph/core"
import { StorageSuite, TestSeed } from "@tachograph/testkit"
import { Context, Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { sqlite, SqliteStorage } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

it(`has no event appear below it while two servers record to a file, whose clocks differ, seed ${TestSeed.seed}`, () =>
  Effect.gen(function* () {
    const filename = temporaryFile()
    const open = Effect.map(Layer.build(Layer.fresh(sqlite(filename))), (context) => Context.get(context, Storage))
    const [one, two] = [yield* open, yield* open]
    const reading = Effect.map(Layer.build(SqliteStorage.layerReadOnly({ filename })), (context) =>
      Context.get(context, Storage)
    )
    const writers = [{ storage: one }, { storage: two, aheadMs: -20_000 }]
    const { problems, watermarks } = yield* StorageSuite.Settled.look(writers, one, TestSeed.seed, 120)
    expect(problems).toEqual([])
    expect(watermarks).toBeGreaterThan(1)
    // A connection that only reads has the same one.
    const project = StorageSuite.Settled.project
    expect(yield* (yield* reading).watermark(project)).toBe(yield* one.watermark(project))
  }).pipe(Effect.scoped, Effect.runPromise))
