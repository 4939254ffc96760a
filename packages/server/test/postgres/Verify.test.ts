import { Storage } from "@tachograph/core"
import { PostgresStorage } from "@tachograph/storage-postgres"
import { VerifySuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { expect, inject, it } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import * as Documented from "../Documented.ts"

const { damages, Rows, Store } = VerifySuite

it("tachograph verify works with a role that may only read", async () => {
  const schema = `test_${randomBytes(8).toString("hex")}`
  const role = `verifier_${schema}`
  const config = { url: inject("postgresUrl"), schema }
  const url = new URL(config.url)
  url.searchParams.set("schema", schema)
  url.username = role
  url.password = "secret"
  const verify = () => runInProcess(["verify", "--rate", "100%", "--json"], { TACHOGRAPH_STORAGE: url.href })
  // The client is opened after the tables exist.
  const client = Layer.unwrap(Effect.as(PostgresStorage.migrate(config), PostgresStorage.client(config)))

  await Effect.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Store.fill(yield* Storage)
      const [create, ...others] = Documented.statements("verify.md", "CREATE")
      expect([create, others]).toEqual(["CREATE ROLE tachograph_verifier LOGIN PASSWORD '…'", []])
      yield* sql.unsafe(create!.replace("tachograph_verifier", role).replace("…", url.password))
      for (const grant of Documented.statements("verify.md", "GRANT")) {
        if (grant.startsWith("GRANT SELECT ")) {
          const early = yield* Effect.promise(verify)
          expectUsageError(early, "permission denied for table tachograph_migrations")
        }
        yield* sql.unsafe(grant.replace("SCHEMA tachograph", `SCHEMA "${schema}"`).replace("tachograph_verifier", role))
      }

      const rights = yield* sql<{ privilege_type: string }>`
        SELECT DISTINCT privilege_type FROM information_schema.role_table_grants WHERE grantee = ${role}`
      expect(rights).toEqual([{ privilege_type: "SELECT" }])
      const healthy = yield* Effect.promise(verify)
      expect([healthy.code, healthy.stderr]).toEqual([0, ""])
      const tables = yield* Rows.selectAll(sql)
      expect(JSON.parse(healthy.stdout)).toMatchObject({ complete: true, events: tables.events.length, problems: 0 })

      const { change } = damages.find(({ name }) => name === "one bit of a shared piece differs")!
      const damaged = yield* Rows.changing(sql, change(tables), Effect.promise(verify))
      expect([damaged.code, damaged.stderr]).toEqual([1, ""])
      expect(damaged.stdout).toContain(`{"type":"finding","problem":"shared-piece-damaged","project":"default"`)
      expect(yield* Rows.selectAll(sql)).toEqual(tables)
    }).pipe(Effect.provide(Layer.merge(PostgresStorage.layer(config), client)))
  )
})
