/** Sessions in lists, and what calls add up to. */
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectError, expectInvalid, iso8601 } from "./Requests.ts"

/** A priced call: gpt-4o costs 2.5 $ for a million input tokens and 10 $ for a million output tokens. */
const priced = (input: number, output: number) => ({
  api: "provider1-chat-completions",
  inputs: { model: "gpt-4o", messages: [{ role: "user", content: "hi" }] },
  output: {
    model: "gpt-4o-2024-08-06",
    choices: [{ message: { role: "assistant", content: "ho" }, finish_reason: "stop" }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  }
})

const failed = {
  api: "provider2-messages",
  inputs: { model: "claude", messages: [] },
  output: { type: "error", error: { type: "overloaded_error", message: "busy" } }
}

const sums = {
  ...{ events: 3, errors: 1, unpriced_events: 1, partly_priced_events: 0, input_tokens: 3000, output_tokens: 300 },
  ...{ cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0, cost_usd: "0.0105" }
}

/** One session of 0.0035 $, and one of 0.007 $ and a call of no cost. */
const ofSessions = {
  sessions: 2,
  unpriced_sessions: 1,
  cost_usd_per_session: { mean: "0.00525", median: "0.00525", p95: "0.007" },
  last_event_at: expect.stringMatching(iso8601)
}

const none = { duration_ms_p50: null, duration_ms_p95: null, duration_ms_p99: null }

/** All rows of a list, in pages of 1. */
const all = async (client: Client, path: string, name: string): Promise<ReadonlyArray<any>> => {
  const rows: Array<any> = []
  for (let cursor: string | null = ""; cursor !== null;) {
    const query: string = `${path.includes("?") ? "&" : "?"}limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`
    const { body }: { body: any } = await client.get(path + query)
    expect(Object.keys(body)).toEqual(name === "usage" ? [name, "next_cursor", "total"] : [name, "next_cursor"])
    expect(body[name].length).toBeLessThanOrEqual(1)
    rows.push(...body[name])
    cursor = body.next_cursor
  }
  return rows
}

export const define = ({ describe, fixture, it }: Cases) => {
  /** A project with two sessions: one of a priced call, and one of a priced and a failed call. */
  const recorded = async (project: string) => {
    const { as, issue } = fixture()
    const client = as((await issue({ scopes: ["admin"], project })).key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
    const send = async (fields: Record<string, unknown>) => {
      const answer = await client.post("/api/v1/events", event(body.fingerprint_id, fields))
      expect(answer.status).toBe(200)
      return answer.body
    }
    const events = [
      await send({ session: "one", agent: "é;", person: "p/1", duration_ms: 100, properties: priced(1000, 100) }),
      await send({ session: "two", agent: "b", agent_version: "v2", properties: priced(2000, 200) }),
      await send({ session: "two", agent: "b", agent_version: "v3", person: "p2", properties: failed })
    ]
    return { client, events, send }
  }

  describe("Sessions and usage", () => {
    it("lists sessions by their last activity, right after their calls", async () => {
      const { client, events, send } = await recorded("sessions")
      const [two, one, ...others] = (await client.get("/api/v1/sessions")).body.sessions
      expect(others).toEqual([])
      expect(two).toEqual({
        session: "two",
        title: "hi",
        first_event_at: events[1].received_at,
        last_event_at: events[2].received_at,
        ...{ ...sums, events: 2, input_tokens: 2000, output_tokens: 200, cost_usd: "0.007" },
        agents: ["b"],
        agent_versions: ["v2", "v3"],
        people: ["p2"],
        models: ["claude", "gpt-4o"],
        sent_bytes: expect.any(Number),
        new_bytes: expect.any(Number)
      })
      expect(one).toMatchObject({
        session: "one",
        title: "hi",
        agents: ["é;"],
        people: ["p/1"],
        errors: 0,
        cost_usd: "0.0035"
      })
      expect(one.last_event_at).toMatch(iso8601)
      expect((await client.get("/api/v1/sessions/one")).body).toEqual(one)
      expect(await all(client, "/api/v1/sessions", "sessions")).toEqual([two, one])
      await send({ session: "one", properties: failed })
      const names = async (query: string) =>
        (await client.get(`/api/v1/sessions?${query}`)).body.sessions.map(({ session }: any) => session)
      expect(await names("")).toEqual(["one", "two"])
      expect(await names("order=asc")).toEqual(["two", "one"])
      expect(await names("agent=b&agent_version=v3")).toEqual(["two"])
      expect(await names("agent=b&person=p%2F1")).toEqual([])
      expect(await names("person=p%2F1&error=true")).toEqual(["one"])
      expect(await names("error=false")).toEqual([])
      expect(await names("model=gpt-4o-2024-08-06&agent=b")).toEqual(["two"])
      expect(await names(`after=2100-01-01T00:00:00Z`)).toEqual([])
      expect(await names(`before=2100-01-01T00:00:00Z`)).toEqual(["one", "two"])
    })

    it("lists sessions by the times of their calls, however late these are recorded, and by the millisecond", async () => {
      const { client, send } = await recorded("late calls")
      const at = (ms: number) => new Date(Date.UTC(2026, 0, 5, 12) + ms).toISOString()
      const say = (session: string, ms: number, content: string) => {
        const { api, inputs, output } = priced(1, 1)
        const properties = { api, inputs: { ...inputs, messages: [{ role: "user", content }] }, output }
        return send({ session, occurred_at: at(ms), properties })
      }
      await say("a", 2000, "second")
      await say("b", 1500, "between")
      await say("a", 1000, "first")
      const names = async (query: string) =>
        (await client.get(`/api/v1/sessions?${query}`)).body.sessions.map(({ session }: any) => session)
      expect(await names("")).toEqual(["two", "one", "a", "b"])
      expect((await client.get("/api/v1/sessions/a")).body).toMatchObject({
        ...{ title: "first", first_event_at: at(1000), last_event_at: at(2000), events: 2 }
      })
      expect((await all(client, "/api/v1/sessions?order=asc", "sessions")).map(({ session }) => session)).toEqual([
        ...["b", "a", "one", "two"]
      ])
      for (const [query, found] of [
        [`after=${at(1500)}&order=asc`, ["b", "a", "one", "two"]],
        [`after=${at(1501)}&order=asc`, ["a", "one", "two"]],
        [`before=${at(1500)}`, []],
        [`before=${at(1501)}`, ["b"]],
        [`after=${at(2000)}&before=${at(2001)}`, ["a"]]
      ] as const) {
        expect(await names(query), query).toEqual(found)
      }
    })

    it("finds a session by a name of any characters, and none that is not there", async () => {
      const { client, send } = await recorded("session names")
      await send({ session: "é/ü ;%2F" })
      expect((await client.get(`/api/v1/sessions/${encodeURIComponent("é/ü ;%2F")}`)).body).toMatchObject({
        ...{ session: "é/ü ;%2F", events: 1, unpriced_events: 1, cost_usd: null, people: [], models: ["m"] }
      })
      expectError(await client.get("/api/v1/sessions/none"), 404, "session-not-found")
    })

    it("adds up calls, tokens and cost in groups", async () => {
      const { client, events } = await recorded("usage")
      const usage = async (query: string) => (await client.get(`/api/v1/usage?${query}`)).body.usage
      const [whole] = await usage("")
      expect(Object.keys(whole)).toEqual(Object.keys({ ...sums, ...ofSessions, ...none }))
      expect(whole).toMatchObject({ ...sums, ...ofSessions, last_event_at: events[2].received_at })
      expect(Math.abs(whole.duration_ms_p50 - 100)).toBeLessThanOrEqual(1)
      const day = events[0].received_at.slice(0, 10)
      const days = await usage("group_by=day")
      if (events[2].received_at.startsWith(day)) expect(days).toEqual([{ day, ...whole }])
      expect(await usage("group_by=agent&agent=b")).toMatchObject([{ agent: "b", events: 2, cost_usd: "0.007" }])
      expect(await usage("group_by=model")).toMatchObject([
        { model: "claude", events: 1, cost_usd: null, ...none },
        { model: "gpt-4o", events: 2, cost_usd: "0.0105" }
      ])
      const people = await usage("group_by=person,agent_version")
      expect(people.map(({ agent_version, events, person }: any) => [person, agent_version, events])).toEqual([
        [null, "v2", 1],
        ["p/1", "default", 1],
        ["p2", "v3", 1]
      ])
      expect(await all(client, "/api/v1/usage?group_by=person,agent_version", "usage")).toEqual(people)
      expect(
        (await all(client, "/api/v1/usage?group_by=session", "usage")).map(({ session }) => session).sort()
      ).toEqual(["one", "two"])
      const [hour] = await usage("group_by=hour&time_zone=Asia/Kathmandu")
      expect(hour.hour).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00\+05:45$/)
      expect(await usage("group_by=api&api=anthropic-messages")).toMatchObject([
        { api: "provider2-messages", events: 1 }
      ])
      expect(await usage("after=2100-01-01T00:00:00Z")).toEqual([])
    })

    it("sorts sessions, calls, people and groups by what they add up to, and says what a session costs", async () => {
      const { client, events, send } = await recorded("sorted")
      const ids = [...events.map(({ event_id }) => event_id)]
      ids.push(
        (await send({ session: "three", agent: "b", person: "p/1", duration_ms: 900, properties: priced(10, 0) }))
          .event_id
      )
      await client.put("/api/v1/people", { person_id: "idle", properties: {} })
      const names = async (path: string) =>
        (await all(client, `/api/v1/sessions?${path}`, "sessions")).map((row) => row.session)
      expect(await names("sort=cost")).toEqual(["two", "one", "three"])
      expect(await names("sort=cost&order=asc")).toEqual(["three", "one", "two"])
      expect(await names("sort=calls")).toEqual(["two", "three", "one"])
      expect(await names("sort=tokens&person=p%2F1")).toEqual(["one", "three"])
      expect(await names("sort=errors")).toEqual(["two", "three", "one"])
      expect(await names("sort=last")).toEqual(["three", "two", "one"])
      expect(await names("sort=duration&error=true")).toEqual(["two"])
      const calls = async (path: string) =>
        (await all(client, `/api/v1/events?${path}`, "events")).map((row) => row.event_id)
      expect(await calls("sort=duration")).toEqual([ids[3], ids[0]])
      expect(await calls("sort=cost&agent=b")).toEqual([ids[1], ids[3]])
      expect(await calls("sort=cost&order=asc")).toEqual([ids[3], ids[0], ids[1]])
      expect(await calls("sort=tokens")).toEqual([ids[1], ids[0], ids[3]])
      expect(await calls("sort=last&order=desc")).toEqual(ids.toReversed())
      const usage = async (query: string) => (await client.get(`/api/v1/usage?${query}`)).body
      const byVersion = await usage("group_by=agent,agent_version&sort=cost")
      expect(byVersion.usage).toMatchObject([
        { agent: "b", agent_version: "v2", sessions: 1, unpriced_sessions: 0, cost_usd_per_session: { mean: "0.007" } },
        { agent: "é;", agent_version: "default", sessions: 1, cost_usd_per_session: { median: "0.0035" } },
        { agent: "b", agent_version: "default", sessions: 1, cost_usd_per_session: { p95: "0.000025" } },
        { agent: "b", agent_version: "v3", sessions: 1, unpriced_sessions: 1, cost_usd_per_session: null }
      ])
      expect(byVersion.total).toMatchObject({
        ...{ events: 4, sessions: 3, unpriced_sessions: 1, cost_usd: "0.010525" },
        cost_usd_per_session: { mean: "0.003508333", median: "0.0035", p95: "0.007" }
      })
      const [first] = await all(client, "/api/v1/usage?group_by=model&sort=cost", "usage")
      expect(first).toMatchObject({ model: "gpt-4o", events: 3 })
      const people = async (query: string) => all(client, `/api/v1/people?${query}`, "people")
      expect((await people("")).map((row) => [row.person_id, row.usage?.events ?? null])).toEqual([
        ["p/1", 2],
        ["p2", 1],
        ["idle", null]
      ])
      const byCost = await people("sort=cost&order=desc")
      expect(byCost).toMatchObject([
        { person_id: "p/1", properties: {}, usage: { sessions: 2, cost_usd: "0.003525" } },
        { person_id: "p2", usage: { sessions: 1, cost_usd: null, last_event_at: events[2].received_at } }
      ])
    })

    it("covers one project, and forgets what is erased", async () => {
      const { client } = await recorded("usage, erased")
      const { as, issue } = fixture()
      const other = as((await issue({ scopes: ["read"], project: "usage, other" })).key)
      expect((await other.get("/api/v1/sessions")).body).toEqual({ sessions: [], next_cursor: null })
      expect((await other.get("/api/v1/usage?group_by=agent")).body).toEqual({
        usage: [],
        next_cursor: null,
        total: null
      })
      expectError(await other.get("/api/v1/sessions/two"), 404, "session-not-found")
      expect((await client.get("/api/v1/sessions/two")).body.title).toBe("hi")
      await client.call("DELETE", "/api/v1/people/p2")
      expect((await client.get("/api/v1/sessions/two")).body).toMatchObject({ events: 1, errors: 0, people: [] })
      await client.call("DELETE", "/api/v1/sessions/two")
      expectError(await client.get("/api/v1/sessions/two"), 404, "session-not-found")
      expect((await client.get("/api/v1/usage?group_by=person")).body.usage).toMatchObject([
        { person: "p/1", events: 1 }
      ])
    })

    it("rejects queries that are wrong", async () => {
      const { client } = await recorded("wrong queries")
      const sessions = (query: string) => client.get(`/api/v1/sessions?${query}`)
      const usage = (query: string) => client.get(`/api/v1/usage?${query}`)
      expectInvalid(await sessions("session=s"), "extra_forbidden", "query", "session")
      expectInvalid(await usage("order=asc"), "value_error", "query")
      expectInvalid(await usage("group_by=session,day&sort=cost"), "value_error", "query")
      expectInvalid(await usage("group_by=person,hour&sort=cost"), "value_error", "query")
      expectInvalid(await usage("sort=model"), "enum", "query", "sort")
      expectInvalid(await sessions("sort=name"), "enum", "query", "sort")
      expectInvalid(await client.get("/api/v1/people?order=asc"), "value_error", "query")
      expectInvalid(await client.get("/api/v1/events?sort=calls"), "enum", "query", "sort")
      const cursorOf = async (path: string) => (await client.get(`/api/v1/${path}limit=1`)).body.next_cursor
      expectInvalid(await sessions(`cursor=${await cursorOf("sessions?sort=cost&")}`), "value_error", "query")
      expectInvalid(await sessions(`sort=cost&cursor=${await cursorOf("sessions?")}`), "value_error", "query")
      const byCost = await cursorOf("sessions?sort=cost&")
      expectInvalid(await sessions(`sort=calls&cursor=${byCost}`), "value_error", "query")
      expectInvalid(await sessions(`sort=cost&order=asc&cursor=${byCost}`), "value_error", "query")
      expect((await sessions(`sort=cost&order=desc&cursor=${byCost}`)).status).toBe(200)
      expectInvalid(
        await client.get(`/api/v1/events?sort=cost&cursor=${await cursorOf("events?")}`),
        "value_error",
        "query"
      )
      expectInvalid(await sessions("limit=0"), "greater_than_equal", "query", "limit")
      expectInvalid(await usage("limit=1001"), "less_than_equal", "query", "limit")
      for (const wrong of ["", "x", "day,day", "day,hour,agent", "day,", "Day"]) {
        expectInvalid(await usage(`group_by=${wrong}`), "value_error", "query", "group_by")
      }
      for (const wrong of ["", "x", "Europe/Nowhere", "UTC%00"]) {
        expectInvalid(await usage(`time_zone=${wrong}`), "value_error", "query", "time_zone")
      }
      for (const wrong of ["", "x", "c1_", "c1_e30", `c1_${"0".repeat(61)}`, "c1_!!"]) {
        expectInvalid(await sessions(`cursor=${wrong}`), "value_error", "query", "cursor")
        expectInvalid(await usage(`cursor=${wrong}`), "value_error", "query", "cursor")
      }
      // A cursor of another query ends or begins somewhere else, but fails at nothing.
      for (const keys of ['["x"]', "[1.5,null]", "[1e300]", "[]", '[null,"\\u0000\\ud800"]']) {
        for (const groupBy of ["day", "session", "person,model", "session,agent_version"]) {
          const cursor = Buffer.from(keys).toString("base64url")
          expect((await usage(`group_by=${groupBy}&cursor=c1_${cursor}`)).status, `${groupBy} ${keys}`).toBe(200)
        }
      }
      const place = Buffer.from(`${"f".repeat(44)}7${"f".repeat(39)}${"0".repeat(8)}`, "hex")
      expect((await sessions(`cursor=c1_${place.toString("base64url")}`)).status).toBe(200)
    })
  })
}
