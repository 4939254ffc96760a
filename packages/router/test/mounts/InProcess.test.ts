import { isApiError } from "@tachograph/client/api"
import { MemoryStorage } from "@tachograph/core"
import { HttpClient } from "@tachograph/testkit"
import { describe, expect, it } from "vitest"
import { createTachograph, TachographError } from "../../src/index.ts"
import { apiKey, event, fingerprint, opened } from "../Samples.ts"

describe("in process", () => {
  it("reads the same in process as over HTTP", async () => {
    const tachograph = await opened({ basePath: "/in/here" })
    const { api } = tachograph
    const client = HttpClient.make(tachograph.fetch, apiKey)
    const get = async (path: string) => (await client.get(`/in/here/api/v1${path}`)).body
    const id = await tachograph.fingerprint(fingerprint)
    for (const n of [1, 2, 3]) await tachograph.record(event(id, { agent: "a b", person: "a/b", duration_ms: n }))
    await client.put("/in/here/api/v1/people", { person_id: "a/b", properties: { x: 1 } })

    const page = await api.listEvents({ agent: "a b", limit: 2, order: "desc" })
    expect(page).toEqual(await get("/events?agent=a%20b&limit=2&order=desc"))
    expect(page.events.map(({ duration_ms }) => duration_ms)).toEqual([3, 2])
    const rest = await api.listEvents({ agent: "a b", limit: 2, order: "desc", cursor: page.next_cursor! })
    expect([rest.events.length, rest.next_cursor]).toEqual([1, null])

    const eventId = page.events[0]!.event_id
    expect(await api.getEvent({ event_id: eventId })).toEqual(await get(`/events/${eventId}`))
    expect(await api.getPerson({ person_id: "a/b" })).toEqual(await get("/people/a%2Fb"))
    expect((await api.getAgent({ agent_name: "a b" })).agent_name).toBe("a b")
    expect(await api.listAgents({ limit: 1 })).toEqual(await get("/agents?limit=1"))
    expect((await api.listAgentVersions({ agent_name: "a b" })).agent_versions).toMatchObject([
      { agent_version_name: "default" }
    ])
    expect(
      (await api.deprecateAgentVersion({ agent_name: "a b", agent_version_name: "default" })).deprecated_at
    ).not.toBeNull()
    expect(await api.listPeople()).toEqual(await get("/people"))
    expect((await api.listPeople({}, { project: "other" })).people).toEqual([])
    expect(await api.getFingerprint({ fingerprint_id: id })).toEqual(await get(`/fingerprints/${id}`))
    expect(await api.listFingerprints({ limit: 5 })).toEqual(await get("/fingerprints"))
    expect(await api.createPerson({ body: { person_id: "c/d", properties: { y: 1 } } })).toEqual(
      await get("/people/c%2Fd")
    )
    expect((await api.updatePerson({ person_id: "c/d", body: { properties: { y: 2 } } })).properties).toEqual({ y: 2 })
    expect(await get("/people/c%2Fd")).toMatchObject({ properties: { y: 2 } })
    await tachograph.record(event(id, { session: "to erase", person: "c/d" }))
    expect(await api.eraseSession({ session: "to erase" })).toMatchObject({ events: 1, sessions: 1 })
    expect(await api.erasePerson({ person_id: "c/d" })).toMatchObject({ events: 0 })
    await expect(api.getPerson({ person_id: "c/d" })).rejects.toMatchObject({ type: "person-not-found" })
    await expect(api.eraseSession({ session: "to erase" })).rejects.toMatchObject({ type: "session-not-found" })
    await expect(api.listAgents({ cursor: "x" })).rejects.toMatchObject({ type: "validation-error" })
    expect(await api.getMe()).toEqual({ ...(await get("/me")), actor: "in process" })
    expect((await api.getMe({}, { project: "other" })).project).toBe("other")
    expect((await api.getAgentVersion({ agent_name: "a b", agent_version_name: "default" })).agent_version_number).toBe(
      1
    )
  })

  it("searches the same in process as over HTTP", async () => {
    const tachograph = await opened()
    const client = HttpClient.make(tachograph.fetch, apiKey)
    const id = await tachograph.fingerprint(fingerprint)
    const inputs = { messages: [{ role: "user", content: "Where is Refund 4711 & what of it?" }] }
    const properties = { api: "provider1-chat-completions", inputs, output: {} }
    const { event_id } = await tachograph.record(event(id, { properties }))
    const q = "refund 4711 & what"
    const found = await tachograph.api.search({ q })
    expect(found.results.map((result) => result.event_id)).toEqual([event_id])
    expect(found).toEqual((await client.get(`/api/v1/search?q=${encodeURIComponent(q)}`)).body)
    expect((await tachograph.api.search({ q, case: "sensitive" })).results).toEqual([])
    expect((await tachograph.api.search({ q, error: true })).results).toEqual([])
    expect((await tachograph.api.search({ q }, { project: "other" })).results).toEqual([])
    // It becomes U+FFFD, which no text has.
    expect((await tachograph.api.search({ q: "\ud800" })).results).toEqual([])
    await expect(tachograph.api.search({ q: "" })).rejects.toMatchObject({ type: "validation-error" })
  })

  it("returns the text of an event as it was sent", async () => {
    const tachograph = await opened()
    const id = await tachograph.fingerprint(fingerprint)
    const inputs = '{ "n": 12345678901234567890, "n": 1.0 }'
    const body = JSON.stringify(event(id)).replace('{"n":1}', inputs)
    const { body: created } = await HttpClient.make(tachograph.fetch, apiKey).post("/api/v1/events", body)
    expect(await tachograph.api.getEvent.text({ event_id: created.event_id })).toContain(`"inputs":${inputs},`)
    expect(await tachograph.api.getEventInputs.text({ event_id: created.event_id })).toBe(inputs)
  })

  it("records a JSON text byte for byte", async () => {
    const tachograph = await opened()
    const id = await tachograph.fingerprint(JSON.stringify(fingerprint))
    const inputs = '{ "n": 12345678901234567890, "n": 1.0 }'
    const { event_id } = await tachograph.record(JSON.stringify(event(id)).replace('{"n":1}', inputs))
    expect(await tachograph.api.getEvent.text({ event_id })).toContain(`"inputs":${inputs},`)
    for (const text of ["", "{", "null", '{"session": 1}']) {
      await expect(tachograph.record(text)).rejects.toMatchObject({ type: "validation-error" })
    }
  })

  it("records inputs and output that are JSON texts byte for byte", async () => {
    const tachograph = await opened()
    const id = await tachograph.fingerprint(fingerprint)
    const inputs = '{ "n": 12345678901234567890, "n": 1.0 }'
    const output = '{"é" : [ ]}'
    const record = (properties: object) =>
      tachograph.record(
        event(id, { properties: { api: "aisdk", ...properties }, agent: undefined, occurred_at: new Date() })
      )
    const text = async (properties: object) =>
      tachograph.api.getEvent.text({ event_id: (await record(properties)).event_id })
    expect(await text({ inputs, output })).toContain(`{"api":"aisdk","inputs":${inputs},"output":${output}}`)
    expect(await text({ inputs: { n: 1 }, output })).toContain(`{"api":"aisdk","inputs":{"n":1},"output":${output}}`)
    const bytes = Buffer.from(inputs)
    expect(await text({ inputs: bytes, output })).toContain(`"inputs":${inputs},`)
    const cut = JSON.stringify({ text: "😀" }).replace("\ude00", "")
    expect(await text({ inputs: cut, output })).toContain('"inputs":{"text":"\\ud83d"},')
    for (const wrong of [new Uint8Array([0x7b, 0xff, 0x7d]), "", "text", "[]", "1", "{}, {}", '{}, "session": 1']) {
      const refused = record({ inputs: wrong, output })
      await expect(refused).rejects.toMatchObject({
        detail: [{ type: "dict_type", loc: ["body", "properties", "inputs"] }]
      })
    }
    await expect(record({ inputs })).rejects.toMatchObject({ detail: [{ type: "missing" }] })
  })

  it("limits the length of an event and of a fingerprint separately", async () => {
    const tachograph = await opened({ maxBody: 2_000, maxOtherBody: 1_000 })
    const text = JSON.stringify(fingerprint)
    const id = await tachograph.fingerprint(text.padEnd(1_000))
    await expect(tachograph.fingerprint(text.padEnd(1_001))).rejects.toMatchObject({ type: "payload-too-large" })
    await tachograph.record(JSON.stringify(event(id)).padEnd(2_000))
    const tooLong = tachograph.record(JSON.stringify(event(id)).padEnd(2_001))
    await expect(tooLong).rejects.toMatchObject({ type: "payload-too-large" })
  })

  it("works in the given project, and reads nothing of another", async () => {
    const tachograph = await opened()
    const project = "acme"
    const id = await tachograph.fingerprint(fingerprint, { project })
    const { event_id } = await tachograph.record(event(id), { project })
    expect((await tachograph.api.listEvents({}, { project })).events).toHaveLength(1)
    expect((await tachograph.api.listEvents()).events).toEqual([])
    await expect(tachograph.api.getEvent({ event_id })).rejects.toMatchObject({ type: "event-not-found" })
    const emptyName = { detail: [{ type: "string_too_short", loc: ["project"] }] }
    const refused = tachograph.record(event(id), { project: "" })
    await expect(refused).rejects.toMatchObject({ type: "validation-error", ...emptyName })
    await expect(tachograph.api.listEvents({}, { project: "" })).rejects.toMatchObject({ body: emptyName })
  })

  it("rejects with an error whose type identifies it", async () => {
    const { api, record } = await opened()
    await expect(api.getAgent({ agent_name: "\ud800" })).rejects.toThrow("agent_name: expected a text")
    const unknown = "11111111-1111-4111-8111-111111111111"
    await expect(api.getEvent({ event_id: unknown })).rejects.toMatchObject({ type: "event-not-found", status: 404 })
    await expect(api.getAgent({ agent_name: "x" })).rejects.toMatchObject({ type: "agent-not-found" })
    await expect(api.getAgentVersion({ agent_name: "x", agent_version_name: "y" })).rejects.toMatchObject({
      type: "agent-not-found"
    })
    await expect(api.getPerson({ person_id: "x" })).rejects.toMatchObject({ type: "person-not-found" })
    const error = await api.listEvents({ limit: 0, cursor: "x" }).catch((error: unknown) => error)
    expect(isApiError(error, "validation-error") && error.body.detail).toMatchObject([
      { loc: ["query", "limit"] },
      { type: "value_error" }
    ])
    expect(String(error)).toMatch(/^ApiError: 422 validation-error: query\.limit: Input should be greater/)
    await expect(record("{}")).rejects.toBeInstanceOf(TachographError)
  })

  it("accepts the idempotency keys that the contract describes, and says what is wrong with others", async () => {
    const tachograph = await opened()
    const id = await tachograph.fingerprint(fingerprint)
    const { body } = await HttpClient.make(tachograph.fetch, apiKey).get("/openapi.json")
    const { schema } = body.paths["/api/v1/events"].post.parameters.find(({ name }: any) => name === "idempotency-key")
    const isDescribed = (key: string) =>
      key.length >= schema.minLength && key.length <= schema.maxLength && new RegExp(schema.pattern, "u").test(key)
    const ascii = Array.from({ length: 128 }, (_, code) => `a${String.fromCharCode(code)}b`)
    const keys = [...ascii, "", " ", "~".repeat(255), "~".repeat(256), "é", "😀", "\ud800", "\u0080"]
    const accepted: Array<string> = []
    for (const key of keys) {
      const recorded = tachograph.record(event(id, { session: key.toWellFormed() }), { idempotencyKey: key })
      await recorded.then(
        () => accepted.push(key),
        (error) => expect(error.detail[0].loc).toEqual(["header", "idempotency-key"])
      )
    }
    expect(accepted).toEqual(keys.filter(isDescribed))

    const error = await tachograph.record(event(id), { idempotencyKey: "naïve" }).catch((error) => error)
    const message = "idempotency keys must consist of printable ASCII characters"
    expect(error.detail).toEqual([
      {
        type: "value_error",
        loc: ["header", "idempotency-key"],
        msg: `Value error, ${message}`,
        input: "naïve",
        ctx: { error: new Error(message) }
      }
    ])
    // As JSON the error is an empty object, as in FastAPI.
    expect(JSON.parse(JSON.stringify(error.detail[0].ctx))).toEqual({ error: {} })
  })

  it("refuses by its types what it refuses when it runs", async () => {
    const tachograph = await opened()
    const { session, ...incomplete } = event(await tachograph.fingerprint(fingerprint))
    const missing = (field: string) => ({ detail: [{ type: "missing", loc: ["body", field] }] })
    // @ts-expect-error An event has a session.
    await expect(tachograph.record(incomplete)).rejects.toMatchObject(missing("session"))
    // @ts-expect-error Names are texts.
    await expect(tachograph.record({ ...incomplete, session, agent: 1 })).rejects.toMatchObject({
      detail: [{ type: "string_type", loc: ["body", "agent"] }]
    })
    const { system, ...fields } = fingerprint
    // @ts-expect-error A fingerprint has a system.
    await expect(tachograph.fingerprint(fields)).rejects.toMatchObject(missing("system"))
    // @ts-expect-error There is no such field.
    await tachograph.record({ ...incomplete, session, sesion: system })
  })

  it("rejects a body that cannot be written as JSON", async () => {
    const tachograph = await opened()
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const missing = { type: "validation-error", detail: [{ type: "missing", loc: ["body"] }] }
    for (const body of [null, undefined] as unknown as Array<never>) {
      await expect(tachograph.record(body)).rejects.toMatchObject(missing)
      await expect(tachograph.fingerprint(body)).rejects.toMatchObject(missing)
    }
    for (const body of [cycle, { n: 1n }] as unknown as Array<never>) {
      const unwritten = "body: The body cannot be written as JSON"
      await expect(tachograph.record(body)).rejects.toThrow(unwritten)
      await expect(tachograph.fingerprint(body)).rejects.toThrow(unwritten)
    }
  })

  it("follows events, with what was recorded since, until the call is aborted", async () => {
    const { api, fingerprint: register, record } = await opened()
    const id = await register(fingerprint)
    const { next_cursor: cursor } = await api.streamEvents({ wait: 0 })
    const { event_id } = await record(event(id))
    const aborter = new AbortController()
    const follow = async () => {
      for await (const line of api.streamEvents.lines({ cursor }, { signal: aborter.signal })) {
        expect(line).toMatchObject({ event_id })
        aborter.abort()
      }
    }
    await expect(follow()).rejects.toThrow()
    await expect(api.streamEvents({ wait: 30 }, { signal: aborter.signal })).rejects.toBe(aborter.signal.reason)
    const later = new AbortController()
    const waiting = api.streamEvents({ wait: 30 }, { signal: later.signal })
    later.abort("given up")
    await expect(waiting).rejects.toBe("given up")
  })

  it("rejects after closing", async () => {
    const tachograph = await createTachograph({ storage: MemoryStorage.layer })
    await tachograph.close()
    const closed = { type: "storage-unavailable" }
    await expect(tachograph.record("{}")).rejects.toMatchObject(closed)
    await expect(tachograph.api.listEvents()).rejects.toMatchObject(closed)
  })
})
