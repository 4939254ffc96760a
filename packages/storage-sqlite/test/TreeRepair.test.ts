/** Erasures and derivations where pages of what is derived are no pages of a table any more. */
import { derive, PersonId, ProjectId, Reindexer, SessionId, Storage, Throttle } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { SqliteStorage } from "../src/index.ts"
import { withRecorder } from "./WithRecorder.ts"

const { Calls, Verifying } = StorageSuite

const folder = mkdtempSync(join(tmpdir(), "tachograph-"))
afterAll(() => rmSync(folder, { recursive: true }))

const project = ProjectId.make("default")

const withStorage = <A, E>(file: string, body: (storage: Storage["Service"]) => Effect.Effect<A, E>) =>
  Effect.runPromise(
    Effect.flatMap(Storage, body).pipe(Effect.provide(Layer.fresh(SqliteStorage.layer({ filename: file }))))
  )

const verify = (file: string) => withStorage(file, Verifying.verify)

const sessions = ["first-session", "second-session", "third-session"]
const people = ["first-person", "second-person"]

/** Events of each session: enough that an index of all events has pages below its first one. */
const calls = 60

/** Some sessions of some people, with all that is derived from them. */
const fill = async (file: string) => {
  const all = sessions.flatMap((session, n) => Calls.take(Calls.calls(session, people, n + 1), calls))
  await withRecorder(file, (recorder) => Effect.forEach(all, (call) => Calls.record(recorder, call)))
  await withStorage(file, (storage) => derive(storage, project, Throttle.unthrottled))
}

/** Recorded once. Closing the database has moved its log into it. */
let content: Buffer
beforeAll(async () => {
  const file = join(folder, "filled.db")
  await fill(file)
  content = readFileSync(file)
})

/** A file of its own with these sessions. */
const filled = (name: string): string => {
  const file = join(folder, `${name}.db`)
  writeFileSync(file, content)
  return file
}

/** Overwrites a page of a table or an index. Returns how many it has. */
const corrupt = (file: string, name: string, which: "first" | "last", bytes: Buffer): number => {
  const database = new DatabaseSync(file)
  const pages = database
    .prepare("SELECT pgoffset FROM dbstat WHERE name = ? ORDER BY path")
    .all(name) as unknown as ReadonlyArray<{
    readonly pgoffset: number
  }>
  database.close()
  const descriptor = openSync(file, "r+")
  writeSync(descriptor, bytes, 0, bytes.length, pages.at(which === "first" ? 0 : -1)!.pgoffset)
  closeSync(descriptor)
  return pages.length
}

const zeros = Buffer.alloc(4096)
/** The type of no page. */
const otherType = Buffer.from([0x8a])

const derived = [
  "rollups",
  "rollups_by_last_event",
  "rollups_by_last_call",
  "agent_usage",
  "storage_usage",
  "sqlite_autoindex_packs_1",
  "sqlite_autoindex_shared_pieces_1",
  "sqlite_autoindex_people_1",
  "shared_piece_owners",
  "shared_piece_owners_by_piece",
  "sessions_by_size",
  "sessions_by_id",
  "sessions_pending_sweep",
  "events_by_session",
  "events_by_agent",
  "events_by_person",
  "idempotency_keys_by_event",
  "people_by_id"
]

const ofAllEvents = ["events_by_session", "events_by_agent", "events_by_person"]

it.each(derived)("erases everything where a page of %s is malformed", async (name) => {
  for (const [which, bytes] of [
    ["first", zeros],
    ["last", zeros],
    ["last", otherType]
  ] as const) {
    const file = filled(name)
    const pages = corrupt(file, name, which, bytes)
    if (ofAllEvents.includes(name)) expect(pages).toBeGreaterThan(1)
    // If there is one page, the last is the first.
    if (pages === 1 && which === "first") continue
    const receipts = await withRecorder(file, (recorder) =>
      Effect.all([recorder.eraseSession(SessionId.make(sessions[0]!)), recorder.erasePerson(PersonId.make(people[0]!))])
    )
    expect(receipts[0]).toMatchObject({ events: calls, sessions: 1 })
    expect(receipts[1]!.events).toBeGreaterThan(20)
    const raw = readFileSync(file)
    for (const erased of [sessions[0]!, people[0]!]) expect(raw.includes(erased), erased).toBe(false)
    await withStorage(file, (storage) => derive(storage, project, Throttle.unthrottled))
    const { counts, findings } = await verify(file)
    expect(findings).toEqual([])
    expect(counts.sessions).toBe(2)
  }
})

it("erases events with traces where the page of their index is malformed", async () => {
  const file = filled("traces")
  const database = new DatabaseSync(file)
  database.exec("UPDATE events SET trace_id = event_id")
  database.close()
  corrupt(file, "events_by_trace", "last", zeros)
  const receipt = await withRecorder(file, (recorder) => recorder.eraseSession(SessionId.make(sessions[0]!)))
  expect(receipt).toMatchObject({ events: calls, sessions: 1 })
})

it.each(["rollups", "rollups_by_last_event", "rollups_by_last_call"])(
  "derives anew where a page of %s is malformed",
  async (name) => {
    const file = filled(`anew-${name}`)
    corrupt(file, name, "last", zeros)
    expect((await verify(file)).findings.map(({ problem }) => problem)).toContain("file-damaged")
    await withStorage(file, (storage) =>
      Reindexer.reindex(storage, {
        projects: [project],
        throttle: Throttle.unthrottled,
        counts: new Reindexer.Counts(),
        report: () => Effect.void
      })
    )
    expect((await verify(file)).findings).toEqual([])
  }
)
