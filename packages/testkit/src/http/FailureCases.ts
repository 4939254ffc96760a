/** Failed calls in groups. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { event, expectInvalid, iso8601 } from "./Requests.ts"

const openAi = (error: Record<string, unknown>, model = "gpt-4o") => ({
  api: "provider1-chat-completions",
  inputs: { model, messages: [{ role: "user", content: "hi" }] },
  output: { error }
})

const limited = (id: string) => ({
  message: `Rate limit reached for request ${id}`,
  type: "requests",
  code: "rate_limit_exceeded"
})

const missing = { message: "The model `gpt-9` does not exist", type: "invalid_request_error", code: "model_not_found" }

const gemini = {
  api: "provider3-models",
  inputs: { contents: [] },
  output: { error: { code: 429, message: "Quota exceeded", status: "RESOURCE_EXHAUSTED" } }
}

const overloaded = {
  api: "provider2-messages",
  inputs: { model: "claude", messages: [] },
  output: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
}

export const define = ({ describe, fixture, it }: Cases) => {
  /** A project with seven calls, of which six failed in four ways. */
  const recorded = async (project: string) => {
    const { as, issue } = fixture()
    const client = as((await issue({ scopes: ["admin"], project })).key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
    const send = async (fields: Record<string, unknown>): Promise<string> => {
      const answer = await client.post("/api/v1/events", event(body.fingerprint_id, fields))
      expect(answer.status).toBe(200)
      return answer.body.event_id
    }
    const bot = { agent: "bot", agent_version: "v1", occurred_at: "2026-01-02T10:00:00Z" }
    const ids = [
      await send({ ...bot, session: "a", person: "p", http_status: 429, properties: openAi(limited("1")) }),
      await send({
        ...{ ...bot, session: "b", person: "p", http_status: 429 },
        ...{ occurred_at: "2026-01-01T10:00:00Z", properties: openAi(limited("2"), "gpt-4o-mini") }
      }),
      await send({ session: "b", agent: "other", http_status: 404, properties: openAi(missing, "gpt-9") }),
      await send({ session: "c", properties: gemini }),
      await send({ session: "c", http_status: 200 }),
      // In a stream, behind a status that says nothing of it.
      await send({ ...bot, session: "c", http_status: 200, properties: overloaded }),
      await send({ ...bot, agent_version: "v2", session: "b", http_status: 429, properties: openAi(limited("3")) })
    ]
    const failures = async (query = "") => (await client.get(`/api/v1/failures${query}`)).body
    return { client, failures, ids, send }
  }

  describe("Failures", () => {
    it("groups failed calls by status, type and code, those with most calls first, with what the latest says", async () => {
      const { failures, ids } = await recorded("failures")
      const page = await failures()
      expect([page.events, page.damaged_events, page.next_cursor]).toEqual([6, 0, null])
      const [first, ...others] = page.failures
      expect(first).toEqual({
        failure: "429/requests/rate_limit_exceeded",
        http_status: 429,
        error_type: "requests",
        error_code: "rate_limit_exceeded",
        message: "Rate limit reached for request 3",
        events: 3,
        sessions: 2,
        people: 1,
        first_at: "2026-01-01T10:00:00.000Z",
        last_at: "2026-01-02T10:00:00.000Z",
        event_id: ids[6],
        session: "b",
        agent_versions: [
          { agent: "bot", agent_version: "v1", events: 2 },
          { agent: "bot", agent_version: "v2", events: 1 }
        ],
        other_agent_versions: 0,
        models: [
          { model: "gpt-4o", events: 2 },
          { model: "gpt-4o-mini", events: 1 }
        ],
        other_models: 0
      })
      expect(others.map((each: any) => [each.failure, each.http_status, each.error_code, each.message])).toEqual([
        ["-/overloaded_error/-", null, null, "Overloaded"],
        ["429/429/RESOURCE_EXHAUSTED", 429, "RESOURCE_EXHAUSTED", "Quota exceeded"],
        ["404/invalid_request_error/model_not_found", 404, "model_not_found", missing.message]
      ])
      expect(others[1]).toMatchObject({
        people: 0,
        first_at: expect.stringMatching(iso8601),
        models: [{ model: null }]
      })
    })

    it("pages through groups, each with the calls that its page has looked at", async () => {
      const { failures } = await recorded("failure pages")
      const pages: Array<any> = []
      for (let cursor: string | null = ""; cursor !== null && pages.length < 10; cursor = pages.at(-1).next_cursor)
        pages.push(await failures(`?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`))
      const found = pages.map((page) => page.failures.map((each: any) => [each.error_type, each.events]))
      expect(found).toEqual([
        [
          ["requests", 1],
          ["overloaded_error", 1]
        ],
        [
          ["429", 1],
          ["invalid_request_error", 1]
        ],
        [["requests", 2]]
      ])
      expect(pages.map(({ events }) => events)).toEqual([2, 2, 2])
    })

    it.each([
      ["agent=bot", 4],
      ["agent=bot&agent_version=v2", 1],
      ["agent_version=v2", 1],
      ["person=p", 2],
      ["session=c", 2],
      ["model=gpt-4o", 2],
      ["api=anthropic-messages", 1],
      ["before=2026-01-03T00:00:00Z", 4],
      ["after=2026-01-02T00:00:00Z&before=2026-01-03T00:00:00Z", 3],
      ["failure=429/requests/rate_limit_exceeded", 3],
      ["agent=nobody", 0]
    ] as const)("filters failed calls by %s", async (query, expected) => {
      const { failures } = await recorded(`failures by ${query.replaceAll(/[/:]/g, " ")}`)
      const { events, failures: groups } = await failures(`?${query}`)
      expect(events).toBe(expected)
      expect(groups.reduce((sum: number, each: any) => sum + each.events, 0)).toBe(expected)
    })

    it("lists the calls of a failure", async () => {
      const { client, failures, ids } = await recorded("calls of a failure")
      const listed = []
      for (const { events, failure } of (await failures()).failures) {
        const { body } = await client.get(`/api/v1/events?failure=${encodeURIComponent(failure)}`)
        expect(body.events).toHaveLength(events)
        listed.push(...body.events.map((each: any) => each.event_id))
      }
      expect(listed.toSorted()).toEqual(ids.filter((_, index) => index !== 4).toSorted())
      const { body } = await client.get(`/api/v1/events/${ids[2]}`)
      expect([body.error_type, body.error_code]).toEqual(["invalid_request_error", "model_not_found"])
    })

    it.each(["", "429", "429/a", "/a/b", "429//b", "429/-/b", "a/b/c", "429/a/b/c", "429/%ff/b", "429/%00/b"])(
      "refuses the failure %j",
      async (failure) => {
        const { client } = fixture()
        for (const path of ["failures", "events", "events/stream"])
          expectInvalid(
            await client.get(`/api/v1/${path}?failure=${encodeURIComponent(failure)}`),
            "value_error",
            "query",
            "failure"
          )
      }
    )

    it("keeps failures within the project", async () => {
      await recorded("failures of one")
      const { as, issue } = fixture()
      const other = as((await issue({ scopes: ["read"], project: "default" })).key)
      const { body } = await other.get("/api/v1/failures?failure=429/requests/rate_limit_exceeded")
      expect(body).toEqual({ failures: [], events: 0, damaged_events: 0, next_cursor: null })
    })
  })
}
