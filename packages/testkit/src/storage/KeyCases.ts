/** Events with an idempotency key, each stored once while the key is kept. */
import {
  type AppendEvent,
  type EventSummary,
  firstIdOf,
  IdempotencyKey,
  PersonId,
  SessionId,
  type Storage
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { createHash } from "node:crypto"
import { expect } from "vitest"
import { appendEvent, appendOnce, project } from "../Samples.ts"
import { now, other, type Test } from "./Cases.ts"
import * as StoreCheck from "../check/StoreCheck.ts"

const sha256 = (text: string) => createHash("sha256").update(text).digest()

interface Fields {
  readonly key: string
  readonly body?: string
  readonly session?: string
  readonly person?: string
  /** Time since the first event, in ms. */
  readonly after?: number
  readonly inProject?: typeof project
}

const days = 24 * 60 * 60 * 1000

/** By default an event of a session that is named after the key: a key is unique within its session. */
let ids = 0
const keyed = ({ after = 0, body = "{}", inProject = project, key, person, session }: Fields): AppendEvent => {
  const receivedAt = DateTime.add(now, { milliseconds: after })
  const event = appendEvent(
    // A new id that contains the time at which the event was received.
    firstIdOf(receivedAt.epochMilliseconds + ++ids),
    {
      receivedAt,
      session: SessionId.make(session ?? `of ${key.slice(0, 200)}`),
      person: person === undefined ? null : PersonId.make(person)
    },
    inProject
  )
  return { ...event, idempotency: { key: IdempotencyKey.make(key), bodyHash: sha256(body) } }
}

const takenBy = (storage: Storage["Service"], ...events: ReadonlyArray<AppendEvent>) =>
  Effect.map(Effect.flip(appendOnce(storage, events)), (error) =>
    error._tag === "key-conflict"
      ? error.taken.map(({ id, idempotency, project, receivedAt, session }) => ({
          project,
          session,
          key: idempotency.key,
          hash: Buffer.from(idempotency.bodyHash).toString("hex"),
          id,
          receivedAt: receivedAt.epochMilliseconds
        }))
      : error
  )

const asTaken = ({ idempotency, project, summary }: AppendEvent) => ({
  project,
  session: summary.session,
  key: idempotency!.key,
  hash: Buffer.from(idempotency!.bodyHash).toString("hex"),
  id: summary.id,
  receivedAt: summary.receivedAt.epochMilliseconds
})

const count = (storage: Storage["Service"], inProject = project) =>
  Effect.map(StoreCheck.listAll(storage, inProject), ({ length }) => length)

export const define = (test: Test) => {
  test("rejects a key that is in use, and returns its event", (storage) =>
    Effect.gen(function* () {
      const first = keyed({ key: "a", body: "one" })
      yield* appendOnce(storage, [first])
      const again = keyed({ key: "a", body: "another" })
      expect(yield* takenBy(storage, again)).toEqual([asTaken(first)])
      // Nothing else of the same call is stored.
      const { idempotency: _, ...plain } = keyed({ key: "none" })
      expect(yield* takenBy(storage, keyed({ key: "b" }), again, plain)).toEqual([asTaken(first)])
      expect(yield* count(storage)).toBe(1)
      yield* appendOnce(storage, [keyed({ key: "b" })])
      expect(yield* count(storage)).toBe(2)
    }))

  test("separates the keys of projects, and reports those in use", (storage) =>
    Effect.gen(function* () {
      const [here, there] = [keyed({ key: "same" }), keyed({ key: "same", inProject: other })]
      yield* appendOnce(storage, [here])
      yield* appendOnce(storage, [there])
      const third = keyed({ key: "Same" })
      yield* appendOnce(storage, [third])
      const taken = yield* takenBy(
        storage,
        ...[keyed({ key: "same" }), keyed({ key: "Same" }), keyed({ key: "same", inProject: other })]
      )
      expect(new Set(taken as ReadonlyArray<unknown>)).toEqual(new Set([here, third, there].map(asTaken)))
      expect([yield* count(storage), yield* count(storage, other)]).toEqual([2, 1])
    }))

  test("separates the keys of sessions", (storage) =>
    Effect.gen(function* () {
      const [first, second] = [keyed({ key: "k", session: "one" }), keyed({ key: "k", session: "two" })]
      yield* storage.appendEvents([first, second])
      const [third, again] = [keyed({ key: "k", session: "three" }), keyed({ key: "k", session: "two" })]
      expect(yield* takenBy(storage, third, again)).toEqual([asTaken(second)])
      yield* storage.appendEvents([third])
      expect(yield* count(storage)).toBe(3)
    }))

  test("accepts any key", (storage) =>
    Effect.gen(function* () {
      for (const key of ["x".repeat(255), "' OR 1=1 --", " ", "~"]) {
        const event = keyed({ key })
        yield* appendOnce(storage, [event])
        expect(yield* takenBy(storage, keyed({ key }))).toEqual([asTaken(event)])
      }
    }))

  test("does not keep the key of a rejected event", (storage) =>
    Effect.gen(function* () {
      const event = keyed({ key: "moved", session: "s" })
      const moved = { ...event, pack: { ...event.pack, number: 2 } }
      expect((yield* Effect.flip(storage.appendEvents([moved])))._tag).toBe("session-conflict")
      yield* appendOnce(storage, [keyed({ key: "moved", session: "s" })])
    }))

  test("frees a key after exactly seven days", (storage) =>
    Effect.gen(function* () {
      const first = keyed({ key: "a" })
      yield* appendOnce(storage, [first])
      yield* appendOnce(storage, [keyed({ key: "b" })])
      expect(yield* takenBy(storage, keyed({ key: "a", after: 7 * days - 10_000 }))).toEqual([asTaken(first)])
      const second = keyed({ key: "a", body: "later", after: 7 * days + 10_000 })
      yield* appendOnce(storage, [second])
      expect(yield* takenBy(storage, keyed({ key: "a", after: 7 * days + 20_000 }))).toEqual([asTaken(second)])
      expect(yield* count(storage)).toBe(3)
    }))

  test("frees the keys of erased events", (storage) =>
    Effect.gen(function* () {
      const kept = keyed({ key: "kept", person: "bob" })
      yield* storage.appendEvents([keyed({ key: "erased", person: "alice" }), kept])
      yield* storage.eraseEvents(project, { person: PersonId.make("alice") }, 10)
      yield* appendOnce(storage, [keyed({ key: "erased" })])
      expect(yield* takenBy(storage, keyed({ key: "kept" }))).toEqual([asTaken(kept)])
    }))

  test("appends one of many concurrent events with the same key", (storage) =>
    Effect.gen(function* () {
      const events = Array.from({ length: 20 }, (_, n) => keyed({ key: `k${n % 2}`, body: String(n % 2) }))
      const exits = yield* Effect.forEach(events, (event) => Effect.exit(storage.appendEvents([event])), {
        concurrency: "unbounded"
      })
      expect(exits.filter(Exit.isSuccess)).toHaveLength(2)
      expect(yield* count(storage)).toBe(2)
      const ids = new Set((yield* StoreCheck.listAll(storage, project)).map((each: EventSummary) => each.id))
      for (const key of ["k0", "k1"]) {
        const [taken] = (yield* takenBy(storage, keyed({ key }))) as ReadonlyArray<ReturnType<typeof asTaken>>
        expect(taken!.key).toBe(key)
        expect(ids).toContain(taken!.id)
      }
    }))
}
