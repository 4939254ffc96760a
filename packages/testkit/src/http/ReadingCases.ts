/** Reading events: one event in full, or pages of summaries. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { event, eventText, expectError, expectInvalid, iso8601, uuid7 } from "./Requests.ts"

const decompress = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }

export const define = ({ describe, fixture, it }: Cases) => {
  const send = async (fields: Record<string, unknown>): Promise<string> => {
    const { client, fingerprintId } = fixture()
    return (await client.post("/api/v1/events", event(fingerprintId, fields))).body.event_id
  }
  const list = async (query: Record<string, string>) =>
    (await fixture().client.get(`/api/v1/events?${new URLSearchParams(query)}`)).body
  const idsOf = (page: any): ReadonlyArray<string> => page.events.map((summary: any) => summary.event_id)

  describe("Read events", () => {
    it("returns 404 event-not-found, and 422 for an id that is not a UUID", async () => {
      const { client } = fixture()
      expectError(await client.get("/api/v1/events/01900000-0000-7000-8000-000000000000"), 404, "event-not-found")
      expectInvalid(await client.get("/api/v1/events/nope"), "uuid_parsing", "path", "event_id")
    })

    it("compresses what is not short, as the client asks", { tags: ["adapter"] }, async () => {
      const { client } = fixture()
      const inputs = { text: "a repeated text, ".repeat(4_000) }
      const id = await send({ session: "compressed", properties: { api: "aisdk", inputs, output: {} } })
      const path = `/api/v1/events/${id}`
      const expected = (await client.call("GET", path, undefined, { "accept-encoding": "identity" })).text
      expect(expected).toContain(inputs.text)
      for (const encoding of ["gzip", "br", "zstd"] as const) {
        const accepted = { "accept-encoding": `${encoding}, identity;q=0.5` }
        const answer = await client.call("GET", path, undefined, accepted)
        expect(answer.headers.get("content-encoding")).toBe(encoding)
        expect(answer.headers.get("vary")).toBe("Accept-Encoding")
        // `fetch` decompresses what it knows.
        const isPlain = answer.bytes.length > expected.length / 2
        expect(isPlain ? answer.text : decompress[encoding](answer.bytes).toString()).toBe(expected)
        const missing = await client.call("GET", "/api/v1/agents/nobody", undefined, accepted)
        expect([missing.headers.get("content-encoding"), missing.text]).toEqual([null, '{"type":"agent-not-found"}'])
      }
    })

    it("lists summaries without payloads", async () => {
      const { fingerprintId } = fixture()
      const usage = { input_tokens: 3, cache_read_input_tokens: 5, output_tokens: 4 }
      const content = [{ type: "tool_use", id: "t1", name: "search", input: {} }]
      const output = { model: "claude-sonnet-4-5", content, usage, stop_reason: "tool_use" }
      const inputs = { é: 1, model: "claude-sonnet-4-5-20250929" }
      const properties = { api: "provider2-messages", inputs, output }
      const fields = { session: "summary", agent: "a", agent_version: "v", person: "p", duration_ms: 5 }
      const id = await send({ ...fields, properties })
      const facts = {
        provider: "anthropic",
        model: "claude-sonnet-4-5-20250929",
        response_model: "claude-sonnet-4-5",
        input_tokens: 8,
        output_tokens: 4,
        cache_read_tokens: 5,
        cache_write_tokens: null,
        reasoning_tokens: null,
        stop_reason: "tool_calls",
        provider_stop_reason: "tool_use",
        tool_calls: ["search"],
        error_type: null,
        error_code: null,
        error_status: null,
        // Dollars per million: 3 for input, 0.30 for what was cached, and 15 for output.
        cost_usd: "0.0000705",
        stated_cost_usd: null,
        list_cost_usd: null,
        price: "anthropic/claude-sonnet-4-5",
        price_is_exact: true,
        unpriced_parts: [],
        unpriced: null
      }
      const page = await list({ session: "summary" })
      expect(page).toEqual({
        events: [
          {
            ...fields,
            ...facts,
            event_id: id,
            received_at: expect.stringMatching(iso8601),
            api: "provider2-messages",
            fingerprint_id: fingerprintId,
            occurred_at: null,
            first_token_ms: null,
            http_status: null,
            trace_id: null,
            span_id: null,
            recorded: null,
            inputs_bytes: new TextEncoder().encode(JSON.stringify(properties.inputs)).length,
            output_bytes: JSON.stringify(output).length
          }
        ],
        next_cursor: null
      })
      expect(id).toMatch(uuid7)
      expect((await fixture().client.get(`/api/v1/events/${id}`)).body).toMatchObject({ ...facts, properties })
    })

    it(
      "filters by session, agent, agent_version and person, alone and combined",
      { tags: ["adapter", "path"] },
      async () => {
        const name = "f ä/&;%=+"
        const everything = { session: name, agent: name, agent_version: name, person: name }
        const all = await send(everything)
        for (const [field, value] of Object.entries(everything)) {
          const other = await send({ ...everything, [field]: "f other" })
          const alone = idsOf(await list({ [field]: value }))
          expect(alone).toContain(all)
          expect(alone).not.toContain(other)
        }
        expect(idsOf(await list(everything))).toEqual([all])
        expect(idsOf(await list({ ...everything, person: "nobody" }))).toEqual([])
      }
    )

    it("filters by fingerprint, api, model, stop reason and trace, alone and with names", async () => {
      const { client, fingerprintId } = fixture()
      const runtime = { language: "filter", language_version: "1", system: "s" }
      const { fingerprint_id } = (await client.put("/api/v1/fingerprints", runtime)).body
      const output = { model: "m é&=+", stop_reason: "max_tokens" }
      const trace_id = "abababababababababababababababab"
      const session = "filtered"
      const properties = { api: "provider2-messages", inputs: {}, output }
      const all = await send({ session, fingerprint_id, properties, trace_id })
      const wanted = {
        fingerprint: fingerprint_id,
        api: "provider2-messages",
        model: "m é&=+",
        stop_reason: "max_tokens",
        trace_id
      }
      const others = {
        fingerprint: await send({ session, properties, trace_id, fingerprint_id: fingerprintId }),
        api: await send({
          session,
          fingerprint_id,
          trace_id,
          properties: { ...properties, api: "provider2-beta-messages" }
        }),
        model: await send({
          session,
          fingerprint_id,
          trace_id,
          properties: { ...properties, output: { stop_reason: "max_tokens" } }
        }),
        stop_reason: await send({
          session,
          fingerprint_id,
          trace_id,
          properties: { ...properties, output: { model: output.model } }
        }),
        trace_id: await send({ session, fingerprint_id, properties })
      }
      for (const [field, value] of Object.entries(wanted)) {
        const found = idsOf(await list({ session, [field]: value }))
        expect([field, found]).toEqual([
          field,
          [all, ...Object.entries(others).flatMap(([other, id]) => (other === field ? [] : [id]))]
        ])
      }
      expect(idsOf(await list(wanted))).toEqual([all])
      expect(idsOf(await list({ ...wanted, session, api: "anthropic-messages" }))).toEqual([all])
      expect(idsOf(await list({ ...wanted, stop_reason: "length" }))).toEqual([all])
      expect(idsOf(await list({ ...wanted, stop_reason: "end" }))).toEqual([])
      expect(idsOf(await list({ ...wanted, person: "nobody" }))).toEqual([])
      const first = await list({ session, trace_id, limit: "2", order: "desc" })
      const second = await list({ session, trace_id, limit: "9", order: "desc", cursor: first.next_cursor })
      expect([...idsOf(first), ...idsOf(second)]).toEqual(
        [all, others.fingerprint, others.api, others.model, others.stop_reason].toReversed()
      )
      expect(second.next_cursor).toBeNull()
    })

    it("filters by the model that was asked for, and by errors", async () => {
      const session = "errors"
      const properties = { api: "provider2-messages", inputs: { model: "asked" }, output: { model: "answered" } }
      const answer = await send({ session, properties })
      const body = { type: "error", error: { type: "overloaded_error", message: "" } }
      const error = await send({ session, properties: { ...properties, output: body } })
      expect(idsOf(await list({ session, model: "asked" }))).toEqual([answer, error])
      expect(idsOf(await list({ session, model: "answered" }))).toEqual([answer])
      expect(idsOf(await list({ session, error: "true" }))).toEqual([error])
      expect(idsOf(await list({ session, error: "false" }))).toEqual([answer])
      expect((await list({ session, error: "true" })).events[0].error_type).toBe("overloaded_error")
    })

    it("answers an event in normal form, with numbers as they were sent", async () => {
      const { client } = fixture()
      const call = '{"type":"tool_use","id":"t1","name":"add","input":{"n":9007199254740993}}'
      const inputs = '{"model":"m","max_tokens":5,"system":"Be brief.","messages":[{"role":"user","content":"Hello"}]}'
      const text = eventText(fixture().fingerprintId, inputs, `{"role":"assistant","content":[${call}]}`)
      const { event_id } = (await client.post("/api/v1/events", text.replace('"aisdk"', '"provider2-messages"'))).body
      const answer = await client.get(`/api/v1/events/${event_id}/messages`)
      expect(answer.body).toEqual({
        event_id,
        instructions: [{ type: "text", content: "Be brief." }],
        leading_instructions: 0,
        tools: [],
        parameters: { model: "m", max_tokens: 5 },
        input: [{ role: "user", parts: [{ type: "text", content: "Hello" }] }],
        output: [
          {
            role: "assistant",
            parts: [{ type: "tool_call", id: "t1", name: "add", arguments: { n: Number("9007199254740993") } }]
          }
        ]
      })
      expect(answer.text).toContain('{"n":9007199254740993}')
      const messages = ["system", "developer", "user", "system"].map((role) => ({ role, content: "Be brief." }))
      const chat = eventText(fixture().fingerprintId, JSON.stringify({ messages }), "{}")
      const other = (await client.post("/api/v1/events", chat.replace('"aisdk"', '"provider1-chat-completions"'))).body
      const { body } = await client.get(`/api/v1/events/${other.event_id}/messages`)
      expect([body.instructions, body.leading_instructions, body.input.length]).toEqual([[], 2, 4])
      expectError(
        await client.get("/api/v1/events/01900000-0000-7000-8000-000000000000/messages"),
        404,
        "event-not-found"
      )
    })

    it("filters by the time of receipt: from one point in time until before another", async () => {
      const { client } = fixture()
      const session = "received"
      await send({ session })
      const { received_at } = (await list({ session })).events[0]
      const at = (ms: number) => new Date(Date.parse(received_at) + ms).toISOString()
      // The time in an id is a little ahead after ids that were given within one millisecond.
      const count = async (query: Record<string, string>) => (await list({ session, ...query })).events.length
      expect(await count({ after: received_at })).toBe(1)
      expect(await count({ after: at(60_000) })).toBe(0)
      expect(await count({ before: received_at })).toBe(0)
      expect(await count({ before: at(60_000), after: at(-60_000) })).toBe(1)
      expect(await count({ before: at(60_000), after: at(-60_000), api: "anthropic-messages" })).toBe(1)
      expect(await count({ after: "1960-01-01T00:00:00Z", before: "9999-12-31T23:59:59+00:00" })).toBe(1)
      for (const field of ["after", "before"]) {
        for (const wrong of ["", "tomorrow", "2026-02-30", "2026-02-30T00:00:00Z", "1767225600", "0h", "7y"]) {
          expectInvalid(await client.get(`/api/v1/events?${field}=${wrong}`), "datetime_parsing", "query", field)
        }
      }
    })

    it("filters by the events before and after, which need not exist", async () => {
      const { client } = fixture()
      const session = "around"
      const ids: Array<string> = []
      for (let n = 0; n < 5; n++) ids.push(await send({ session }))
      const { received_at } = (await list({ session })).events[2]
      const of = async (query: Record<string, string>) => idsOf(await list({ session, ...query }))
      expect(await of({ after_event: ids[1]! })).toEqual(ids.slice(2))
      expect(await of({ before_event: ids[3]! })).toEqual(ids.slice(0, 3))
      expect(await of({ before_event: ids[3]!, order: "desc", limit: "2" })).toEqual([ids[2], ids[1]])
      expect(await of({ after_event: ids[0]!, before_event: ids[4]! })).toEqual(ids.slice(1, 4))
      expect(await of({ after_event: ids[0]!, before_event: ids[4]!, error: "false" })).toEqual(ids.slice(1, 4))
      expect(await of({ after_event: ids[3]!, before_event: ids[1]! })).toEqual([])
      // The narrower of an event and a time.
      expect(await of({ after_event: ids[3]!, after: "1960-01-01T00:00:00Z" })).toEqual([ids[4]])
      expect(await of({ before_event: ids[1]!, before: "9999-12-31T23:59:59Z" })).toEqual([ids[0]])
      expect(await of({ after_event: ids[0]!, after: "9999-12-31T23:59:59Z" })).toEqual([])
      expect(await of({ before_event: ids[4]!, before: received_at })).not.toContain(ids[3])
      const { next_cursor } = await list({ session, after_event: ids[0]!, limit: "2" })
      expect(await of({ after_event: ids[0]!, cursor: next_cursor })).toEqual(ids.slice(3))
      expect(await of({ after_event: "00000000-0000-7000-8000-000000000000" })).toEqual(ids)
      for (const field of ["after_event", "before_event"]) {
        expectInvalid(await client.get(`/api/v1/events?${field}=x`), "uuid_parsing", "query", field)
      }
    })

    it("pages in both orders by an opaque cursor, without gaps or repeats", async () => {
      const sent: Array<string> = []
      for (let n = 0; n < 23; n++) sent.push(await send({ session: "paged" }))
      for (const order of ["asc", "desc"] as const) {
        const ids: Array<string> = []
        let cursor: string | null = null
        let pages = 0
        do {
          const page: any = await list({ session: "paged", limit: "5", order, ...(cursor === null ? {} : { cursor }) })
          expect(page.events.length).toBeLessThanOrEqual(5)
          ids.push(...idsOf(page))
          cursor = page.next_cursor
          pages++
        } while (cursor !== null)
        expect(pages).toBe(5)
        expect(ids).toEqual(order === "asc" ? sent : [...sent].reverse())
      }
      expect(idsOf(await list({ session: "paged" }))).toEqual(sent)
      expect((await list({ session: "paged", limit: "23" })).next_cursor).toBeNull()
    })

    it("returns pages of 100 events by default, and of at most 1,000", async () => {
      const { client } = fixture()
      await Promise.all(Array.from({ length: 101 }, () => send({ session: "many" })))
      expect((await list({ session: "many" })).events).toHaveLength(100)
      expect((await list({ session: "many", limit: "1000" })).events).toHaveLength(101)
      const limited = (limit: string) => client.get(`/api/v1/events?limit=${limit}`)
      expect((await limited("1")).body.events).toHaveLength(1)
      expectInvalid(await limited("1001"), "less_than_equal", "query", "limit")
      expectInvalid(await limited("0"), "greater_than_equal", "query", "limit")
      for (const wrong of ["", "x", "1.5", "1e3", "0x10"]) {
        expectInvalid(await limited(wrong), "int_parsing", "query", "limit")
      }
    })

    it("rejects an unknown parameter where there are known ones, and ignores it elsewhere", async () => {
      const { client } = fixture()
      for (const path of ["/api/v1/events", "/api/v1/storage"]) {
        expectInvalid(await client.get(`${path}?sesion=s1`), "extra_forbidden", "query", "sesion")
        expectInvalid(await client.get(`${path}?a=1&a=2`), "extra_forbidden", "query", "a")
      }
      expect((await client.put("/api/v1/agents?unknown=1", { agent_name: "queried" })).status).toBe(200)
      expect((await client.get("/api/v1/agents/queried?unknown=1")).status).toBe(200)
    })

    it("rejects an invalid cursor, order and filter", async () => {
      const { client } = fixture()
      expectInvalid(await client.get("/api/v1/events?cursor=x"), "value_error", "query", "cursor")
      expectInvalid(await client.get("/api/v1/events?order=up"), "enum", "query", "order")
      expectInvalid(await client.get("/api/v1/events?agent="), "string_too_short", "query", "agent")
      expectInvalid(await client.get("/api/v1/events?fingerprint=x"), "uuid_parsing", "query", "fingerprint")
      expectInvalid(await client.get("/api/v1/events?api=x"), "enum", "query", "api")
      expectInvalid(await client.get("/api/v1/events?model=%00"), "value_error", "query", "model")
      expectInvalid(await client.get("/api/v1/events?stop_reason="), "string_too_short", "query", "stop_reason")
      expectInvalid(await client.get("/api/v1/events?trace_id=x"), "string_pattern_mismatch", "query", "trace_id")
    })
  })
}
