/** What a verification says of values that SQLite keeps in columns of other types. */
import { Storage } from "@tachograph/core"
import { StorageSuite, VerifySuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync, writeFileSync } from "node:fs"
import { beforeAll, expect, it } from "vitest"
import { sqlite, SqliteClient } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const { Verifying } = StorageSuite

const changes = [
  "UPDATE events SET received_after = received_after + 0.5",
  "UPDATE events SET received_after = CAST('some' AS TEXT)",
  "UPDATE events SET duration_ms = 'long'",
  "UPDATE events SET recorded = x'7b7d'",
  "UPDATE events SET model = x'6d'",
  "UPDATE events SET stated_cost = 0.5",
  "UPDATE event_kinds SET api = 'aisdk'",
  "UPDATE event_kinds SET unpriced_parts = 'audio'",
  "UPDATE event_kinds SET rules = CAST(rules AS BLOB)",
  "UPDATE packs SET kept = 'yes'",
  "UPDATE sessions SET stored_bytes = stored_bytes + 0.5",
  "UPDATE agent_usage SET stripe = 'first'",
  "UPDATE shared_piece_owners SET sha256 = hex(sha256)",
  "UPDATE people SET created_at = 'yesterday'",
  "UPDATE idempotency_keys SET body_hash = CAST(body_hash AS BLOB)",
  "UPDATE projects SET people = people + 0.5"
]

const over = <A, E>(filename: string, body: Effect.Effect<A, E, Storage | SqlClient.SqlClient>) =>
  Effect.runPromise(Effect.provide(body, Layer.merge(sqlite(filename), SqliteClient.layer({ filename }))))

const typesOf = Effect.gen(function* () {
  const { findings } = yield* Verifying.verify(yield* Storage)
  return findings.flatMap(({ problem, reason }) => (/type/.test(reason) && problem === "file-damaged" ? [reason] : []))
})

/** Filled once. Closing the database has moved its log into it. */
let content: Buffer
beforeAll(async () => {
  const filename = temporaryFile()
  const fill = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* VerifySuite.Store.fill(yield* Storage)
    yield* sql`INSERT INTO idempotency_keys SELECT project_id, event_id, hex(event_id), hex(event_id) FROM events LIMIT 1`
    return yield* typesOf
  })
  expect(await over(filename, fill)).toEqual([])
  content = readFileSync(filename)
})

it.each(changes)("says which columns have values of another type after %s", async (change) => {
  const [, table, column] = /^UPDATE (\w+) SET (\w+)/.exec(change)!
  const filename = temporaryFile()
  writeFileSync(filename, content)
  const changed = Effect.andThen(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(change)),
    typesOf
  )
  const found = await over(filename, changed)
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(new RegExp(`^Table ${table}: \\d+ values of ${column} are not of its type$`))
})
