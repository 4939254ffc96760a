/** Nothing of an erased person remains in the files. */
import {
  CurrentProject,
  defaultProject,
  IdempotencyKey,
  JsonText,
  PersonId,
  PieceScanner,
  ReadFacts,
  Recorder,
  SessionId,
  Storage
} from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { DateTime, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { spawnSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { bundle } from "../../../scripts/vitest/Program.ts"
import { sqlite, SqliteClient } from "../src/index.ts"
import { foundIn, freePages, scrubbed, logOfOnePage } from "./RawFiles.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const { Calls, StoreCheck } = StorageSuite

const eraseAndDie = await bundle("sqlite-eraseAndDie", new URL("fixtures/eraseAndDie.ts", import.meta.url))

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
        yield* scrubbed
        expect(foundIn(file, people.slice(1)).slice(0, 5)).toEqual([])
      })
    ))

  it("a person who is erased before a PUT has answered is created again", () =>
    run(
      Effect.fnUntraced(function* () {
        const [storage, sql, createdAt] = [yield* Storage, yield* SqlClient.SqlClient, yield* DateTime.now]
        // Deletes the first person as soon as they are created and counted.
        yield* sql`CREATE TRIGGER erase_first AFTER UPDATE ON projects WHEN NEW.people = 1 BEGIN DELETE FROM people; END`
        const person = { id: PersonId.make("erased at once"), properties: JsonText.unsafe(`{"a":1}`), createdAt }
        expect(yield* storage.putPerson(defaultProject, person)).toMatchObject(person)
        expect(yield* storage.getPerson(defaultProject, person.id)).toMatchObject(person)
        expect(yield* sql`SELECT people FROM projects`).toEqual([{ people: 2 }])
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

  it("overwrites deleted content, also in free pages, and empties the log", () =>
    run(
      Effect.fnUntraced(function* (file) {
        const sql = yield* SqlClient.SqlClient
        expect((yield* sql`PRAGMA secure_delete`)[0]).toMatchObject({ secure_delete: 1 })
        yield* recordAll(Calls.take(Calls.calls("s", ["alice"], 3), 30))
        yield* (yield* Recorder).eraseSession(SessionId.make("s"))
        yield* scrubbed
        expect(statSync(`${file}-wal`).size).toBeLessThanOrEqual(logOfOnePage)
        const bytes = readFileSync(file)
        const { leaves } = freePages(bytes)
        expect(leaves.length).toBeGreaterThan(10)
        const pageBytes = bytes.readUInt16BE(16)
        const isZero = (page: number) =>
          bytes.subarray((page - 1) * pageBytes, page * pageBytes).every((byte) => byte === 0)
        expect(leaves.filter((page) => !isZero(page))).toEqual([])
      })
    ))

  it("scrubs when the storage is closed", async () => {
    const file = temporaryFile()
    const person = PersonId.make("planted-bob")
    const seen = await Effect.runPromise(
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* plant("planted-bob")
        yield* storage.deletePerson(defaultProject, person)
        return foundIn(file, ["planted-bob"])
      }).pipe(Effect.provide(Layer.merge(sqlite(file), SqliteClient.layer({ filename: file }))))
    )
    expect(seen).not.toEqual([])
    expect(foundIn(file, ["planted-bob"])).toEqual([])
  })

  it.each([
    ["at the next start", scrubbed],
    ["when the next one closes the storage at once", Effect.void]
  ])("scrubs what a process that was killed has erased, %s", async (_, wait) => {
    const file = temporaryFile()
    // As they grow, SQLite moves this row to another page, and leaves a copy.
    const people = Array.from({ length: 20 }, (_, n) => (n === 12 ? "planted-bob" : `other-${n}`))
    const grown = (person: string) => JsonText.unsafe(`{"name":"${person}","more":"${Calls.noise(1, 400)}"}`)
    await Effect.runPromise(
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* Effect.forEach(people, plant)
        yield* Effect.forEach(people, (id) => storage.updatePerson(defaultProject, PersonId.make(id), grown(id)))
      }).pipe(Effect.provide(sqlite(file)))
    )
    const { signal, stderr } = spawnSync(process.execPath, [eraseAndDie.file, file, "planted-bob"], {
      encoding: "utf8"
    })
    expect([signal, stderr]).toEqual(["SIGKILL", ""])
    expect(foundIn(file, ["planted-bob"])).not.toEqual([])
    const both = Layer.merge(sqlite(file), SqliteClient.layer({ filename: file }))
    await Effect.runPromise(Effect.provide(wait, both))
    expect(foundIn(file, ["planted-bob"])).toEqual([])
  })
})

/** Creates a person without events. */
const plant = Effect.fnUntraced(function* (person: string) {
  const properties = JsonText.unsafe(`{"name":"${person}"}`)
  yield* (yield* Storage).putPerson(defaultProject, {
    id: PersonId.make(person),
    properties,
    createdAt: yield* DateTime.now
  })
})

interface Erased {
  readonly session: string
  readonly person: string
  /** The two halves of what is in all names of the event and the person's properties, and a part of its pack. */
  readonly marks: ReadonlyArray<string | Buffer>
}

describe.each([
  [200, "a small file", 0],
  [60, "a file of more than 64 MiB", 68]
])("SQLite, after %i erasures in %s", (erasures, _, mebibytes) => {
  it("no name and no text of what was erased is in any file", { timeout: 120_000 }, () =>
    run(
      Effect.fnUntraced(function* (file) {
        const [storage, recorder, sql] = [yield* Storage, yield* Recorder, yield* SqlClient.SqlClient]
        yield* Calls.putFingerprint(storage, defaultProject)
        const next = Calls.random(mebibytes)
        /** Records an event whose names are unique. */
        const record = Effect.fnUntraced(function* (n: number, textBytes: number) {
          // Random names, so that rows are inserted everywhere in the indexes.
          const mark = Calls.noise(1_000 * mebibytes + n, 24).replaceAll(/[+/]/g, "x")
          const [session, person] = [`${mark} session ${n}`, `${mark} person ${n}`]
          const model = `${mark} model`
          const stopReason = `${mark} reason`
          const key = `${mark} key`
          const creation = recorder.createEvent({
            api: "aisdk",
            fingerprintId: Calls.fingerprintId,
            session: SessionId.make(session),
            person: PersonId.make(person),
            payload: PieceScanner.ofTexts(`{"prompt":"${Calls.noise(n, textBytes)}"}`, "{}"),
            facts: ReadFacts.read("provider2-messages", { model }, { stop_reason: stopReason }),
            idempotency: { key: IdempotencyKey.make(key), bodyHash: new Uint8Array(32) }
          })
          const { id } = yield* Effect.retry(creation, {
            while: ({ _tag }) => _tag === "overloaded",
            schedule: Schedule.spaced("100 millis")
          })
          const bytes = Buffer.from((yield* storage.getEvent(defaultProject, id)).pack.bytes!)
          const middle = bytes.length >> 1
          const marks = [mark.slice(0, 12), mark.slice(12), bytes.subarray(middle, middle + 24)]
          return { session, person, marks }
        })
        const count = 2 * erasures
        const recorded = yield* Effect.forEach(
          Array.from({ length: count }, (_, n) => n),
          (n) => record(n, 100 + next(900)),
          { concurrency: 16 }
        )
        // Rows that grow are moved to other pages, and leave copies.
        yield* sql.withTransaction(
          Effect.forEach(recorded, ({ person }) => {
            const properties = `{"of":"${person}","more":"${Calls.noise(1, 100 + next(400))}"}`
            return sql`UPDATE people SET properties = ${properties} WHERE person_id = ${person}`
          })
        )
        // Packs of another project make up the size.
        yield* sql`INSERT INTO packs (project_id, session_number, pack_number, agent_number, pack)
          WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${mebibytes * 300})
          SELECT 2, 1, n, 1, randomblob(3500) FROM n`
        if (mebibytes > 0) expect(statSync(file).size).toBeGreaterThan(64 * 1024 * 1024)
        const erased: Array<Erased> = []
        while (erased.length < erasures) erased.push(...recorded.splice(next(recorded.length), 1))
        expect(
          foundIn(
            file,
            erased.flatMap(({ marks }) => marks)
          ).length
        ).toBeGreaterThan(3 * erasures)
        for (const [index, { person, session }] of erased.entries()) {
          if (index % 2 === 0) yield* recorder.erasePerson(PersonId.make(person))
          else {
            yield* recorder.eraseSession(SessionId.make(session))
            yield* recorder.erasePerson(PersonId.make(person))
          }
        }
        yield* scrubbed
        expect(
          foundIn(
            file,
            erased.flatMap(({ marks }) => marks)
          )
        ).toEqual([])
        const kept = foundIn(
          file,
          recorded.flatMap(({ marks }) => marks)
        )
        expect(new Set(kept.map((found) => found.split(": ")[1])).size).toBe(3 * recorded.length)
        expect((yield* sql`PRAGMA integrity_check`)[0]).toMatchObject({ integrity_check: "ok" })
        expect((yield* StoreCheck.look(storage, defaultProject)).problems).toEqual([])
      })
    )
  )
})
