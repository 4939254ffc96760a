/** Appending, reading and listing independent events. */
import {
  Codes,
  AgentName,
  AgentVersionName,
  type AppendEvent,
  type EventId,
  type EventSummary,
  JsonText,
  PersonId,
  SessionId,
  SpanId,
  TraceId,
  unpricedParts
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import fc from "fast-check"
import { expect } from "vitest"
import { append, appendEvent, eventId, project } from "../Samples.ts"
import { bot, later, now, other, tagOf, type Test } from "./Cases.ts"

const event = (n: number, fields: Partial<EventSummary> = {}, inProject = project) =>
  appendEvent(eventId(n), fields, inProject)

const agent = (name: AgentName) => ({ name, description: `of ${name}`, createdAt: now })

export const define = (test: Test) => {
  test("takes the longest names of models in any characters, and adds them up", (storage) =>
    Effect.gen(function* () {
      // Each another one, so that no database can compress them.
      const emoji = (length: number, from: number) =>
        Array.from({ length }, (_, n) => String.fromCodePoint(from + ((n * 97) % 251))).join("")
      const [model, responseModel] = [emoji(255, 0x1f300), emoji(255, 0x1f400)]
      const [provider, providerStopReason] = [emoji(100, 0x1f300), emoji(100, 0x1f400)]
      const longest = event(1, { model, responseModel, provider, providerStopReason })
      yield* append(storage, [longest])
      yield* storage.deriveEvents(project, eventId(2), 10)
      expect((yield* storage.getEvent(project, eventId(1))).summary).toEqual(longest.summary)
      const query = { groupBy: ["model"], timeZone: "UTC", limit: 10 } as const
      expect((yield* storage.sumUsage(project, query)).groups).toMatchObject([{ model, events: 1 }])
    }))

  test("returns an event as it was appended", (storage) =>
    Effect.gen(function* () {
      const whole = event(1, {
        person: PersonId.make("p1"),
        occurredAt: later,
        durationMs: 12.5,
        firstTokenMs: 0.25,
        httpStatus: 529,
        traceId: TraceId.make("00f067aa0ba902b700f067aa0ba90201"),
        spanId: SpanId.make("80f067aa0ba902ff"),
        recorded: { redacted: 2, "\u0000": ["\ud800"] },
        provider: "openai",
        model: "a model",
        responseModel: "another model",
        inputTokens: 3,
        outputTokens: 2 ** 31 - 1,
        cacheReadTokens: 1,
        cacheWriteTokens: 2,
        reasoningTokens: 0,
        stopReason: "tool_calls",
        providerStopReason: "a word",
        toolCalls: ["search", "", "search"],
        errorType: "overloaded_error",
        errorStatus: 529,
        costUsd: 2 ** 53 - 1,
        statedCostUsd: 2 ** 53 - 1,
        listCostUsd: 0,
        price: "openai/a price",
        priceIsExact: false,
        unpricedParts: Codes.wordsOf(unpricedParts),
        api: "provider2-beta-messages"
      })
      // The longest words, which no list of known ones has.
      const [provider, providerStopReason] = ["p".repeat(100), "r".repeat(100)]
      const unpriced: AppendEvent = {
        ...event(3, { provider, providerStopReason, toolCalls: [], unpriced: "service-tier" }),
        checksums: { summary: -(2 ** 31), texts: 2 ** 31 - 1 }
      }
      // With characters that an array of Postgres escapes.
      const metadata = JsonText.unsafe(`{ "a\\u0000\\ud800\\"": [1.0, null], "é": "{}," }`)
      // The last one is appended to a session and names that exist.
      for (const batch of [[{ ...whole, metadata }, event(2)], [unpriced], [{ ...event(4), metadata }]]) {
        yield* append(storage, batch)
      }
      for (const [{ checksums, pack, summary }, sent] of [
        [whole, metadata],
        [event(2), null],
        [unpriced, null],
        [event(4), metadata]
      ] as const) {
        const found = yield* storage.getEvent(project, summary.id)
        expect(found).toMatchObject({ id: summary.id, summary, checksums, metadata: sent })
        expect(Array.from(found.pack.bytes!)).toEqual(Array.from(pack.bytes))
      }
      expect(yield* tagOf(storage.getEvent(project, eventId(5)))).toBe("event-not-found")
    }))

  test("leaves out the pack of an event that is larger than was asked for", (storage) =>
    Effect.gen(function* () {
      const whole = event(1)
      yield* append(storage, [whole])
      const { length } = whole.pack.bytes
      const sizes = [undefined, length, length - 1, 0].map((max) => storage.getEvent(project, eventId(1), max))
      const found = yield* Effect.all(sizes)
      expect(found.map(({ pack }) => [pack.number, pack.bytes?.length])).toEqual([
        [1, length],
        [1, length],
        [1, undefined],
        [1, undefined]
      ])
      expect(found.map(({ summary }) => summary)).toEqual(found.map(() => whole.summary))
    }))

  test("creates the agents, versions and people that events name, with default fields", (storage) =>
    Effect.gen(function* () {
      const p1 = PersonId.make("p1")
      yield* storage.putPerson(project, { id: p1, properties: JsonText.unsafe(`{"kept":1}`), createdAt: now })
      yield* append(storage, [
        event(1, { person: p1, receivedAt: now }),
        event(2, { person: PersonId.make("p2"), agentVersion: AgentVersionName.make("v2"), receivedAt: now }),
        event(3, { agent: AgentName.make("second") })
      ])
      expect(yield* storage.getAgent(project, bot)).toMatchObject({ number: 1, description: "", createdAt: now })
      expect(yield* storage.getAgent(project, AgentName.make("second"))).toMatchObject({ number: 2 })
      expect(yield* storage.getAgentVersion(project, bot, AgentVersionName.make("v2"))).toMatchObject({
        number: 2,
        description: null,
        deprecatedAt: null
      })
      expect((yield* storage.getPerson(project, p1)).properties).toBe(`{"kept":1}`)
      expect((yield* storage.getPerson(project, PersonId.make("p2"))).properties).toBe("{}")
    }))

  test("lists by session, agent, version and person, alone and combined", (storage) =>
    Effect.gen(function* () {
      const fields = (n: number): Partial<EventSummary> => ({
        session: SessionId.make(`s${n % 2}`),
        agent: AgentName.make(`a${n % 3}`),
        agentVersion: AgentVersionName.make(`v${n % 4}`),
        person: n % 5 === 0 ? null : PersonId.make(`p${n % 5}`)
      })
      const all = Array.from({ length: 60 }, (_, n) => event(n + 1, fields(n + 1)))
      yield* append(storage, all)
      const list = (query: Partial<EventSummary>) =>
        Effect.map(
          storage.listEvents(project, {
            session: query.session,
            agent: query.agent,
            agentVersion: query.agentVersion,
            person: query.person ?? undefined,
            order: "asc",
            limit: 100
          }),
          (events) => events.map(({ id }) => id)
        )
      for (const query of [{}, ...(["session", "agent", "agentVersion", "person"] as const), fields(7)]) {
        const wanted = typeof query === "string" ? { [query]: fields(7)[query] } : query
        const expected = all.filter(({ summary }) =>
          Object.entries(wanted).every(([key, value]) => summary[key as keyof EventSummary] === value)
        )
        expect(yield* list(wanted)).toEqual(expected.map(({ summary }) => summary.id))
      }
      expect(yield* list({ session: SessionId.make("none") })).toEqual([])
      expect(yield* list({ agentVersion: AgentVersionName.make("none") })).toEqual([])
      expect(yield* storage.listEvents(other, { order: "asc", limit: 10 })).toEqual([])
    }))

  test("pages in both orders and any size, without gaps or repeats", (storage) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 25 }, (_, n) => eventId(3 * n + 1))
      // Several processes append ids out of order.
      yield* Effect.forEach([...ids].reverse(), (_, n) => append(storage, [event(3 * ((n * 7) % 25) + 1)]))
      const pagesOf = Effect.fnUntraced(function* (limit: number, order: "asc" | "desc", start?: EventId) {
        const found: Array<EventId> = []
        for (let after = start; ;) {
          const page = yield* storage.listEvents(project, { order, limit, after })
          if (page.length === 0) return found
          expect(page.length).toBeLessThanOrEqual(limit)
          found.push(...page.map(({ id }) => id))
          after = found.at(-1)
        }
      })
      const sizes = fc.sample(fc.integer({ min: 1, max: 30 }), { numRuns: 8, seed: 1 })
      for (const limit of sizes) {
        expect(yield* pagesOf(limit, "asc")).toEqual(ids)
        expect(yield* pagesOf(limit, "desc")).toEqual([...ids].reverse())
      }
      // A cursor need not be the id of an existing event.
      expect(yield* pagesOf(5, "asc", eventId(2))).toEqual(ids.slice(1))
      expect(yield* pagesOf(5, "desc", eventId(2))).toEqual([ids[0]])
    }))

  test("separates projects", (storage) =>
    Effect.gen(function* () {
      yield* append(storage, [
        event(1, { person: PersonId.make("p1") }),
        event(2, { person: PersonId.make("p1"), agent: AgentName.make("second") }, other)
      ])
      expect(yield* tagOf(storage.getEvent(other, eventId(1)))).toBe("event-not-found")
      expect(yield* tagOf(storage.getAgent(other, bot))).toBe("agent-not-found")
      expect(yield* storage.getAgent(other, AgentName.make("second"))).toMatchObject({ number: 1 })
      yield* storage.updatePerson(other, PersonId.make("p1"), JsonText.unsafe(`{"x":1}`))
      expect((yield* storage.getPerson(project, PersonId.make("p1"))).properties).toBe("{}")
      expect(yield* storage.listEvents(other, { order: "asc", limit: 10 })).toHaveLength(1)
    }))

  test("appends all events of a batch or none", (storage) =>
    Effect.gen(function* () {
      yield* append(storage, [event(1)])
      const exit = yield* Effect.exit(
        append(storage, [event(2, { agent: AgentName.make("new"), session: SessionId.make("new") }), event(1)])
      )
      expect(exit._tag).toBe("Failure")
      expect(yield* tagOf(storage.getAgent(project, AgentName.make("new")))).toBe("agent-not-found")
      const ids = (yield* storage.listEvents(project, { order: "asc", limit: 10 })).map(({ id }) => id)
      expect(ids).toEqual([eventId(1)])
      expect(yield* tagOf(storage.getEvent(project, eventId(2)))).toBe("event-not-found")
    }))

  test("creates one agent and version for 24 concurrent first events", (storage) =>
    Effect.gen(function* () {
      yield* Effect.forEach(
        Array.from({ length: 24 }, (_, n) => event(n + 1)),
        (one) => append(storage, [one]),
        {
          concurrency: "unbounded"
        }
      )
      expect(yield* storage.listEvents(project, { order: "asc", limit: 100 })).toHaveLength(24)
      expect(yield* storage.putAgent(project, agent(AgentName.make("next")))).toMatchObject({ number: 2 })
      const next = { name: AgentVersionName.make("next"), description: null, createdAt: now }
      expect(yield* storage.putAgentVersion(project, bot, next)).toMatchObject({ number: 2 })
    }))

  test("appends all or none if it is interrupted", (storage) =>
    Effect.gen(function* () {
      for (let n = 1; n <= 40; n++) {
        const fiber = yield* Effect.forkChild(append(storage, [event(2 * n), event(2 * n + 1)]))
        for (let i = 0; i < n % 8; i++) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
      }
      const ids = (yield* storage.listEvents(project, { order: "asc", limit: 1000 })).map(({ id }) => id)
      for (let n = 1; n <= 40; n++) expect(ids.includes(eventId(2 * n))).toBe(ids.includes(eventId(2 * n + 1)))
      yield* append(storage, [event(1000)])
    }))
}
