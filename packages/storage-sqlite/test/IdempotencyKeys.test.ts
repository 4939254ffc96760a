import { defaultProject, firstIdOf, IdempotencyKey, Storage } from "@tachograph/core"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "vitest"
import { Samples, StorageSuite } from "@tachograph/testkit"
import { sqlite, SqliteClient } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const keyed = (n: number) => ({
  // Of a time at which the key has not expired.
  ...Samples.appendEvent(firstIdOf(Date.parse("2026-01-02T03:04:05.678Z") + n)),
  idempotency: { key: IdempotencyKey.make("k"), bodyHash: new Uint8Array(32) }
})

it("erases the keys of events without reading those of others", async () => {
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* storage.appendEvents([keyed(1)])
    const before = firstIdOf(Date.parse("2027-01-01T00:00:00Z"))
    const [{ events }, statements] = yield* StorageSuite.Statements.capture(
      storage.eraseEvents(defaultProject, { before }, 500)
    )
    expect(events).toBe(1)
    const ofKeys = statements.filter(({ text }) => / FROM idempotency_keys .*\n? +AND "?event_id/.test(text))
    expect(ofKeys).toHaveLength(2)
    for (const { parameters, text } of ofKeys) {
      const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, parameters)
      expect(plan[0]!.detail).toMatch(/INDEX idempotency_keys_by_event \(project_id=\? AND event_id=\?\)$/)
    }
  })
  await Effect.runPromise(Effect.provide(test, Layer.merge(sqlite(filename), SqliteClient.layer({ filename }))))
})

it("frees an idempotency key whose event was deleted from the tables", async () => {
  const file = temporaryFile()
  const append = (n: number) =>
    Effect.runPromise(
      Effect.flatMap(Storage, (storage) => storage.appendEvents([keyed(n)])).pipe(Effect.provide(sqlite(file)))
    )
  await append(1)
  const database = new DatabaseSync(file)
  for (const table of ["events", "packs", "sessions"]) database.exec(`DELETE FROM ${table}`)
  // The key is still there, without its event.
  expect(database.prepare("SELECT count(*) AS keys FROM idempotency_keys").get()).toEqual({ keys: 1 })
  database.close()
  await append(2)
})
