/** Facts and costs that are computed anew. */
import {
  AgentName,
  CurrentProject,
  EventJson,
  type OwnPrices,
  PieceScanner,
  Prices,
  ReadFacts,
  Recorder,
  Reindexer,
  SessionId,
  type Storage,
  Throttle
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { expect } from "vitest"
import * as Calls from "../check/Calls.ts"
import * as Verifying from "../check/Verifying.ts"
import { append, appendEvent, eventId, project } from "../Samples.ts"
import type { Test } from "./Cases.ts"

type Service = Storage["Service"]

const session = SessionId.make("s1")

/** Prices of an operator, in dollars for a million tokens of either kind. */
const prices = (dollars: number): OwnPrices => ({
  date: "2026-11-01",
  prices: [{ provider: null, model: "a-model", isPrefix: false, prices: { input_mtok: dollars, output_mtok: dollars } }]
})

const inPrices = (dollars: number) => Effect.provideService(Prices, { own: prices(dollars) })

/** A conversation that grows by a message with each call, in several sessions. */
const bodyOf = (n: number) => {
  const messages = Array.from({ length: 1 + (n % 40) }, (_, index) => ({ role: "user", content: `message ${index}` }))
  const output = { model: "a-model", choices: [], usage: { prompt_tokens: 1_000 + n, completion_tokens: 7 } }
  return JSON.stringify({ session: `s${n % 3}`, properties: { inputs: { model: "a-model", messages }, output } })
}

/** Records calls by rules that read nothing, as if nothing had been known of the format. */
const record = (storage: Service, from: number, to: number) =>
  Effect.gen(function* () {
    const recorder = yield* Recorder
    for (let n = from; n < to; n++) {
      const { payload } = EventJson.open(Buffer.from(bodyOf(n)), () => PieceScanner.noKnownPrefixes)!
      yield* recorder.createEvent({
        api: "provider1-chat-completions",
        fingerprintId: Calls.fingerprintId,
        session: SessionId.make(`s${n % 3}`),
        agent: AgentName.make("a"),
        payload,
        facts: ReadFacts.read("provider1-chat-completions", {}, {})
      })
    }
  }).pipe(Effect.provide(Calls.recorderOver(storage)), inPrices(1))

const eventsOf = (storage: Service) => storage.listEvents(project, { order: "asc", limit: 1_000 })

const reindex = (storage: Service, dollars: number, throttle = Throttle.unthrottled) =>
  Effect.gen(function* () {
    const counts = new Reindexer.Counts()
    const left: Array<Reindexer.LeftEvent> = []
    yield* Reindexer.reindex(storage, {
      projects: [project],
      throttle,
      counts,
      report: (event) => Effect.sync(() => void left.push(event))
    })
    return { counts, left }
  }).pipe(inPrices(dollars))

export const define = (test: Test) => {
  test("replaces facts with their checksum, and counts events by their rules", (storage) =>
    Effect.gen(function* () {
      const events = [1, 2, 3].map((n) => ({ ...appendEvent(eventId(n), { session }), rules: n < 3 ? "old" : "new" }))
      const [number] = yield* append(storage, events)
      const inUse = Effect.map(storage.rulesInUse(project), (all) =>
        [...all].sort((a, b) => (a.rules < b.rules ? -1 : 1))
      )
      expect(yield* inUse).toEqual([
        { rules: "new", events: 1 },
        { rules: "old", events: 2 }
      ])
      const facts = {
        model: "m",
        inputTokens: 3,
        toolCalls: ["t"],
        costUsd: 5,
        price: "p/m",
        priceIsExact: true
      } as const
      const change = ({ checksums, summary }: (typeof events)[number], was = checksums.summary) => ({
        was,
        summary: { ...summary, ...facts },
        checksum: 7
      })
      // Changes with another checksum, of an event that is by the rules already, of no event, and of another session.
      const refused = [change(events[1]!, 6), change(events[2]!), change({ ...events[0]!, ...appendEvent(eventId(9)) })]
      expect(yield* storage.replaceFacts(project, number!, "new", refused)).toBe(0)
      expect(yield* storage.replaceFacts(project, number! + 256, "new", [change(events[0]!)])).toBe(0)
      expect(yield* storage.replaceFacts(project, number!, "new", [change(events[0]!), ...refused])).toBe(1)
      expect(yield* storage.replaceFacts(project, number!, "new", [change(events[0]!)])).toBe(0)
      expect(yield* inUse).toEqual([
        { rules: "new", events: 2 },
        { rules: "old", events: 1 }
      ])
      const [first, second] = yield* eventsOf(storage)
      expect(first).toMatchObject({
        summary: { ...events[0]!.summary, ...facts },
        rules: "new",
        checksums: { ...events[0]!.checksums, summary: 7 }
      })
      expect(second).toMatchObject({ summary: events[1]!.summary, rules: "old", checksums: events[1]!.checksums })
      yield* storage.eraseEvents(project, { session }, 1)
      expect(yield* inUse).toEqual([
        { rules: "new", events: 1 },
        { rules: "old", events: 1 }
      ])
    }))

  test("reindexes events while others record and reindex, and goes on where it was interrupted", (storage) =>
    Effect.gen(function* () {
      yield* Calls.putFingerprint(storage, yield* CurrentProject)
      yield* record(storage, 0, 150)
      expect((yield* eventsOf(storage)).every(({ summary }) => summary!.model === null)).toBe(true)

      // Some of them are added up before.
      const middle = (yield* eventsOf(storage))[99]!.id
      yield* storage.deriveEvents(project, middle, 1_000)

      let steps = 0
      const interrupted = reindex(storage, 2, (step) => (++steps > 6 ? Effect.interrupt : step))
      expect(Exit.hasInterrupts(yield* Effect.exit(interrupted))).toBe(true)
      const half = (yield* eventsOf(storage)).filter(({ summary }) => summary!.model === "a-model").length
      expect(half).toBeGreaterThan(0)
      expect(half).toBeLessThan(150)

      const [first, second] = yield* Effect.all([reindex(storage, 2), reindex(storage, 2), record(storage, 150, 200)], {
        concurrency: 3
      })
      expect([...first.left, ...second.left]).toEqual([])
      expect(first.counts.events + second.counts.events).toBeGreaterThanOrEqual(150 - half)
      yield* reindex(storage, 2)
      const rules = yield* Reindexer.currentRules.pipe(inPrices(2))
      expect(yield* storage.rulesInUse(project)).toEqual([{ rules, events: 200 }])
      for (const { rules: by, summary } of yield* eventsOf(storage)) {
        expect([by, summary!.model, summary!.price]).toEqual([rules, "a-model", "own:a-model"])
        expect(summary!.costUsd).toBe(2_000 * (summary!.inputTokens! + 7))
      }
      expect(Verifying.shown(yield* Verifying.verify(storage))).toEqual([])
      // What was added up of the first has followed.
      const sums = storage.listSessions(project, { order: "asc", limit: 10 })
      const kept = yield* sums
      expect(kept.rows.flatMap(({ models }) => models)).toEqual(["a-model", "a-model", "a-model"])
      yield* storage.dropDerived(project)
      expect(yield* sums).toEqual(kept)
      // By the same rules there is nothing to do.
      expect((yield* reindex(storage, 2)).counts).toEqual(new Reindexer.Counts())
      yield* reindex(storage, 3)
      expect((yield* eventsOf(storage)).map(({ summary }) => summary!.costUsd! % 3_000)).toEqual(Array(200).fill(0))
    }))
}
