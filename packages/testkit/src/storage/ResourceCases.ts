/** Agents, versions, people, fingerprints and keys. */
import {
  type Agent,
  AgentName,
  AgentVersionName,
  ApiKey,
  Audit,
  EventTime,
  type FingerprintId,
  JsonText,
  type ListPage,
  type ListQuery,
  PersonId,
  type ProjectId,
  SessionId,
  type StoredAudit
} from "@tachograph/core"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { append, appendEvent, eventId, project } from "../Samples.ts"
import { bot, later, now, other, tagOf, type Test } from "./Cases.ts"

/** Text with characters that databases reject or change. */
const awkward = "\u0000 \ud800 'quoted' \"é\" 😀 \\"

const agent = (name: AgentName): Omit<Agent, "number"> => ({ name, description: `of ${name}`, createdAt: now })

const all: ListQuery<number> = { after: undefined, limit: 10, maxBytes: 10_000 }

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

/** An entry of this time (ms). */
const entry = (atMs: number, action: StoredAudit["action"]): StoredAudit => ({
  ...{ id: EventTime.firstIdOf(atMs), action },
  ...{ actor: "somebody", subject: atMs % 2 === 0 ? null : "subject", events: atMs % 2 === 0 ? 7 : null }
})

export const define = (test: Test) => {
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

  test("numbers versions per agent", (storage) =>
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

  test("keeps the first properties of a person until an update", (storage) =>
    Effect.gen(function* () {
      const id = PersonId.make("p1")
      const properties = JsonText.unsafe(`{ "a": 1.0, "a": 2 }`)
      expect(yield* tagOf(storage.getPerson(project, id))).toBe("person-not-found")
      expect(yield* tagOf(storage.updatePerson(project, id, properties))).toBe("person-not-found")
      const person = { id, properties, createdAt: now }
      expect(yield* storage.putPerson(project, person)).toMatchObject(person)
      expect(yield* storage.putPerson(project, { ...person, properties: JsonText.unsafe("{}") })).toMatchObject(person)
      const updated = yield* storage.updatePerson(project, id, JsonText.unsafe(`{"b":0}`))
      expect(updated).toMatchObject({ id, properties: `{"b":0}`, createdAt: now })
      expect(yield* storage.getPerson(project, id)).toEqual(updated)
    }))

  test("gives agents, versions and people that only events have named what is put first", (storage) =>
    Effect.gen(function* () {
      const p1 = PersonId.make("p1")
      const v1 = AgentVersionName.make("v1")
      yield* append(storage, [appendEvent(eventId(1), { agent: bot, agentVersion: v1, person: p1 })])
      const named = {
        agent: yield* storage.getAgent(project, bot),
        version: yield* storage.getAgentVersion(project, bot, v1),
        person: yield* storage.getPerson(project, p1)
      }
      const isNamedOnly = true
      expect(named).toMatchObject({ agent: { isNamedOnly }, version: { isNamedOnly }, person: { isNamedOnly } })
      const put = Effect.fnUntraced(function* (text: string | null, flag: { readonly isNamedOnly?: boolean }) {
        const properties = JsonText.unsafe(`{"a":${JSON.stringify(text)}}`)
        return {
          agent: yield* storage.putAgent(project, { name: bot, description: text ?? "", createdAt: later, ...flag }),
          version: yield* storage.putAgentVersion(project, bot, {
            name: v1,
            description: text,
            createdAt: later,
            ...flag
          }),
          person: yield* storage.putPerson(project, { id: p1, properties, createdAt: later, ...flag })
        }
      })
      expect(yield* put("named", { isNamedOnly })).toEqual(named)
      // One decides where several are put at a time.
      const first = yield* Effect.all(
        ["null", "b", "c"].map((text) => put(text, {})),
        { concurrency: "unbounded" }
      )
      expect(new Set(first.map(({ agent }) => agent.description)).size).toBe(1)
      expect(new Set(first.map(({ version }) => version.description)).size).toBe(1)
      expect(new Set(first.map(({ person }) => person.properties)).size).toBe(1)
      const { agent, person, version } = first[0]!
      expect({ agent, person, version }).toMatchObject({
        agent: { number: named.agent.number, createdAt: named.agent.createdAt },
        version: { number: named.version.number, createdAt: named.version.createdAt },
        person: { createdAt: named.person.createdAt }
      })
      expect([agent, version, person].map((each) => "isNamedOnly" in each)).toEqual([false, false, false])
      expect(yield* put("late", {})).toEqual({ agent, version, person })
      expect(yield* put("late", { isNamedOnly })).toEqual({ agent, version, person })
      expect((yield* storage.listAgents(project, all)).rows).toEqual([agent])
      expect((yield* storage.listAgentVersions(project, bot, all)).rows).toEqual([version])
      expect((yield* storage.listPeople(project, all)).rows).toEqual([person])
    }))

  test("keeps whether only events have named a version, a person and an agent", (storage) =>
    Effect.gen(function* () {
      yield* storage.putAgent(project, { ...agent(bot), description: "", isNamedOnly: true })
      const version = { name: AgentVersionName.make("v1"), description: null, createdAt: now }
      yield* storage.putAgentVersion(project, bot, { ...version, isNamedOnly: true })
      expect((yield* storage.listAgents(project, all)).rows).toMatchObject([{ isNamedOnly: true, description: "" }])
      expect((yield* storage.listAgentVersions(project, bot, all)).rows).toMatchObject([{ isNamedOnly: true }])
      // Without a description it is put all the same.
      expect("isNamedOnly" in (yield* storage.putAgentVersion(project, bot, version))).toBe(false)
      expect((yield* storage.putAgentVersion(project, bot, { ...version, description: "late" })).description).toBeNull()
    }))

  test("preserves text that databases reject or change", (storage) =>
    Effect.gen(function* () {
      const put = yield* storage.putAgent(project, { ...agent(bot), description: awkward })
      const version = { name: AgentVersionName.make("v"), description: awkward, createdAt: now }
      expect(put.description).toBe(awkward)
      expect((yield* storage.putAgentVersion(project, bot, version)).description).toBe(awkward)
      expect((yield* storage.getAgentVersion(project, bot, version.name)).description).toBe(awkward)
    }))

  test("distinguishes names by every code point", (storage) =>
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

  test("finds a fingerprint only in its project", (storage) =>
    Effect.gen(function* () {
      const id = eventId(7) as string as FingerprintId
      expect(yield* storage.hasFingerprint(project, id)).toBe(false)
      const fingerprint = { id, fields: JsonText.unsafe("{}"), createdAt: now }
      yield* storage.putFingerprint(project, fingerprint)
      yield* storage.putFingerprint(project, fingerprint)
      expect(yield* storage.hasFingerprint(project, id)).toBe(true)
      expect(yield* storage.hasFingerprint(other, id)).toBe(false)
      yield* storage.putFingerprint(project, { ...fingerprint, createdAt: later })
      expect(yield* storage.getFingerprint(project, id)).toEqual(fingerprint)
      expect(yield* tagOf(storage.getFingerprint(other, id))).toBe("fingerprint-not-found")
    }))

  test("lists agents, versions, people and fingerprints in pages of bounded size", (storage) =>
    Effect.gen(function* () {
      const text = (n: number) => "x".repeat(100 * n)
      for (const n of [1, 2, 3]) {
        const name = AgentName.make(`agent ${4 - n}`)
        yield* storage.putAgent(project, { ...agent(name), description: text(n) })
        const version = { name: AgentVersionName.make(`v${4 - n}`), description: text(n), createdAt: now }
        yield* storage.putAgentVersion(project, AgentName.make("agent 3"), version)
        const properties = JsonText.unsafe(JSON.stringify({ text: text(n) }))
        yield* storage.putPerson(project, { id: PersonId.make(`p${4 - n}`), properties, createdAt: now })
        const fields = JsonText.unsafe(JSON.stringify(text(n)))
        yield* storage.putFingerprint(project, { id: eventId(n) as string as FingerprintId, fields, createdAt: now })
      }
      type Listed = { readonly name: string } | { readonly id: string }
      const lists = {
        agents: (of: ProjectId, query: ListQuery<number>) => storage.listAgents(of, query),
        versions: (of: ProjectId, query: ListQuery<number>) =>
          of === project
            ? storage.listAgentVersions(of, AgentName.make("agent 3"), query)
            : Effect.succeed({ rows: [], next: undefined }),
        people: (of: ProjectId, query: ListQuery<number>) => storage.listPeople(of, query),
        fingerprints: (of: ProjectId, query: ListQuery<FingerprintId>) => storage.listFingerprints(of, query)
      } as unknown as Readonly<
        Record<string, (of: ProjectId, query: ListQuery<unknown>) => Effect.Effect<ListPage<Listed, unknown>>>
      >
      const expected: Readonly<Record<string, ReadonlyArray<string>>> = {
        agents: ["agent 3", "agent 2", "agent 1"],
        versions: ["v3", "v2", "v1"],
        people: ["p3", "p2", "p1"],
        fingerprints: [eventId(1), eventId(2), eventId(3)]
      }
      for (const [kind, list] of Object.entries(lists)) {
        // By rows; by bytes, of which the first two rows have 300 and a little more; a row that is larger than a page.
        for (const [limit, maxBytes, pages] of [
          [3, 10_000, [3]],
          [2, 10_000, [2, 1]],
          [9, 400, [2, 1]],
          [9, 1, [1, 1, 1]]
        ] as const) {
          const found: Array<string> = []
          const lengths: Array<number> = []
          let after: unknown
          do {
            const page: ListPage<Listed, unknown> = yield* list(project, { after, limit, maxBytes })
            lengths.push(page.rows.length)
            found.push(...page.rows.map((row) => ("name" in row ? row.name : row.id)))
            after = page.next
          } while (after !== undefined)
          expect([kind, lengths, found]).toEqual([kind, pages, expected[kind]])
        }
        const nothing = yield* list(other, { after: undefined, limit: 1, maxBytes: 1 })
        expect(nothing, kind).toEqual({ rows: [], next: undefined })
      }
      const none = storage.listAgentVersions(project, bot, { after: undefined, limit: 1, maxBytes: 1 })
      expect(yield* tagOf(none)).toBe("agent-not-found")
    }))

  test("lists people in the order of their creation, without those who were deleted", (storage) =>
    Effect.gen(function* () {
      for (const id of ["b", "a", "c"]) {
        yield* storage.putPerson(project, { id: PersonId.make(id), properties: JsonText.unsafe("{}"), createdAt: now })
      }
      yield* storage.updatePerson(project, PersonId.make("b"), JsonText.unsafe(`{"later":1}`))
      yield* storage.deletePerson(project, PersonId.make("a"))
      yield* storage.putPerson(project, { id: PersonId.make("a"), properties: JsonText.unsafe("{}"), createdAt: now })
      const { rows } = yield* storage.listPeople(project, { after: undefined, limit: 9, maxBytes: 1_000 })
      expect(rows.map(({ id }) => id)).toEqual(["b", "c", "a"])
    }))

  test("deprecates a version once", (storage) =>
    Effect.gen(function* () {
      const v1 = AgentVersionName.make("v1")
      const deprecate = (at: DateTime.Utc) => storage.deprecateAgentVersion(project, bot, v1, at)
      expect(yield* tagOf(deprecate(now))).toBe("agent-not-found")
      yield* storage.putAgent(project, agent(bot))
      expect(yield* tagOf(deprecate(now))).toBe("agent-version-not-found")
      const created = yield* storage.putAgentVersion(project, bot, { name: v1, description: null, createdAt: now })
      const both = yield* Effect.all([deprecate(now), deprecate(now)], { concurrency: "unbounded" })
      expect(both.map(({ deprecatedAt }) => deprecatedAt)).toEqual([now, now])
      expect(yield* deprecate(later)).toEqual({ ...created, deprecatedAt: now })
      expect(yield* storage.getAgentVersion(project, bot, v1)).toMatchObject({ deprecatedAt: now })
      expect(yield* tagOf(storage.deprecateAgentVersion(other, bot, v1, now))).toBe("agent-not-found")
    }))

  test("numbers 100 concurrently created versions without a gap", (storage) =>
    Effect.gen(function* () {
      yield* storage.putAgent(project, agent(bot))
      const versions = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, n) => AgentVersionName.make(`v${n % 50}-${n >= 50}`)),
        (version) => storage.putAgentVersion(project, bot, { name: version, description: null, createdAt: now }),
        { concurrency: "unbounded" }
      )
      const numbers = versions.map(({ number }) => number).sort((a, b) => a - b)
      expect(numbers).toEqual(Array.from({ length: 100 }, (_, n) => n + 1))
    }))

  test("finds keys by their hash, lists them, revokes them by id, and deletes those that have expired", (storage) =>
    Effect.gen(function* () {
      const hash = (n: number) => new Uint8Array(32).fill(n)
      yield* storage.putApiKey(apiKey("k1"), hash(1), entry(1, "key-created"))
      const second = new ApiKey({ ...apiKey("k2"), project: other, expiresAt: later, createdAt: later })
      yield* storage.putApiKey(second, hash(2), entry(2, "key-created"))
      expect(yield* storage.findApiKey(hash(1))).toEqual(apiKey("k1"))
      expect(yield* storage.findApiKey(hash(2))).toEqual(second)
      expect(yield* storage.findApiKey(hash(3))).toBeUndefined()
      expect((yield* storage.listApiKeys).map(({ id }) => id)).toEqual(["k1", "k2"])
      const revoked = yield* storage.revokeApiKey("k1", now, entry(3, "key-revoked"))
      expect(revoked?.revokedAt).toEqual(now)
      expect((yield* storage.revokeApiKey("k1", later, entry(4, "key-revoked")))?.revokedAt).toEqual(now)
      expect((yield* storage.findApiKey(hash(1)))?.revokedAt).toEqual(now)
      expect(yield* storage.revokeApiKey("none", now, entry(5, "key-revoked"))).toBeUndefined()
      yield* storage.putApiKey(new ApiKey({ ...apiKey("k_3"), expiresAt: now }), hash(3), entry(6, "key-created"))
      yield* storage.putApiKey(new ApiKey({ ...apiKey("k_4"), expiresAt: later }), hash(4), entry(7, "key-created"))
      yield* storage.putApiKey(apiKey("k_5"), hash(5), entry(8, "key-created"))
      yield* storage.deleteExpiredApiKeys("k_", now)
      expect(yield* storage.findApiKey(hash(3))).toBeUndefined()
      yield* storage.deleteExpiredApiKeys("k_", later)
      const left = (yield* storage.listApiKeys).map(({ id }) => id)
      expect(left.toSorted()).toEqual(["k1", "k2", "k_5"])
      // With each change, and without one none. An entry outlives its key.
      expect((yield* storage.listAudit(project, { limit: 9 })).rows).toEqual([
        entry(8, "key-created"),
        entry(7, "key-created"),
        entry(6, "key-created"),
        entry(3, "key-revoked"),
        entry(1, "key-created")
      ])
      expect((yield* storage.listAudit(other, { limit: 9 })).rows).toEqual([entry(2, "key-created")])
    }))

  test("lists entries of the audit log in pages, the latest first, and keeps them for three years", (storage) =>
    Effect.gen(function* () {
      const all = [1, 2, 3, 4].map((n) => entry(n, "retention"))
      for (const each of all) yield* storage.appendAudit(project, each)
      expect(yield* storage.listAudit(project, { limit: 4 })).toEqual({ rows: all.toReversed(), next: undefined })
      const { next, rows } = yield* storage.listAudit(project, { limit: 3 })
      expect([rows, next]).toEqual([all.toReversed().slice(0, 3), all[1]!.id])
      expect((yield* storage.listAudit(project, { limit: 3, below: next })).rows).toEqual([all[0]])
      expect((yield* storage.listAudit(project, { limit: 3, above: all[2]!.id })).rows).toEqual([all[3]])
      expect((yield* storage.listAudit(other, { limit: 3 })).rows).toEqual([])
      // An entry of the last moment is kept.
      const kept = entry(2 + Audit.keptMs, "retention")
      yield* storage.appendAudit(project, kept)
      expect((yield* storage.listAudit(project, { limit: 9 })).rows).toEqual([kept, ...all.slice(1).toReversed()])
    }))

  test("writes the entry of an erasure with its first events", (storage) =>
    Effect.gen(function* () {
      const begun = entry(1, "session-erasure")
      yield* storage.eraseEvents(project, { session: SessionId.make("none") }, 1, begun)
      yield* storage.putAgent(project, agent(bot))
      const again = entry(2, "session-erasure")
      yield* storage.eraseEvents(project, { session: SessionId.make("none") }, 1, again)
      yield* storage.eraseEvents(project, { session: SessionId.make("none") }, 1)
      expect((yield* storage.listAudit(project, { limit: 9 })).rows.at(0)).toEqual(again)
    }))
}
