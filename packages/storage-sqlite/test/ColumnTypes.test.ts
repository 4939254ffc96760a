/** Values of another type than their column's, which one changed bit in the head of a row makes of what was there. */
import {
  AgentName,
  CurrentProject,
  type Errors,
  PersonId,
  Recorder,
  SessionId,
  Storage,
  Verifier
} from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect } from "effect"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { withRecorder } from "./WithRecorder.ts"

const { Calls, Steps } = StorageSuite

const folder = mkdtempSync(join(tmpdir(), "tachograph-"))
afterAll(() => rmSync(folder, { recursive: true }))

const sent = [
  ...Calls.take(Calls.calls("one", ["alice", "bob"], 1), 8),
  ...Calls.take(Calls.calls("two", ["alice", "bob"], 2), 8)
].map((call, index) => ({ ...call, key: `key ${index}` }))
const whole = join(folder, "whole.db")
let ids: ReadonlyArray<Effect.Success<ReturnType<typeof Calls.record>>> = []

beforeAll(async () => {
  ids = await withRecorder(whole, (recorder) => Effect.forEach(sent, (call) => Calls.record(recorder, call)))
  await withRecorder(whole, (recorder) =>
    Effect.forEach(["one", "two"], (session) =>
      recorder.recordSteps({
        session: SessionId.make(session),
        agent: AgentName.make("agent 5"),
        steps: [1, 2, 3].map((n) => Steps.stepOf(n))
      })
    )
  )
})

/** Returns the path of a copy in which a column of every row has another value. */
const damaged = (table: string, column: string, value: string): string => {
  const file = join(folder, "damaged.db")
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true })
  copyFileSync(whole, file)
  const database = new DatabaseSync(file)
  expect(database.prepare(`UPDATE ${table} SET ${column} = ${value}`).run().changes).toBeGreaterThan(0)
  database.close()
  return file
}

const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onSuccess: () => "ok", onFailure: ({ _tag }) => _tag })

/** What every read of an event, and of the lists, says. */
const read = (recorder: Recorder["Service"]) =>
  Effect.gen(function* () {
    const answers = new Set<string>()
    for (const [index, id] of ids.entries()) {
      const answer = yield* Effect.match(Calls.isAsSent(recorder, id, sent[index]!), {
        onSuccess: (isAsSent) => (isAsSent ? "as sent" : "different"),
        onFailure: ({ _tag }) => _tag
      })
      answers.add(answer)
    }
    for (const order of ["asc", "desc"] as const) {
      expect(["ok", "event-damaged"]).toContain(yield* tagOf(recorder.listEvents({ order, limit: 100 })))
    }
    for (const limit of [2, 10]) {
      const { damaged, rows } = yield* recorder.listSteps(SessionId.make("one"), { limit })
      expect(damaged + rows.length).toBe(Math.min(limit, 3))
    }
    yield* recorder.storageUsage(10)
    return Array.from(answers)
  })

/** Records in both sessions, and reads what was recorded as another process does. */
const record = (recorder: Recorder["Service"], storage: Storage["Service"]) =>
  Effect.forEach(["one", "two"], (session) =>
    Effect.gen(function* () {
      const call = { ...sent.findLast((each) => each.session === session)!, key: undefined }
      const id = yield* Calls.record(recorder, call)
      return yield* Effect.provide(
        Effect.flatMap(Recorder, (other) => Calls.isAsSent(other, id, call)),
        Calls.recorderOver(storage)
      )
    })
  )

/** Rows that are left of what was erased. */
const leftIn = (file: string) => {
  const database = new DatabaseSync(file)
  const count = (of: string) =>
    (database.prepare(`SELECT count(*) AS count FROM ${of}`).get() as { count: number }).count
  const left = [
    "events",
    "steps",
    "packs",
    "shared_pieces",
    "shared_piece_owners",
    "idempotency_keys",
    "sessions",
    "people"
  ]
    .map((table) => [table, count(table)] as const)
    .filter(([, rows]) => rows > 0)
  database.close()
  return Object.fromEntries(left)
}

type Case = [
  table: string,
  column: string,
  value: string,
  answers: ReadonlyArray<string>,
  left?: Readonly<Record<string, number>>
]

const asText = (column: string) => `CAST(${column} AS TEXT)`

describe("a value of another type than its column's", () => {
  it.each<Case>([
    ["packs", "pack", asText("pack"), ["as sent"]],
    ["shared_pieces", "piece", asText("piece"), ["as sent"]],
    ["event_kinds", "fingerprint_id", asText("fingerprint_id"), ["event-damaged"]],
    ["events", "event_id", asText("event_id"), ["event-not-found"]],
    // Nothing leads from the key of an event to its changed id.
    [
      "events",
      "event_id",
      "inputs_bytes * 1000 + pack_number * 10 + session_number",
      ["event-not-found"],
      { idempotency_keys: 16 }
    ],
    ["events", "received_after", "'7 text'", ["event-damaged"]],
    ["shared_piece_owners", "sha256", asText("sha256"), ["as sent"]],
    ["steps", "trace_id", asText("trace_id"), ["as sent"]],
    ["steps", "span_id", asText("span_id"), ["as sent"]],
    ["steps", "occurred_at", "'{bad'", ["as sent"]],
    ["steps", "received_at", "'{bad'", ["as sent"]],
    ["steps", "text_bytes", "'{bad'", ["as sent"]],
    ["idempotency_keys", "event_id", asText("event_id"), ["as sent"]],
    ["sessions", "history", "'{bad'", ["as sent"]],
    ["sessions", "packs", "'{bad'", ["as sent"]],
    ["sessions", "generation", "'{bad'", ["as sent"]],
    ["people", "properties", "CAST(properties AS BLOB)", ["as sent"]],
    ["storage_usage", "entries", "-4611686018427387904", ["as sent"]],
    ["storage_usage", "entries", "'text'", ["as sent"]]
  ])(
    "%s.%s = %s: is read as damage or as it was, recorded beside, and erased",
    async (table, column, value, answers, left = {}) => {
      const file = damaged(table, column, value)
      await withRecorder(file, (recorder) =>
        Effect.gen(function* () {
          expect(yield* read(recorder)).toEqual(answers)
          expect(yield* record(recorder, yield* Storage)).toEqual([true, true])
          for (const person of ["alice", "bob"]) {
            yield* recorder.erasePerson(PersonId.make(person))
            expect(yield* tagOf(recorder.erasePerson(PersonId.make(person)))).toBe("person-not-found")
          }
          expect(yield* tagOf(recorder.eraseSession(SessionId.make("one")))).toBe("session-not-found")
        })
      )
      expect(leftIn(file)).toEqual(left)
    }
  )

  it("in the id of an event: is found by a verification", async () => {
    const problems: Array<string> = []
    await withRecorder(damaged("events", "event_id", asText("event_id")), () =>
      Effect.gen(function* () {
        const report = ({ problem }: Verifier.Finding) => Effect.sync(() => void problems.push(problem))
        yield* Verifier.verify(yield* Storage, {
          projects: [yield* CurrentProject],
          report,
          counts: new Verifier.Counts(),
          throttle: (step) => step
        })
      })
    )
    expect(problems.filter((problem) => problem === "event-not-found")).toHaveLength(ids.length)
  })

  it("in the number of a session: does not let its erasure seem to succeed", async () => {
    const file = damaged("sessions", "session_number", "'x' || session_number")
    const tags = await withRecorder(file, (recorder) => {
      const erase = tagOf(recorder.eraseSession(SessionId.make("one")))
      return Effect.all([erase, erase])
    })
    expect(tags).toEqual(["storage-unavailable", "storage-unavailable"])
  })

  it("in a description: is returned as it is stored", async () => {
    const name = AgentName.make("agent 3")
    const file = damaged("agents", "description", "'{bad'")
    const { description } = await withRecorder(file, (recorder) => recorder.getAgent(name))
    expect(description).toBe("{bad")
  })

  it.each<
    [
      table: string,
      column: string,
      list: (recorder: Recorder["Service"]) => Effect.Effect<unknown, Errors.StorageUnavailable>
    ]
  >([
    ["fingerprints", "fields", ({ listFingerprints }) => listFingerprints({ after: undefined, limit: 9 })],
    ["people", "properties", ({ listPeople }) => listPeople({ after: undefined, limit: 9 })]
  ])("in the text %s.%s: is answered as damage by the list", async (table, column, list) => {
    const error = await withRecorder(damaged(table, column, "'{bad'"), (recorder) => Effect.flip(list(recorder)))
    expect(error).toMatchObject({ _tag: "storage-unavailable", cause: { name: "Damage" } })
  })
})
