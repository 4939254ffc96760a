/**
 * What every storage must do, as test cases: `StorageSuite.run("my storage", () => MyStorage.layer)` in a vitest file.
 * Every case opens a storage of its own, which must be empty.
 */
import {
  type Agent,
  AgentName,
  AgentVersionName,
  ApiKey,
  type AppendEvent,
  type EventId,
  type EventSummary,
  type FingerprintId,
  JsonText,
  PersonId,
  ProjectId,
  SessionId,
  Storage
} from "@tachograph/core"
import { DateTime, Effect, Fiber, type Layer } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { append, appendEvent, eventId } from "./Samples.ts"

const project = ProjectId.make("default")
const other = ProjectId.make("other")
const bot = AgentName.make("bot")
const now = DateTime.makeUnsafe("2026-01-02T03:04:05.678Z")
const later = DateTime.makeUnsafe("2026-01-03T00:00:00.000Z")

/** Text that databases cannot hold as it is. */
const awkward = "\u0000 \ud800 'quoted' \"é\" 😀 \\"

const agent = (name: AgentName): Omit<Agent, "number"> => ({ name, description: `of ${name}`, createdAt: now })

const idOf = (n: number): EventId => eventId(n)

const event = (n: number, fields: Partial<EventSummary> = {}, inProject = project): AppendEvent =>
  appendEvent(idOf(n), fields, inProject)

const apiKey = (id: string): ApiKey =>
  new ApiKey({
    id,
    project,
    name: "a key",
    scopes: ["record", "read"],
    createdAt: now,
    expiresAt: null,
    revokedAt: null
  })

export const run = (name: string, layer: () => Layer.Layer<Storage, unknown>) => {
  const test = (title: string, body: (storage: Storage["Service"]) => Effect.Effect<unknown, unknown>) =>
    it(title, () => Effect.runPromise(Effect.flatMap(Storage, body).pipe(Effect.provide(layer()))))

  const tagOf = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
    Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

  describe(`StorageSuite: ${name}`, () => {
    test("answers a ping", (storage) => storage.ping)

    test("numbers agents from 1 and keeps the first description", (storage) =>
      Effect.gen(function* () {
        const first = yield* storage.putAgent(project, agent(bot))
        const again = yield* storage.putAgent(project, { ...agent(bot), description: "another", createdAt: later })
        const second = yield* storage.putAgent(project, agent(AgentName.make("Bot")))
        expect(first).toMatchObject({ name: "bot", number: 1, description: "of bot", createdAt: now })
        expect(again).toEqual(first)
        expect(second.number).toBe(2)
        expect(yield* storage.getAgent(project, bot)).toEqual(first)
      }))

    test("numbers versions within their agent", (storage) =>
      Effect.gen(function* () {
        const v1 = AgentVersionName.make("v1")
        const put = (of: AgentName, version: AgentVersionName) =>
          storage.putAgentVersion(project, of, { name: version, description: null, createdAt: now })
        expect(yield* tagOf(put(bot, v1))).toBe("agent-not-found")
        expect(yield* tagOf(storage.getAgentVersion(project, bot, v1))).toBe("agent-not-found")
        yield* storage.putAgent(project, agent(bot))
        yield* storage.putAgent(project, agent(AgentName.make("second")))
        expect(yield* tagOf(storage.getAgentVersion(project, bot, v1))).toBe("agent-version-not-found")
        const created = yield* put(bot, v1)
        expect(created).toMatchObject({ name: "v1", number: 1, description: null, deprecatedAt: null, createdAt: now })
        expect(yield* put(bot, v1)).toEqual(created)
        expect((yield* put(bot, AgentVersionName.make("v2"))).number).toBe(2)
        expect((yield* put(AgentName.make("second"), AgentVersionName.make("v2"))).number).toBe(1)
        expect(yield* storage.getAgentVersion(project, bot, v1)).toEqual(created)
      }))

    test("keeps people as they were first put, until they are updated", (storage) =>
      Effect.gen(function* () {
        const id = PersonId.make("p1")
        const properties = JsonText.unsafe(`{ "a": 1.0, "a": 2 }`)
        expect(yield* tagOf(storage.getPerson(project, id))).toBe("person-not-found")
        expect(yield* tagOf(storage.updatePerson(project, id, properties))).toBe("person-not-found")
        const person = { id, properties, createdAt: now }
        expect(yield* storage.putPerson(project, person)).toMatchObject(person)
        expect(yield* storage.putPerson(project, { ...person, properties: JsonText.unsafe("{}") })).toMatchObject(
          person
        )
        const updated = yield* storage.updatePerson(project, id, JsonText.unsafe(`{"b":0}`))
        expect(updated).toMatchObject({ id, properties: `{"b":0}`, createdAt: now })
        expect(yield* storage.getPerson(project, id)).toEqual(updated)
      }))

    test("keeps text that databases cannot hold as it is", (storage) =>
      Effect.gen(function* () {
        const put = yield* storage.putAgent(project, { ...agent(bot), description: awkward })
        const version = { name: AgentVersionName.make("v"), description: awkward, createdAt: now }
        expect(put.description).toBe(awkward)
        expect((yield* storage.putAgentVersion(project, bot, version)).description).toBe(awkward)
        expect((yield* storage.getAgentVersion(project, bot, version.name)).description).toBe(awkward)
      }))

    test("tells names apart by every code point", (storage) =>
      Effect.gen(function* () {
        const names = ["a", "A", "ä", "a\u0308", " a", "a ", "a\n", "%", "_", "\\", "'", "😀", "𝕒", "x".repeat(255)]
        for (const each of names) yield* storage.putAgent(project, agent(AgentName.make(each)))
        for (const [index, each] of names.entries()) {
          expect(yield* storage.getAgent(project, AgentName.make(each))).toMatchObject({
            name: each,
            number: index + 1
          })
        }
      }))

    test("knows a fingerprint in its own project only", (storage) =>
      Effect.gen(function* () {
        const id = idOf(7) as string as FingerprintId
        expect(yield* storage.hasFingerprint(project, id)).toBe(false)
        const fingerprint = { id, fields: JsonText.unsafe("{}"), createdAt: now }
        yield* storage.putFingerprint(project, fingerprint)
        yield* storage.putFingerprint(project, fingerprint)
        expect(yield* storage.hasFingerprint(project, id)).toBe(true)
        expect(yield* storage.hasFingerprint(other, id)).toBe(false)
      }))

    test("answers an event as it was appended", (storage) =>
      Effect.gen(function* () {
        const whole = event(1, {
          person: PersonId.make("p1"),
          occurredAt: later,
          durationMs: 12.5,
          model: "a model",
          inputTokens: 3,
          outputTokens: Number.MAX_SAFE_INTEGER,
          stopReason: "stop",
          api: "provider2-beta-messages"
        })
        yield* append(storage, [whole, event(2)])
        for (const { pack, summary } of [whole, event(2)]) {
          const found = yield* storage.getEvent(project, summary.id)
          expect(found.summary).toEqual(summary)
          expect(Array.from(found.pack.bytes)).toEqual(Array.from(pack.bytes))
        }
        expect(yield* tagOf(storage.getEvent(project, idOf(3)))).toBe("event-not-found")
      }))

    test("creates what events name, with the defaults of the interface", (storage) =>
      Effect.gen(function* () {
        const p1 = PersonId.make("p1")
        yield* storage.putPerson(project, { id: p1, properties: JsonText.unsafe(`{"kept":1}`), createdAt: now })
        yield* append(storage, [
          event(1, { person: p1 }),
          event(2, { person: PersonId.make("p2"), agentVersion: AgentVersionName.make("v2") }),
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

    test("lists by session, agent, version and person, and by all at once", (storage) =>
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

    test("pages lose and repeat nothing, in either order and any page size", (storage) =>
      Effect.gen(function* () {
        const ids = Array.from({ length: 25 }, (_, n) => idOf(3 * n + 1))
        // Appended out of order, as several processes do.
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
        // A cursor need not be an event that there is.
        expect(yield* pagesOf(5, "asc", idOf(2))).toEqual(ids.slice(1))
        expect(yield* pagesOf(5, "desc", idOf(2))).toEqual([ids[0]])
      }))

    test("keeps projects apart", (storage) =>
      Effect.gen(function* () {
        yield* append(storage, [
          event(1, { person: PersonId.make("p1") }),
          event(2, { person: PersonId.make("p1"), agent: AgentName.make("second") }, other)
        ])
        expect(yield* tagOf(storage.getEvent(other, idOf(1)))).toBe("event-not-found")
        expect(yield* tagOf(storage.getAgent(other, bot))).toBe("agent-not-found")
        expect(yield* storage.getAgent(other, AgentName.make("second"))).toMatchObject({ number: 1 })
        yield* storage.updatePerson(other, PersonId.make("p1"), JsonText.unsafe(`{"x":1}`))
        expect((yield* storage.getPerson(project, PersonId.make("p1"))).properties).toBe("{}")
        expect(yield* storage.listEvents(other, { order: "asc", limit: 10 })).toHaveLength(1)
      }))

    test("appends all or none", (storage) =>
      Effect.gen(function* () {
        yield* append(storage, [event(1)])
        const exit = yield* Effect.exit(
          append(storage, [event(2, { agent: AgentName.make("new"), session: SessionId.make("new") }), event(1)])
        )
        expect(exit._tag).toBe("Failure")
        expect(yield* tagOf(storage.getAgent(project, AgentName.make("new")))).toBe("agent-not-found")
        const ids = (yield* storage.listEvents(project, { order: "asc", limit: 10 })).map(({ id }) => id)
        expect(ids).toEqual([idOf(1)])
        expect(yield* tagOf(storage.getEvent(project, idOf(2)))).toBe("event-not-found")
      }))

    test("creates one agent and version for 64 simultaneous first events", (storage) =>
      Effect.gen(function* () {
        yield* Effect.forEach(
          Array.from({ length: 64 }, (_, n) => event(n + 1)),
          (one) => append(storage, [one]),
          {
            concurrency: "unbounded"
          }
        )
        expect(yield* storage.listEvents(project, { order: "asc", limit: 100 })).toHaveLength(64)
        expect(yield* storage.putAgent(project, agent(AgentName.make("next")))).toMatchObject({ number: 2 })
        const next = { name: AgentVersionName.make("next"), description: null, createdAt: now }
        expect(yield* storage.putAgentVersion(project, bot, next)).toMatchObject({ number: 2 })
      }))

    test("numbers 300 versions created in parallel without a gap", (storage) =>
      Effect.gen(function* () {
        yield* storage.putAgent(project, agent(bot))
        const versions = yield* Effect.forEach(
          Array.from({ length: 300 }, (_, n) => AgentVersionName.make(`v${n % 150}-${n >= 150}`)),
          (version) => storage.putAgentVersion(project, bot, { name: version, description: null, createdAt: now }),
          { concurrency: "unbounded" }
        )
        const numbers = versions.map(({ number }) => number).sort((a, b) => a - b)
        expect(numbers).toEqual(Array.from({ length: 300 }, (_, n) => n + 1))
      }))

    test("an interrupted append leaves nothing half", (storage) =>
      Effect.gen(function* () {
        for (let n = 1; n <= 40; n++) {
          const fiber = yield* Effect.forkChild(append(storage, [event(2 * n), event(2 * n + 1)]))
          for (let i = 0; i < n % 8; i++) yield* Effect.yieldNow
          yield* Fiber.interrupt(fiber)
        }
        const ids = (yield* storage.listEvents(project, { order: "asc", limit: 1000 })).map(({ id }) => id)
        for (let n = 1; n <= 40; n++) expect(ids.includes(idOf(2 * n))).toBe(ids.includes(idOf(2 * n + 1)))
        yield* append(storage, [event(1000)])
      }))

    test("finds, lists and revokes keys by their hash and id", (storage) =>
      Effect.gen(function* () {
        const hash = (n: number) => new Uint8Array(32).fill(n)
        yield* storage.putApiKey(apiKey("k1"), hash(1))
        const second = new ApiKey({ ...apiKey("k2"), project: other, expiresAt: later, createdAt: later })
        yield* storage.putApiKey(second, hash(2))
        expect(yield* storage.findApiKey(hash(1))).toEqual(apiKey("k1"))
        expect(yield* storage.findApiKey(hash(2))).toEqual(second)
        expect(yield* storage.findApiKey(hash(3))).toBeUndefined()
        expect((yield* storage.listApiKeys).map(({ id }) => id)).toEqual(["k1", "k2"])
        const revoked = yield* storage.revokeApiKey("k1", now)
        expect(revoked?.revokedAt).toEqual(now)
        expect((yield* storage.revokeApiKey("k1", later))?.revokedAt).toEqual(now)
        expect((yield* storage.findApiKey(hash(1)))?.revokedAt).toEqual(now)
        expect(yield* storage.revokeApiKey("none", now)).toBeUndefined()
      }))
  })
}
