/**
 * What recording repairs in a SQL storage whose rows were changed behind its back: `RepairSuite.run("my storage", () => layer)`
 * in a vitest file; the layer opens an empty storage, and a client of its database.
 */
import { CurrentProject, type EventId, JsonText, PersonId, Recorder, SessionId, Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import * as Calls from "./check/Calls.ts"
import * as RollupRepairs from "./RollupRepairs.ts"

type Services = Storage | SqlClient.SqlClient
type Recorded = ReadonlyArray<{ readonly id: EventId; readonly call: Calls.Call }>

/** With a recorder of its own, as in a process that was started after the damage. */
const within = <A, E>(body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    yield* Calls.putFingerprint(storage, yield* CurrentProject)
    return yield* Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))
  })

const recordWith = (recorder: Recorder["Service"], calls: ReadonlyArray<Calls.Call>) =>
  Effect.forEach(calls, (call) => Effect.map(Calls.record(recorder, call), (id) => ({ id, call })))

const record = (calls: ReadonlyArray<Calls.Call>) => within((recorder) => recordWith(recorder, calls))

/** How many of the events are refused as damaged. Fails if one is returned with other bytes, or not found. */
const damagedAmong = (recorded: Recorded) =>
  within((recorder) =>
    Effect.forEach(recorded, ({ call, id }) =>
      Effect.matchEffect(Calls.isAsSent(recorder, id, call), {
        onFailure: ({ _tag }) => Effect.sync(() => (expect(_tag).toBe("event-damaged"), 1)),
        onSuccess: (isAsSent) => Effect.sync(() => (expect(isAsSent).toBe(true), 0))
      })
    )
  ).pipe(Effect.map((counts) => counts.reduce<number>((sum, each) => sum + each, 0)))

/** What the damage of anything but an event is answered with. */
const storageDamaged = { _tag: "storage-unavailable", cause: { name: "Damage" } }

const people = ["alice", "bob"]
const callsOf = (session: string, count: number) => Calls.take(Calls.calls(session, people, 1), count)

const updatePieces = Effect.fnUntraced(function* (change: (piece: Buffer) => Buffer) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ sha256: Uint8Array; piece: Uint8Array }>`SELECT sha256, piece FROM shared_pieces`
  for (const { piece, sha256 } of rows) {
    yield* sql`UPDATE shared_pieces SET piece = ${change(Buffer.from(piece))} WHERE sha256 = ${sha256}`
  }
  return rows.length
})

const flipped = (bytes: Buffer): Buffer => {
  bytes[bytes.length >>> 1]! ^= 4
  return bytes
}

/** Statements that lower each counter of names, so that the next number is taken. */
const lowered = [
  "UPDATE projects SET agents = agents - 1",
  "UPDATE projects SET people = people - 2",
  "UPDATE projects SET sessions = sessions - 2",
  "UPDATE agents SET versions = 0"
]

export const run = (name: string, layer: () => Layer.Layer<Services, unknown>) => {
  const test = (title: string, body: Effect.Effect<void, unknown, Services>) =>
    it(title, () => Effect.runPromise(Effect.provide(body, layer())))

  describe(`RepairSuite: ${name}`, () => {
    RollupRepairs.define(test)

    for (const [damage, change] of [
      ["with another bit", flipped],
      ["cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length - 3)],
      ["empty", () => Buffer.alloc(0)]
    ] as const) {
      test(
        `stores shared pieces again that are ${damage}, when their texts recur in the same session or in others`,
        Effect.gen(function* () {
          const recorded = yield* record(callsOf("first", 30))
          expect(yield* updatePieces(change)).toBeGreaterThan(3)
          const damaged = yield* damagedAmong(recorded)
          expect(damaged).toBeGreaterThan(3)
          for (const session of ["first", "second"]) {
            expect(yield* damagedAmong(yield* record(callsOf(session, 30)))).toBe(0)
          }
          // Their texts are the same, so the earlier events can be read again, too.
          expect(yield* damagedAmong(recorded)).toBe(0)
        })
      )
    }

    test(
      "stores shared pieces again whose rows are gone",
      Effect.gen(function* () {
        const recorded = yield* record(callsOf("first", 30))
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM shared_pieces`
        expect(yield* damagedAmong(recorded)).toBeGreaterThan(3)
        expect(yield* damagedAmong(yield* record(callsOf("first", 30)))).toBe(0)
        expect(yield* damagedAmong(recorded)).toBe(0)
      })
    )

    test(
      "records on in a session one of whose packs has the next number",
      Effect.gen(function* () {
        const recorded = yield* record(callsOf("s", 30))
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE packs SET pack_number = 31 WHERE pack_number = 25`
        const later = yield* record(callsOf("s", 10))
        expect(yield* damagedAmong(later)).toBe(0)
        const damaged = yield* damagedAmong(recorded)
        expect(damaged).toBeGreaterThan(0)
        expect(damaged).toBeLessThan(30)
      })
    )

    test(
      "records on in a session whose counters are too low, and keeps every event",
      Effect.gen(function* () {
        const calls = callsOf("s", 40)
        const recorded = [...(yield* record(calls.slice(0, 30)))]
        const sql = yield* SqlClient.SqlClient
        for (const lower of ["packs = 8", "history = 5", "parts = 3"]) {
          yield* sql.unsafe(`UPDATE sessions SET ${lower}`)
          recorded.push(...(yield* record(calls.slice(recorded.length, recorded.length + 3))))
        }
        expect(recorded).toHaveLength(39)
        expect(yield* damagedAmong(recorded)).toBe(0)
      })
    )

    test(
      "records on in a session whose counters cannot be",
      Effect.gen(function* () {
        const calls = callsOf("s", 40)
        const recorded = [...(yield* record(calls.slice(0, 20)))]
        const sql = yield* SqlClient.SqlClient
        const huge = String(2n ** 62n + 5n)
        for (const damage of [
          "packs = -104",
          `generation = ${huge}`,
          `history = ${huge}`,
          `parts = ${huge}`,
          "packs = -1"
        ]) {
          yield* sql.unsafe(`UPDATE sessions SET ${damage}`)
          recorded.push(...(yield* record(calls.slice(recorded.length, recorded.length + 3))))
        }
        expect(recorded).toHaveLength(35)
        expect(yield* damagedAmong(recorded)).toBe(0)
      })
    )

    for (const damage of [
      "UPDATE packs SET kept = 0 WHERE pack_number = 7",
      // The pack of another event.
      "UPDATE events SET pack_number = 7 WHERE pack_number = 8"
    ]) {
      test(
        `erases a person after ${damage}, and nothing of others`,
        Effect.gen(function* () {
          // The eighth event is the person's, and the seventh is not.
          const calls = callsOf("s", 20).map((call, index) => ({ ...call, person: index === 7 ? "erased" : "other" }))
          const recorded = yield* record(calls)
          const sql = yield* SqlClient.SqlClient
          yield* sql.unsafe(damage)
          yield* within((recorder) => recorder.erasePerson(PersonId.make("erased")))
          expect(yield* damagedAmong(recorded.filter(({ call }) => call.person === "other"))).toBe(0)
        })
      )
    }

    test(
      "erases a person whose row has an impossible time",
      Effect.gen(function* () {
        yield* record(callsOf("s", 10))
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE people SET created_at = 36030592384788159`
        for (const person of people) yield* within((recorder) => recorder.erasePerson(PersonId.make(person)))
        expect(yield* sql`SELECT 1 FROM people`).toEqual([])
      })
    )

    test(
      "refuses a person whose properties are not JSON, until they are replaced, and erases such a person",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* record(callsOf("s", 4))
        yield* sql`UPDATE people SET properties = '{"name":'`
        yield* within((recorder) =>
          Effect.gen(function* () {
            const [alice, bob] = people.map((person) => PersonId.make(person)) as [PersonId, PersonId]
            expect(yield* Effect.flip(recorder.getPerson(alice))).toMatchObject(storageDamaged)
            expect(yield* Effect.flip(recorder.createPerson(alice, JsonText.unsafe("{}")))).toMatchObject(
              storageDamaged
            )
            yield* recorder.updatePerson(alice, JsonText.unsafe('{"a":1}'))
            expect(yield* recorder.getPerson(alice)).toMatchObject({ properties: '{"a":1}' })
            expect(yield* recorder.erasePerson(bob)).toMatchObject({ events: 2 })
          })
        )
        expect(yield* sql`SELECT person_id FROM people`).toEqual([{ person_id: "alice" }])
      })
    )

    test(
      "says of a project whose row is gone that the storage is damaged",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* record(callsOf("s", 2))
        yield* sql`DELETE FROM projects`
        const create = within((recorder) => recorder.createPerson(PersonId.make("carol"), JsonText.unsafe("{}")))
        expect(yield* Effect.flip(create)).toMatchObject(storageDamaged)
      })
    )

    test(
      "records new names where a counter of names is too low",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const recorded = [...(yield* record([...callsOf("a", 5), ...callsOf("b", 5), ...callsOf("c", 5)]))]
        for (const [index, statement] of lowered.entries()) {
          yield* sql.unsafe(statement)
          const person = `person ${"x".repeat(index)}`
          const calls = Calls.take(Calls.calls(`new ${index}`, [person], index), 3)
          const added = yield* record([...calls, ...callsOf("a", 2)])
          recorded.push(...added)
        }
        expect(yield* damagedAmong(recorded)).toBe(0)
      })
    )

    test(
      "erases a session whose events are gone, with all that it still has",
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* record([...callsOf("lost", 12), ...callsOf("other", 3)])
        const ofLost = sql`session_number = (SELECT session_number FROM sessions WHERE session_id = 'lost')`
        yield* sql`DELETE FROM events WHERE ${ofLost}`
        const receipt = yield* within((recorder) => recorder.eraseSession(SessionId.make("lost")))
        expect(receipt).toMatchObject({ events: 0, sessions: 1 })
        expect(receipt.bytes).toBeGreaterThan(0)
        expect(yield* sql`SELECT session_id FROM sessions`).toEqual([{ session_id: "other" }])
        for (const table of ["packs", "shared_piece_owners", "storage_usage"]) {
          const rows = yield* sql`SELECT DISTINCT session_number FROM ${sql(table)} WHERE session_number <> 0`
          expect(rows).toHaveLength(1)
        }
      })
    )
  })
}
