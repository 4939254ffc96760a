import { MemoryStorage } from "@tachograph/core"
import { HttpClient } from "@tachograph/testkit"
import { describe, expect, it } from "vitest"
import { createTachograph, TachographError } from "../../src/index.ts"
import { apiKey, event, fingerprint, opened } from "../Samples.ts"

describe("recorder", () => {
  it("reads the same in process as over HTTP", async () => {
    const tachograph = await opened({ basePath: "/in/here" })
    const { recorder } = tachograph
    const client = HttpClient.make(tachograph.fetch, apiKey)
    const get = async (path: string) => (await client.get(`/in/here/api/v1${path}`)).body
    const id = await tachograph.fingerprint(fingerprint)
    for (const n of [1, 2, 3]) await tachograph.record(event(id, { agent: "a b", person: "a/b", duration_ms: n }))
    await client.put("/in/here/api/v1/people", { person_id: "a/b", properties: { x: 1 } })

    const page = await recorder.listEvents({ agent: "a b", limit: 2, order: "desc" })
    expect(page).toEqual(await get("/events?agent=a%20b&limit=2&order=desc"))
    expect(page.events.map(({ duration_ms }) => duration_ms)).toEqual([3, 2])
    const rest = await recorder.listEvents({ agent: "a b", limit: 2, order: "desc", cursor: page.next_cursor! })
    expect([rest.events.length, rest.next_cursor]).toEqual([1, null])

    const eventId = page.events[0]!.event_id
    expect(await recorder.getEvent(eventId)).toEqual(await get(`/events/${eventId}`))
    expect(await recorder.getPerson("a/b")).toEqual(await get("/people/a%2Fb"))
    expect((await recorder.getAgent("a b")).agent_name).toBe("a b")
    expect(await recorder.listAgents({ limit: 1 })).toEqual(await get("/agents?limit=1"))
    expect((await recorder.listAgentVersions("a b")).agent_versions).toMatchObject([{ agent_version_name: "default" }])
    expect((await recorder.deprecateAgentVersion("a b", "default")).deprecated_at).not.toBeNull()
    expect(await recorder.listPeople()).toEqual(await get("/people"))
    expect((await recorder.listPeople({}, { project: "other" })).people).toEqual([])
    expect(await recorder.getFingerprint(id)).toEqual(await get(`/fingerprints/${id}`))
    expect(await recorder.listFingerprints({ limit: 5 })).toEqual(await get("/fingerprints"))
    expect(await recorder.createPerson({ person_id: "c/d", properties: { y: 1 } })).toEqual(await get("/people/c%2Fd"))
    expect((await recorder.updatePerson("c/d", { y: 2 })).properties).toEqual({ y: 2 })
    expect(await get("/people/c%2Fd")).toMatchObject({ properties: { y: 2 } })
    await tachograph.record(event(id, { session: "to erase", person: "c/d" }))
    expect(await recorder.eraseSession("to erase")).toMatchObject({ events: 1, sessions: 1 })
    expect(await recorder.erasePerson("c/d")).toMatchObject({ events: 0 })
    await expect(recorder.getPerson("c/d")).rejects.toMatchObject({ type: "person-not-found" })
    await expect(recorder.eraseSession("to erase")).rejects.toMatchObject({ type: "session-not-found" })
    await expect(recorder.listAgents({ cursor: "x" })).rejects.toMatchObject({ type: "validation-error" })
    expect(await recorder.getMe()).toEqual({ ...(await get("/me")), scopes: ["record", "read"] })
    expect((await recorder.getMe({ project: "other" })).project).toBe("other")
    expect((await recorder.getAgentVersion("a b", "default")).agent_version_number).toBe(1)
  })

  it("searches the same in process as over HTTP", async () => {
    const tachograph = await opened()
    const client = HttpClient.make(tachograph.fetch, apiKey)
    const id = await tachograph.fingerprint(fingerprint)
    const inputs = { messages: [{ role: "user", content: "Where is Refund 4711 & what of it?" }] }
    const properties = { api: "provider1-chat-completions", inputs, output: {} }
    const { event_id } = await tachograph.record(event(id, { properties }))
    const q = "refund 4711 & what"
    const found = await tachograph.recorder.search({ q })
    expect(found.results.map((result) => result.event_id)).toEqual([event_id])
    expect(found).toEqual((await client.get(`/api/v1/search?q=${encodeURIComponent(q)}`)).body)
    expect((await tachograph.recorder.search({ q, case: "sensitive" })).results).toEqual([])
    expect((await tachograph.recorder.search({ q, error: true })).results).toEqual([])
    expect((await tachograph.recorder.search({ q }, { project: "other" })).results).toEqual([])
    // It becomes U+FFFD, which no text has.
    expect((await tachograph.recorder.search({ q: "\ud800" })).results).toEqual([])
    await expect(tachograph.recorder.search({ q: "" })).rejects.toMatchObject({ type: "validation-error" })
  })

  it("returns the text of an event as it was sent", async () => {
    const tachograph = await opened()
    const id = await tachograph.fingerprint(fingerprint)
    const inputs = '{ "n": 12345678901234567890, "n": 1.0 }'
    const body = JSON.stringify(event(id)).replace('{"n":1}', inputs)
    const { body: created } = await HttpClient.make(tachograph.fetch, apiKey).post("/api/v1/events", body)
    expect(await tachograph.recorder.getEventText(created.event_id)).toContain(`"inputs":${inputs},`)
    expect(await tachograph.recorder.getEventInputs(created.event_id)).toBe(inputs)
  })

  it("records a JSON text byte for byte", async () => {
    const tachograph = await opened()
    const id = await tachograph.fingerprint(JSON.stringify(fingerprint))
    const inputs = '{ "n": 12345678901234567890, "n": 1.0 }'
    const { event_id } = await tachograph.record(JSON.stringify(event(id)).replace('{"n":1}', inputs))
    expect(await tachograph.recorder.getEventText(event_id)).toContain(`"inputs":${inputs},`)
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
    const text = async (properties: object) => tachograph.recorder.getEventText((await record(properties)).event_id)
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
    expect((await tachograph.recorder.listEvents({}, { project })).events).toHaveLength(1)
    expect((await tachograph.recorder.listEvents()).events).toEqual([])
    await expect(tachograph.recorder.getEvent(event_id)).rejects.toMatchObject({ type: "event-not-found" })
    const emptyName = { type: "validation-error", detail: [{ type: "string_too_short", loc: ["project"] }] }
    await expect(tachograph.record(event(id), { project: "" })).rejects.toMatchObject(emptyName)
    await expect(tachograph.recorder.listEvents({}, { project: "" })).rejects.toMatchObject(emptyName)
  })

  it("rejects with an error whose type identifies it", async () => {
    const { recorder } = await opened()
    const noName = { type: "validation-error", detail: [{ type: "value_error", loc: ["path", "agent_name"] }] }
    await expect(recorder.getAgent("\ud800")).rejects.toMatchObject(noName)
    const unknown = "11111111-1111-4111-8111-111111111111"
    await expect(recorder.getEvent(unknown)).rejects.toMatchObject({ type: "event-not-found", detail: [] })
    await expect(recorder.getAgent("x")).rejects.toMatchObject({ type: "agent-not-found" })
    await expect(recorder.getAgentVersion("x", "y")).rejects.toMatchObject({ type: "agent-not-found" })
    await expect(recorder.getPerson("x")).rejects.toMatchObject({ type: "person-not-found" })
    const error = await recorder.listEvents({ limit: 0, cursor: "x" }).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(TachographError)
    expect(error).toMatchObject({
      type: "validation-error",
      detail: [{ loc: ["query", "limit"] }, { type: "value_error" }]
    })
    expect(String(error)).toMatch(/^TachographError: validation-error\nquery\.limit: Input should be greater/)
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

  it("rejects after closing", async () => {
    const tachograph = await createTachograph({ storage: MemoryStorage.layer })
    await tachograph.close()
    const closed = { type: "storage-unavailable" }
    await expect(tachograph.record("{}")).rejects.toMatchObject(closed)
    await expect(tachograph.recorder.listEvents()).rejects.toMatchObject(closed)
  })
})
