/** Operations on much at once, in a number of statements that does not depend on how many items there are. */
import {
  AgentName,
  AgentVersionName,
  type AppendEvent,
  defaultProject,
  type EventSummary,
  firstIdOf,
  IdempotencyKey,
  PersonId,
  Recorder,
  SessionId,
  type Storage
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import * as Statements from "../check/Statements.ts"
import * as StoreCheck from "../check/StoreCheck.ts"
import { appendEvent, eventId, project } from "../Samples.ts"
import { now, tagOf, type Test } from "./Cases.ts"

const MiB = 1024 * 1024

/** Repeats `item`, with another text of `bytes` bytes, up to `total` bytes. */
const list = (total: number, bytes: number, item: (text: string, n: number) => string): string => {
  const texts = Calls.noise(1, total)
  const items: Array<string> = []
  let length = 0
  for (let at = 0; at + bytes <= texts.length; at += bytes) {
    const next = item(texts.slice(at, at + bytes), items.length)
    length += next.length + 1
    if (length > total) break
    items.push(next)
  }
  return items.join(",")
}

/** Inputs that are stored in different ways, by what they consist of. */
const shapes: ReadonlyArray<readonly [name: string, bytes: number, inputs: (bytes: number) => string]> = [
  // Stored once per project from 1 KiB on: no inputs of this size have more shared pieces, which are more than
  // `BulkValues.maxShortRows`.
  ["settings of 1 KiB", 11 * MiB, (bytes) => `{${list(bytes, 1022, (text, n) => `"${n}":"${text}"`)}}`],
  [
    "strings of 8 KiB",
    2 * MiB,
    (bytes) => `{"messages":[${list(bytes, 8190, (text) => `{"role":"user","content":"${text}"}`)}]}`
  ],
  [
    "short messages",
    2 * MiB,
    (bytes) => `{"messages":[${list(bytes, 20, (text) => `{"role":"user","content":"${text}"}`)}]}`
  ],
  ["one string", 2 * MiB, (bytes) => `{"prompt":"${Calls.noise(2, bytes)}"}`]
]

const batchSize = 256

/** Ids of the time at which events are received, which is what the age of a key is judged by. */
const idOf = (seed: number, n = 0) => firstIdOf(now.epochMilliseconds + 1000 * seed + n)

/** The name of a session of the lane of the first one: batches have events of one lane. */
const sessionOf = (storage: Storage["Service"], seed: number, n: number): SessionId => {
  const laneOf = storage.nodes?.laneOf ?? (() => 0)
  const lane = laneOf(SessionId.make("session"))
  for (let suffix = 0; ; suffix++) {
    const session = SessionId.make(`session ${seed} ${n} ${suffix}`)
    if (laneOf(session) === lane) return session
  }
}

/** Events that have nothing in common but the fields. `sessions` is the seed of their sessions. */
const distinctEvents = (
  storage: Storage["Service"],
  seed: number,
  count = batchSize,
  fields: Partial<EventSummary> = {},
  sessions = seed
): ReadonlyArray<AppendEvent> =>
  Array.from({ length: count }, (_, n) => ({
    ...appendEvent(idOf(seed, n), {
      agent: AgentName.make(`agent ${seed} ${n}`),
      agentVersion: AgentVersionName.make(`version ${seed} ${n}`),
      person: PersonId.make(`person ${seed} ${n}`),
      session: sessionOf(storage, sessions, n),
      ...fields
    }),
    idempotency: { key: IdempotencyKey.make(`key ${n}`), bodyHash: createHash("sha256").update("body").digest() }
  }))

export const define = (test: Test) => {
  for (const [name, bytes, inputsOf] of shapes) {
    test(`records ${Math.ceil(bytes / MiB)} MiB of ${name} in few statements for each MiB`, (storage) =>
      Effect.gen(function* () {
        yield* Calls.putFingerprint(storage, defaultProject)
        const call = { session: "s1", person: "p1", inputs: inputsOf(bytes), output: "{}" }
        const using = <A, E>(body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
          Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))
        // Creates the session and the other names, which takes statements that do not depend on the size.
        yield* using((recorder) => Calls.recordOnce(recorder, { ...call, inputs: "{}" }))
        // Around the layer: batches are committed by fibers of their own.
        const [id, statements] = yield* Statements.capture(using((recorder) => Calls.recordOnce(recorder, call)))
        expect(yield* using((recorder) => Calls.isAsSent(recorder, id, call))).toBe(true)
        // Where values are arrays, a statement has the more of them: it is a round trip over a network.
        const perMiB = statements.some(({ text }) => text.includes("unnest(")) ? 0.25 : 4
        // A distributed database is asked, on each of its nodes, of which the tests have four at most, whether it has committed its part.
        const asking = statements.filter(({ text }) => /pg_(?:dist|prepared)_/.test(text)).length
        expect(asking).toBeLessThanOrEqual(2 + 4)
        // And it looks for pieces by their names, stores them and says who has them: those of each shard in statements of their own.
        const ofShards = asking > 0 ? 3 * 8 : 0
        expect(statements.length - asking).toBeLessThanOrEqual(30 + ofShards + (perMiB * bytes) / MiB)
      }))
  }

  test("appends a batch in as many statements as a few events", (storage) =>
    Effect.gen(function* () {
      const [, few] = yield* Statements.count(storage.appendEvents(distinctEvents(storage, 1, 2)))
      yield* storage.eraseEvents(project, { before: idOf(2) }, 2)
      const [numbers, many] = yield* Statements.count(storage.appendEvents(distinctEvents(storage, 2)))
      expect(new Set(numbers).size).toBe(batchSize)
      // The first batch also created the project.
      expect(many).toBeLessThanOrEqual(few)

      // Sees that all keys are taken.
      const [tag, taken] = yield* Statements.count(
        tagOf(storage.appendEvents(distinctEvents(storage, 3, batchSize, {}, 2)))
      )
      expect(tag).toBe("key-conflict")
      expect(taken).toBeLessThanOrEqual(few)

      // Erases events of as many sessions.
      const [{ events }, erasing] = yield* Statements.count(
        storage.eraseEvents(project, { before: idOf(3) }, batchSize)
      )
      expect(events).toBe(batchSize)
      const [, erasingFew] = yield* Statements.count(storage.eraseEvents(project, { before: idOf(3) }, batchSize))
      expect(erasing).toBeLessThanOrEqual(erasingFew + 10)
      expect(yield* StoreCheck.listAll(storage, project)).toEqual([])
    }))

  test("numbers the versions of many agents at once, without gaps", (storage) =>
    Effect.gen(function* () {
      const event = (n: number, agent: number, version: number, session: string) =>
        appendEvent(eventId(n), {
          agent: AgentName.make(`agent ${agent}`),
          agentVersion: AgentVersionName.make(`version ${version}`),
          session: SessionId.make(`${session} ${n}`)
        })
      const pairs = Array.from({ length: 60 }, (_, n) => [n % 7, n % 11] as const)
      yield* storage.appendEvents(pairs.slice(0, 20).map(([agent, version], n) => event(n, agent, version, "first")))
      // Some of these exist already, some of them twice.
      yield* storage.appendEvents(pairs.map(([agent, version], n) => event(100 + n, agent, version, "second")))
      for (let agent = 0; agent < 7; agent++) {
        const names = Array.from(new Set(pairs.filter(([of]) => of === agent).map(([, version]) => version)))
        const versions = yield* Effect.forEach(names, (version) =>
          storage.getAgentVersion(
            project,
            AgentName.make(`agent ${agent}`),
            AgentVersionName.make(`version ${version}`)
          )
        )
        expect(versions.map(({ number }) => number).sort((a, b) => a - b)).toEqual(names.map((_, index) => index + 1))
      }
    }))
}
