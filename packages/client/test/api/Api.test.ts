import { TachographApi } from "@tachograph/api"
import { Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  type Api,
  ApiError,
  apiOver,
  createApi,
  type ErrorType,
  isApiError,
  type Operations,
  type Sent
} from "../../src/api.ts"
import { createRecorder } from "../../src/index.ts"
import { apiKey, type Server, startServer } from "../Server.ts"

let server: Server
let api: Api
let fingerprint_id: string
let event_id: string
let toErase: string

beforeAll(async () => {
  server = await startServer()
  api = createApi({ url: `${server.url}/`, apiKey })
  ;({ fingerprint_id } = await api.createFingerprint({
    body: { language: "javascript", language_version: "node 24", system: "linux" }
  }))
  ;({ event_id } = await api.createEvent({ body: event("s/1 ü") }))
  toErase = (await api.createEvent({ body: event("to erase") })).event_id
  await api.createEvent({ body: event("long", [{ role: "system", content: long }]) })
})

/** Long enough to be stored once for all calls. */
const long = "You are a careful agent. ".repeat(400)

const messages = [{ role: "user", content: "Hello" }]

const event = (session: string, before: ReadonlyArray<Readonly<Record<string, string>>> = []) => ({
  event_name: "llm" as const,
  properties: {
    api: "provider1-chat-completions" as const,
    inputs: { model: "m", messages: [...before, ...messages] },
    output: { choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] }
  },
  fingerprint_id,
  session,
  agent: "chat"
})

const firstOf = (values: AsyncIterable<unknown>) => values[Symbol.asyncIterator]().next()

const agent_name = "an agent/with ?&#"
const agent_version_name = "v 1"

/** A call of each operation, in an order in which each finds what it needs. */
const calls: { readonly [Name in keyof Operations]: () => Promise<Operations[Name]["answer"]> } = {
  getSignIn: () => api.getSignIn(),
  health: () => api.health(),
  ready: () => api.ready(),
  metrics: () => api.metrics(),
  getMe: () => api.getMe(),
  createFingerprint: () =>
    api.createFingerprint({ body: { language: "python", language_version: "3.14", system: "linux" } }),
  listFingerprints: () => api.listFingerprints(),
  getFingerprint: () => api.getFingerprint({ fingerprint_id }),
  createAgent: () => api.createAgent({ body: { agent_name, description: "Chats" } }),
  listAgents: () => api.listAgents({ limit: 5 }),
  getAgent: () => api.getAgent({ agent_name }),
  createAgentVersion: () => api.createAgentVersion({ agent_name, body: { agent_version_name } }),
  listAgentVersions: () => api.listAgentVersions({ agent_name }),
  getAgentVersion: () => api.getAgentVersion({ agent_name, agent_version_name }),
  listConfigurations: () => api.listConfigurations({ agent_name: "chat", agent_version_name: "default" }),
  deprecateAgentVersion: () => api.deprecateAgentVersion({ agent_name, agent_version_name }),
  createPerson: () => api.createPerson({ body: { person_id: "p", properties: { age: 7 } } }),
  listPeople: () => api.listPeople(),
  updatePerson: () => api.updatePerson({ person_id: "p", body: { properties: {} } }),
  getPerson: () => api.getPerson({ person_id: "p" }),
  createEvent: () => api.createEvent({ idempotency_key: "k", body: event("another") }),
  listEvents: () => api.listEvents({ session: "s/1 ü", error: false, order: "asc" }),
  streamEvents: () => api.streamEvents({ wait: 0 }),
  getEvent: () => api.getEvent({ event_id }),
  getEventMessages: () => api.getEventMessages({ event_id }),
  getEventInputs: () => api.getEventInputs({ event_id }),
  getSharedText: () => api.getSharedText({ sha256: createHash("sha256").update(JSON.stringify(long)).digest("hex") }),
  getEventOutput: () => api.getEventOutput({ event_id }),
  listSessions: () => api.listSessions({ agent: "chat", error: false, order: "asc" }),
  getSession: () => api.getSession({ session: "s/1 ü" }),
  listFailures: () => api.listFailures({ agent: "support", limit: 5 }),
  readUsage: () => api.readUsage({ group_by: "day,model", time_zone: "Europe/Berlin" }),
  listSessionMessages: () => api.listSessionMessages({ session: "s/1 ü", after_number: 0 }),
  listSessionCalls: () => api.listSessionCalls({ session: "s/1 ü", limit: 1 }),
  listSessionSteps: () => api.listSessionSteps({ session: "s/1 ü", limit: 1 }),
  search: () => api.search({ q: "Hi" }),
  searchSessions: () => api.searchSessions({ q: "Hi" }),
  readStorage: () => api.readStorage({ sessions: 3 }),
  listAudit: () => api.listAudit({ limit: 2 }),
  export: () => api.export({ session: "another" }),
  createEvents: () => api.createEvents({ body: "" }),
  import: () => api.import({ body: "" }),
  eraseEvent: () => api.eraseEvent({ event_id: toErase }),
  erasePerson: () => api.erasePerson({ person_id: "p" }),
  eraseSession: () => api.eraseSession({ session: "another" })
}

/** What each operation of the contract answers. */
const successes = () => {
  const schemas = new Map<string, Schema.Top>()
  HttpApi.reflect(TachographApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, successes }) => {
      schemas.set(endpoint.identifier, successes.get(200)![0])
    }
  })
  return schemas
}

describe("the typed client", () => {
  it("has a method for each operation of the contract", () => {
    expect(Object.keys(api).sort()).toEqual([...successes().keys()].sort())
  })

  it.each(Object.entries(calls))("calls %s", async (name, call) => {
    const answer = await call()
    const schema = successes().get(name) as Schema.Decoder<unknown>
    const decode = Schema.decodeUnknownSync(Schema.toCodecJson(schema))
    expect(() => decode(answer)).not.toThrow()
    // A shared text may be any JSON.
    if (name !== "getSharedText") expect(() => decode([answer])).toThrow()
  })

  it("sends what it is given", async () => {
    const { session, agent, properties } = await api.getEvent({ event_id })
    expect({ session, agent, properties }).toEqual({
      session: "s/1 ü",
      agent: "chat",
      properties: event("").properties
    })
    expect((await api.getAgent({ agent_name })).description).toBe("Chats")
    const key = { idempotency_key: "once" }
    const first = await api.createEvent({ ...key, body: event("twice") })
    expect(await api.createEvent({ ...key, body: event("twice") })).toEqual(first)
    expect((await api.listEvents({ session: "twice" })).events).toHaveLength(1)
  })

  it("takes and answers texts as they are", async () => {
    const inputs = '{ "model":"m","messages":[],"seed":9007199254740993 }'
    const body = JSON.stringify({
      ...event("exact"),
      properties: { api: "openai-chat-completions", inputs: 0, output: {} }
    })
    const created = await api.createEvent({ body: body.replace('"inputs":0', `"inputs":${inputs}`) })
    expect(await api.getEvent.text({ event_id: created.event_id })).toContain(inputs)
    expect(await (await api.getEvent.response({ event_id: created.event_id })).text()).toContain(inputs)
  })

  it("reads all pages, and no more than are asked for", async () => {
    const ids: Array<string> = []
    for (let n = 0; n < 5; n++) ids.push((await api.createEvent({ body: event("pages") })).event_id)
    const found: Array<string> = []
    for await (const { event_id } of api.listEvents.each({ session: "pages", limit: 2, order: "asc" })) {
      found.push(event_id)
    }
    expect(found).toEqual(ids)
    const before = server.requests.length
    for await (const { event_id } of api.listEvents.each({ session: "pages", limit: 2, order: "asc" })) {
      if (event_id === ids[1]) break
    }
    expect(server.requests.length - before).toBe(1)
  })

  it("reads lines as they come, and ends the answer when the reader stops", async () => {
    const { event_id } = await api.createEvent({ body: event("lines") })
    const exported: Array<unknown> = []
    for await (const line of api.export.lines({ session: "lines" })) exported.push(line)
    expect(exported.some((line) => JSON.stringify(line).includes(event_id))).toBe(true)
    const { next_cursor } = await api.streamEvents({ wait: 0 })
    const added = await api.createEvent({ body: event("lines") })
    for await (const line of api.streamEvents.lines({ session: "lines", cursor: next_cursor })) {
      expect(line).toMatchObject({ event_id: added.event_id })
      break
    }
  })

  it.each([undefined, "", ".", "..", "a\ud800"])("sends no request for the id %s", async (event_id) => {
    const before = server.requests.length
    await expect(api.getEvent({ event_id } as never)).rejects.toThrow("event_id: expected a text that is not empty")
    expect(server.requests).toHaveLength(before)
  })

  it("rejects every call of a recorder in the same process, which has none", async () => {
    const tachograph = { record: async () => {}, fingerprint: async () => "" }
    const recorder = { ...createRecorder({ tachograph }) }
    await expect(recorder.api.getMe()).rejects.toThrow("use tachograph.api")
  })

  it("takes an address with blanks around it, and none that is no address", async () => {
    expect((await createApi({ url: ` ${server.url} `, apiKey }).getMe()).scopes).toContain("admin")
    for (const options of [{}, { url: "127.0.0.1" }, undefined]) {
      expect(() => createApi(options as never)).toThrow("url: expected http://…, https://… or a path")
    }
  })

  it("is a part of the recorder", async () => {
    const recorder = createRecorder({ url: server.url, apiKey })
    recorder.record({ api: "provider1-chat-completions", inputs: { messages }, output: {}, session: "recorded" })
    await recorder.flush()
    expect((await recorder.api.listEvents({ session: "recorded" })).events).toHaveLength(1)
  })
})

it("is carried by what it is given, which answers with a text, and is read by what it is given", async () => {
  const sent: Array<Sent> = []
  const send = async (request: Sent, options: { readonly project?: string }) => {
    sent.push(request)
    const text = request.target === "/api/v1/me" ? '{"type":"forbidden"}' : `[${options.project}]`
    const status = request.target === "/api/v1/me" ? 403 : 200
    return { status, headers: new Headers({ "content-type": "application/json" }), body: null, text: async () => text }
  }
  const carried = apiOver(send, (text) => text.toUpperCase())
  expect(await carried.listEvents.text({ session: "a b", limit: undefined }, { project: "acme" })).toBe("[acme]")
  expect(await carried.updatePerson({ person_id: "a/b", body: { properties: {} } })).toBe("[UNDEFINED]")
  await expect(carried.getMe()).rejects.toMatchObject({ type: "forbidden", status: 403 })
  const accept = "application/json, */*;q=0.1"
  expect(sent.slice(0, 2)).toEqual([
    { method: "GET", target: "/api/v1/events?session=a+b", headers: { accept } },
    {
      method: "PUT",
      target: "/api/v1/people/a%2Fb",
      headers: { accept, "content-type": "application/json" },
      body: '{"properties":{}}'
    }
  ])
})

it("reads no page twice where the answer names none that follows", async () => {
  let requests = 0
  const fetch = async () => {
    requests++
    return Response.json({ events: [{ event_id: "1" }] })
  }
  const rows: Array<unknown> = []
  for await (const row of createApi({ url: "http://127.0.0.1:1", fetch }).listEvents.each()) {
    rows.push(row)
    if (rows.length > 3) break
  }
  expect([rows.length, requests]).toEqual([1, 1])
})

describe("its errors", () => {
  const errorOf = (call: Promise<unknown>) =>
    call.then(
      () => expect.fail("It succeeded"),
      (error: unknown) => error
    )

  it("have the type and the status of the answer", async () => {
    const unknown = "01900000-0000-7000-8000-000000000000"
    const error = await errorOf(api.getEvent({ event_id: unknown }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ type: "event-not-found", status: 404, message: "404 event-not-found" })
    expect((error as ApiError).requestId).toMatch(/^[0-9a-f-]{36}$/)
    expect([isApiError(error), isApiError(error, "event-not-found"), isApiError(error, "forbidden")]).toEqual([
      ...[true, true, false]
    ])
    const stranger = createApi({ url: server.url, apiKey: "unknown" })
    expect(await errorOf(stranger.getMe())).toMatchObject({ type: "unauthorized", status: 401 })
  })

  it("say what is wrong with a request", async () => {
    const error = await errorOf(api.listEvents({ limit: 0 }))
    expect(isApiError(error, "validation-error") && error.body.detail[0]!.loc).toEqual(["query", "limit"])
    expect(String(error)).toBe(
      "ApiError: 422 validation-error: query.limit: Input should be greater than or equal to 1"
    )
  })

  it("say when to try again, and which status something else answered", async () => {
    const answers = [
      { status: 503, headers: { "retry-after": "2" }, text: '{"type":"overloaded"}' },
      { status: 429, headers: { "retry-after": "Fri, 01 Jan 2100 00:00:00 GMT" }, text: "" },
      { status: 503, headers: { "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, text: "" },
      { status: 503, headers: { "retry-after": "soon" }, text: "" },
      { status: 502, headers: {}, text: "<html>" },
      { status: 302, headers: { location: "http://127.0.0.1:1" }, text: "" },
      ...Array.from({ length: 3 }, () => ({ status: 200, headers: { "content-type": "text/html" }, text: "<html>" })),
      { status: 422, headers: {}, text: '{"detail":[{"msg":"x"}]}' },
      { status: 422, headers: {}, text: '{"type":"another","detail":[1,null]}' }
    ]
    const http = createServer((_, response) => {
      const { headers, status, text } = answers.shift()!
      response.writeHead(status, { ...headers }).end(text)
    }).listen(0, "127.0.0.1")
    afterAll(() => void http.close())
    await new Promise((resolve) => http.once("listening", resolve))
    const other = createApi({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` })
    expect(await errorOf(other.getMe())).toMatchObject({ type: "overloaded", status: 503, retryAfterMs: 2000 })
    const atDate = (await errorOf(other.getMe())) as ApiError
    expect(Math.abs(Date.now() + atDate.retryAfterMs! - Date.UTC(2100, 0, 1))).toBeLessThan(60_000)
    expect(await errorOf(other.getMe())).toMatchObject({ retryAfterMs: 0 })
    expect(await errorOf(other.getMe())).toMatchObject({ retryAfterMs: undefined })
    expect(await errorOf(other.getMe())).toMatchObject({ type: "http-502", body: { type: "http-502" } })
    expect(await errorOf(other.getMe())).toMatchObject({ type: "http-302" })
    const recorded = other.createEvent({ body: event("s") })
    expect(await errorOf(recorded)).toMatchObject({ type: "http-200" })
    expect(await errorOf(firstOf(other.export.lines()))).toMatchObject({ type: "http-200" })
    expect(await errorOf(firstOf(other.listEvents.each()))).toMatchObject({ type: "http-200" })
    expect(await errorOf(other.getMe())).toMatchObject({ type: "http-422" })
    expect(await errorOf(other.getMe())).toMatchObject({ type: "http-422" })
  })

  it("of the connection, and of a call that is aborted, are those of fetch", async () => {
    expect(await errorOf(createApi({ url: "http://127.0.0.1:1" }).health())).toBeInstanceOf(TypeError)
    const aborted = errorOf(api.getMe({}, { signal: AbortSignal.abort() }))
    expect(await aborted).toMatchObject({ name: "AbortError" })
  })

  it("are typed", () => {
    const types: ReadonlyArray<ErrorType> = ["event-not-found", "validation-error", "overloaded", "http-502"]
    // @ts-expect-error -- no operation answers it
    const wrong: ErrorType = "no-such-type"
    expect(types).not.toContain(wrong)
  })
})
