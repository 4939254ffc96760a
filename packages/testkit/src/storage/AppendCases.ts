/** Appending packs to sessions that are, or are not, in the state that the append expects. */
import { AgentName, type AppendEvent, type NewPack, SessionId, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { append, appendEvent, eventId, project, sharedPiece } from "../Samples.ts"
import { other, tagOf, type Test } from "./Cases.ts"
import * as StoreCheck from "../check/StoreCheck.ts"

const s1 = SessionId.make("s1")
const s2 = SessionId.make("s2")

/** An event as the next pack of a session, with fields of the pack replaced. */
const next = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  n: number,
  session: SessionId,
  fields: Partial<NewPack> = {},
  inProject = project
) {
  const state = yield* storage.getSession(inProject, session)
  const event = appendEvent(eventId(n), { session }, inProject)
  const expected = { session: state, number: (state?.packs ?? 0) + 1 }
  return { ...event, pack: { ...event.pack, ...expected, ...fields } }
})

/** The visible state of two sessions and of everything that an append may create. */
const stateOf = Effect.fnUntraced(function* (storage: Storage["Service"]) {
  const all = []
  for (const each of [project, other]) {
    const events = (yield* StoreCheck.listAll(storage, each)).map(({ id }) => id)
    const sessions = [yield* storage.getSession(each, s1), yield* storage.getSession(each, s2)]
    const agent = yield* Effect.exit(storage.getAgent(each, AgentName.make("new")))
    const shared = yield* storage.readShared(each, [sharedPiece("large").sha256])
    const usage = yield* storage.usage(each, 10)
    all.push({ events, sessions, agent: agent._tag, shared, usage })
  }
  return all
})

export const define = (test: Test) => {
  const expectMoved = Effect.fnUntraced(function* (
    storage: Storage["Service"],
    events: ReadonlyArray<AppendEvent>,
    moved: ReadonlyArray<readonly [project: string, session: string]>
  ) {
    const before = yield* stateOf(storage)
    const error = yield* Effect.flip(storage.appendEvents(events))
    expect(error._tag === "session-conflict" && error.sessions).toEqual(
      moved.map(([project, session]) => ({ project, session }))
    )
    expect(yield* stateOf(storage)).toEqual(before)
  })

  test("rejects an append to a session that has changed", (storage) =>
    Effect.gen(function* () {
      yield* append(
        storage,
        [1, 2].map((n) => appendEvent(eventId(n)))
      )
      const { generation, number } = (yield* storage.getSession(project, s1))!
      const wrong: ReadonlyArray<Partial<NewPack>> = [
        { number: 2 },
        { number: 4 },
        { session: { number, generation: generation + 1 } },
        { session: { number: number + 1, generation } },
        { session: undefined, number: 1 }
      ]
      for (const fields of wrong) {
        const event = yield* next(storage, 3, s1, fields)
        yield* expectMoved(storage, [event], [["default", "s1"]])
        // Nothing else in the batch is stored: no session, agent or shared piece.
        const rest = yield* next(storage, 4, s2, { shared: [sharedPiece("large")] })
        const agent = { ...rest.summary, agent: AgentName.make("new") }
        yield* expectMoved(storage, [{ ...rest, summary: agent }, event], [["default", "s1"]])
        yield* expectMoved(storage, [event, { ...rest, summary: agent }], [["default", "s1"]])
      }
    }))

  test("rejects an append to a session that was erased", (storage) =>
    Effect.gen(function* () {
      yield* append(
        storage,
        [1, 2].map((n) => appendEvent(eventId(n)))
      )
      const old = yield* next(storage, 3, s1)
      yield* storage.eraseEvents(project, { session: s1 }, 2)
      yield* storage.sweepPacks(
        project,
        old.pack.session!.number,
        { to: 9, limit: 9, above: 9 },
        ({ packs, pendingSweep }) => ({
          packs: packs.map(({ number }) => ({ number, bytes: undefined, formerNewBytes: 5, newBytes: 0 })),
          pieces: 0,
          done: { owned: [], pendingSweep, remaining: 0 },
          value: undefined
        })
      )
      yield* expectMoved(storage, [old], [["default", "s1"]])
      yield* expectMoved(storage, [{ ...old, pack: { ...old.pack, number: 1 } }], [["default", "s1"]])
      yield* expectMoved(storage, [yield* next(storage, 3, s1, { number: 2 })], [["default", "s1"]])
      yield* storage.appendEvents([yield* next(storage, 3, s1)])
      expect((yield* storage.getSession(project, s1))?.number).not.toBe(old.pack.session!.number)
    }))

  test("rejects an append for another generation of the session", (storage) =>
    Effect.gen(function* () {
      yield* append(
        storage,
        [1, 2].map((n) => appendEvent(eventId(n)))
      )
      const old = yield* next(storage, 3, s1)
      yield* storage.eraseEvents(project, { before: eventId(2) }, 1)
      yield* storage.sweepPacks(
        project,
        old.pack.session!.number,
        { to: 9, limit: 9, above: 9 },
        ({ pendingSweep }) => ({
          packs: [{ number: 1, bytes: undefined, formerNewBytes: 5, newBytes: 0 }],
          pieces: 0,
          done: { owned: [], pendingSweep, remaining: 0 },
          value: undefined
        })
      )
      yield* expectMoved(storage, [old], [["default", "s1"]])
      expect(yield* storage.appendEvents([yield* next(storage, 3, s1)])).toEqual([old.pack.session!.number])
    }))

  test("reports every changed session, in all projects", (storage) =>
    Effect.gen(function* () {
      yield* append(storage, [appendEvent(eventId(1)), appendEvent(eventId(2), {}, other)])
      const events = [
        yield* next(storage, 3, s1, { number: 1 }),
        yield* next(storage, 4, s2),
        yield* next(storage, 5, s1, { number: 1 }, other)
      ]
      yield* expectMoved(storage, events, [
        ["default", "s1"],
        ["other", "s1"]
      ])
      yield* expectMoved(storage, events.slice(1), [["other", "s1"]])
    }))

  test("returns the session number of each event in a batch", (storage) =>
    Effect.gen(function* () {
      const first = yield* next(storage, 1, s1, { history: 3, parts: 1 })
      const numbers = yield* storage.appendEvents([
        first,
        yield* next(storage, 2, s2, { history: 1 }),
        { ...(yield* next(storage, 3, s1, { number: 2, history: 2, parts: 4 })) },
        yield* next(storage, 4, s1, { number: 3 })
      ])
      const [one, two] = [yield* storage.getSession(project, s1), yield* storage.getSession(project, s2)]
      expect(numbers).toEqual([one!.number, two!.number, one!.number, one!.number])
      expect(one).toEqual({ number: one!.number, generation: 0, packs: 3, history: 5, parts: 5 })
      expect(two).toEqual({ number: two!.number, generation: 0, packs: 1, history: 1, parts: 0 })
      for (const [n, session, pack] of [
        [1, one, 1],
        [2, two, 1],
        [3, one, 2],
        [4, one, 3]
      ] as const) {
        expect(yield* storage.getEvent(project, eventId(n))).toMatchObject({
          session: session!.number,
          pack: { number: pack }
        })
      }
      expect(yield* storage.appendEvents([yield* next(storage, 5, s1)])).toEqual([one!.number])
      expect((yield* storage.getSession(project, s1))?.packs).toBe(4)
    }))

  test("appends to several projects in one batch, and shares nothing between them", (storage) =>
    Effect.gen(function* () {
      const shared = [sharedPiece("large")]
      const numbers = yield* storage.appendEvents([
        yield* next(storage, 1, s1, { shared }),
        yield* next(storage, 2, s2, { history: 1 }, other),
        yield* next(storage, 3, s1, { shared, parts: 2 }, other),
        yield* next(storage, 4, s1, { number: 2, history: 7 })
      ])
      expect(yield* storage.getSession(project, s1)).toMatchObject({ number: numbers[0], packs: 2, history: 7 })
      expect(yield* storage.getSession(other, s1)).toMatchObject({ number: numbers[2], packs: 1, parts: 2 })
      expect(yield* storage.getSession(other, s2)).toMatchObject({ number: numbers[1], packs: 1, history: 1 })
      expect(numbers[3]).toBe(numbers[0])
      for (const each of [project, other]) {
        expect((yield* storage.usage(each, 9)).shared).toMatchObject({ pieces: 1, newBytes: 5 })
      }
      expect(yield* tagOf(storage.getEvent(other, eventId(1)))).toBe("event-not-found")
    }))
}
