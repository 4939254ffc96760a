/** Other rules for facts than those by which events were recorded, and erasures while events are brought to them. */
import {
  AgentName,
  CurrentProject,
  EventJson,
  type FactRules,
  PersonId,
  PieceScanner,
  Prices,
  ReadFacts,
  Recorder,
  Reindexer,
  Rules,
  SessionId,
  type Storage,
  Throttle
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import * as StoreCheck from "../check/StoreCheck.ts"
import * as Verifying from "../check/Verifying.ts"
import { project } from "../Samples.ts"
import type { Test } from "./Cases.ts"

type Service = Storage["Service"]

/** Those of today, by the name that the second version is told apart from. */
const first: FactRules = { version: 1, read: ReadFacts.read }

/** Reads another model, more tokens and other tools than the first version does. */
const second: FactRules = {
  version: 2,
  read: (...call) => {
    const { facts, ...read } = ReadFacts.read(...call)
    const inputTokens = facts.inputTokens === null ? null : facts.inputTokens + 1_000_000
    const model = "of the second"
    const changed = { model, responseModel: model, inputTokens, stopReason: "pause", toolCalls: ["t"] } as const
    return { ...read, facts: { ...facts, ...changed } }
  }
}

const provided = (effect: Effect.Effect<void>) =>
  effect.pipe(Effect.provideService(Rules, first), Effect.provideService(Prices, "none"))

const sessionOf = (n: number) => SessionId.make(`s${n % 5}`)
const personOf = (n: number) => PersonId.make(n % 3 === 0 ? "leaving" : "staying")

/** A conversation that grows in each session. The number of the call is that of its input tokens. */
const bodyOf = (n: number) => {
  const messages = Array.from({ length: 1 + Math.floor(n / 5) }, (_, index) => ({
    role: "user",
    content: `m ${index}`
  }))
  const choices = [{ index: 0, message: { role: "assistant", content: `a ${n}` }, finish_reason: "stop" }]
  const output = { model: "of the first", choices, usage: { prompt_tokens: n, completion_tokens: 1 } }
  const inputs = { model: "of the first", messages }
  return JSON.stringify({ session: sessionOf(n), properties: { inputs, output } })
}

const withRecorder = <A, E>(storage: Service, use: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
  Effect.orDie(Effect.provide(Effect.flatMap(Recorder, use), Calls.recorderOver(storage)))

const record = (storage: Service, from: number, to: number) =>
  withRecorder(
    storage,
    Effect.fnUntraced(function* (recorder) {
      for (let n = from; n < to; n++) {
        const body = Buffer.from(bodyOf(n))
        const { payload } = EventJson.open(body, () => PieceScanner.noKnownPrefixes)!
        const { inputs, output } = JSON.parse(body.toString()).properties
        yield* recorder.createEvent({
          api: "provider1-chat-completions",
          fingerprintId: Calls.fingerprintId,
          session: sessionOf(n),
          person: personOf(n),
          agent: AgentName.make("a"),
          payload,
          facts: recorder.readFacts("provider1-chat-completions", inputs, output)
        })
      }
    })
  )

const eraseSession = (storage: Service, session: string) =>
  withRecorder(storage, (recorder) => recorder.eraseSession(SessionId.make(session)))

const erasePerson = (storage: Service, person: string) =>
  withRecorder(storage, (recorder) => recorder.erasePerson(PersonId.make(person)))

/** By what the events are. */
const versions = {
  first: { model: "of the first", tokensFrom: 0, stopReason: "end", toolCalls: [] },
  second: { model: "of the second", tokensFrom: 1_000_000, stopReason: "pause", toolCalls: ["t"] }
} as const

/** Expects that the calls with these numbers are stored, that each is all by one version, and that lists and sums say the same. */
const expectWhole = Effect.fnUntraced(function* (storage: Service, numbers: ReadonlyArray<number>) {
  const events = yield* storage.listEvents(project, { order: "asc", limit: 1_000 })
  const ids = { first: new Array<string>(), second: new Array<string>() }
  const found: Array<number> = []
  for (const { id, rules, summary } of events) {
    const version = rules!.startsWith("2,") ? "second" : "first"
    ids[version].push(id)
    const { tokensFrom, ...facts } = versions[version]
    found.push(summary!.inputTokens! - tokensFrom)
    expect(summary).toMatchObject(facts)
    expect(summary!.session).toBe(sessionOf(found.at(-1)!))
  }
  expect(found).toEqual(numbers)
  const counted = yield* storage.rulesInUse(project)
  expect(counted.map(({ events, rules }) => [rules.slice(0, 2), events]).sort()).toEqual(
    [["1,", ids.first.length] as const, ["2,", ids.second.length] as const].filter(([, events]) => events > 0)
  )
  const usage = yield* storage.sumUsage(project, { groupBy: ["model"], timeZone: "UTC", limit: 10 })
  for (const version of ["first", "second"] as const) {
    const { model, stopReason, tokensFrom } = versions[version]
    for (const fields of [{ model }, { stopReason }]) {
      const { rows } = yield* storage.findEvents(project, { order: "asc", limit: 1_000 }, fields, 10_000)
      expect(rows.map(({ id }) => id)).toEqual(ids[version])
    }
    const group = usage.groups.find((each) => each.model === model)
    const tokens = numbers.filter((_, index) => events[index]!.summary!.model === model)
    expect([group?.events ?? 0, group?.inputTokens ?? 0]).toEqual([
      tokens.length,
      tokens.reduce((sum, n) => sum + n + tokensFrom, 0)
    ])
  }
  return ids
})

const reindex = (storage: Service, throttle: Throttle.Throttle = Throttle.unthrottled) =>
  Effect.suspend(() => {
    const counts = new Reindexer.Counts()
    const report = ({ reason }: Reindexer.LeftEvent) => Effect.die(new Error(reason))
    return Effect.as(Reindexer.reindex(storage, { projects: [project], throttle, counts, report }), counts)
  }).pipe(Effect.provideService(Rules, second), Effect.provideService(Prices, "none"))

const calls = 60
const all = Array.from({ length: calls }, (_, n) => n)

/** In the order in which they are reindexed, which is not that of their creation in a distributed database. */
const reindexedSessions = Effect.fnUntraced(function* (storage: Service) {
  const sessions: Array<string> = []
  for (let next = yield* storage.nextSession(project, 0); next !== undefined;) {
    if (next.id !== undefined) sessions.push(next.id)
    next = yield* storage.nextSession(project, next.number)
  }
  return sessions
})

/** Runs something before some of the steps, which are numbered from 1. */
const before = (runs: Readonly<Record<number, Effect.Effect<unknown>>>): Throttle.Throttle => {
  let steps = 0
  return (effect) => Effect.andThen(runs[++steps] ?? Effect.void, effect)
}

export const define = (test: Test) => {
  const recorded = (storage: Service, run: Effect.Effect<void, unknown>) =>
    Effect.gen(function* () {
      yield* Calls.putFingerprint(storage, yield* CurrentProject)
      yield* record(storage, 0, calls)
      yield* run
      expect(Verifying.shown(yield* Verifying.verify(storage))).toEqual([])
      expect((yield* StoreCheck.look(storage, project)).problems).toEqual([])
    }).pipe(Effect.orDie, provided)

  test("brings events to a second version of the rules, and filters by either version meanwhile", (storage) =>
    recorded(
      storage,
      Effect.gen(function* () {
        expect((yield* expectWhole(storage, all)).second).toEqual([])
        const middle = (yield* storage.listEvents(project, { order: "asc", limit: 31 })).at(-1)!.id
        yield* storage.deriveEvents(project, middle, 1_000)
        for (const step of [4, 7]) {
          const stopped = yield* Effect.exit(reindex(storage, before({ [step]: Effect.interrupt })))
          expect(Exit.hasInterrupts(stopped)).toBe(true)
          const { first, second } = yield* expectWhole(storage, all)
          expect([first.length > 0, second.length > 0]).toEqual([true, true])
        }
        // A server of the older version records on.
        yield* record(storage, calls, calls + 10)
        const { first } = yield* expectWhole(storage, [...all, ...Array.from({ length: 10 }, (_, n) => calls + n)])
        expect((yield* reindex(storage)).events).toBe(first.length)
        const after = yield* expectWhole(storage, [...all, ...Array.from({ length: 10 }, (_, n) => calls + n)])
        expect(after.first).toEqual([])
        // One of the newer version finds nothing to do.
        expect(yield* reindex(storage)).toEqual(new Reindexer.Counts())
      })
    ))

  test("brings nothing back that is erased while events are brought to other rules", (storage) =>
    recorded(
      storage,
      Effect.gen(function* () {
        const newest = (yield* storage.listEvents(project, { order: "desc", limit: 1 }))[0]!.id
        yield* storage.deriveEvents(project, newest, 1_000)
        let kept = all
        const inOrder = yield* reindexedSessions(storage)
        const erasing = (session: string | undefined) =>
          Effect.gen(function* () {
            const versions = yield* expectWhole(storage, kept)
            yield* eraseSession(storage, session!)
            kept = kept.filter((n) => sessionOf(n) !== session)
            yield* expectWhole(storage, kept)
            return versions.second.length
          }).pipe(
            Effect.tap((done) => Effect.sync(() => void progress.push(done))),
            Effect.orDie
          )
        const progress: Array<number> = []
        // The first is reindexed, the second was listed and read, and the last comes later.
        yield* reindex(storage, before({ 4: erasing(inOrder[0]), 7: erasing(inOrder[1]), 9: erasing(inOrder[4]) }))
        expect(progress).toEqual([12, 0, 0])
        const sessions = yield* storage.listSessions(project, { order: "asc", limit: 10 })
        expect(sessions.rows.map(({ session }) => session).sort()).toEqual(inOrder.slice(2, 4).sort())
        expect((yield* expectWhole(storage, kept)).first).toEqual([])
      })
    ))

  test("replaces no facts of events that are erased after they were read", (storage) =>
    recorded(
      storage,
      Effect.gen(function* () {
        const newest = (yield* storage.listEvents(project, { order: "desc", limit: 1 }))[0]!.id
        yield* storage.deriveEvents(project, newest, 40)
        let replacements = 0
        const overtaken: Service = {
          ...storage,
          replaceFacts: (...args) =>
            Effect.andThen(
              ++replacements === 2 ? Effect.orDie(erasePerson(storage, "leaving")) : Effect.void,
              storage.replaceFacts(...args)
            )
        }
        const counts = yield* reindex(overtaken)
        const kept = all.filter((n) => personOf(n) === "staying")
        expect((yield* expectWhole(storage, kept)).first).toEqual([])
        expect(counts.events).toBeGreaterThanOrEqual(kept.length)
        expect(counts.events).toBeLessThan(calls)
        const people = yield* storage.sumUsage(project, { groupBy: ["person"], timeZone: "UTC", limit: 10 })
        expect(people.groups.map(({ events, person }) => [person, events])).toEqual([["staying", kept.length]])
      })
    ))
}
