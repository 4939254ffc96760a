/** Damage of the counters from which the sessions of a cluster have their numbers. */
import { Bucket, defaultProject, Recorder, Storage } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, distributedSchema, skip } from "./CitusSchema.ts"

const { Calls } = StorageSuite

/** Sessions of one bucket. */
const sessions = Array.from({ length: 10_000 }, (_, n) => `session ${n}`)
  .filter((session) => Bucket.ofSession(session) === 7)
  .slice(0, 6)

if (citusUrl === undefined) skip("Counters of sessions")
else {
  const emptySchema = distributedSchema(citusUrl)

  for (const [name, change] of [
    ["is below numbers in use", "last_session - 256"],
    ["has a number of another bucket", "last_session + 257"]
  ] as const) {
    it(`records the first events of sessions when a counter ${name}`, async () => {
      const config = await emptySchema()
      const test = Effect.gen(function* () {
        const [storage, sql, recorder] = [yield* Storage, yield* SqlClient.SqlClient, yield* Recorder]
        yield* Calls.putFingerprint(storage, defaultProject)
        const record = (session: string) =>
          Calls.record(recorder, { session, person: "p", inputs: `{"said":"${session}"}`, output: "{}" })
        const before = yield* Effect.forEach(sessions.slice(0, 3), record)
        const changed = yield* sql`UPDATE session_counters SET last_session = ${sql.literal(change)} RETURNING bucket`
        expect(changed.length).toBe(1)
        const after = yield* Effect.forEach(sessions.slice(3), record)
        const found = yield* Effect.forEach([...before, ...after], (id) => recorder.getEvent(id))
        expect(found.map(({ session }) => session)).toEqual(sessions)
        const numbers = yield* sql<{ session_number: number }>`SELECT session_number FROM sessions`
        expect(new Set(numbers.map(({ session_number }) => session_number % 256))).toEqual(new Set([7]))
        expect(new Set(numbers.map(({ session_number }) => session_number)).size).toBe(sessions.length)
      })
      const storage = PostgresStorage.layer(config)
      const recorder = Layer.unwrap(Effect.map(Storage, Calls.recorderOver))
      const layers = Layer.merge(Layer.provideMerge(recorder, storage), PostgresStorage.client(config))
      await Effect.runPromise(Effect.provide(test, layers))
    })
  }
}
