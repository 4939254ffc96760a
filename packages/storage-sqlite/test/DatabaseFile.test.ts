/** The files of a database: who may read them, and what happens when they are removed or replaced while they are open. */
import { assert, describe, it } from "@effect/vitest"
import { defaultProject, PersonId, Storage } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect } from "vitest"
import { sqlite, SqliteClient } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const modeOf = (file: string) => statSync(file).mode & 0o777

const withUmask = (mask: number, body: () => Promise<void>) => {
  const former = process.umask(mask)
  return body().finally(() => process.umask(former))
}

/** Appends an event to a session. */
const append = Effect.fnUntraced(function* (n: number) {
  const storage = yield* Storage
  yield* Samples.append(storage, [Samples.appendEvent(Samples.eventId(n))])
})

const run = <A, E>(file: string, body: Effect.Effect<A, E, Storage>) =>
  Effect.runPromise(Effect.provide(body, sqlite(file)))

const tagOf = <E extends { readonly _tag: string }, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.map(Effect.result(effect), (result) => (result._tag === "Failure" ? result.failure._tag : "succeeded"))

describe("Modes", () => {
  it.each([0, 0o022, 0o277, 0o777])("creates the files with mode 0600 with umask %o", (mask) => {
    const file = temporaryFile()
    return withUmask(mask, () =>
      run(
        file,
        Effect.map(append(1), () => {
          for (const suffix of ["", "-wal", "-shm"]) expect([suffix, modeOf(file + suffix)]).toEqual([suffix, 0o600])
        })
      )
    )
  })

  it("creates a file that a symbolic link leads to with mode 0600", () => {
    const file = temporaryFile()
    const target = join(dirname(file), "target.db")
    symlinkSync(target, file)
    return run(
      file,
      Effect.map(append(1), () => {
        for (const suffix of ["", "-wal", "-shm"]) expect([suffix, modeOf(target + suffix)]).toEqual([suffix, 0o600])
      })
    )
  })

  it("leaves the mode of an existing file, which its log also gets", async () => {
    const file = temporaryFile()
    writeFileSync(file, "")
    chmodSync(file, 0o640)
    await run(
      file,
      Effect.map(append(1), () => {
        for (const suffix of ["", "-wal", "-shm"]) expect([suffix, modeOf(file + suffix)]).toEqual([suffix, 0o640])
      })
    )
    chmodSync(file, 0o644)
    await run(file, append(2))
    expect(modeOf(file)).toBe(0o644)
  })
})

describe("A database file that is removed or replaced while it is open", () => {
  const other = (file: string) => join(dirname(file), "other.db")

  it.each([
    ["removed", (file: string) => unlinkSync(file)],
    ["moved away", (file: string) => renameSync(file, other(file))],
    [
      "replaced by a copy",
      (file: string) => {
        copyFileSync(file, other(file))
        renameSync(other(file), file)
      }
    ],
    [
      "moved away with its folder",
      (file: string) => {
        renameSync(dirname(file), join(dirname(temporaryFile()), "moved"))
        mkdirSync(dirname(file))
      }
    ],
    ["left without its log", (file: string) => unlinkSync(`${file}-wal`)],
    ["left without the index of its log", (file: string) => unlinkSync(`${file}-shm`)]
  ])("acknowledges nothing when it was %s", (_, change) => {
    const file = temporaryFile()
    return run(
      file,
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* append(1)
        yield* storage.ping
        change(file)
        expect(yield* tagOf(storage.ping)).toBe("storage-unavailable")
        expect(yield* tagOf(append(2))).toBe("storage-unavailable")
        // A single statement, which commits by itself.
        const lease = storage.takeLease("l", "a", Samples.appendEvent(Samples.eventId(1)).summary.receivedAt)
        expect(yield* tagOf(lease)).toBe("storage-unavailable")
      })
    )
  })

  it("says which file, and records again when it is back", () => {
    const file = temporaryFile()
    return run(
      file,
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* append(1)
        renameSync(file, other(file))
        const error = yield* Effect.flip(storage.ping)
        expect(String((error.cause as Error).cause)).toContain(`${file} was removed while it was open`)
        yield* Effect.flip(append(2))
        renameSync(other(file), file)
        yield* storage.ping
        yield* append(3)
        const events = yield* storage.listEvents(defaultProject, { order: "asc", limit: 10 })
        // The event that was refused was committed to the file that was away.
        expect(events.map(({ id }) => id)).toEqual([1, 2, 3].map((n) => Samples.eventId(n)))
      })
    )
  })

  it("follows a symbolic link", () => {
    const file = temporaryFile()
    const target = join(dirname(file), "target.db")
    symlinkSync(target, file)
    return run(
      file,
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* append(1)
        expect(existsSync(`${target}-wal`)).toBe(true)
        unlinkSync(file)
        symlinkSync(other(file), file)
        expect(yield* tagOf(append(2))).toBe("storage-unavailable")
        unlinkSync(file)
        linkSync(target, file)
        yield* storage.ping
        yield* append(3)
      })
    )
  })
})

describe("Databases without a file of their own", () => {
  it.effect("records in memory", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* append(1)
      yield* storage.ping
      assert.lengthOf(yield* storage.listEvents(defaultProject, { order: "asc", limit: 10 }), 1)
    }).pipe(Effect.provide(sqlite(":memory:")))
  )

  it("reads a file that is opened read-only", async () => {
    const file = temporaryFile()
    await run(file, append(1))
    const verdict = await Effect.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* (yield* SqliteClient.SqliteClient).verifyFile
        const write = yield* tagOf(sql`DELETE FROM events`)
        return { rows: yield* sql`SELECT count(*) AS events FROM events`, write }
      }).pipe(Effect.provide(SqliteClient.layer({ filename: `file:${file}?mode=ro` })))
    )
    expect(verdict).toEqual({ rows: [{ events: 1 }], write: "SqlError" })
    expect(
      await run(
        file,
        Effect.flatMap(Storage, (storage) => tagOf(storage.getPerson(defaultProject, PersonId.make("p"))))
      )
    ).toBe("person-not-found")
  })
})

describe("The log", () => {
  it.each([
    ["emptied", 0],
    ["cut", -4_096]
  ])("is noticed to be %s in place, before anything else is written", (_, length) => {
    const file = temporaryFile()
    return run(
      file,
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* append(1)
        const size = statSync(`${file}-wal`).size
        truncateSync(`${file}-wal`, length === 0 ? 0 : size + length)
        expect(yield* tagOf(storage.ping)).toBe("storage-unavailable")
        expect(yield* tagOf(append(2))).toBe("storage-unavailable")
        expect(statSync(`${file}-wal`).size).toBeLessThan(size)
        expect(yield* tagOf(append(3))).toBe("storage-unavailable")
      })
    )
  })

  it("may be emptied by another connection, which copies it to the database first", () => {
    const file = temporaryFile()
    return run(
      file,
      Effect.gen(function* () {
        for (let n = 1; n <= 20; n++) {
          yield* append(n)
          const other = new DatabaseSync(file)
          expect(other.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0 })
          expect(statSync(`${file}-wal`).size).toBe(0)
          other.close()
        }
        expect(yield* tagOf((yield* Storage).ping)).toBe("succeeded")
        expect(yield* (yield* Storage).listEvents(Samples.project, { order: "asc", limit: 100 })).toHaveLength(20)
      })
    )
  })
})
