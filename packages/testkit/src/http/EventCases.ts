/** Create Event: fields, defaults, side effects and errors. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { badNames, event, eventFacts, expectError, expectInvalid, goodNames, iso8601, uuid7 } from "./Requests.ts"

const path = "/api/v1/events"
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const spanId = "00f067aa0ba902b7"
const noExtras = { trace_id: null, span_id: null, first_token_ms: null, http_status: null, recorded: null }

const unknownFingerprint = "11111111-1111-4111-8111-111111111111"

export const define = ({ describe, fixture, it }: Cases) => {
  const send = (fields: Record<string, unknown>) => {
    const { client, fingerprintId } = fixture()
    return client.post(path, event(fingerprintId, fields))
  }
  const properties = (fields: Record<string, unknown>) => ({
    properties: { ...event("").properties, ...fields }
  })
  const read = async (fields: Record<string, unknown>) => {
    const created = await send(fields)
    expect(created.text).toContain("event_id")
    return (await fixture().client.get(`${path}/${created.body.event_id}`)).body
  }

  describe("Create Event", () => {
    it("returns 200 with event_id and received_at only", { tags: ["adapter", "path"] }, async () => {
      const before = Date.now()
      const { body, headers, status } = await send({})
      expect(status).toBe(200)
      expect(headers.get("content-type")).toMatch(/^application\/json/)
      expect(Object.keys(body)).toEqual(["event_id", "received_at"])
      expect(body.event_id).toMatch(uuid7)
      expect(body.received_at).toMatch(iso8601)
      expect(Date.parse(body.received_at)).toBeGreaterThanOrEqual(before - 1)
      expect(Date.parse(body.received_at)).toBeLessThanOrEqual(Date.now() + 1)
    })

    it("returns every field when the event is read", async () => {
      const fields = { agent: "whole", agent_version: "v", person: "p", session: "s", duration_ms: 1.5 }
      const body = await read({ ...fields, occurred_at: "2026-01-02T03:04:05+01:00" })
      expect(body).toEqual({
        ...event(fixture().fingerprintId, fields),
        ...noExtras,
        metadata: null,
        event_id: expect.stringMatching(uuid7),
        received_at: expect.stringMatching(iso8601),
        occurred_at: "2026-01-02T02:04:05.000Z",
        ...eventFacts
      })
    })

    it("returns a trace, the time to the first token and the provider's status, also in lists", async () => {
      const { client } = fixture()
      const extras = { trace_id: traceId, span_id: spanId, first_token_ms: 0.5, http_status: 529 }
      expect(await read({ ...extras, session: "extras" })).toMatchObject(extras)
      const { body } = await client.get(`${path}?session=extras`)
      expect(body.events).toMatchObject([extras])
      const absent = { trace_id: null, span_id: null, first_token_ms: null, http_status: null, metadata: null }
      expect(await read(absent)).toMatchObject({ ...noExtras, metadata: null })
      for (const wrong of [traceId.toUpperCase(), traceId.slice(1), `${traceId}0`, `${traceId}\n`, "", spanId]) {
        expectInvalid(await send({ trace_id: wrong }), "string_pattern_mismatch", "body", "trace_id")
      }
      expectInvalid(await send({ trace_id: "0".repeat(32) }), "value_error", "body", "trace_id")
      expectInvalid(await send({ trace_id: 5 }), "string_type", "body", "trace_id")
      expectInvalid(await send({ span_id: traceId }), "string_pattern_mismatch", "body", "span_id")
      expectInvalid(await send({ span_id: "0".repeat(16) }), "value_error", "body", "span_id")
      expectInvalid(await send({ first_token_ms: -1 }), "greater_than_equal", "body", "first_token_ms")
      expectInvalid(await send({ http_status: 99 }), "greater_than_equal", "body", "http_status")
      expectInvalid(await send({ http_status: 600 }), "less_than_equal", "body", "http_status")
      expectInvalid(await send({ http_status: 200.5 }), "int_from_float", "body", "http_status")
      expectInvalid(await send({ http_status: "200" }), "int_type", "body", "http_status")
    })

    it("returns what is said of the recording, also in lists, and refuses what is none", async () => {
      const { client } = fixture()
      const longest = { redacted: 2, "a\u0000": ["\ud800", { b: null }], rest: "é".repeat(2_000) }
      longest.rest += "x".repeat(4 * 1024 - new TextEncoder().encode(JSON.stringify(longest)).length)
      for (const recorded of [{ redacted: 0 }, {}, longest, null]) {
        expect((await read({ recorded, session: "recorded" })).recorded).toEqual(recorded)
      }
      const { body } = await client.get(`${path}?session=recorded&order=asc`)
      const listed = body.events.map((each: { readonly recorded: unknown }) => each.recorded)
      expect(listed).toEqual([{ redacted: 0 }, {}, longest, null])
      expectInvalid(await send({ recorded: { ...longest, more: 1 } }), "value_error", "body", "recorded")
      for (const wrong of [[], "{}", 1, true])
        expectInvalid(await send({ recorded: wrong }), "dict_type", "body", "recorded")
      const refused = [
        [-1, "greater_than_equal"],
        [0.5, "int_from_float"],
        [2 ** 53, "int_from_float"]
      ] as const
      for (const [redacted, type] of refused) {
        expectInvalid(await send({ recorded: { redacted } }), type, "body", "recorded", "redacted")
      }
      for (const redacted of ["1", null, [1]]) {
        expectInvalid(await send({ recorded: { redacted } }), "int_type", "body", "recorded", "redacted")
      }
      for (const subagent of [1, null, ["a"]]) {
        expectInvalid(await send({ recorded: { subagent } }), "string_type", "body", "recorded", "subagent")
      }
    })

    it("counts a call as an error where its status is one, whatever the provider answered", async () => {
      const { client, fingerprintId } = fixture()
      const properties = { api: "provider1-chat-completions", inputs: { model: "m" } }
      const typeOf = async (status: number, output: object, session = "status") => {
        const body = event(fingerprintId, { session, http_status: status, properties: { ...properties, output } })
        return (await client.get(`${path}/${(await client.post(path, body)).body.event_id}`)).body.error_type
      }
      expect(await typeOf(503, {})).toBe("503")
      expect(await typeOf(404, { detail: "Not Found" })).toBe("404")
      expect(await typeOf(429, { error: { type: "slow_down", message: "m" } })).toBe("slow_down")
      expect(await typeOf(200, {})).toBeNull()
      const { body } = await client.get(`${path}?session=status&error=true&order=asc`)
      expect(body.events.map((each: { readonly http_status: number }) => each.http_status)).toEqual([503, 404, 429])
    })

    it("returns metadata byte for byte, but not in lists", async () => {
      const { client, fingerprintId } = fixture()
      const sendText = (metadata: string, session = "metadata") =>
        client.post(
          path,
          JSON.stringify({ ...event(fingerprintId, { session }), metadata: 0 }).replace(
            '"metadata":0',
            `"metadata":${metadata}`
          )
        )
      const longest = `{"a":"${"é".repeat(8 * 1024 - 5)}${"x".repeat(2)}"}`
      for (const metadata of [`{ "z": 1.0, "a\\u0000\\ud800": [9007199254740993, {}], "z": -0 }`, "{}", longest]) {
        const { body } = await sendText(metadata)
        const { text } = await client.get(`${path}/${body.event_id}`)
        expect(text.endsWith(`,"metadata":${metadata}}`)).toBe(true)
      }
      const { body } = await client.get(`${path}?session=metadata`)
      expect(body.events.map((summary: object) => Object.keys(summary).includes("metadata"))).toEqual([
        false,
        false,
        false
      ])
      expectInvalid(await sendText(longest.replace("xx", "xxx")), "value_error", "body", "metadata")
      expectInvalid(await sendText(`{${" ".repeat(16 * 1024 - 1)}}`), "value_error", "body", "metadata")
      for (const wrong of ["[]", '"{}"', "1", "true"]) {
        expectInvalid(await sendText(wrong), "dict_type", "body", "metadata")
      }
    })

    it("takes the last of several metadata, and none of other objects", async () => {
      const { client, fingerprintId } = fixture()
      const sent = JSON.stringify(event(fingerprintId, { metadata: { n: 1 } }))
      const twice = sent.replace(/}$/, ',"metadata":{"n": 2}}').replace('"model"', '"metadata":{"n":3},"model"')
      const { body } = await client.post(path, twice)
      expect((await client.get(`${path}/${body.event_id}`)).text).toContain(',"metadata":{"n": 2}}')
      const { body: none } = await client.post(path, sent.replace(/}$/, ',"metadata":null}'))
      expect((await client.get(`${path}/${none.event_id}`)).body.metadata).toBeNull()
    })

    it.each(["event_name", "properties", "fingerprint_id", "session"])("requires %s", async (field) => {
      expectInvalid(await send({ [field]: undefined }), "missing", "body", field)
    })

    it.each(["api", "inputs", "output"])("requires properties.%s", async (field) => {
      expectInvalid(await send(properties({ [field]: undefined })), "missing", "body", "properties", field)
    })

    it.each(["LLM", "", "llm ", 1, null, ["llm"]])("rejects the event_name %j", async (event_name) => {
      expectInvalid(await send({ event_name }), "literal_error", "body", "event_name")
    })

    it.each([
      ["provider1-chat-completions", "openai-chat-completions"],
      ["provider1-responses", "openai-responses"],
      ["provider3-models", "gemini-models"],
      ["provider3-models", "google-models"],
      ["provider3-interactions", "gemini-interactions"],
      ["provider3-interactions", "google-interactions"],
      ["provider2-messages", "anthropic-messages"],
      ["provider2-beta-messages", "anthropic-beta-messages"],
      ["aisdk", "aisdk"]
    ])("accepts the api %s and its alias %s", async (neutral, alias) => {
      expect((await read(properties({ api: neutral }))).properties.api).toBe(neutral)
      expect((await read(properties({ api: alias }))).properties.api).toBe(neutral)
    })

    it.each(["provider1", "AISDK", "openai-aisdk", "tachograph", "", 7, null])("rejects the api %j", async (api) => {
      expectInvalid(await send(properties({ api })), "enum", "body", "properties", "api")
    })

    it.each(["inputs", "output"])("accepts only an object as properties.%s", async (field) => {
      for (const value of [null, true, 1, "text", []]) {
        expectInvalid(await send(properties({ [field]: value })), "dict_type", "body", "properties", field)
      }
      expect((await send(properties({ [field]: {} }))).status).toBe(200)
    })

    it("returns 404 fingerprint-not-found for an unknown fingerprint", async () => {
      expectError(await send({ fingerprint_id: unknownFingerprint }), 404, "fingerprint-not-found")
    })

    it("accepts a fingerprint_id in every text form of a UUID", async () => {
      const { fingerprintId } = fixture()
      const simple = fingerprintId.replaceAll("-", "")
      const forms = [fingerprintId.toUpperCase(), simple, `{${fingerprintId}}`, `urn:uuid:${fingerprintId}`]
      for (const fingerprint_id of forms) {
        expect((await read({ fingerprint_id })).fingerprint_id).toBe(fingerprintId)
      }
      expectInvalid(await send({ fingerprint_id: `{${simple}}` }), "uuid_parsing", "body", "fingerprint_id")
      expectInvalid(await send({ fingerprint_id: 5 }), "uuid_type", "body", "fingerprint_id")
    })

    it("returns 422 session-id-empty for an empty session", async () => {
      expectError(await send({ session: "" }), 422, "session-id-empty")
    })

    it("checks the body before the session, and the session before the fingerprint", async () => {
      const wrong = { session: "", fingerprint_id: unknownFingerprint }
      expectInvalid(await send({ ...wrong, agent: 1 }), "string_type", "body", "agent")
      expectError(await send(wrong), 422, "session-id-empty")
    })

    it.each(["agent", "agent_version", "person", "session"])(
      "accepts any name of up to 255 characters as %s",
      async (field) => {
        for (const name of goodNames) expect((await read({ [field]: name }))[field]).toBe(name)
        for (const [name, type] of badNames) {
          if (field === "session" && name === "") continue
          expectInvalid(await send({ [field]: name }), type, "body", field)
        }
        expectInvalid(await send({ [field]: 1 }), "string_type", "body", field)
      }
    )

    it("rejects null as session", async () => {
      expectInvalid(await send({ session: null }), "string_type", "body", "session")
    })

    it("defaults agent and agent_version to default, and person to null", async () => {
      for (const absent of [undefined, null]) {
        const fields = { agent: absent, agent_version: absent, person: absent }
        expect(await read(fields)).toMatchObject({ agent: "default", agent_version: "default", person: null })
        expect(await read({ ...fields, agent: "only-agent" })).toMatchObject({ agent_version: "default" })
      }
      expect((await fixture().client.get("/api/v1/agents/default")).status).toBe(200)
      expect((await fixture().client.get("/api/v1/agents/only-agent/agent-versions/default")).status).toBe(200)
    })

    it("creates the agent, version, person and session if they do not exist", async () => {
      const { client } = fixture()
      await send({ agent: "made", agent_version: "made-v", person: "made-p", session: "made-s" })
      const agent = (await client.get("/api/v1/agents/made")).body
      expect(agent).toEqual({
        agent_name: "made",
        agent_number: expect.any(Number),
        created_at: expect.stringMatching(iso8601),
        description: ""
      })
      expect((await client.get("/api/v1/agents/made/agent-versions/made-v")).body).toEqual({
        agent_version_name: "made-v",
        description: null,
        agent_version_number: 1,
        created_at: expect.stringMatching(iso8601),
        deprecated_at: null
      })
      expect((await client.get("/api/v1/people/made-p")).body).toMatchObject({ person_id: "made-p", properties: {} })
      expect((await client.get(`${path}?session=made-s`)).body.events).toHaveLength(1)
    })

    it("does not change an existing agent, version or person", async () => {
      const { client } = fixture()
      await client.put("/api/v1/agents", { agent_name: "kept", description: "d" })
      await client.put("/api/v1/agents/kept/agent-versions", { agent_version_name: "v", description: "vd" })
      await client.put("/api/v1/people", { person_id: "kept", properties: { a: 1 } })
      await send({ agent: "kept", agent_version: "v", person: "kept" })
      expect((await client.get("/api/v1/agents/kept")).body.description).toBe("d")
      expect((await client.get("/api/v1/agents/kept/agent-versions/v")).body.description).toBe("vd")
      expect((await client.get("/api/v1/people/kept")).body.properties).toEqual({ a: 1 })
    })

    it("creates nothing for a rejected event", async () => {
      const { client } = fixture()
      const names = { agent: "refused", agent_version: "refused", person: "refused", session: "refused" }
      await send({ ...names, fingerprint_id: unknownFingerprint })
      await send({ ...names, session: "" })
      await send({ ...names, duration_ms: -1 })
      expectError(await client.get("/api/v1/agents/refused"), 404, "agent-not-found")
      expectError(await client.get("/api/v1/people/refused"), 404, "person-not-found")
      expect((await client.get(`${path}?session=refused`)).body.events).toEqual([])
    })

    it("takes a model that inputs do not name, and no other", async () => {
      const of = async (model: unknown, inputs: object) => {
        const properties = { api: "provider3-models", inputs, output: { candidates: [] } }
        return (await read({ model, properties })).model
      }
      expect(await of("gemini-3-pro", { contents: [] })).toBe("gemini-3-pro")
      expect(await of(null, { contents: [] })).toBeNull()
      expect(await of("gemini-3-pro", { contents: [], model: "gemini-2.5-flash" })).toBe("gemini-2.5-flash")
      expectInvalid(await send({ model: 5 }), "string_type", "body", "model")
      expectInvalid(await send({ model: "" }), "string_too_short", "body", "model")
    })

    it("accepts occurred_at in ISO 8601, and a duration_ms that is not negative", async () => {
      const at = async (occurred_at: unknown) => (await read({ occurred_at })).occurred_at
      expect(await at("2026-01-02T03:04:05.678Z")).toBe("2026-01-02T03:04:05.678Z")
      expect(await at("2026-01-02T03:04:05-01:30")).toBe("2026-01-02T04:34:05.000Z")
      expect(await at("2026-01-02 03:04")).toBe("2026-01-02T03:04:00.000Z")
      expect(await at(null)).toBeNull()
      expect(await at("9999-12-31T23:59:59.999Z")).toBe("9999-12-31T23:59:59.999Z")
      // In UTC, the last two are in years that ISO 8601 does not write with four digits.
      const outside = ["0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"]
      for (const wrong of [
        "",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-01-02",
        "2026-01-00T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-02-30T00:00:00Z",
        ...outside
      ]) {
        expectInvalid(await send({ occurred_at: wrong }), "datetime_parsing", "body", "occurred_at")
      }
      expectInvalid(await send({ occurred_at: 5 }), "datetime_type", "body", "occurred_at")
      for (const duration_ms of [0, 0.25, 86_400_000])
        expect((await read({ duration_ms })).duration_ms).toBe(duration_ms)
      expectInvalid(await send({ duration_ms: -0.001 }), "greater_than_equal", "body", "duration_ms")
      expectInvalid(await send({ duration_ms: "1" }), "float_type", "body", "duration_ms")
    })

    it("ignores unknown fields, and uses the last of duplicate keys", async () => {
      const { client, fingerprintId } = fixture()
      expect((await send({ zzz: 1, ...properties({ zzz: 1 }) })).status).toBe(200)
      const text = JSON.stringify(event(fingerprintId))
      expectInvalid(await client.post(path, text.replace(/}$/, `,"session":5}`)), "string_type", "body", "session")
      const good = await client.post(path, `{"session":5,"properties":7,${text.slice(1)}`)
      expect(good.status).toBe(200)
    })

    it("reports every error, in the order of the fields", async () => {
      const { client } = fixture()
      const body = { event_name: "x", properties: { api: "y", inputs: 1 }, fingerprint_id: "z", agent: 1, person: [] }
      const { body: answer } = await client.post(path, body)
      expect(answer.detail.map((d: any) => [d.type, d.loc.join(".")])).toEqual([
        ["literal_error", "body.event_name"],
        ["enum", "body.properties.api"],
        ["dict_type", "body.properties.inputs"],
        ["missing", "body.properties.output"],
        ["uuid_parsing", "body.fingerprint_id"],
        ["string_type", "body.agent"],
        ["string_type", "body.person"],
        ["missing", "body.session"]
      ])
    })
  })
}
