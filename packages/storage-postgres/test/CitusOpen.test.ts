/** Tables that are distributed while a storage has them open, and beside those of others. */
import { defaultProject, Errors, SessionId, Storage } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, drop, fewShards, newSchema, skip, withOptions } from "./CitusSchema.ts"

if (citusUrl === undefined) skip("Tables that are distributed")
else {
  const url = citusUrl

  it("is unavailable, until it is opened again", async () => {
    const config = newSchema(url)
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
    await Effect.runPromise(Effect.ensuring(opened, drop(url, config.schema)))
  })

  it("shares no shards with tables of others, with which Citus would move them", async () => {
    const config = newSchema(url)
    const others = newSchema(url).schema
    const test = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE SCHEMA ${sql(others)}`
      yield* sql`CREATE TABLE ${sql(others)}.own (bucket SMALLINT PRIMARY KEY)`
      yield* sql`SELECT create_distributed_table(${`${others}.own`}, 'bucket')`
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
    await Effect.runPromise(Effect.ensuring(distributed, Effect.andThen(drop(url, config.schema), drop(url, others))))
  })

  it("writes into all shards after one was split, which then have different numbers of buckets", async () => {
    const config = newSchema(url)
    const test = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* PostgresStorage.distribute({ ...config, url: withOptions(url, fewShards) })
      // The second of two parts has a quarter of the first shard's buckets.
      const split = yield* sql`SELECT citus_split_shard_by_split_points(shardid, ARRAY['-1744830465'],
          (SELECT array_agg(nodeid) FROM (SELECT nodeid FROM pg_dist_node WHERE shouldhaveshards LIMIT 2) AS nodes),
          'block_writes')
        FROM pg_dist_shard WHERE logicalrelid = to_regclass('events') AND shardminvalue = '-2147483648'`
      expect(split).toHaveLength(1)
      const ids = Array.from({ length: 100 }, (_, n) => Samples.eventId(n + 1))
      const events = ids.map((id, n) => Samples.appendEvent(id, { session: SessionId.make(`session ${n}`) }))
      const [lanes, found] = yield* Effect.gen(function* () {
        const storage = yield* Storage
        yield* Samples.append(storage, events)
        // With their counters, which are locked.
        const others = ids.map((_, n) =>
          Samples.appendEvent(Samples.eventId(n + 1_001), { session: SessionId.make(`session ${n}`) })
        )
        yield* Samples.append(storage, others)
        const found = yield* storage.listEvents(defaultProject, { order: "desc", limit: 1_000 })
        return [events.map(({ summary }) => storage.nodes!.laneOf(summary.session)), found.length] as const
      }).pipe(Effect.provide(PostgresStorage.layer(config)))
      expect(new Set(lanes).size).toBe(9)
      expect(found).toBe(200)
    })
    const layer = PostgresStorage.client({ ...config, maxConnections: 1 })
    await Effect.runPromise(Effect.ensuring(Effect.provide(test, layer), drop(url, config.schema)))
  })
}
