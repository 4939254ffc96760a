/** What is recorded of the calls that pass. */
import { once } from "node:events"
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { describe, expect, it, vi } from "vitest"
import type { Tachograph } from "../../src/index.ts"
import type { Event } from "@tachograph/client/api"
import { proxyTo, send, withKey } from "./Client.ts"
import { listen, rawUpstream, upstream } from "./Upstream.ts"

const path = "/proxy/local/v1/messages"

const request = '{"model": "claude-x",  "max_tokens": 1.0, "messages": [{"role":"user","content":"\\u00e9 😀"}]}'

const answer = '{"id":"msg_1", "content":[{"type":"text","text":"9007199254740993"}], "n": 9007199254740993}'

const streamed = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",' +
    '"model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüß"}}\n\n',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n'
]

/** The events in the order in which they were recorded, once there are this many. */
const eventsOf = async ({ api }: Tachograph, count = 1): Promise<ReadonlyArray<Event>> => {
  const { events } = await vi.waitFor(
    async () => {
      const page = await api.listEvents({ order: "asc" })
      expect(page.events).toHaveLength(count)
      return page
    },
    { timeout: 60_000, interval: 5 }
  )
  return Promise.all(events.map(({ event_id }) => api.getEvent({ event_id })))
}

const textOf = async ({ api }: Tachograph): Promise<string> => {
  const [event] = (await api.listEvents()).events
  return api.getEvent.text({ event_id: event!.event_id })
}

const json = { "content-type": "application/json" }
const events = { "content-type": "text/event-stream" }

const answering = (body: string | Uint8Array, headers: Record<string, string> = json, status = 200) =>
  upstream((response) => void response.writeHead(status, headers).end(body))

describe("a call that passes", () => {
  it("is recorded with the model that its path names", async () => {
    const { url } = await answering('{"candidates":[]}')
    const { port, tachograph } = await proxyTo(url)
    const path = "/proxy/local/v1beta/models/gemini-3-pro:generateContent"
    await send(port, path, { body: '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}', headers: withKey })
    const [event] = await eventsOf(tachograph)
    expect([event!.properties.api, event!.model]).toEqual(["provider3-models", "gemini-3-pro"])
  })

  it("is recorded byte for byte, with what groups it", async () => {
    const { url } = await answering(answer)
    const { port, tachograph } = await proxyTo(url)
    const headers = {
      ...withKey,
      "X-Tachograph-Session": "the session",
      "X-Tachograph-Agent": "agent",
      "X-Tachograph-Agent-Version": "v2",
      "X-Tachograph-Person": Buffer.from("Zoë 😀").toString("latin1")
    }
    // Node's client would write headers as UTF-8 before a text.
    await send(port, path, { headers, body: Buffer.from(request) })
    const [event] = await eventsOf(tachograph)
    expect(event).toMatchObject({
      session: "the session",
      agent: "agent",
      agent_version: "v2",
      person: "Zoë 😀",
      properties: { api: "provider2-messages" },
      duration_ms: expect.any(Number),
      first_token_ms: expect.any(Number),
      http_status: 200,
      occurred_at: expect.stringMatching(/^\d{4}-/)
    })
    const text = await textOf(tachograph)
    expect(text).toContain(`"inputs":${request}`)
    expect(text).toContain(`"output":${answer}`)
  })

  it("is recorded with names that are too long for an event: cut, and as different as they were", async () => {
    const { url } = await answering(answer)
    const { port, tachograph } = await proxyTo(url)
    const longest = "é".repeat(255)
    const names = [longest, `${longest}1`, `${longest}2`, `${longest}2`, "é".repeat(1_000)]
    for (const name of names) {
      const sent = Buffer.from(name).toString("latin1")
      const grouping = ["Session", "Agent", "Agent-Version", "Person"].map((field) => [`X-Tachograph-${field}`, sent])
      const headers = { ...withKey, ...Object.fromEntries(grouping) }
      await send(port, path, { headers, body: Buffer.from(request) })
    }
    const recorded = await eventsOf(tachograph, names.length)
    for (const { agent, agent_version, person, session } of recorded)
      expect([agent, agent_version, person]).toEqual([session, session, session])
    const sessions = recorded.map(({ session }) => session)
    expect(sessions.filter((session) => session === longest)).toHaveLength(1)
    expect(sessions.filter((session) => /^é{190}-[0-9a-f]{64}$/.test(session))).toHaveLength(4)
    expect(new Set(sessions).size).toBe(4)
  })

  it("is of the agent, the session and the sub-agent that the program says, unless its headers say others", async () => {
    const { url } = await answering(answer)
    const { port, tachograph } = await proxyTo(url)
    const parent = "ses_ddd0ce495ffeb1vsuOM387TEew"
    const opencode = {
      ...withKey,
      "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14",
      "x-session-affinity": parent,
      "x-session-id": parent
    }
    const child = "ses_ddaa1b9b4ffenhbd5GAPWkTvRD"
    const ofChild = { "x-parent-session-id": parent, "x-session-affinity": child, "x-session-id": child }
    const given = { "x-tachograph-session": "mine", "x-tachograph-agent": "reviewer" }
    for (const headers of [opencode, { ...opencode, ...ofChild }, { ...opencode, ...given }])
      await send(port, path, { headers, body: request })
    const older = { ...withKey, "user-agent": "codex_cli_rs/0.50.0" }
    await send(port, "/proxy/local/v1/responses", { headers: older, body: '{"input":"hi","prompt_cache_key":"s-1"}' })
    const recorded = await eventsOf(tachograph, 4)
    const fields = recorded.map(({ agent, agent_version, recorded: of, session }) => [
      session,
      agent,
      agent_version,
      of
    ])
    expect(fields).toEqual([
      [parent, "opencode", "1.18.33", null],
      [parent, "opencode", "1.18.33", { subagent: child }],
      ["mine", "reviewer", "default", null],
      ["s-1", "codex", "0.50.0", null]
    ])
  })

  it("says of its sub-agent what it says of the session: no credential", async () => {
    const { url } = await answering(answer)
    const { port, tachograph } = await proxyTo(url)
    const secret = "sk-ant-0123456789abcdef"
    const headers = {
      ...withKey,
      "x-api-key": secret,
      "x-claude-code-session-id": secret,
      "x-claude-code-agent-id": `${secret}.1`
    }
    await send(port, path, { headers, body: request })
    const [event] = await eventsOf(tachograph)
    expect(event).toMatchObject({ session: "[redacted]", recorded: { redacted: 2, subagent: "[redacted].1" } })
  })

  it("has a session of its conversation where none is named", async () => {
    const { url } = await answering(answer)
    const { port, tachograph } = await proxyTo(url)
    const first = { role: "user", content: "first" }
    const bodies = [[first], [first, { role: "assistant", content: "a" }, { role: "user", content: "second" }], []]
    for (const messages of bodies) await send(port, path, { headers: withKey, body: JSON.stringify({ messages }) })
    const sessions = (await eventsOf(tachograph, 3)).map(({ session }) => session)
    expect(new Set(sessions).size).toBe(2)
    expect(sessions.every((session) => /^[0-9a-f]{64}$/.test(session))).toBe(true)
  })

  it("is decompressed for the recorder only", async () => {
    const packed = brotliCompressSync(gzipSync(answer))
    const { received, url } = await answering(packed, { ...json, "content-encoding": "gzip, br" })
    const { port, tachograph } = await proxyTo(url)
    const headers = { ...withKey, "content-encoding": "gzip" }
    const { body } = await send(port, path, { headers, body: gzipSync(request) })
    expect([body.equals(packed), received[0]!.body.equals(gzipSync(request))]).toEqual([true, true])
    await eventsOf(tachograph)
    expect(await textOf(tachograph)).toContain(`"inputs":${request},"output":${answer}`)
  })

  it.each([
    ["", events, ""],
    [", whose content type is another one", { "content-type": "text/plain" }, ""],
    [", which has no content type and begins with a byte order mark", {}, "\ufeff: hello\n\n"]
  ])("is recorded as what its stream stands for%s", async (_name, type, before) => {
    const { url } = await answering(before + streamed.join(""), type)
    const { port, tachograph } = await proxyTo(url)
    const { body } = await send(port, `${path}?beta=true`, { headers: withKey, body: request })
    expect(String(body)).toBe(before + streamed.join(""))
    const [event] = await eventsOf(tachograph)
    expect(event!.properties).toMatchObject({
      api: "provider2-beta-messages",
      output: { id: "msg_1", content: [{ type: "text", text: "Grüß" }], stop_reason: "end_turn" }
    })
  })

  it.each([
    ["an error of the provider", 529, json, '{"type":"error","error":{"type":"overloaded_error"}}', { type: "error" }],
    ["a page of a gateway", 502, {}, "<html>", { error: { type: "http_502", body: "<html>" } }],
    ["an answer that is no object", 200, json, "[1]", { error: { type: "http_200", body: "[1]" } }],
    ["an answer that is no JSON", 200, {}, "<html>", { error: { type: "http_200", body: "<html>" } }],
    ["an answer that has no body", 200, json, "", { error: { type: "http_200" } }],
    ["a stream that has no body", 200, events, "", { error: { type: "cut" } }]
  ])("is recorded with %s", async (_name, status, headers, body, output) => {
    const { url } = await answering(body, headers as Record<string, string>, status)
    const { port, tachograph } = await proxyTo(url)
    await send(port, path, { headers: withKey, body: request })
    expect((await eventsOf(tachograph))[0]!.properties.output).toMatchObject(output)
  })

  it("is recorded as what an array of its stream stands for", async () => {
    const parts = ["Grü", "ß"].map((text) => ({ candidates: [{ content: { role: "model", parts: [{ text }] } }] }))
    const { url } = await answering(JSON.stringify(parts))
    const { port, tachograph } = await proxyTo(url)
    const path = "/proxy/local/v1beta/models/gemini-3-pro:streamGenerateContent?key=0123456789"
    await send(port, path, { headers: withKey, body: '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}' })
    expect((await eventsOf(tachograph))[0]!.properties.output).toMatchObject({
      candidates: [{ content: { parts: [{ text: "Grüß" }] } }]
    })
  })

  it("is recorded as far as it came if the client goes, or the provider", async () => {
    for (const goes of ["client", "provider"]) {
      let arrived: (response: ServerResponse) => void
      const arriving = new Promise<ServerResponse>((resolve) => (arrived = resolve))
      const upstreamPort = await listen((_message, response) => arrived(response))
      const { port, tachograph } = await proxyTo(`http://127.0.0.1:${upstreamPort}`)
      const sent = httpRequest({ port, host: "127.0.0.1", path, method: "POST", headers: withKey }).end(request)
      const response = await arriving
      response.writeHead(200, events).write(streamed.slice(0, 3).join(""))
      const [received] = (await once(
        sent.on("error", () => {}),
        "response"
      )) as [IncomingMessage]
      await once(
        received.on("error", () => {}),
        "data"
      )
      if (goes === "client") sent.destroy()
      else response.destroy()
      expect((await eventsOf(tachograph))[0]!.properties.output).toMatchObject({
        content: [{ type: "text", text: "Grüß" }],
        error: { type: goes === "client" ? "aborted" : "connection_error" }
      })
    }
  })

  const headOf = (framing: string, type = "application/json") =>
    `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n${framing}\r\n\r\n`
  const lengthOf = (body: string, beyond: number) => `Content-Length: ${Buffer.byteLength(body) + beyond}`
  const chunked = "Transfer-Encoding: chunked"
  const chunkOf = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
  const end = (socket: Socket) => void socket.end()
  const reset = (socket: Socket) => void socket.resetAndDestroy()

  /** What the application got of an answer that `bytes` begin and `finish` ends, once it has `body`, and what became of the call. */
  const brokenOff = async (bytes: string, body: string, finish?: (socket: Socket) => void) => {
    const provider = Promise.withResolvers<Socket>()
    const url = await rawUpstream((socket) => {
      socket.write(bytes)
      provider.resolve(socket)
    })
    const { port, tachograph } = await proxyTo(url)
    const sent = httpRequest({ port, host: "127.0.0.1", path, method: "POST", headers: withKey }).end(request)
    const [received] = (await once(sent, "response")) as [IncomingMessage]
    let text = ""
    const over = new Promise<unknown>((resolve) => received.once("error", resolve).once("end", resolve))
    received.on("data", (chunk) => {
      text += String(chunk)
      if (text === body) void provider.promise.then(finish)
    })
    const error = (await over) as NodeJS.ErrnoException | undefined
    expect([received.statusCode, text, error?.code]).toEqual([200, body, "ECONNRESET"])
    const [event] = await eventsOf(tachograph)
    return { event: event!, text: await textOf(tachograph) }
  }

  it.each([
    ["with fewer bytes than its length", headOf(lengthOf(answer, 10)) + answer, end],
    ["without its last chunk", headOf(chunked) + chunkOf(answer), reset],
    ["with a bad chunk behind it in one packet", `${headOf(chunked)}${chunkOf(answer)}no size\r\n`, undefined],
    ["with a length for a trailer", `${headOf(chunked)}${chunkOf(answer)}0\r\nContent-Length: 1\r\n\r\n`, undefined]
  ])(
    "is recorded with an error if its answer breaks off %s, though it is a whole value",
    async (_name, bytes, finish) => {
      const { event, text } = await brokenOff(bytes, answer, finish)
      expect(event.http_status).toBe(200)
      expect(event.properties.output).toEqual({
        ...JSON.parse(answer),
        error: expect.objectContaining({ type: "connection_error" })
      })
      expect(text).toContain(`"output":${answer.slice(0, -1)},"error":{"type":"connection_error"`)
    }
  )

  it("is recorded as whole if its stream breaks off behind its last event: that says that the answer is", async () => {
    const body = streamed.join("")
    const { event } = await brokenOff(headOf(chunked, "text/event-stream") + chunkOf(body), body, reset)
    expect(event.properties.output).toMatchObject({ stop_reason: "end_turn" })
    expect(event.properties.output).not.toHaveProperty("error")
  })

  it("is recorded as whole if the application ends it with the whole value", async () => {
    const url = await rawUpstream((socket) => void socket.write(headOf(chunked) + chunkOf(answer)))
    const { port, tachograph } = await proxyTo(url)
    const sent = httpRequest({ port, host: "127.0.0.1", path, method: "POST", headers: withKey }).end(request)
    const [received] = (await once(
      sent.on("error", () => {}),
      "response"
    )) as [IncomingMessage]
    const [chunk] = (await once(
      received.on("error", () => {}),
      "data"
    )) as [Buffer]
    expect(String(chunk)).toBe(answer)
    sent.destroy()
    await eventsOf(tachograph)
    expect(await textOf(tachograph)).toContain(`"output":${answer}`)
  })

  it("is recorded with an error over fetch too, where its answer breaks off", async () => {
    const url = await rawUpstream((socket) => void socket.end(headOf(lengthOf(answer, 10)) + answer))
    const { tachograph } = await proxyTo(url)
    const init = { method: "POST", headers: withKey, body: request }
    const response = await tachograph.fetch(new Request(`http://host${path}`, init))
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    expect((await eventsOf(tachograph))[0]!.properties.output).toMatchObject({ error: { type: "connection_error" } })
  })

  it("is recorded if the provider could not be reached", async () => {
    const { port, tachograph } = await proxyTo("http://127.0.0.1:1")
    await send(port, path, { headers: withKey, body: request })
    expect((await eventsOf(tachograph))[0]!.properties.output).toMatchObject({ error: { type: "connection_error" } })
  })

  it("is recorded over fetch as well", async () => {
    const { url } = await answering(streamed.join(""), events)
    const { tachograph } = await proxyTo(url)
    const init = { method: "POST", headers: withKey, body: request }
    const response = await tachograph.fetch(new Request(`http://host${path}`, init))
    expect(await response.text()).toBe(streamed.join(""))
    expect((await eventsOf(tachograph))[0]!.properties.output).toMatchObject({ stop_reason: "end_turn" })
  })

  it("holds no credential, even if the provider repeats it", async () => {
    const keys = ["sk-planted-1234", "planted-goog-key", "planted=cookie-value", withKey["x-tachograph-key"]]
    const { url } = await answering(JSON.stringify({ error: { message: `wrong: ${keys.join()}` } }), json, 401)
    const { port, tachograph } = await proxyTo(url)
    const headers = { ...withKey, "X-Api-Key": keys[0]!, Cookie: keys[2]! }
    await send(port, `${path}?key=${keys[1]}`, { headers, body: JSON.stringify({ messages: [], echo: keys[0] }) })
    const [event] = await eventsOf(tachograph)
    const text = JSON.stringify(event) + (await (await tachograph.fetch(new Request("http://host/metrics"))).text())
    for (const key of keys) expect(text).not.toContain(key)
    expect(event!.properties.inputs).toEqual({ messages: [], echo: "[redacted]" })
  })

  it("stays JSON without a credential that is a number", async () => {
    const { url } = await answering('{"choices":[], "account": 1234567890, "text": "1234567890"}')
    const { port, tachograph } = await proxyTo(url)
    const headers = { ...withKey, authorization: "Bearer 1234567890" }
    await send(port, path, { headers, body: '{"messages":[], "user": 1234567890}' })
    await eventsOf(tachograph)
    expect(await textOf(tachograph)).toContain(
      '"inputs":{"messages":[], "user": "[redacted]"},"output":{"choices":[], "account": "[redacted]", "text": "[redacted]"}'
    )
  })

  it.each([600, 999])("has no status where that is none of HTTP: %d", async (status) => {
    const { url } = await answering('{"error":{"type":"denied"}}', json, status)
    const { port, tachograph } = await proxyTo(url)
    const sent = await send(port, path, { headers: withKey, body: request })
    expect(sent.answer.statusCode).toBe(status)
    const [event] = await eventsOf(tachograph)
    expect(event!.http_status ?? null).toBeNull()
    expect(event!.properties.output).toEqual({ error: { type: "denied" } })
  })

  it("holds nothing that looks like a credential, unless the request's body does", async () => {
    const [secret, user] = ["q7Zk29fLwX0aTb83", "u9Xb72kQz41LmW05"]
    const { url } = await answering(JSON.stringify({ choices: [], echo: [secret, user] }))
    const { port, tachograph } = await proxyTo(url)
    const headers = { ...withKey, "x-mine": secret, "x-other": user }
    await send(port, path, { headers, body: JSON.stringify({ messages: [], metadata: { user } }) })
    const [event] = await eventsOf(tachograph)
    expect(event!.properties).toMatchObject({
      inputs: { metadata: { user } },
      output: { echo: ["[redacted]", user] }
    })
  })

  it("has a fingerprint of the proxy", async () => {
    const { url } = await answering(answer)
    const { port, tachograph } = await proxyTo(url)
    await send(port, path, { headers: withKey, body: request })
    await send(port, path, { headers: withKey, body: request })
    const ids = (await eventsOf(tachograph, 2)).map(({ fingerprint_id }) => fingerprint_id)
    expect(new Set(ids).size).toBe(1)
  })
})

describe("what is no call, or cannot be recorded", () => {
  const outcomes = async (tachograph: Tachograph) => {
    const text = await (await tachograph.fetch(new Request("http://host/metrics"))).text()
    return (outcome: string) => Number(new RegExp(`calls_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
  }

  it("passes all the same", async () => {
    const { url } = await answering(answer)
    const { port, tachograph } = await proxyTo(url, { maxHeldBytes: 20_000 })
    const before = await outcomes(tachograph)
    const sent = [
      { path: "/proxy/local/v1/models", method: "GET" },
      { path: "/proxy/local/v1/messages/count_tokens", body: request },
      { path: "/proxy/local/v1/threads/t_1/messages", body: request },
      { path, method: "OPTIONS" },
      { path, body: "no JSON" },
      { path, body: '{"kind":"no call"}' },
      { path, body: "{" + " ".repeat(40_000) + "}" }
    ]
    for (const { path: target, ...one } of sent) {
      const { body } = await send(port, target, { ...one, headers: withKey })
      expect([String(body), one.method]).toEqual([answer, one.method])
    }
    await send(port, path, { headers: withKey, body: request })
    await eventsOf(tachograph)
    const after = await outcomes(tachograph)
    const counted = ["recorded", "undecodable", "held-bytes"].map((name) => after(name) - before(name))
    expect(counted).toEqual([1, 1, 1])
  })
})
