/** What tables cannot be distributed, on the Citus at `TACHOGRAPH_TEST_CITUS_URL`, and tables that are distributed already. */
import { Storage } from "@tachograph/core"
import { Migrations } from "@tachograph/storage-sql"
import { Samples } from "@tachograph/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { describe, expect, it } from "vitest"
import { type PostgresConfig, PostgresStorage } from "../src/index.ts"
import { citusUrl, drop, fewShards, newSchema, skip, withOptions } from "./CitusSchema.ts"

if (citusUrl === undefined) skip("Refusals to distribute")
else {
  const url = citusUrl

  /** Runs a case with a client, and drops its schema. */
  const run = (test: (config: ReturnType<typeof newSchema>) => Effect.Effect<void, unknown, SqlClient.SqlClient>) => {
    const config = newSchema(url)
    const layer = PostgresStorage.client({ ...config, maxConnections: 1 })
    return Effect.runPromise(Effect.ensuring(Effect.provide(test(config), layer), drop(url, config.schema)))
  }

  /** Why tables are not distributed. */
  const refusal = (config: PostgresConfig) =>
    Effect.map(Effect.flip(PostgresStorage.distribute(config)), ({ message }) => message)

  const isDistributed = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql`SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('sessions')`,
      (rows) => rows.length > 0
    )
  )

  const exists = (schema: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.map(sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`, (rows) => rows.length > 0)
    )

  describe("refuses to distribute", () => {
    for (const count of [24, 512]) {
      it(`tables over ${count} shards, and creates none`, () =>
        run((config) =>
          Effect.gen(function* () {
            const message = yield* refusal({ ...config, url: withOptions(url, `-c citus.shard_count=${count}`) })
            expect(message).toContain(`citus.shard_count is ${count}`)
            expect(yield* exists(config.schema)).toBe(false)
          })
        ))
    }

    it("tables with events", () =>
      run((config) =>
        Effect.gen(function* () {
          const append = Effect.flatMap(Storage, (storage) =>
            Samples.append(storage, [Samples.appendEvent(Samples.eventId(1))])
          )
          yield* Effect.provide(append, PostgresStorage.layer(config))
          expect(yield* refusal(config)).toContain("the tables have events")
          expect(yield* isDistributed).toBe(false)
        })
      ))

    it("tables with other rows of sessions", () =>
      run((config) =>
        Effect.gen(function* () {
          yield* PostgresStorage.migrate(config)
          const sql = yield* SqlClient.SqlClient
          yield* sql`INSERT INTO shared_pieces (project_id, sha256, size, checksum, piece) VALUES (1, '', 0, 0, '')`
          expect(yield* refusal(config)).toContain("the table shared_pieces has rows, although there are no events")
          expect(yield* isDistributed).toBe(false)
        })
      ))

    it("tables of a cluster without nodes for data, and creates none", () =>
      run((config) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          // Another database of the coordinator knows no nodes.
          const name = `test_${randomBytes(8).toString("hex")}`
          const empty = new URL(url)
          empty.pathname = `/${name}`
          const client = PostgresStorage.client({ url: empty.href, maxConnections: 1 })
          const test = Effect.gen(function* () {
            const other = yield* SqlClient.SqlClient
            yield* other`CREATE EXTENSION citus`
            expect(yield* refusal({ ...config, url: empty.href })).toContain("the cluster has no nodes for data")
            expect(yield* exists(config.schema)).toBe(false)
          })
          yield* Effect.acquireUseRelease(
            sql`CREATE DATABASE ${sql(name)}`,
            () => Effect.provide(test, client),
            () => sql`DROP DATABASE ${sql(name)} WITH (FORCE)`
          )
        })
      ))
  })

  it("distributes tables once", () =>
    run((config) =>
      Effect.gen(function* () {
        const first = yield* PostgresStorage.distribute({ ...config, url: withOptions(url, fewShards) })
        expect(first).toMatchObject({ migrated: Migrations.names, isNew: true, shards: 8 })
        // The count is of no importance any more.
        const second = yield* PostgresStorage.distribute({
          ...config,
          url: withOptions(url, "-c citus.shard_count=24")
        })
        expect(second).toEqual({ migrated: [], isNew: false, shards: 8 })
        expect(yield* isDistributed).toBe(true)
      })
    ))
}
