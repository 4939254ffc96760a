import { CurrentProject, Recorder, Storage } from "@tachograph/core"
import { RepairSuite, StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { emptyStorage } from "./EmptySchema.ts"
import { freshSchema } from "./FreshSchema.ts"

const { Calls } = StorageSuite

/** With tables of its own, which are damaged. */
const freshLayer = () => {
  const config = freshSchema()
  // The client is opened after the tables exist.
  const client = Layer.unwrap(Effect.as(PostgresStorage.migrate(config), PostgresStorage.client(config)))
  return Layer.merge(PostgresStorage.layer(config), client)
}

RepairSuite.run("Postgres", emptyStorage)

const call = (session: string) => ({
  session,
  person: "alice",
  inputs: JSON.stringify({ messages: [{ role: "user", content: Calls.noise(1, 40_000) }] }),
  output: "{}"
})

const recordAs = (session: string) =>
  Effect.gen(function* () {
    yield* Calls.putFingerprint(yield* Storage, yield* CurrentProject)
    return yield* Effect.provide(
      Effect.gen(function* () {
        const recorder = yield* Recorder
        const id = yield* Calls.record(recorder, call(session))
        return yield* Calls.isAsSent(recorder, id, call(session))
      }),
      Calls.recorderOver(yield* Storage)
    )
  })

it("stores a shared piece again that Postgres itself cannot read", () =>
  Effect.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      expect(yield* recordAs("first")).toBe(true)
      yield* sql`CREATE EXTENSION IF NOT EXISTS pg_surgery WITH SCHEMA public`
      const [toast] = yield* sql<{ name: string }>`SELECT CAST(CAST(reltoastrelid AS regclass) AS text) AS name
        FROM pg_class WHERE oid = CAST('shared_pieces' AS regclass)`
      const rows = yield* sql.unsafe<{ ctid: string }>(`SELECT CAST(ctid AS text) AS ctid FROM ${toast!.name}`)
      expect(rows.length).toBeGreaterThan(1)
      yield* sql`SELECT public.heap_force_kill(CAST(${toast!.name} AS regclass), ARRAY[CAST(${rows[1]!.ctid} AS tid)])`
      const error = yield* Effect.flip(sql`SELECT piece FROM shared_pieces`)
      expect(error.reason.cause).toMatchObject({ code: "XX001" })
      expect(yield* recordAs("second")).toBe(true)
    }).pipe(Effect.provide(freshLayer()))
  ))
