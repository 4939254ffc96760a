import { firstIdOf, IdempotencyKey, Storage } from "@tachograph/core"
import { Effect } from "effect"
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "vitest"
import { Samples } from "@tachograph/testkit"
import { sqlite } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

it("frees an idempotency key whose event was deleted from the tables", async () => {
  const file = temporaryFile()
  const keyed = (n: number) => ({
    // An event of a time at which the key has not expired.
    ...Samples.appendEvent(firstIdOf(Date.parse("2026-01-02T03:04:05.678Z") + n)),
    idempotency: { key: IdempotencyKey.make("k"), bodyHash: new Uint8Array(32) }
  })
  const append = (n: number) =>
    Effect.runPromise(
      Effect.flatMap(Storage, (storage) => storage.appendEvents([keyed(n)])).pipe(Effect.provide(sqlite(file)))
    )
  await append(1)
  const database = new DatabaseSync(file)
  for (const table of ["events", "packs", "sessions"]) database.exec(`DELETE FROM ${table}`)
  // The key is still there, without its event.
  expect(database.prepare("SELECT count(*) AS keys FROM idempotency_keys").get()).toEqual({ keys: 1 })
  database.close()
  await append(2)
})
