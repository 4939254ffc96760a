/** Nothing of an erased person remains in the files. */
import { CurrentProject, defaultProject, JsonText, PersonId, Recorder, SessionId, Storage } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { sqlite, SqliteClient } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const { Calls, StoreCheck, TableCheck } = StorageSuite

/** Occurrences of the strings in the database file and its write-ahead log. */
const foundIn = (file: string, strings: ReadonlyArray<string>) =>
  [file, `${file}-wal`].flatMap((each) => {
    const bytes = readFileSync(each)
    return strings.flatMap((text) => (bytes.includes(text) ? [`${each}: ${text}`] : []))
  })

const run = <A, E>(body: (file: string) => Effect.Effect<A, E, Storage | Recorder | SqlClient.SqlClient>) => {
  const file = temporaryFile()
  const storage = sqlite(file)
  const layers = Layer.mergeAll(
    Recorder.layer.pipe(Layer.provideMerge(storage)),
    SqliteClient.layer({ filename: file })
  )
  return Effect.runPromise(Effect.provide(body(file), layers))
}

const recordAll = Effect.fnUntraced(function* (calls: ReadonlyArray<StorageSuite.Calls.Call>) {
  yield* Calls.putFingerprint(yield* Storage, yield* CurrentProject)
  const recorder = yield* Recorder
  return yield* Effect.forEach(calls, (call) => Calls.record(recorder, call), { concurrency: 32 })
})

describe("SQLite, after an erasure", () => {
  it("the file, its log and the packs contain nothing of the person", () =>
    run(
      Effect.fnUntraced(function* (file) {
        const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
        const calls = [
          ...Calls.take(Calls.calls("shared", ["planted-alice", "bob"], 1), 120),
          ...Calls.take(Calls.calls("planted session", ["planted-alice"], 2), 20)
        ]
        const ids = yield* recordAll(calls)
        // Names are stored uncompressed, so a search of the files finds them before the erasure.
        const names = ["planted-alice", "planted session"]
        expect(new Set(foundIn(file, names).map((found) => found.split(": ")[1]))).toEqual(new Set(names))
        const totals = Effect.map(
          sql<{ events: number; sessions: number; bytes: number }>`SELECT
            (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM sessions) AS sessions,
            (SELECT sum(length(pack)) FROM packs) + (SELECT coalesce(sum(length(piece)), 0) FROM shared_pieces) AS bytes`,
          ([row]) => row!
        )
        const before = yield* totals
        const { pieces } = yield* StoreCheck.look(storage, defaultProject)

        const receipt = yield* (yield* Recorder).erasePerson(PersonId.make("planted-alice"))
        const log = readFileSync(`${file}-wal`)
        expect(log.length).toBe(0)
        expect(foundIn(file, names)).toEqual([])
        expect(yield* sql`SELECT * FROM people WHERE person_id = 'planted-alice'`).toEqual([])
        const after = yield* totals
        const found = yield* StoreCheck.look(storage, defaultProject, [Calls.markOf("planted-alice")])
        expect([...found.problems, ...(yield* TableCheck.look(sql))]).toEqual([])
        expect(receipt).toEqual({
          events: before.events - after.events,
          sessions: before.sessions - after.sessions,
          pieces: pieces - found.pieces,
          bytes: before.bytes - after.bytes,
          damaged: 0
        })
        const recorder = yield* Recorder
        for (const [index, call] of calls.entries()) {
          if (call.person === "bob") expect(yield* Calls.isAsSent(recorder, ids[index]!, call)).toBe(true)
        }
        expect((yield* sql`PRAGMA integrity_check`)[0]).toMatchObject({ integrity_check: "ok" })
      })
    ))

  // SQLite leaves copies behind when it moves rows between pages.
  it("the file contains no copies of erased people's rows that SQLite had moved", () =>
    run(
      Effect.fnUntraced(function* (file) {
        const storage = yield* Storage
        const createdAt = yield* DateTime.now
        const people = Array.from({ length: 90 }, (_, n) => `planted-${n}-${Calls.noise(n, 20)}`)
        for (const person of people) {
          const properties = JsonText.unsafe(
            `{"name":"${person}","more":"${Calls.noise(1, 100 + (person.length % 7) * 50)}"}`
          )
          yield* storage.putPerson(defaultProject, { id: PersonId.make(person), properties, createdAt })
        }
        for (const step of [2, 3, 5, 1]) {
          for (const [index, person] of people.entries()) {
            if (index % step === 0 && index > 0)
              yield* Effect.ignore(storage.deletePerson(defaultProject, PersonId.make(person)))
          }
        }
        yield* storage.scrub
        expect(foundIn(file, people.slice(1)).slice(0, 5)).toEqual([])
      })
    ))

  it("the packs contain nothing of three people whose erasures overlap in the same session", () =>
    run(
      Effect.fnUntraced(function* () {
        const storage = yield* Storage
        const people = ["alice", "bob", "carol", "dave"]
        yield* recordAll(
          Array.from({ length: 320 }, (_, n) => {
            const person = people[n % people.length]!
            return { session: "long", person, inputs: `{"prompt":"${Calls.markOf(person)} ${n}"}`, output: "{}" }
          })
        )
        const erase = (person: string, over: Storage["Service"]) =>
          Effect.provide(
            Effect.flatMap(Recorder, (recorder) => recorder.erasePerson(PersonId.make(person))),
            Calls.recorderOver(over)
          )
        // Between two steps of erasing alice, bob is erased, and the erasure of carol deletes her events but does not sweep.
        let isFirst = true
        const overlapping = Effect.suspend(() => {
          if (!isFirst) return Effect.void
          isFirst = false
          return Effect.andThen(
            Effect.orDie(erase("bob", storage)),
            storage.eraseEvents(defaultProject, { person: PersonId.make("carol") }, 1_000)
          )
        })
        yield* erase("alice", {
          ...storage,
          sweepPacks: (...args) => Effect.tap(storage.sweepPacks(...args), () => overlapping)
        })
        yield* erase("carol", storage)
        const { problems } = yield* StoreCheck.look(storage, defaultProject, people.slice(0, 3).map(Calls.markOf))
        expect(problems.slice(0, 3)).toEqual([])
      })
    ))

  it("overwrites deleted content, and returns its pages", () =>
    run(
      Effect.fnUntraced(function* (file) {
        const sql = yield* SqlClient.SqlClient
        expect((yield* sql`PRAGMA secure_delete`)[0]).toMatchObject({ secure_delete: 1 })
        yield* recordAll(Calls.take(Calls.calls("s", ["alice"], 3), 30))
        yield* (yield* Recorder).eraseSession(SessionId.make("s"))
        expect(readFileSync(`${file}-wal`).length).toBe(0)
        // A file of this size is rewritten, so it has no free pages.
        expect((yield* sql`PRAGMA freelist_count`)[0]).toMatchObject({ freelist_count: 0 })
      })
    ))

  it("scrubs after the next erasure if the scrub of an erasure was interrupted", () =>
    run(
      Effect.fnUntraced(function* (file) {
        const [storage, recorder] = [yield* Storage, yield* Recorder]
        yield* recordAll(Calls.take(Calls.calls("planted session", ["planted-alice"], 3), 30))
        // An erasure without its last step.
        yield* storage.eraseEvents(defaultProject, { person: PersonId.make("planted-alice") }, 100)
        const other = Effect.ignore(recorder.eraseSession(SessionId.make("no such session")))
        yield* recorder.eraseSession(SessionId.make("planted session"))
        yield* storage.putPerson(defaultProject, {
          id: PersonId.make("planted-bob"),
          properties: JsonText.unsafe("{}"),
          createdAt: yield* DateTime.now
        })
        yield* storage.deletePerson(defaultProject, PersonId.make("planted-bob"))
        expect(foundIn(file, ["planted-bob"])).not.toEqual([])
        yield* other
        expect(foundIn(file, ["planted-bob"])).toEqual([])
      })
    ))
})
