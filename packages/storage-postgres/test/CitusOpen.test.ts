/** A storage that is open while its tables are distributed. */
import { Errors, Storage } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, skip } from "./CitusSchema.ts"

if (citusUrl === undefined) skip("A storage that is open while its tables are distributed")
else {
  const config = {
    url: citusUrl,
    schema: `test_${randomBytes(8).toString("hex")}`,
    // Long, because the tests must not fail on a busy machine.
    operationTimeout: 120_000
  }

  it("is unavailable, until it is opened again", async () => {
    const id = Samples.eventId(1)
    const append = Effect.flatMap(Storage, (storage) => Samples.append(storage, [Samples.appendEvent(id)]))
    const test = Effect.gen(function* () {
      yield* PostgresStorage.distribute(config)
      const error = yield* Effect.flip(append)
      expect(error).toBeInstanceOf(Errors.StorageUnavailable)
      expect((error as Errors.StorageUnavailable).cause).toMatchObject({ message: /must be started again/ })
    })
    await Effect.runPromise(Effect.provide(test, PostgresStorage.layer(config)))
    await Effect.runPromise(Effect.provide(append, PostgresStorage.layer(config)))
    const drop = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DROP SCHEMA ${sql(config.schema)} CASCADE`)
    await Effect.runPromise(Effect.provide(drop, PostgresStorage.client(config)))
  })
}
