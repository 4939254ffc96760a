/** Days, hours and filters of time go by when calls took place, also where they were received years later. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { event } from "./Requests.ts"

/** When calls took place, in the order in which they are recorded: of two days, and the day that follows. */
const calls = {
  late: "2020-02-29T23:59:59.999Z",
  first: "2020-03-01T00:00:00Z",
  zone: "2020-03-01T01:30:00+02:00",
  future: "2999-12-31T23:59:59.999Z",
  // What programs send for no time.
  none: "0001-01-01T00:00:00Z"
} as const

type Name = keyof typeof calls

const linesIn = (text: string) => text.split("\n").slice(0, -1)

export const define = ({ describe, fixture, it }: Cases) => {
  const inProject = async (project: string) => {
    const { as, issue } = fixture()
    return as((await issue({ scopes: ["admin"], project })).key)
  }

  const recorded = async (project: string) => {
    const client = await inProject(project)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
    const names = new Map<string, Name>()
    const properties = {
      api: "provider2-messages",
      inputs: { model: "m", messages: [{ role: "user", content: "where is the tower" }] },
      output: { role: "assistant" }
    }
    for (const [name, occurred_at] of Object.entries(calls)) {
      const fields = { occurred_at, agent: "a", agent_version: "v", person: name, session: name, properties }
      const answer = await client.post("/api/v1/events", event(body.fingerprint_id, fields))
      expect(answer.status).toBe(200)
      names.set(answer.body.event_id, name as Name)
    }
    return { client, names }
  }

  describe("Times of calls", () => {
    it("adds calls up on their days, and takes them off when they are erased", async () => {
      const { client } = await recorded("days of calls")
      const usage = async (query: string) => (await client.get(`/api/v1/usage?${query}`)).body.usage
      const days = async (query: string) =>
        (await usage(`group_by=day&${query}`)).map((group: any) => [group.day, group.events])
      const today = (await client.get("/api/v1/events?session=none")).body.events[0].received_at.slice(0, 10)
      const all = [
        ["2020-02-29", 2],
        ["2020-03-01", 1],
        [today, 1],
        ["2999-12-31", 1]
      ]
      expect(await days("")).toEqual(all)
      // Midnight is the first call's, but not before the last one of the day before, in any zone.
      expect(await days("time_zone=Europe/Berlin&before=2021-01-01T00:00:00Z")).toEqual([["2020-03-01", 3]])
      expect(await days("before=2020-03-01T00:00:00Z")).toEqual([["2020-02-29", 2]])
      expect(await days("after=2020-03-01T00:00:00Z&before=2020-03-01T00:00:00.001Z")).toEqual([["2020-03-01", 1]])
      expect(await days("after=2020-02-29T23:59:59.999Z&before=2020-03-01T00:00:00Z")).toEqual([["2020-02-29", 1]])
      expect(await usage("group_by=hour&before=2020-02-29T23:59:00Z")).toMatchObject([
        { hour: "2020-02-29T23:00:00+00:00", events: 1 }
      ])
      expect(await usage("group_by=session&after=2900-01-01T00:00:00Z")).toMatchObject([{ session: "future" }])
      expect(await usage("group_by=person&before=2020-03-01T00:00:00Z&person=late")).toMatchObject([{ events: 1 }])
      expect((await client.call("DELETE", "/api/v1/people/late")).status).toBe(200)
      expect(await days("before=2020-03-01T00:00:00Z")).toEqual([["2020-02-29", 1]])
    })

    it("takes days and stretches of time, whose days begin in UTC or in the zone of the sums", async () => {
      const client = await inProject("words for times")
      const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
      const properties = { api: "provider2-messages", inputs: { messages: [] }, output: {} }
      const dayMs = 86_400_000
      const midnight = Math.floor(Date.now() / dayMs) * dayMs
      // Those of today are before now, and after the midnight that may come while this runs they are of yesterday.
      const times = { now: Date.now(), yesterday: midnight - 1, first: midnight - dayMs, before: midnight - dayMs - 1 }
      for (const [session, ms] of Object.entries(times)) {
        const fields = { session, agent: "a", agent_version: "v", properties, occurred_at: new Date(ms).toISOString() }
        expect((await client.post("/api/v1/events", event(body.fingerprint_id, fields))).status).toBe(200)
      }
      const sessions = async (query: string) =>
        (await client.get(`/api/v1/sessions?${query}`)).body.sessions.map(({ session }: any) => session)
      const events = async (query: string) =>
        (await client.get(`/api/v1/events?order=desc&${query}`)).body.events
          .map(({ session }: any) => session)
          .toSorted()
      const date = (ms: number) => new Date(ms).toISOString().slice(0, 10)
      const expected: ReadonlyArray<readonly [query: string, sessions: ReadonlyArray<string>]> = [
        ["after=today", ["now"]],
        ["after=yesterday&before=today", ["yesterday", "first"]],
        ["before=yesterday", ["before"]],
        ["before=today&after=7d", ["yesterday", "first", "before"]],
        ["after=1h&before=1m", []],
        ["before=2w", []],
        [`after=${date(midnight - dayMs)}&before=${date(midnight)}`, ["yesterday", "first"]]
      ]
      for (const [query, found] of expected) {
        // Where a day ended meanwhile, its words mean another one.
        const isSameDay = Math.floor(Date.now() / dayMs) * dayMs === midnight
        if (!isSameDay && /today|yesterday/.test(query)) continue
        expect(await sessions(query), query).toEqual(found)
        expect(await events(query), query).toEqual(found.toSorted())
      }
      expect(await events("received_after=1h")).toEqual(Object.keys(times).toSorted())
      expect(await events("received_before=yesterday")).toEqual([])
      const counted = async (query: string) =>
        ((await client.get(`/api/v1/usage?${query}`)).body.usage as ReadonlyArray<any>).map(
          ({ events }) => events
        )[0] ?? 0
      const day = date(midnight)
      expect(await counted(`before=${day}`)).toBe(3)
      // Fourteen hours earlier there, and eleven later.
      expect(await counted(`before=${day}&time_zone=Pacific/Kiritimati`)).toBe(2)
      expect(await counted(`before=${day}&after=${date(midnight - dayMs)}&time_zone=Pacific/Pago_Pago`)).toBe(
        times.now < midnight + 11 * 3_600_000 ? 2 : 1
      )
    })

    it("filters events by their calls, or by their receipt", async () => {
      const { client, names } = await recorded("filters of times")
      const received = (await client.get("/api/v1/events?session=late")).body.events[0].received_at
      const queries: ReadonlyArray<readonly [query: string, expected: ReadonlyArray<Name>]> = [
        ["before=2020-03-01T00:00:00Z", ["late", "zone"]],
        ["after=2020-03-01T00:00:00Z&before=2020-03-01T00:00:00.001Z", ["first"]],
        ["after=2020-03-01T00:00:00.001Z&before=2021-01-01T00:00:00Z", []],
        ["after=2900-01-01T00:00:00Z", ["future"]],
        [`after=${received}&before=2900-01-01T00:00:00Z`, ["none"]],
        ["before=2021-01-01T00:00:00Z&agent=a&person=zone", ["zone"]],
        ["before=2021-01-01T00:00:00Z&model=m", ["late", "first", "zone"]],
        [`received_after=${received}`, ["late", "first", "zone", "future", "none"]],
        [`received_before=${received}`, []],
        ["received_before=2900-01-01T00:00:00Z&after=2020-03-01T00:00:00Z", ["first", "future", "none"]],
        [`received_after=${received}&before=2020-03-01T00:00:00Z`, ["late", "zone"]]
      ]
      const namesOf = (events: ReadonlyArray<any>) => events.map(({ event_id }) => names.get(event_id))
      const lines = async (path: string, query: string) =>
        linesIn((await client.get(`/api/v1/${path}?${query}`)).text).map((line) => JSON.parse(line))
      for (const [query, expected] of queries) {
        expect(namesOf((await client.get(`/api/v1/events?${query}`)).body.events), query).toEqual(expected)
        const paged: Array<any> = []
        for (let cursor: string | null = ""; cursor !== null;) {
          const page: string = `order=desc&limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`
          const { body }: { body: any } = await client.get(`/api/v1/events?${query}&${page}`)
          paged.push(...body.events)
          cursor = body.next_cursor
        }
        expect(namesOf(paged), query).toEqual(expected.toReversed())
        const exported = (await lines("export", query)).filter(({ type }) => type === "event")
        expect(namesOf(exported), query).toEqual(expected)
        const found = (await client.get(`/api/v1/search?q=tower&${query}`)).body.results
        expect(namesOf(found), query).toEqual(expected.toReversed())
        const version = "/api/v1/agents/a/agent-versions/v/configurations"
        if (/^(after|before)=[^&]*(&before=[^&]*)?$/.test(query)) {
          const { configurations } = (await client.get(`${version}?${query}`)).body
          expect(
            configurations.reduce((sum: number, each: any) => sum + each.events, 0),
            query
          ).toBe(expected.length)
        }
      }
    })

    it("gives who follows a time the calls of this time", async () => {
      const { client } = await recorded("followed times")
      const { next_cursor } = (await client.get("/api/v1/events/stream?wait=0&before=2020-03-01T00:00:00Z")).body
      const fingerprint_id = (await client.get("/api/v1/fingerprints")).body.fingerprints[0].fingerprint_id
      const send = (session: string, occurred_at?: string) =>
        client.post("/api/v1/events", event(fingerprint_id, { session, ...(occurred_at && { occurred_at }) }))
      await send("now")
      await send("then", "2019-01-01T00:00:00Z")
      const query = `wait=10&before=2020-03-01T00:00:00Z&cursor=${next_cursor}`
      const { events } = (await client.get(`/api/v1/events/stream?${query}`)).body
      expect(events.map(({ session }: any) => session)).toEqual(["then"])
    })

    it("imports calls on the days that they had", async () => {
      const { client } = await recorded("exported days")
      const other = await inProject("imported days")
      const days = async (from: typeof client) =>
        (await from.get("/api/v1/usage?group_by=day")).body.usage.map(({ day, events }: any) => [day, events])
      const { text } = await client.get("/api/v1/export")
      // The rows of the project exist, and have passed the ids of what is imported.
      await other.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
      const fingerprint_id = (await other.get("/api/v1/fingerprints")).body.fingerprints[0].fingerprint_id
      await other.post("/api/v1/events", event(fingerprint_id, { occurred_at: calls.first }))
      expect(await days(other)).toEqual([["2020-03-01", 1]])
      const { status } = await other.call("POST", "/api/v1/import", text, { "content-type": "application/x-ndjson" })
      expect(status).toBe(200)
      const expected = (await days(client)).map(([day, events]: any) => [
        day,
        day === "2020-03-01" ? events + 1 : events
      ])
      expect(await days(other)).toEqual(expected)
    })
  })
}
