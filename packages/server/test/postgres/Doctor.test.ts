import { PostgresStorage } from "@tachograph/storage-postgres"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { expect, inject, it, onTestFinished } from "vitest"
import { SqlClient } from "effect/sql"
import { runInProcess } from "../CommandLine.ts"
import { faultsOf, look, namesOf } from "../Findings.ts"

const url = inject("postgresUrl")

/** The storage of a new schema, with parameters of the URL. */
const storageIn = (schema: string, parameters: Readonly<Record<string, string>> = {}) => {
  const storage = new URL(url)
  for (const [name, value] of Object.entries({ schema, ...parameters })) storage.searchParams.set(name, value)
  return ["--storage", storage.href]
}

it("looks at tables, settings, connections and clocks of a database, and changes nothing", async () => {
  const schema = `test_${randomBytes(8).toString("hex")}`
  onTestFinished(() =>
    Effect.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`).pipe(
        Effect.asVoid,
        Effect.provide(PostgresStorage.client({ url }))
      )
    )
  )
  const before = await look(storageIn(schema))
  expect([before.code, before.found["tables"]]).toMatchObject([1, { state: "problem" }])
  expect(before.found["tables"]!.says).toContain("not up to date")

  expect((await runInProcess(["migrate", ...storageIn(schema)])).code).toBe(0)
  const { found } = await look(storageIn(schema))
  // A database for tests may do without.
  const faults = faultsOf(found).filter((fault) => !fault.startsWith("problem durability: fsync off"))
  expect(faults).toEqual([])
  expect(Object.keys(found).slice(4)).toEqual(["storage", "tables", "writable", "durability", "connections", "clock"])
  expect(found["connections"]!.says).toContain("this server opens up to 13")
  expect(found["clock"]!.says).toMatch(/^\d+ ms (before|behind) the database's, known to \d+ ms$/)

  const careless = await look(storageIn(schema, { options: "-c synchronous_commit=off" }))
  expect(namesOf(careless.found, "problem")).toContain("durability")
  expect(careless.found["durability"]!.says).toContain("synchronous_commit off")

  const many = await look([...storageIn(schema, { pool_size: "2000" }), "--workers", "2"])
  expect(namesOf(many.found, "problem")).toContain("connections")
  expect(many.found["connections"]!.says).toContain("this server opens up to 4,006")

  const reading = await look(storageIn(schema, { options: "-c default_transaction_read_only=on" }))
  expect([reading.code, reading.found["writable"]]).toMatchObject([1, { state: "problem" }])
  expect(reading.found["writable"]!.says).toContain("refuses to write")

  const away = await look(["--storage", "postgres://nobody@127.0.0.1:9/nothing"])
  expect([away.code, namesOf(away.found, "problem")]).toEqual([1, ["storage"]])
})
