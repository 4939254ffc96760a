/** Tables that are distributed while a storage has them open, and beside those of others. */
import { Errors, Storage } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, skip } from "./CitusSchema.ts"

if (citusUrl === undefined) skip("Tables that are distributed")
else {
  const url = citusUrl
  const configOf = (schema: string) => ({
    url,
    schema,
    // Long, because the tests must not fail on a busy machine.
    operationTimeout: 120_000
  })
  const newSchema = () => `test_${randomBytes(8).toString("hex")}`
  const drop = (schema: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`).pipe(
      Effect.provide(PostgresStorage.client({ url, operationTimeout: 0 })),
      Effect.orDie
    )

  it("is unavailable, until it is opened again", async () => {
    const config = configOf(newSchema())
    const id = Samples.eventId(1)
    const append = Effect.flatMap(Storage, (storage) => Samples.append(storage, [Samples.appendEvent(id)]))
    const test = Effect.gen(function* () {
      yield* PostgresStorage.distribute(config)
      const error = yield* Effect.flip(append)
      expect(error).toBeInstanceOf(Errors.StorageUnavailable)
      expect((error as Errors.StorageUnavailable).cause).toMatchObject({ message: /must be started again/ })
    })
    const opened = Effect.andThen(
      Effect.provide(test, PostgresStorage.layer(config)),
      Effect.provide(append, PostgresStorage.layer(config))
    )
    await Effect.runPromise(Effect.ensuring(opened, drop(config.schema)))
  })

  it("shares no shards with tables of others, with which Citus would move them", async () => {
    const config = configOf(newSchema())
    const others = newSchema()
    const test = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE SCHEMA ${sql(others)}`
      yield* sql`CREATE TABLE ${sql(others)}.own (bucket SMALLINT PRIMARY KEY)`
      yield* sql`SELECT create_distributed_table(${`${others}.own`}, 'bucket')`
      yield* PostgresStorage.migrate(config)
      yield* PostgresStorage.distribute(config)
      const groups = yield* sql`SELECT relnamespace, count(*) AS tables FROM pg_dist_partition
        JOIN pg_class ON pg_class.oid = logicalrelid
        WHERE colocationid = (SELECT colocationid FROM pg_dist_partition
          WHERE logicalrelid = CAST(${`"${config.schema}".sessions`} AS regclass))
        GROUP BY relnamespace`
      expect(groups).toHaveLength(1)
    })
    const layer = PostgresStorage.client({ url, maxConnections: 1, operationTimeout: 120_000 })
    const distributed = Effect.provide(test, layer)
    await Effect.runPromise(Effect.ensuring(distributed, Effect.andThen(drop(config.schema), drop(others))))
  })
}
