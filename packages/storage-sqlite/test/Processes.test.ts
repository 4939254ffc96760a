/** Several processes that share a file. */
import { Migrations } from "@tachograph/storage-sql"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "vitest"
import { bundle } from "../../../scripts/vitest/Program.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const program = await bundle("sqlite-appendEvents", new URL("fixtures/appendEvents.ts", import.meta.url))

const query = (file: string, sql: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

describe("SQLite, several processes", () => {
  it("start at the same time on a new file, run the migrations once, and number without gaps", async () => {
    const file = temporaryFile()
    await Promise.all(Array.from({ length: 6 }, (_, n) => program.run(file, String(n), "25")))
    expect(query(file, "SELECT migration_id FROM tachograph_migrations")).toHaveLength(Migrations.names.length)
    expect(query(file, "SELECT count(*) AS n FROM events")).toEqual([{ n: 6 * 25 }])
    const numbers = Array.from({ length: 10 }, (_, n) => ({ n: n + 1 }))
    expect(query(file, "SELECT agent_number AS n FROM agents ORDER BY 1")).toEqual(numbers)
    expect(query(file, "SELECT DISTINCT agent_version_number AS n FROM agent_versions ORDER BY 1")).toEqual(
      numbers.slice(0, 5)
    )
    expect(query(file, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }])
    const gaps = query(
      file,
      `SELECT agent_number FROM agent_versions GROUP BY agent_number
       HAVING max(agent_version_number) <> count(*) OR min(agent_version_number) <> 1`
    )
    expect(gaps).toEqual([])
  })
})
