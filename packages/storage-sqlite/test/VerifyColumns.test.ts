/** What a verification says of values that SQLite keeps in columns of other types. */
import { Storage } from "@tachograph/core"
import { StorageSuite, VerifySuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { sqlite, SqliteClient } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const { Verifying } = StorageSuite

const changes = [
  "UPDATE events SET received_after = received_after + 0.5",
  "UPDATE events SET received_after = CAST('some' AS TEXT)",
  "UPDATE events SET duration_ms = 'long'",
  "UPDATE events SET model = x'6d'",
  "UPDATE event_kinds SET api = 'aisdk'",
  "UPDATE event_kinds SET rules = CAST(rules AS BLOB)",
  "UPDATE packs SET kept = 'yes'",
  "UPDATE sessions SET stored_bytes = stored_bytes + 0.5",
  "UPDATE agent_usage SET stripe = 'first'",
  "UPDATE shared_piece_owners SET sha256 = hex(sha256)",
  "UPDATE people SET created_at = 'yesterday'",
  "UPDATE idempotency_keys SET body_hash = CAST(body_hash AS BLOB)",
  "UPDATE projects SET people = people + 0.5"
]

it.each(changes)("says which columns have values of another type after %s", async (change) => {
  const [, table, column] = /^UPDATE (\w+) SET (\w+)/.exec(change)!
  const filename = temporaryFile()
  const { before, after } = await Effect.runPromise(
    Effect.gen(function* () {
      const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
      yield* VerifySuite.Store.fill(storage)
      if (table === "idempotency_keys") {
        yield* sql`INSERT INTO idempotency_keys SELECT project_id, event_id, hex(event_id), hex(event_id) FROM events LIMIT 1`
      }
      const typesOf = Effect.map(Verifying.verify(storage), ({ findings }) =>
        findings.flatMap(({ problem, reason }) => (/type/.test(reason) && problem === "file-damaged" ? [reason] : []))
      )
      const before = yield* typesOf
      yield* sql.unsafe(change)
      return { before, after: yield* typesOf }
    }).pipe(Effect.provide(Layer.merge(sqlite(filename), SqliteClient.layer({ filename }))))
  )
  expect(before).toEqual([])
  expect(after).toHaveLength(1)
  expect(after[0]).toMatch(new RegExp(`^Table ${table}: \\d+ values of ${column} are not of its type$`))
})
