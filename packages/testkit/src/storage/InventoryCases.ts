/** Pages of everything that is stored, and counters beside what they count. */
import { AgentName, ProjectId, SessionId, sharedPieceChecksum, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { append, appendEvent, eventId, maxPack, project, sharedPiece } from "../Samples.ts"
import { eventIn, names, numberOf, p1, removed, s1, sweep } from "../check/SweepSteps.ts"
import { other, type Test } from "./Cases.ts"

type Service = Storage["Service"]

const none = ProjectId.make("none")
const unlimited = 2 ** 31 - 1

/** All session numbers of a project. */
const sessionsOf = Effect.fnUntraced(function* (storage: Service) {
  const found: Array<{ readonly number: number; readonly id: SessionId | undefined }> = []
  for (let after = -maxPack; ;) {
    const next = yield* storage.nextSession(project, after)
    if (next === undefined) return found
    found.push(next)
    after = next.number
  }
})

const sizedEvent = (n: number, size: number, agent = "bot") => {
  const event = appendEvent(eventId(n), { agent: AgentName.make(agent), inputsBytes: 100 * n, outputBytes: n })
  return {
    ...event,
    pack: { ...event.pack, bytes: new Uint8Array(size).fill(n), newBytes: 10 * size, history: 2, parts: 3 }
  }
}

export const define = (test: Test) => {
  test("goes through the sessions of a project in the order of their numbers", (storage) =>
    Effect.gen(function* () {
      expect(yield* storage.nextSession(none, 0)).toBeUndefined()
      yield* append(storage, [eventIn(1, "s1"), eventIn(2, "s2")])
      yield* append(storage, [eventIn(3, "s3"), eventIn(4, "s1")])
      yield* append(storage, [appendEvent(eventId(5), { session: SessionId.make("hidden") }, other)])
      const ids = ["s1", "s2", "s3"].map((id) => SessionId.make(id))
      const expected = yield* Effect.forEach(ids, (id) =>
        Effect.map(numberOf(storage, id), (number) => ({ id, number }))
      )
      expected.sort((a, b) => a.number - b.number)
      expect(yield* sessionsOf(storage)).toEqual(expected)
      const middle = expected[1]!
      yield* storage.eraseEvents(project, { session: middle.id }, 10)
      expect(yield* sessionsOf(storage)).toEqual(expected)
      yield* storage.deleteEmptySession(project, middle.number, 10)
      expect(yield* sessionsOf(storage)).toEqual([expected[0], expected[2]])
    }))

  test("goes through the ids of a session's events, agent by agent", (storage) =>
    Effect.gen(function* () {
      expect(yield* storage.sessionEvents(none, 1, undefined, 10)).toEqual([])
      const events = [5, 1, 4, 2, 3].map((n) => sizedEvent(n, 1, n % 2 === 0 ? "cat" : "bot"))
      yield* append(storage, [...events, eventIn(6, "another")])
      const number = yield* numberOf(storage, "s1")
      expect(yield* storage.sessionEvents(project, number + 100, undefined, 10)).toEqual([])
      const agents = yield* Effect.forEach(["bot", "cat"], (name) => storage.getAgent(project, AgentName.make(name)))
      const [first, second] = [...agents].sort((a, b) => a.number - b.number)
      const of = (agent: typeof first) => events.filter(({ summary }) => summary.agent === agent!.name)
      const expected = [first, second].flatMap((agent) =>
        of(agent)
          .map(({ summary }) => ({ id: summary.id, agent: agent!.number }))
          .sort((a, b) => (a.id < b.id ? -1 : 1))
      )
      expect(yield* storage.sessionEvents(project, number, undefined, 10)).toEqual(expected)
      const found: Array<(typeof expected)[number]> = []
      for (let page = expected.slice(0, 0); ;) {
        page = [...(yield* storage.sessionEvents(project, number, found.at(-1), 2))]
        if (page.length === 0) break
        found.push(...page)
      }
      expect(found).toEqual(expected)
    }))

  test("lists packs in pages of bounded size, with the state of their session", (storage) =>
    Effect.gen(function* () {
      expect(yield* storage.listPacks(none, 1, 0, unlimited)).toEqual({ state: undefined, packs: [], isLast: true })
      yield* append(storage, [sizedEvent(1, 10), sizedEvent(2, 20, "cat"), sizedEvent(3, 30)])
      yield* append(storage, [eventIn(4, "another")])
      const number = yield* numberOf(storage, "s1")
      const page = (above: number, maxBytes = unlimited) =>
        Effect.map(storage.listPacks(project, number, above, maxBytes), ({ isLast, packs, state }) => ({
          packs: packs.map((pack) => pack.number),
          isLast,
          state
        }))
      const state = { number, generation: 0, packs: 3, history: 6, parts: 9, pendingSweep: 0 }
      expect(yield* page(0)).toEqual({ packs: [1, 2, 3], isLast: true, state })
      expect(yield* page(0, 60)).toEqual({ packs: [1, 2, 3], isLast: true, state })
      expect(yield* page(0, 59)).toEqual({ packs: [1, 2], isLast: false, state })
      expect(yield* page(0, 30)).toEqual({ packs: [1, 2], isLast: false, state })
      expect(yield* page(0, 29)).toEqual({ packs: [1], isLast: false, state })
      expect(yield* page(0, 1)).toEqual({ packs: [1], isLast: false, state })
      expect(yield* page(2, 1)).toEqual({ packs: [3], isLast: true, state })
      expect(yield* page(3)).toEqual({ packs: [], isLast: true, state })

      const { packs } = yield* storage.listPacks(project, number, 0, unlimited)
      expect(packs.map(({ bytes }) => Array.from(bytes))).toEqual(
        [10, 20, 30].map((size, n) => Array(size).fill(n + 1))
      )
      const agents = packs.map(({ agent }) => agent)
      const [bot, cat] = yield* Effect.forEach(["bot", "cat"], (name) =>
        storage.getAgent(project, AgentName.make(name))
      )
      expect(agents).toEqual([bot!.number, cat!.number, bot!.number])

      yield* storage.eraseEvents(project, { before: eventId(2) }, 10)
      const erased = yield* storage.listPacks(project, number, 0, unlimited)
      expect(erased.state).toEqual({ ...state, pendingSweep: 1 })
      expect(erased.packs.map(({ isKept }) => isKept)).toEqual([false, true, true])
      yield* sweep(storage, number, {}, { packs: [removed(1)], done: { owned: [] } })
      expect(yield* page(0)).toEqual({
        packs: [2, 3],
        isLast: true,
        state: { ...state, generation: 1, pendingSweep: -1 }
      })
    }))

  test("lists more packs than one statement returns", (storage) =>
    Effect.gen(function* () {
      const count = 1_203
      yield* append(
        storage,
        Array.from({ length: count }, (_, n) => eventIn(n + 1, "s1"))
      )
      const number = yield* numberOf(storage, "s1")
      const found: Array<number> = []
      for (let isLast = false; !isLast;) {
        const page = yield* storage.listPacks(project, number, found.at(-1) ?? 0, unlimited)
        found.push(...page.packs.map((pack) => pack.number))
        isLast = page.isLast
      }
      expect(found).toEqual(Array.from({ length: count }, (_, n) => n + 1))
    }))

  test("lists shared pieces in pages of bounded size, and whether they have owners", (storage) =>
    Effect.gen(function* () {
      const list = (after: Uint8Array | undefined, maxBytes = unlimited) => storage.listShared(project, after, maxBytes)
      expect(yield* storage.listShared(none, undefined, unlimited)).toEqual([])
      const texts = ["a", "bb", "ccc"]
      yield* append(storage, [eventIn(1, "s1", texts), eventIn(2, "s2", ["bb"])])
      yield* append(storage, [
        { ...appendEvent(eventId(3), {}, other), pack: { ...appendEvent(eventId(3)).pack, shared: [sharedPiece("d")] } }
      ])
      const sorted = texts.map((text) => sharedPiece(text)).sort((a, b) => Buffer.compare(a.sha256, b.sha256))
      const all = yield* list(undefined)
      expect(
        all.map(({ bytes, sha256, ...rest }) => ({ sha256: Buffer.from(sha256), bytes: Buffer.from(bytes), ...rest }))
      ).toEqual(
        sorted.map(({ bytes, sha256, size }) => ({
          sha256,
          bytes: bytes(),
          size,
          isOwned: true,
          checksum: sharedPieceChecksum(bytes())
        }))
      )
      const [first, second, third] = sorted.map(({ bytes }) => bytes().length)
      const count = (after: number, maxBytes?: number) =>
        Effect.map(list(after === 0 ? undefined : sorted[after - 1]!.sha256, maxBytes), ({ length }) => length)
      expect(yield* count(0, first! + second! + third!)).toBe(3)
      expect(yield* count(0, first! + second! + third! - 1)).toBe(2)
      expect(yield* count(0, 1)).toBe(1)
      expect(yield* count(1, 1)).toBe(1)
      expect(yield* count(2)).toBe(1)
      expect(yield* count(3)).toBe(0)
    }))

  test("accounts for a session: counters beside what they count", (storage) =>
    Effect.gen(function* () {
      const nothing = {
        session: undefined,
        usage: [],
        lastPack: 0,
        packsWithoutEvent: [],
        eventsWithoutPack: [],
        ...{ steps: 0, stepsWithoutPack: [] },
        owned: []
      }
      expect(yield* storage.sessionAccount(none, 1)).toEqual(nothing)
      const [one, two] = [sizedEvent(1, 10), sizedEvent(2, 20, "cat")]
      yield* append(storage, [
        { ...one, pack: { ...one.pack, shared: ["a", "b"].map(sharedPiece) } },
        two,
        sizedEvent(3, 30)
      ])
      yield* append(storage, [eventIn(4, "another", ["c"])])
      const number = yield* numberOf(storage, "s1")
      expect(yield* storage.sessionAccount(project, number + 100)).toEqual(nothing)
      const [bot, cat] = yield* Effect.forEach(["bot", "cat"], (name) =>
        storage.getAgent(project, AgentName.make(name))
      )
      const usage = (agent: typeof bot, events: number, sentBytes: number, packs: number, storedBytes: number) => ({
        agent: agent!.number,
        agentName: agent!.name,
        kept: { events, sentBytes, newBytes: 10 * storedBytes, storedBytes },
        counted: { events, sentBytes, packs, storedBytes }
      })
      const account = Effect.map(storage.sessionAccount(project, number), ({ owned, usage, ...rest }) => ({
        ...rest,
        session: { ...rest.session },
        usage: [...usage].sort((a, b) => a.agent - b.agent),
        owned: owned
          .map(({ exists, sha256 }) => ({ exists, sha256: Buffer.from(sha256).toString("hex") }))
          .sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
      }))
      const ownedOf = (...texts: ReadonlyArray<string>) =>
        names(...texts)
          .map((sha256) => ({ exists: true, sha256: sha256.toString("hex") }))
          .sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
      const session = { id: s1, generation: 0, packs: 3, history: 6, parts: 9, erasedPieces: 0, pendingSweep: 0 }
      const whole = {
        session: expect.objectContaining(session),
        lastPack: 3,
        packsWithoutEvent: [],
        eventsWithoutPack: [],
        ...{ steps: 0, stepsWithoutPack: [] },
        usage: [usage(bot, 2, 404, 2, 40), usage(cat, 1, 202, 1, 20)].sort((a, b) => a.agent - b.agent),
        owned: ownedOf("a", "b")
      }
      expect(yield* account).toEqual(whole)

      yield* storage.eraseEvents(project, { before: eventId(2) }, 10)
      expect(yield* account).toMatchObject({
        session: { ...session, pendingSweep: 1 },
        usage: [usage(bot, 1, 303, 2, 40), usage(cat, 1, 202, 1, 20)].sort((a, b) => a.agent - b.agent),
        packsWithoutEvent: [],
        eventsWithoutPack: []
      })
      yield* sweep(
        storage,
        number,
        {},
        { packs: [{ ...removed(1), formerNewBytes: 100 }], done: { owned: names("a") } }
      )
      expect(yield* account).toMatchObject({
        session: { ...session, generation: 1, pendingSweep: -1 },
        usage: [usage(bot, 1, 303, 1, 30), usage(cat, 1, 202, 1, 20)].sort((a, b) => a.agent - b.agent),
        owned: ownedOf("a")
      })
    }))

  test("accounts for what the sessions of a project share", (storage) =>
    Effect.gen(function* () {
      const account = (of = project) => storage.projectAccount(of)
      const noPieces = { events: 0, sentBytes: 0, newBytes: 0, storedBytes: 0 }
      expect((yield* account(none)).shared).toEqual({ kept: noPieces, counted: noPieces })
      yield* append(storage, [eventIn(1, "s1", ["a", "bb"], p1), eventIn(2, "s2", ["bb", "ccc"])])
      yield* append(storage, [
        appendEvent(eventId(3), { agent: AgentName.make("cat") }),
        appendEvent(eventId(4), {}, other)
      ])
      const last = Math.max(...(yield* Effect.forEach(["s1", "s2"], (id) => numberOf(storage, id))))
      const three = { ...noPieces, events: 3, newBytes: 6, storedBytes: 24 }
      const { numbers, shared } = yield* account()
      expect(shared).toEqual({ kept: three, counted: three })
      for (const { highest, kept } of numbers) expect(highest).toBe(kept)
      expect(numbers.find((each) => each.of === "agents")).toEqual({ of: "agents", kept: 2, highest: 2 })
      expect(numbers.find((each) => each.of === "sessions")).toMatchObject({ kept: last })
      expect(
        numbers
          .filter((each) => each.of === "versions")
          .map(({ agent, kept }) => `${agent} ${kept}`)
          .sort()
      ).toEqual(["bot 1", "cat 1"])

      const number = yield* numberOf(storage, "s2")
      yield* storage.eraseEvents(project, { session: SessionId.make("s2") }, 10)
      yield* storage.deleteEmptySession(project, number, 10)
      const two = { ...noPieces, events: 2, newBytes: 3, storedBytes: 15 }
      const after = yield* account()
      expect(after.shared).toEqual({ kept: two, counted: two })
      expect(after.numbers.find((each) => each.of === "sessions")).toMatchObject({ kept: last })
    }))
}
