/** Which events go to the database in one statement, that they are as others, and that the others are appended all the same. */
import {
  type AppendEvent,
  AgentVersionName,
  IdempotencyKey,
  PersonId,
  ProjectId,
  SessionId,
  SessionMoved,
  Storage
} from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { Effect, Exit, Tracer } from "effect"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

const project = ProjectId.make("default")
const person = PersonId.make("ann")

/** Whether an effect takes a transaction of several statements. */
const takesSteps = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  let transactions = 0
  const tracer = Tracer.make({
    span: (options) => {
      if (options.name === "sql.transaction") transactions++
      return new Tracer.NativeSpan(options)
    }
  })
  const exit = yield* Effect.exit(Effect.provideService(effect, Tracer.Tracer, tracer))
  return [Exit.isSuccess(exit), transactions > 0] as const
})

const inOne = [true, false]
const inSteps = [true, true]
const refused = [false, true]

const run = (test: (storage: Storage["Service"]) => Effect.Effect<void, unknown>) =>
  Effect.runPromise(Effect.flatMap(Storage, test).pipe(Effect.provide(PostgresStorage.layer(freshSchema()))))

const event = (n: number, fields: Parameters<typeof Samples.appendEvent>[1] = {}) =>
  Samples.appendEvent(Samples.eventId(n), { person, ...fields })

it("appends in one statement what is of a session, an agent and people that are there", () =>
  run((storage) =>
    Effect.gen(function* () {
      const append = (...events: ReadonlyArray<AppendEvent>) => takesSteps(Samples.append(storage, events))
      const other = { session: SessionId.make("s2"), person: PersonId.make("bob") }
      expect(yield* append(event(1), event(2, other))).toEqual(inSteps)
      // A version is remembered when it was found, because what creates it may be taken back.
      expect(yield* append(event(3))).toEqual(inSteps)
      const known = [event(4), event(5, other), event(6, { person: null }), event(7, { ...other, person })]
      expect(yield* append(...known)).toEqual(inOne)

      // Each of these has something that is not there yet, or that somebody else may have.
      expect(yield* append(event(8), event(9, { session: SessionId.make("s3") }))).toEqual(inSteps)
      expect(yield* append(event(10, { person: PersonId.make("eve") }))).toEqual(inSteps)
      expect(yield* append(event(11, { agentVersion: AgentVersionName.make("v2") }))).toEqual(inSteps)
      const keyed = { key: IdempotencyKey.make("k"), bodyHash: new Uint8Array(32) }
      expect(yield* append({ ...event(12), idempotency: keyed })).toEqual(inSteps)
      const shared = event(13)
      const piece = Samples.sharedPiece("piece")
      expect(yield* append({ ...shared, pack: { ...shared.pack, shared: [piece] } })).toEqual(inSteps)

      // Now all of it is there.
      expect(yield* append(event(14, { person: PersonId.make("eve"), session: SessionId.make("s3") }))).toEqual(inOne)
      const page = yield* storage.listEvents(project, { order: "asc", limit: 100 })
      expect(page.slice(3, 7)).toEqual(known.map(({ summary }) => summary))
      expect(page).toHaveLength(14)
      for (const { bytes, number } of yield* storage.readPacks(project, 1, [{ from: 1, to: 100 }])) {
        expect([number, bytes.length]).toEqual([number, 3])
      }
      const { events, storedBytes } = yield* storage.usage(project, 0)
      expect([events, storedBytes]).toEqual([14, 14 * 3 + Buffer.byteLength("piece piece")])
    })
  ))

it("appends nothing where a session is not as expected, and says which", () =>
  run((storage) =>
    Effect.gen(function* () {
      yield* Samples.append(storage, [event(1), event(2, { session: SessionId.make("s2") })])
      const [first, second] = [yield* storage.getSession(project, SessionId.make("s1")), { number: 2, generation: 0 }]
      const asAfter = (event: AppendEvent, session: AppendEvent["pack"]["session"], number: number): AppendEvent => ({
        ...event,
        pack: { ...event.pack, session, number }
      })
      const moved = storage.appendEvents([
        asAfter(event(3), first, 2),
        asAfter(event(4, { session: SessionId.make("s2") }), second, 5)
      ])
      expect(yield* takesSteps(moved)).toEqual(refused)
      expect(yield* Effect.flip(moved)).toEqual(new SessionMoved({ sessions: [{ project, session: "s2" }] }))
      expect(yield* storage.getSession(project, SessionId.make("s1"))).toEqual(first)
      expect(yield* storage.listEvents(project, { order: "asc", limit: 100 })).toHaveLength(2)
    })
  ))

it("creates a person again who was erased meanwhile", () =>
  run((storage) =>
    Effect.gen(function* () {
      yield* Samples.append(storage, [event(1), event(2, { person: null })])
      yield* storage.eraseEvents(project, { person }, 10)
      expect(yield* storage.deletePerson(project, person)).toBe(true)
      expect(yield* takesSteps(Samples.append(storage, [event(3)]))).toEqual(inSteps)
      const page = yield* storage.listEvents(project, { order: "asc", limit: 100, person })
      expect(page).toEqual([event(3).summary])
    })
  ))
