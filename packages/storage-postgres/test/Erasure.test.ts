/** Nothing of an erased person remains in the tables; concurrent erasures. */
import { defaultProject, derive, JsonText, PersonId, Recorder, SessionId, Storage, Throttle } from "@tachograph/core"
import { Samples, StorageSuite } from "@tachograph/testkit"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { foundIn } from "./FoundInTables.ts"
import { freshSchema } from "./FreshSchema.ts"

const { Calls, PlantedWords, StoreCheck, TableCheck } = StorageSuite

const run = <A, E>(body: (schema: string) => Effect.Effect<A, E, Storage | Recorder | SqlClient.SqlClient>) => {
  const config = freshSchema()
  const layers = Layer.mergeAll(
    Recorder.layer.pipe(Layer.provideMerge(PostgresStorage.layer(config))),
    // Opened after the tables exist.
    Layer.unwrap(Effect.as(PostgresStorage.migrate(config), PostgresStorage.client(config)))
  )
  return Effect.runPromise(Effect.provide(body(config.schema!), layers))
}

describe("Postgres, after an erasure", () => {
  it("the tables contain no word of the session or the person, whether or not it was added up", () =>
    run(
      Effect.fnUntraced(function* (schema) {
        const [storage, sql, recorder] = [yield* Storage, yield* SqlClient.SqlClient, yield* Recorder]
        const { words } = PlantedWords
        const found = (word: string) => foundIn(sql, schema, ...PlantedWords.tracesOf(word).texts)
        yield* Calls.putFingerprint(storage, defaultProject)
        yield* PlantedWords.putPerson(storage, defaultProject, words.person)
        yield* PlantedWords.recordAll(recorder, Calls.fingerprintId, 0, 12)
        // Up to a second before.
        const isAddedUp = (word: string) => Effect.map(found(word), (columns) => columns.includes("rollups.model"))
        while (!(yield* isAddedUp(words.session)) || !(yield* isAddedUp(words.person))) {
          yield* derive(storage, defaultProject, Throttle.unthrottled)
          yield* Effect.sleep(50)
        }
        yield* PlantedWords.recordAll(recorder, Calls.fingerprintId, 12, 18)
        yield* recorder.listSessions({ order: "asc", limit: 10 })
        for (const word of [words.session, words.person]) {
          const events = ["model", "trace_id", "metadata", "recorded", "tool_calls"].map((name) => `events.${name}`)
          const columns = [...events, "rollups.model", "sessions.session_id"]
          expect(yield* found(word)).toEqual(expect.arrayContaining(columns))
        }
        yield* recorder.eraseSession(PlantedWords.sessionOf(words.session))
        yield* recorder.erasePerson(PlantedWords.personOf(words.person))
        expect([...(yield* found(words.session)), ...(yield* found(words.person))]).toEqual([])
        const usage = yield* recorder.sumUsage({ groupBy: ["model"], timeZone: "UTC", limit: 100 })
        expect(usage.groups.reduce((sum, { events }) => sum + events, 0)).toBe(18)
        const { problems } = yield* StoreCheck.look(storage, defaultProject, [words.session, words.person])
        expect([...problems, ...(yield* TableCheck.look(sql))]).toEqual([])
      })
    ))

  it("creates a person again who is erased before a PUT has answered", () =>
    run(
      Effect.fnUntraced(function* () {
        const [storage, sql, createdAt] = [yield* Storage, yield* SqlClient.SqlClient, yield* DateTime.now]
        // Deletes the first person as soon as they are created and counted.
        yield* sql`CREATE FUNCTION erase_first() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN DELETE FROM people; RETURN NULL; END'`
        yield* sql`CREATE TRIGGER erase_first AFTER UPDATE ON projects
          FOR EACH ROW WHEN (NEW.people = 1) EXECUTE FUNCTION erase_first()`
        const person = { id: PersonId.make("erased at once"), properties: JsonText.unsafe(`{"a":1}`), createdAt }
        expect(yield* storage.putPerson(defaultProject, person)).toMatchObject(person)
        expect(yield* storage.getPerson(defaultProject, person.id)).toMatchObject(person)
        expect(yield* sql`SELECT people FROM projects`).toEqual([{ people: 2 }])
      })
    ))

  it("erases up to its limit although other transactions erase the same events concurrently", () =>
    run(
      Effect.fnUntraced(function* () {
        const storage = yield* Storage
        for (let round = 0; round < 5; round++) {
          const session = SessionId.make(`session ${round}`)
          const person = PersonId.make(`person ${round}`)
          yield* Samples.append(
            storage,
            Array.from({ length: 300 }, (_, n) =>
              Samples.appendEvent(Samples.eventId(n, round + 1), { session, person })
            )
          )
          const erased = yield* Effect.all(
            [
              storage.eraseEvents(defaultProject, { session }, 100),
              storage.eraseEvents(defaultProject, { person }, 100),
              storage.eraseEvents(defaultProject, { before: Samples.eventId(0, 9_999) }, 100)
            ],
            { concurrency: "unbounded" }
          )
          // 300 events are enough for all three. A result below the limit would mean that none are left.
          expect(erased).toEqual([{ events: 100 }, { events: 100 }, { events: 100 }])
        }
      })
    ))
})
