/** Damage that SQLite itself finds: pages of the file that are no pages of a table. */
import { type EventId, PersonId, type Recorder, SessionId, Storage } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { SqliteStorage } from "../src/index.ts"
import { withRecorder } from "./WithRecorder.ts"

const { Calls, Verifying } = StorageSuite

const folder = mkdtempSync(join(tmpdir(), "tachograph-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** Overwrites the header of every other page that holds rows of a table, but for the last, to which SQLite adds new rows. */
const corrupt = (file: string, table: string): number => {
  const database = new DatabaseSync(file)
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)")
  const pages = database
    .prepare("SELECT pageno, pgoffset FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno")
    .all(table) as unknown as ReadonlyArray<{ readonly pageno: number; readonly pgoffset: number }>
  database.close()
  const damaged = pages.slice(0, -1).filter((_, index) => index % 2 === 1)
  const descriptor = openSync(file, "r+")
  for (const { pgoffset } of damaged) writeSync(descriptor, Buffer.alloc(8, 0xee), 0, 8, pgoffset)
  closeSync(descriptor)
  return damaged.length
}

it("answers event-damaged for what SQLite calls corrupt, and records in other sessions", async () => {
  const file = join(folder, "corrupt.db")
  const calls = Calls.take(Calls.calls("s", ["alice"], 1), 60)
  const ids = await withRecorder(file, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))
  expect(corrupt(file, "packs")).toBeGreaterThan(1)

  const readAll = (recorder: Recorder["Service"], ids: ReadonlyArray<EventId>) =>
    Effect.forEach(ids, (id, index) =>
      Calls.isAsSent(recorder, id, calls[index]!).pipe(
        Effect.map((isAsSent) => (isAsSent ? "as sent" : "different")),
        Effect.catch(({ _tag }) => Effect.succeed(_tag))
      )
    )
  const outcomes = await withRecorder(file, (recorder) => readAll(recorder, ids))
  expect(new Set(outcomes)).toEqual(new Set(["as sent", "event-damaged"]))

  const more = { ...calls[0]!, session: "another" }
  await withRecorder(file, (recorder) =>
    Effect.gen(function* () {
      const id = yield* Calls.record(recorder, more)
      expect(yield* Calls.isAsSent(recorder, id, more)).toBe(true)
    })
  )
})

/** Deletes rows of a table, and leaves them in an index. */
const deleteOnlyFromTable = (file: string, index: string, deletion: string) => {
  const database = new DatabaseSync(file, { defensive: false })
  const { sql } = database.prepare("SELECT sql FROM sqlite_schema WHERE name = ?").get(index) as { sql: string }
  const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(index) as {
    rootpage: number
  }
  database.exec("PRAGMA writable_schema = ON")
  database.prepare("DELETE FROM sqlite_schema WHERE name = ?").run(index)
  database.close()
  const without = new DatabaseSync(file, { defensive: false })
  without.exec(deletion)
  without.exec("PRAGMA writable_schema = ON")
  const table = / ON (\w+)/.exec(sql)![1]!
  without.prepare("INSERT INTO sqlite_schema VALUES ('index', ?, ?, ?, ?)").run(index, table, rootpage, sql)
  without.close()
}

it("ends an erasure where an index has events that the table has not", async () => {
  const file = join(folder, "stale.db")
  const calls = Calls.take(Calls.calls("s", ["alice", "bob"], 1), 12)
  await withRecorder(file, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))
  deleteOnlyFromTable(file, "events_by_person", "DELETE FROM events")
  const error = await withRecorder(file, (recorder) => Effect.flip(recorder.erasePerson(PersonId.make("alice"))))
  expect(error._tag).toBe("storage-unavailable")
})

/** Where the first page of a table or an index begins in the file. */
const rootOf = (file: string, name: string): number => {
  const database = new DatabaseSync(file)
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)")
  const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name) as {
    readonly rootpage: number
  }
  const { page_size } = database.prepare("PRAGMA page_size").get() as { readonly page_size: number }
  database.close()
  return (rootpage - 1) * page_size
}

/** Overwrites the header of the first page of a table or an index. */
const corruptRoot = (file: string, name: string): void => {
  const at = rootOf(file, name)
  const descriptor = openSync(file, "r+")
  writeSync(descriptor, Buffer.alloc(8), 0, 8, at)
  closeSync(descriptor)
}

const verify = (file: string) =>
  Effect.runPromise(
    Effect.flatMap(Storage, Verifying.verify).pipe(Effect.provide(Layer.fresh(SqliteStorage.layer({ filename: file }))))
  )

const problemsOf = ({ findings }: StorageSuite.Verifying.Verified) => new Set(findings.map(({ problem }) => problem))

let files = 0

/** A file with three events in each of these sessions, a table or index of which is corrupt. */
const corrupted = async (name: string, sessions: ReadonlyArray<string> = ["s", "t"]) => {
  const file = join(folder, `${files++}.db`)
  const calls = sessions.flatMap((session) => Calls.take(Calls.calls(session, [`of ${session}`], 1), 3))
  await withRecorder(file, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))
  corruptRoot(file, name)
  return { file, calls }
}

it.each(["storage_usage", "shared_piece_owners"])(
  "verifies every event where no row of %s can be read",
  async (table) => {
    const { calls, file } = await corrupted(table)
    const verified = await verify(file)
    expect(problemsOf(verified)).toEqual(new Set(["file-damaged", "unreadable"]))
    expect(verified.findings.flatMap(({ session }) => session ?? [])).toEqual(["s", "t"])
    expect(verified.counts).toMatchObject({ sessions: 2, events: calls.length, damagedEvents: 0 })
  }
)

it("verifies every event where the lists of sessions cannot be read", async () => {
  const { calls, file } = await corrupted("events_by_session")
  const { counts, findings } = await verify(file)
  expect(problemsOf({ counts, findings })).toEqual(new Set(["file-damaged", "unreadable"]))
  expect(counts).toMatchObject({ sessions: 2, events: calls.length, damagedEvents: 0 })
})

it("erases where the index of pending sessions is corrupt, which a verification finds", async () => {
  const { file } = await corrupted("sessions_pending_sweep", ["s", "t", "u"])
  expect((await verify(file)).findings).toMatchObject([
    { problem: "file-damaged", reason: expect.stringMatching(/^Table sessions: /) }
  ])
  const receipts = await withRecorder(file, (recorder) =>
    Effect.all([recorder.eraseSession(SessionId.make("s")), recorder.erasePerson(PersonId.make("of t"))])
  )
  expect(receipts).toMatchObject([
    { events: 3, sessions: 1, damaged: 0 },
    { events: 3, sessions: 1, damaged: 0 }
  ])
  const verified = await verify(file)
  expect(verified.counts).toMatchObject({ sessions: 1, events: 3 })
})

it("erases a session whose name in its row is not the one in the index", async () => {
  const file = join(folder, "name.db")
  const calls = Calls.take(Calls.calls("planted-name", ["alice"], 1), 3)
  await withRecorder(file, (recorder) => Effect.forEach(calls, (call) => Calls.record(recorder, call)))
  const bytes = readFileSync(file)
  const page = rootOf(file, "sessions")
  const at = bytes.indexOf("planted-name", page)
  expect(at).toBeLessThan(page + 4096)
  bytes[at]! ^= 1
  writeFileSync(file, bytes)
  const receipt = await withRecorder(file, (recorder) => recorder.eraseSession(SessionId.make("planted-name")))
  expect(receipt).toMatchObject({ events: 3, sessions: 1 })
  expect(problemsOf(await verify(file))).toEqual(new Set())
})

it.each(["packs", "events_by_session", "storage_usage", "shared_piece_owners"])(
  "says of an erasure that malformed pages of %s prevent that the database is damaged",
  async (name) => {
    const { file } = await corrupted(name)
    const error = await withRecorder(file, (recorder) => Effect.flip(recorder.eraseSession(SessionId.make("s"))))
    expect(error).toMatchObject({ _tag: "storage-unavailable", cause: { name: "Damage" } })
  }
)
