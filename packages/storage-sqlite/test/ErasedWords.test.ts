/** Words of a session and of a person that are erased, in every text that a user chose, are in no byte of the files. */
import { defaultProject, derive, Recorder, SessionId, Storage, Throttle } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { sqlite, SqliteClient } from "../src/index.ts"
import { foundIn } from "./RawFiles.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const { Calls, PlantedWords, StoreCheck, TableCheck } = StorageSuite
const { words } = PlantedWords

/** In which files they are. */
const found = (file: string, word: string) => {
  const { bytes, texts } = PlantedWords.tracesOf(word)
  return foundIn(file, [...bytes, ...texts])
}

it("leaves no word of an erased session or person in any file, whether or not it was added up", async () => {
  const file = temporaryFile()
  await Effect.runPromise(
    Effect.gen(function* () {
      const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
      yield* Calls.putFingerprint(storage, defaultProject)
      yield* PlantedWords.putPerson(storage, defaultProject, words.person)
      yield* Effect.gen(function* () {
        const recorder = yield* Recorder
        yield* PlantedWords.recordAll(recorder, Calls.fingerprintId, 0, 20)
        yield* derive(storage, defaultProject, Throttle.unthrottled)
        yield* PlantedWords.recordAll(recorder, Calls.fingerprintId, 20, 30)
        // Titles and sums were asked for.
        expect((yield* recorder.listSessions({ order: "asc", limit: 10 })).rows).toHaveLength(3)
        yield* recorder.sumUsage({ groupBy: ["model"], timeZone: "UTC", limit: 100 })
        expect(found(file, words.session).length).toBeGreaterThan(2)
        expect(found(file, words.person).length).toBeGreaterThan(2)
        const models = yield* sql<{ model: string }>`SELECT DISTINCT model FROM rollups WHERE model <> ''`
        expect(models).toHaveLength(3)

        yield* recorder.eraseSession(PlantedWords.sessionOf(words.session))
        yield* recorder.erasePerson(PlantedWords.personOf(words.person))
        const { rows } = yield* recorder.listSessions({ order: "asc", limit: 10 })
        expect(rows.map(({ session }) => session)).toEqual([SessionId.make("shared")])
        const usage = yield* recorder.sumUsage({ groupBy: ["model"], timeZone: "UTC", limit: 100 })
        expect(usage.groups.reduce((sum, { events }) => sum + events, 0)).toBe(30)
        const { problems } = yield* StoreCheck.look(storage, defaultProject, [words.session, words.person])
        expect([...problems, ...(yield* TableCheck.look(sql))]).toEqual([])
      }).pipe(Effect.provide(Calls.recorderOver(storage)))
    }).pipe(
      Effect.provide(Layer.merge(sqlite(file), SqliteClient.layer({ filename: file }))),
      Effect.provide(Logger.layer([]))
    )
  )
  expect(found(file, words.session)).toEqual([])
  expect(found(file, words.person)).toEqual([])
  expect(found(file, words.kept).length).toBeGreaterThan(2)
  expect(readFileSync(file).includes("agent")).toBe(true)
})
