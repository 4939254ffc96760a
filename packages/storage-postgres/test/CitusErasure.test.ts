/** No node of a cluster has a word of a session or a person that was erased. */
import { defaultProject, derive, Recorder, Storage, Throttle } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, distributedSchema, skip } from "./CitusSchema.ts"

const { Calls, NodeRows, PlantedWords, StoreCheck } = StorageSuite
const { words } = PlantedWords

if (citusUrl === undefined) skip("Erased words on all nodes")
else {
  const emptySchema = distributedSchema(citusUrl)

  it("leaves no word of a session or a person on any node, whether or not it was added up", async () => {
    const config = await emptySchema()
    const test = Effect.gen(function* () {
      const [storage, sql, recorder] = [yield* Storage, yield* SqlClient.SqlClient, yield* Recorder]
      const found = (word: string) =>
        Effect.map(
          NodeRows.countOnNodes(
            sql,
            config.schema,
            PlantedWords.tracesOf(word).texts.map(NodeRows.contains).join(" OR ")
          ),
          Object.keys
        )
      yield* Calls.putFingerprint(storage, defaultProject)
      yield* PlantedWords.putPerson(storage, defaultProject, words.person)
      yield* PlantedWords.recordAll(recorder, Calls.fingerprintId, 0, 4)
      // Events of the last second are added up by a later call.
      const isAddedUp = (word: string) => Effect.map(found(word), (tables) => tables.includes("rollups"))
      while (!(yield* isAddedUp(words.session)) || !(yield* isAddedUp(words.person))) {
        yield* derive(storage, defaultProject, Throttle.unthrottled)
        yield* Effect.sleep(50)
      }
      yield* PlantedWords.recordAll(recorder, Calls.fingerprintId, 4, 6)
      const tables = ["events", "idempotency_keys", "rollups", "sessions"]
      expect(yield* found(words.session)).toEqual(tables)
      expect(yield* found(words.person)).toEqual(["events", "idempotency_keys", "people", "rollups", "sessions"])
      yield* recorder.eraseSession(PlantedWords.sessionOf(words.session))
      yield* recorder.erasePerson(PlantedWords.personOf(words.person))
      expect([...(yield* found(words.session)), ...(yield* found(words.person))]).toEqual([])
      // In the packs of others, which are compressed.
      const { problems } = yield* StoreCheck.look(storage, defaultProject, [words.session, words.person])
      expect(problems).toEqual([])
    })
    const storage = PostgresStorage.layer(config)
    const recorder = Layer.unwrap(Effect.map(Storage, Calls.recorderOver))
    const layers = Layer.merge(Layer.provideMerge(recorder, storage), PostgresStorage.client(config))
    await Effect.runPromise(Effect.provide(test, layers))
  })
}
