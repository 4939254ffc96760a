/** Several processes that share a database. `PROCESS_EVENTS` is the number of events of each process, for a longer run. */
import { Migrations } from "@tachograph/storage-sql"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { bundle } from "../../../scripts/vitest/Program.ts"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

const program = await bundle("postgres-appendEvents", new URL("fixtures/appendEvents.ts", import.meta.url))
const processes = 5
const events = Number(process.env["PROCESS_EVENTS"] ?? 100)

describe("Postgres, several processes", () => {
  it(
    `${processes} start at the same time, run the migrations once, and number without gaps or deadlocks`,
    {
      timeout: 120_000 + processes * events * 20
    },
    async () => {
      const config = freshSchema()
      const query = (text: string) =>
        Effect.runPromise(
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(text)).pipe(
            Effect.provide(PostgresStorage.client(config))
          )
        )
      const url = String(config.url)
      const printed = await Promise.all(
        Array.from({ length: processes }, (_, n) => program.run(url, config.schema!, String(n), String(events)))
      )
      expect(printed.map((deadlocks) => deadlocks.trim())).toEqual(Array.from({ length: processes }, () => "0"))
      expect(await query("SELECT migration_id FROM tachograph_migrations ORDER BY migration_id")).toEqual(
        Array.from({ length: Migrations.names.length }, (_, n) => ({ migration_id: n + 1 }))
      )
      expect(await query("SELECT count(*)::int AS n FROM events")).toEqual([{ n: processes * events }])
      const numbers = Array.from({ length: 50 }, (_, n) => ({ n: n + 1 }))
      expect(await query("SELECT agent_number::int AS n FROM agents ORDER BY 1")).toEqual(numbers)
      expect(await query("SELECT person_number::int AS n FROM people ORDER BY 1")).toEqual(numbers)
      expect(await query("SELECT session_number::int AS n FROM sessions ORDER BY 1")).toEqual(numbers)
      const gaps = `SELECT agent_number FROM agent_versions GROUP BY agent_number
      HAVING max(agent_version_number) <> count(*) OR min(agent_version_number) <> 1`
      expect(await query(gaps)).toEqual([])
      const lost = `SELECT session_number FROM sessions s WHERE packs <> (SELECT max(pack_number) FROM packs p
      WHERE p.project_id = s.project_id AND p.session_number = s.session_number)`
      expect(await query(lost)).toEqual([])
    }
  )
})
