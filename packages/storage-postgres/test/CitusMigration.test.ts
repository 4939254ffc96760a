/** Tables that an earlier version has created and distributed, on the Citus at `TACHOGRAPH_TEST_CITUS_URL`. */
import { Audit, defaultProject, SessionId, Storage } from "@tachograph/core"
import { Migrations } from "@tachograph/storage-sql"
import { Samples, StorageSuite } from "@tachograph/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, drop, fewShards, newSchema, skip, withOptions } from "./CitusSchema.ts"

const { NodeRows } = StorageSuite
const [initial, ...later] = Migrations.names

/** Takes back what each migration but the first has changed. */
const takenBack: Readonly<Record<string, ReadonlyArray<string>>> = {
  "0002_recorded": ["ALTER TABLE events DROP COLUMN recorded"],
  "0003_audit_log": ["DROP TABLE audit_log"],
  "0004_stated_cost": [
    "ALTER TABLE events DROP COLUMN stated_cost, DROP COLUMN list_cost",
    "ALTER TABLE event_kinds DROP COLUMN unpriced_parts"
  ],
  // With their indexes.
  "0005_call_times": ["ALTER TABLE events DROP COLUMN distant_at", "ALTER TABLE rollups DROP COLUMN last_call"],
  "0006_partly_priced": [],
  "0007_waiting_parts": ["DROP TABLE waiting_parts"],
  "0008_steps": ["DROP TABLE steps"],
  "0009_failures": ["DROP INDEX events_by_error", "ALTER TABLE events DROP COLUMN error_code"],
  "0010_session_figures": []
}

/** An event in each of some sessions, which are on all nodes. */
const eventsFrom = (first: number, recorded: { readonly redacted: number } | null) =>
  Array.from({ length: 20 }, (_, n) =>
    Samples.appendEvent(Samples.eventId(first + n), { session: SessionId.make(`session ${n}`), recorded })
  )

if (citusUrl === undefined) skip("Migrations of distributed tables")
else {
  const url = citusUrl

  it("changes the tables of all nodes once, and keeps what they have", { timeout: 120_000 }, async () => {
    const config = newSchema(url)
    const withStorage = <A, E>(use: (storage: Storage["Service"]) => Effect.Effect<A, E>) =>
      Effect.provide(Effect.flatMap(Storage, use), PostgresStorage.layer(config))
    const test = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* PostgresStorage.distribute({ ...config, url: withOptions(url, fewShards) })
      const old = eventsFrom(1, null)
      yield* withStorage((storage) => Samples.append(storage, old))
      for (const statement of later.flatMap((name) => takenBack[name]!)) yield* sql.unsafe(statement)
      yield* sql`DELETE FROM tachograph_migrations WHERE migration_id > 1`
      expect(yield* PostgresStorage.pending(config)).toEqual(later)
      expect(initial).toBe("0001_initial")

      const migrate = PostgresStorage.migrate(config)
      const ran = yield* Effect.all([migrate, migrate], { concurrency: 2 })
      expect(ran.filter((names) => names.length > 0)).toEqual([later])

      const added = eventsFrom(101, { redacted: 2 })
      const found = yield* withStorage((storage) =>
        Effect.gen(function* () {
          yield* Samples.append(storage, added)
          yield* storage.appendAudit(defaultProject, yield* Audit.entry("session-erased", "subject", 1))
          return yield* storage.listEvents(defaultProject, { order: "asc", limit: 100 })
        })
      )
      expect(found.map(({ id, summary }) => [id, summary?.recorded])).toEqual(
        [...old, ...added].map(({ summary }) => [summary.id, summary.recorded])
      )
      // On the coordinator and on each node for data.
      const nodes = yield* sql`SELECT 1 FROM pg_dist_node`
      expect(yield* NodeRows.countOnNodes(sql, config.schema, "true", ["audit_log"])).toEqual({
        audit_log: nodes.length
      })
    })
    const layer = PostgresStorage.client({ ...config, maxConnections: 1 })
    await Effect.runPromise(Effect.ensuring(Effect.provide(test, layer), drop(url, config.schema)))
  })
}
