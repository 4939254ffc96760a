/** Erasing people and sessions. */
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { badNames, event, expectError, expectInvalid, hasPath } from "./Requests.ts"

const events = "/api/v1/events"
const person = (id: string) => `/api/v1/people/${encodeURIComponent(id)}`
const session = (id: string) => `/api/v1/sessions/${encodeURIComponent(id)}`

/** Long enough to be stored once per project. */
const system = (about: string) => `You answer questions about ${about}. `.repeat(300)

export const define = ({ describe, fixture, it }: Cases) => {
  const erase = (path: string, client = fixture().client) => client.call("DELETE", path)

  /** Records one call of a conversation, and returns the event's id and its text as it is read. */
  const record = async (
    fields: Record<string, unknown>,
    messages: ReadonlyArray<unknown> = ["hello"],
    about = "lorries",
    { client, fingerprintId }: { readonly client: Client; readonly fingerprintId: string } = fixture()
  ) => {
    const properties = {
      api: "provider2-messages",
      inputs: { model: "m", system: system(about), messages },
      output: { role: "assistant", content: `To ${messages.length} messages: ${JSON.stringify(messages.at(-1))}` }
    }
    const created = await client.post(events, event(fingerprintId, { ...fields, properties }))
    expect([created.status, created.text]).toEqual([200, created.text])
    const id: string = created.body.event_id
    return { id, text: (await client.get(`${events}/${id}`)).text }
  }

  const expectKept = async (recorded: ReadonlyArray<{ readonly id: string; readonly text: string }>) => {
    for (const { id, text } of recorded) expect((await fixture().client.get(`${events}/${id}`)).text).toBe(text)
  }
  const expectGone = async (recorded: ReadonlyArray<{ readonly id: string }>) => {
    for (const { id } of recorded) expectError(await fixture().client.get(`${events}/${id}`), 404, "event-not-found")
  }

  const admin = async (project: string) => {
    const { as, issue } = fixture()
    const client = as((await issue({ scopes: ["admin"], project })).key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
    return { client, fingerprintId: body.fingerprint_id as string }
  }

  describe("Erasure", () => {
    it("erases one event, and its session with the last one", async () => {
      const messages = ["first", "second"]
      const first = await record({ session: "by event" }, messages.slice(0, 1))
      const second = await record({ session: "by event" }, messages)
      const other = await record({ session: "not by event" }, ["first"])
      const { body, status } = await erase(`${events}/${first.id}`)
      expect([status, body]).toEqual([
        200,
        { events: 1, sessions: 0, pieces: expect.any(Number), bytes: expect.any(Number), damaged: 0 }
      ])
      await expectGone([first])
      await expectKept([second, other])
      expectError(await erase(`${events}/${first.id}`), 404, "event-not-found")
      expect((await erase(`${events}/${second.id}`)).body).toMatchObject({ events: 1, sessions: 1 })
      expectError(await fixture().client.get(session("by event")), 404, "session-not-found")
      await expectKept([other])
      const elsewhere = await admin("erase an event of another project")
      expectError(await erase(`${events}/${other.id}`, elsewhere.client), 404, "event-not-found")
      expectInvalid(await erase(`${events}/x`), "uuid_parsing", "path", "event_id")
    })

    it("erases a person with all their events, and leaves other events unchanged", async () => {
      const { client } = fixture()
      await client.put("/api/v1/people", { person_id: "leaving", properties: { planted: 1 } })
      const theirs: Array<{ id: string; text: string }> = []
      const others: Array<{ id: string; text: string }> = []
      const messages: Array<string> = []
      // Two people and no one take turns in one session; each call has the whole history.
      for (let turn = 0; turn < 12; turn++) {
        const who = ["leaving", "staying", undefined][turn % 3]
        messages.push(`${who} sends a message of some length in turn ${turn}`)
        const kept = await record({ session: "leaving shared", person: who }, messages)
        ;(who === "leaving" ? theirs : others).push(kept)
      }
      theirs.push(await record({ session: "leaving alone", person: "leaving", agent: "other" }, ["x"], "leaving"))
      others.push(await record({ session: "leaving not at all", person: "staying" }, messages))

      const { body, status } = await erase(person("leaving"))
      expect(status).toBe(200)
      expect(body).toEqual({
        events: 5,
        sessions: 1,
        pieces: expect.any(Number),
        bytes: expect.any(Number),
        damaged: 0
      })
      expect(body.pieces).toBeGreaterThan(0)
      expect(body.bytes).toBeGreaterThan(0)
      await expectGone(theirs)
      await expectKept(others)
      expectError(await client.get(person("leaving")), 404, "person-not-found")
      expect((await client.get(`${events}?person=leaving`)).body.events).toEqual([])
      expect((await client.get(`${events}?session=leaving+alone`)).body.events).toEqual([])
      expect((await client.get(`${events}?session=leaving+shared`)).body.events).toHaveLength(8)
      expectError(await erase(person("leaving")), 404, "person-not-found")
      expectError(await erase(session("leaving alone")), 404, "session-not-found")

      // The session continues although some of its events are erased.
      messages.push("and one more")
      others.push(await record({ session: "leaving shared", person: "staying" }, messages))
      await expectKept(others)
    })

    it("erases a session, and leaves its people, its agents and other sessions", { tags: ["adapter"] }, async () => {
      const { client } = fixture()
      const names = { agent: "of a session", agent_version: "of a session", person: "of a session" }
      const gone = [await record({ ...names, session: "ending" }), await record({ ...names, session: "ending" }, ["x"])]
      const kept = [await record({ ...names, session: "not ending" })]
      const { body, status } = await erase(session("ending"))
      expect([status, body]).toEqual([
        200,
        { events: 2, sessions: 1, pieces: expect.any(Number), bytes: expect.any(Number), damaged: 0 }
      ])
      await expectGone(gone)
      await expectKept(kept)
      expect((await client.get(`${events}?session=ending`)).body.events).toEqual([])
      expect((await client.get(person("of a session"))).status).toBe(200)
      expect((await client.get("/api/v1/agents/of%20a%20session/agent-versions/of%20a%20session")).status).toBe(200)
      expectError(await erase(session("ending")), 404, "session-not-found")
    })

    it("returns 404 for an unknown person or session, and zeros for a person without events", async () => {
      expectError(await erase(person("never")), 404, "person-not-found")
      expectError(await erase(session("never")), 404, "session-not-found")
      await fixture().client.put("/api/v1/people", { person_id: "idle" })
      const { body, status } = await erase(person("idle"))
      expect([status, body]).toEqual([200, { events: 0, sessions: 0, pieces: 0, bytes: 0, damaged: 0 }])
      expectError(await erase(person("idle")), 404, "person-not-found")
    })

    it("records into an erased session and for an erased person", async () => {
      const { client } = fixture()
      const names = { session: "again", person: "again" }
      const history = ["this was said before", "and so was this"]
      for (const path of [session("again"), person("again"), session("again")]) {
        await client.put(person("again"), { properties: { planted: 1 } })
        const first = [await record(names, history), await record(names, [...history, "more"])]
        await expectKept(first)
        expect((await erase(path)).body).toMatchObject({ events: 2, sessions: 1 })
        await expectGone(first)
        const second = [await record(names, history), await record(names, [...history, "more"])]
        await expectKept(second)
        expect((await client.get(`${events}?session=again`)).body.events).toHaveLength(2)
        expect((await erase(session("again"))).body).toMatchObject({ events: 2, sessions: 1 })
      }
      // The erased person is created again, without the old properties.
      expect((await erase(person("again"))).status).toBe(200)
      await record(names, history)
      expect((await client.get(person("again"))).body.properties).toEqual({})
    })

    it("accepts any name in the path", async () => {
      // Those that a path says in another way.
      for (const [n, name] of ["😀".repeat(255), "a/b;c?d#e%25+&=", "\n", "%2E%2E"].entries()) {
        // Other cases record under these names.
        for (const path of [person(name), session(name)]) await erase(path)
        const [one, two] = [await record({ session: `awkward ${n}`, person: name }), await record({ session: name })]
        expect([name, (await erase(person(name))).body.events]).toEqual([name, 1])
        await expectGone([one])
        await expectKept([two])
        expect([name, (await erase(session(name))).body]).toMatchObject([name, { events: 1, sessions: 1 }])
        await expectGone([two])
      }
      for (const [name, type] of badNames) {
        if (!hasPath(name) || name === "") continue
        expectInvalid(await erase(person(name)), type, "path", "person_id")
        expectInvalid(await erase(session(name)), type, "path", "session")
      }
    })

    it("requires the scope admin", async () => {
      const { as, issue } = fixture()
      const kept = [await record({ session: "guarded", person: "guarded" })]
      for (const scopes of [["record"], ["read"], ["record", "read"]] as const) {
        const client = as((await issue({ scopes })).key)
        expectError(await erase(person("guarded"), client), 403, "forbidden")
        expectError(await erase(session("guarded"), client), 403, "forbidden")
      }
      for (const path of [person("guarded"), session("guarded")]) {
        expectError(await erase(path, as(undefined)), 401, "unauthorized")
      }
      await expectKept(kept)
    })

    it("erases nothing in another project with the same names and payloads", async () => {
      const other = await admin("erasing elsewhere")
      const names = { session: "everywhere", person: "everywhere" }
      const kept = [await record(names)]
      expectError(await erase(person("everywhere"), other.client), 404, "person-not-found")
      expectError(await erase(session("everywhere"), other.client), 404, "session-not-found")
      for (const path of [person("everywhere"), session("everywhere")]) {
        const { id } = await record(names, undefined, undefined, other)
        expect((await erase(path, other.client)).body).toMatchObject({ events: 1, sessions: 1 })
        expectError(await other.client.get(`${events}/${id}`), 404, "event-not-found")
        await expectKept(kept)
      }
    })
  })
}
