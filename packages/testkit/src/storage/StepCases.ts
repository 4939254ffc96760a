/** Steps of sessions, recorded and read by a recorder. */
import {
  AgentName,
  EventTime,
  JsonText,
  type NewStep,
  PersonId,
  ProjectId,
  Recorder,
  SessionId,
  type Storage,
  type StoredStep,
  TraceId
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import { stepOf } from "../check/Steps.ts"
import * as StoreCheck from "../check/StoreCheck.ts"
import { project } from "../Samples.ts"
import { tagOf, type Test } from "./Cases.ts"

type Service = Storage["Service"]

const s1 = SessionId.make("s1")
const alice = PersonId.make("alice")

/** Long enough to become a piece. */
const result = (about: string) => JSON.stringify({ result: `What the tool says about ${about}. `.repeat(100) })

const call = (fields: Partial<Calls.Call> = {}): Calls.Call => ({
  ...{ session: "s1", person: "alice", agent: "a" },
  inputs: `{"messages":[{"role":"user","content":"How far?"}]}`,
  output: `{"text":"12 km"}`,
  ...fields
})

/** Runs `body` with a recorder over a storage with an event in `s1`. */
const recording = <A, E>(
  storage: Service,
  body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>,
  calls: ReadonlyArray<Calls.Call> = [call()]
) =>
  Effect.gen(function* () {
    yield* Calls.putFingerprint(storage, project)
    const recorder = yield* Recorder
    for (const each of calls) yield* Calls.record(recorder, each)
    return yield* body(recorder)
  }).pipe(Effect.provide(Calls.recorderOver(storage)))

const namesOf = (recorder: Recorder["Service"], session = s1) =>
  Effect.map(recorder.listSteps(session, { limit: 1_000 }), ({ rows }) =>
    rows.map(({ text }) => (JSON.parse(Buffer.from(text).toString()) as { readonly name: string }).name)
  )

const looksRight = Effect.fnUntraced(function* (storage: Service, forbidden: ReadonlyArray<string> = []) {
  expect((yield* StoreCheck.look(storage, project, forbidden)).problems).toEqual([])
})

export const define = (test: Test) => {
  test("keeps steps byte for byte, in the order of their starts, beside the calls", (storage) =>
    recording(storage, (recorder) =>
      Effect.gen(function* () {
        const steps = [3, 1, 2].map((n) => stepOf(n))
        const { occurredAt: _at, ...written } = stepOf(1)
        const common = { agent: AgentName.make("b"), person: alice }
        expect(yield* recorder.recordSteps({ session: s1, ...common, steps })).toEqual({ kept: 3, existing: 0 })
        const odd = stepOf(4, {
          name: "\u0000 \ud800",
          parentSpanId: written.spanId,
          kind: "retrieval",
          durationMs: null,
          status: "error",
          message: "\u2028",
          recorded: { cut: ["a"] }
        })
        yield* recorder.recordSteps({ session: s1, steps: [odd] })

        const { damaged, next, rows } = yield* recorder.listSteps(s1, { limit: 10 })
        expect([damaged, next]).toEqual([0, undefined])
        expect(rows.map(({ spanId }) => Number(spanId))).toEqual([1, 2, 3, 4])
        expect(rows[0]).toMatchObject({
          ...common,
          agentVersion: "default",
          session: s1,
          occurredAt: steps[1]!.occurredAt
        })
        expect(rows[3]).toMatchObject({ agent: "default", person: null })
        expect(Buffer.from(rows[0]!.text).toString()).toBe(
          `{"parent_span_id":null,"name":"step 1","kind":"tool","duration_ms":1.5,"status":"ok","message":null,` +
            `"recorded":null,"attributes":{ "n": 1.0, "n": 9007199254740993 }}`
        )
        expect(JSON.parse(Buffer.from(rows[3]!.text).toString())).toMatchObject({
          name: odd.name,
          parent_span_id: odd.parentSpanId,
          message: odd.message,
          recorded: odd.recorded
        })

        const pages: Array<number> = []
        for (let after: typeof next; ;) {
          const page = yield* recorder.listSteps(s1, { after, limit: 3 })
          pages.push(page.rows.length)
          if (page.next === undefined) break
          after = page.next
        }
        expect(pages).toEqual([3, 1])
        // Nothing of it is an event.
        const usage = yield* storage.usage(project, 10)
        expect([usage.events, usage.sentBytes]).toEqual([1, call().inputs.length + call().output.length])
        expect(yield* storage.listEvents(project, { order: "asc", limit: 10 })).toHaveLength(1)
        expect((yield* recorder.listCalls(s1, { order: "asc", limit: 10 })).rows).toHaveLength(1)
        yield* looksRight(storage)
      })
    ))

  test("keeps the first of steps with the same trace and span", (storage) =>
    recording(
      storage,
      (recorder) =>
        Effect.gen(function* () {
          const record = (...steps: ReadonlyArray<NewStep>) => recorder.recordSteps({ session: s1, steps })
          expect(yield* record(stepOf(1), stepOf(1, { name: "second" }))).toEqual({ kept: 1, existing: 1 })
          expect(yield* record(stepOf(1, { name: "third" }), stepOf(2))).toEqual({ kept: 1, existing: 1 })
          expect(yield* record(stepOf(2), stepOf(1))).toEqual({ kept: 0, existing: 2 })
          const together = yield* Effect.forEach([1, 2, 3], () => record(stepOf(3), stepOf(4)), { concurrency: 3 })
          expect(together.map(({ kept }) => kept)).toEqual([2, 0, 0])
          // The same span in another trace, and in another session.
          expect(yield* record(stepOf(1, { traceId: TraceId.make("a".repeat(32)) }))).toMatchObject({ kept: 1 })
          expect(yield* recorder.recordSteps({ session: SessionId.make("s2"), steps: [stepOf(1)] })).toMatchObject({
            kept: 1
          })
          expect((yield* namesOf(recorder)).toSorted()).toEqual(["step 1", "step 1", "step 2", "step 3", "step 4"])
          yield* looksRight(storage)
        }),
      [call(), call({ session: "s2" })]
    ))

  test("refuses steps of a session without events", (storage) =>
    recording(storage, (recorder) =>
      Effect.gen(function* () {
        const other = SessionId.make("unknown")
        const record = (session: SessionId) => tagOf(recorder.recordSteps({ session, steps: [stepOf(1)] }))
        expect(yield* record(other)).toBe("session-not-found")
        yield* storage.eraseEvents(project, { session: s1 }, 10)
        expect(yield* record(s1)).toBe("session-not-found")
        expect(yield* storage.getSession(project, other)).toBe(undefined)
      })
    ))

  test("stores a text once that steps and calls have", (storage) =>
    recording(storage, (recorder) =>
      Effect.gen(function* () {
        const text = result("tolls")
        const bytes = Effect.map(storage.usage(project, 0), ({ newBytes }) => newBytes)
        const before = yield* bytes
        yield* recorder.recordSteps({
          session: s1,
          steps: [stepOf(1, { attributes: JsonText.unsafe(`{"r":${text}}`) })]
        })
        const between = yield* bytes
        expect(between - before).toBeGreaterThan(text.length)
        const messages = [{ role: "tool", content: (JSON.parse(text) as { readonly result: string }).result }]
        yield* Calls.record(recorder, call({ inputs: JSON.stringify({ messages }) }))
        expect((yield* bytes) - between).toBeLessThan(200)
        // A search finds it with the call, which has it of the step, and nothing of what only steps say.
        const found = yield* recorder.search({
          text: "about tolls",
          isCaseSensitive: true,
          after: undefined,
          limit: 10
        })
        expect(found.results).toHaveLength(1)
        // Of a step that has it of another one.
        const part = JSON.stringify({ type: "text", text: `within ${text.slice(11, -2)}` })
        const inner = stepOf(2, { attributes: JsonText.unsafe(`{"a":[${part}]}`) })
        yield* recorder.recordSteps({ session: s1, steps: [inner] })
        const message = `{"role":"user","content":[${part}]}`
        const outer = stepOf(3, { attributes: JsonText.unsafe(`{"b":[${message}]}`) })
        yield* recorder.recordSteps({ session: s1, steps: [outer] })
        const inStep = stepOf(4, { attributes: JsonText.unsafe(`{"c":"elsewhere ${"of no call. ".repeat(50)}"}`) })
        yield* recorder.recordSteps({ session: s1, steps: [inStep] })
        yield* Calls.record(recorder, call({ inputs: `{"messages":[${message}]}` }))
        for (const [text, results] of [
          ["within What", 1],
          ["elsewhere", 0],
          ["about tolls", 2]
        ] as const) {
          const { results: all } = yield* recorder.search({ text, isCaseSensitive: true, after: undefined, limit: 10 })
          expect([text, all.length]).toEqual([text, results])
        }
        yield* looksRight(storage)
      })
    ))

  test("erases steps with their session, their person and their time", (storage) =>
    recording(
      storage,
      (recorder) =>
        Effect.gen(function* () {
          const bob = PersonId.make("bob")
          const s2 = SessionId.make("s2")
          const secret = (n: number, about: string) =>
            stepOf(n, { attributes: JsonText.unsafe(`{"r":${result(about)}}`) })
          yield* recorder.recordSteps({
            session: s1,
            person: alice,
            steps: [secret(1, "alice one"), secret(2, "alice two")]
          })
          yield* recorder.recordSteps({ session: s1, person: bob, steps: [secret(3, "bob")] })
          yield* recorder.recordSteps({ session: s2, person: alice, steps: [secret(4, "alice three")] })
          const receivedAt = DateTime.makeUnsafe("2020-01-01T00:00:00Z")
          yield* recorder.recordSteps({ session: s1, receivedAt, steps: [secret(5, "long ago")] })
          yield* looksRight(storage)

          expect(
            yield* storage.eraseSteps(project, { before: EventTime.firstIdOf(receivedAt.epochMilliseconds) }, 10)
          ).toBe(0)
          expect(
            yield* storage.eraseSteps(project, { before: EventTime.firstIdOf(receivedAt.epochMilliseconds + 1) }, 10)
          ).toBe(1)
          expect(yield* namesOf(recorder)).toEqual(["step 1", "step 2", "step 3"])
          // The session has an event of bob, and loses what is of alice.
          yield* recorder.erasePerson(alice)
          yield* looksRight(storage, ["about alice", "about long ago"])
          expect(yield* namesOf(recorder)).toEqual(["step 3"])
          expect(yield* tagOf(recorder.listSteps(s2, { limit: 1 }))).toBe("session-not-found")
          yield* recorder.eraseSession(s1)
          yield* looksRight(storage, ["about"])
          // A person who has steps only.
          yield* Calls.record(recorder, call({ session: "s3", person: "carol" }))
          yield* recorder.recordSteps({ session: SessionId.make("s3"), person: bob, steps: [secret(6, "bob again")] })
          yield* recorder.erasePerson(bob)
          expect(yield* namesOf(recorder, SessionId.make("s3"))).toEqual([])
          yield* looksRight(storage, ["about bob"])
        }),
      [call(), call({ person: "bob" }), call({ session: "s2" })]
    ))

  test("leaves steps out that are damaged, and says how many", (storage) =>
    recording(storage, (recorder) =>
      Effect.gen(function* () {
        yield* recorder.recordSteps({ session: s1, steps: [stepOf(1), stepOf(2)] })
        yield* recorder.recordSteps({ session: s1, steps: [stepOf(3)] })
        const read = (changed: Partial<Service>) =>
          Effect.gen(function* () {
            const { damaged, rows } = yield* (yield* Recorder).listSteps(s1, { limit: 10 })
            return [damaged, rows.map(({ spanId }) => Number(spanId))]
          }).pipe(Effect.provide(Calls.recorderOver({ ...storage, ...changed })))
        const listed = (change: (step: StoredStep) => StoredStep): Partial<Service> => ({
          listSteps: (...args) =>
            Effect.map(storage.listSteps(...args), (steps) => steps.map((step, n) => (n === 1 ? change(step) : step)))
        })
        expect(yield* read(listed((step) => ({ ...step, person: alice })))).toEqual([1, [1, 3]])
        expect(yield* read(listed((step) => ({ ...step, start: Number.NaN })))).toEqual([1, [1, 3]])
        expect(yield* read(listed((step) => ({ ...step, pack: 99 })))).toEqual([1, [1, 3]])
        const readPacks: Service["readPacks"] = (...args) =>
          Effect.map(storage.readPacks(...args), (packs) => packs.filter(({ number }) => number !== 2))
        // The pack after it continues its chain.
        expect(yield* read({ readPacks })).toEqual([3, []])
        expect(yield* read({})).toEqual([0, [1, 2, 3]])
      })
    ))

  test("keeps steps of other projects apart", (storage) =>
    recording(storage, (recorder) =>
      Effect.gen(function* () {
        yield* recorder.recordSteps({ session: s1, steps: [stepOf(1)] })
        const { number } = (yield* storage.getSession(project, s1))!
        expect(yield* storage.listSteps(ProjectId.make("other"), number, undefined, 10)).toEqual([])
        expect(yield* storage.eraseSteps(ProjectId.make("other"), { session: s1 }, 10)).toBe(0)
        expect(yield* namesOf(recorder)).toEqual(["step 1"])
      })
    ))
}
