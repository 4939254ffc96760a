/** WebSockets through the proxy: what passes, and what is recorded of it. */
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { describe, expect, it, vi } from "vitest"
import { WebSocket } from "ws"
import type { Tachograph } from "../../src/index.ts"
import { apiKey } from "../Samples.ts"
import { connected, socketProxyTo, socketUpstream, withKey } from "./Sockets.ts"
import { rawUpstream } from "./Upstream.ts"

const path = "/proxy/local/responses"

/** The events of a response, of which the last one has all of it. */
const eventsOf = (id: string, text: string, more: object = {}) => {
  const response = { id, object: "response", model: "gpt-x-1", status: "in_progress", output: [] }
  const item = { id: `msg_${id}`, type: "message", role: "assistant", content: [{ type: "output_text", text }] }
  const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
  return [
    { type: "response.created", response, ...more },
    { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: item.id, delta: text, ...more },
    { type: "response.completed", response: { ...response, status: "completed", output: [item], usage }, ...more }
  ]
}

const sendAll = (socket: WebSocket, events: ReadonlyArray<object>) => {
  for (const event of events) socket.send(JSON.stringify(event))
}

const create = (fields: object) => JSON.stringify({ type: "response.create", model: "gpt-x", ...fields })

/** What is recorded, the oldest first, once there are this many. */
const recorded = async ({ api }: Tachograph, count: number) => {
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

/** What became of the calls of this process. */
const outcomesOf = async ({ fetch }: Tachograph): Promise<ReadonlyMap<string, number>> => {
  const text = await (await fetch(new Request("http://host/metrics"))).text()
  const lines = text.matchAll(/^tachograph_proxy_calls_total\{outcome="(.+)"\} (\d+)$/gm)
  return new Map(Array.from(lines, ([, outcome, calls]) => [outcome!, Number(calls)]))
}

/** What became of the calls since then, without those that are none. */
const outcomesSince = async (tachograph: Tachograph, before: ReadonlyMap<string, number>) =>
  Array.from(await outcomesOf(tachograph), ([outcome, calls]) => [outcome, calls - (before.get(outcome) ?? 0)]).filter(
    ([, calls]) => calls !== 0
  )

const textIn = (output: unknown) =>
  (output as { output?: Array<{ content: Array<{ text: string }> }> }).output?.[0]?.content[0]?.text

/** Sends each message once the one before is answered: with all that `answers` has for it. */
const provider = (answers: (message: { generate?: boolean; input?: string }) => ReadonlyArray<object>) =>
  socketUpstream((socket, message) => sendAll(socket, answers(JSON.parse(message))))

describe("calls over a WebSocket", () => {
  it("are recorded each, as they were sent, with the answer; not so what only prepares the provider", async () => {
    let calls = 0
    const { url } = await provider(({ generate }) =>
      generate === false
        ? [
            { type: "codex.rate_limits" },
            ...eventsOf("resp_0", "").filter(({ type }) => type !== "response.output_text.delta")
          ]
        : eventsOf(`resp_${++calls}`, `Answer ${calls}`)
    )
    const { port, tachograph } = await socketProxyTo(url)
    const headers = { ...withKey, "x-tachograph-session": "s", "x-tachograph-agent": "a" }
    const { received, socket } = await connected(port, path, { headers })
    socket.send(create({ generate: false, input: [] }))
    await vi.waitFor(() => expect(received).toHaveLength(3))
    const first = '{"type": "response.create",  "model":"gpt-x", "input":"\\u00e9 😀", "top_p":1.0}'
    socket.send(first)
    await vi.waitFor(() => expect(received).toHaveLength(6))
    socket.send(create({ previous_response_id: "resp_1", input: [{ role: "user", content: "And?" }] }))
    const events = await recorded(tachograph, 2)
    expect(events.map(({ agent, http_status, session }) => [session, agent, http_status])).toEqual([
      ["s", "a", 101],
      ["s", "a", 101]
    ])
    expect(events.map(({ properties }) => [properties.api, textIn(properties.output)])).toEqual([
      ["provider1-responses", "Answer 1"],
      ["provider1-responses", "Answer 2"]
    ])
    expect(events.map(({ input_tokens, output_tokens }) => [input_tokens, output_tokens])).toEqual([
      [3, 2],
      [3, 2]
    ])
    expect(await tachograph.api.getEvent.text({ event_id: events[0]!.event_id })).toContain(first)
    expect(events[1]!.properties.inputs).toMatchObject({ previous_response_id: "resp_1" })
  })

  it("are told apart by their lanes, and follow one another in each", async () => {
    const { messages, server, url } = await socketUpstream(() => {})
    const { port, tachograph } = await socketProxyTo(url)
    const { socket } = await connected(port, path)
    for (const [stream_id, input] of [
      ["a", "1"],
      ["b", "2"],
      ["a", "3"]
    ]) {
      socket.send(create({ stream_id, input }))
    }
    await vi.waitFor(() => expect(messages).toHaveLength(3))
    const [upstream] = server.clients
    const [one, two, three] = [
      eventsOf("resp_1", "one", { stream_id: "a" }),
      eventsOf("resp_2", "two", { stream_id: "b" }),
      eventsOf("resp_3", "three", { stream_id: "a" })
    ]
    sendAll(upstream!, [one[0]!, two[0]!, one[1]!, two[1]!, two[2]!, one[2]!, ...three])
    const events = await recorded(tachograph, 3)
    const pairs = events.map(({ properties: { inputs, output } }) => [
      (inputs as { input: string }).input,
      textIn(output)
    ])
    expect(pairs.sort()).toEqual([
      ["1", "one"],
      ["2", "two"],
      ["3", "three"]
    ])
  })

  it.each([
    [
      "a refusal, with the status that it says",
      [{ type: "error", status: 429, error: { type: "usage_limit_reached", message: "No more" } }],
      { http_status: 429, error_type: "usage_limit_reached" }
    ],
    [
      "an error in the middle",
      [eventsOf("r", "half")[0]!, { type: "error", error: { code: "server_error", message: "Broken" } }],
      { http_status: 101, error_type: "server_error" }
    ],
    [
      "a failure, also behind an error",
      [
        eventsOf("r", "")[0]!,
        { type: "error", error: { code: "server_error", message: "Broken" } },
        { type: "response.failed", response: { id: "r", status: "failed", error: { code: "rate_limit_exceeded" } } }
      ],
      { http_status: 101, error_type: "rate_limit_exceeded" }
    ],
    [
      "an answer that is incomplete",
      [
        {
          type: "response.incomplete",
          response: { id: "r", status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output: [] }
        }
      ],
      { http_status: 101, stop_reason: "length" }
    ]
  ])("%s", async (_name, answer, expected) => {
    const { url } = await provider(() => answer)
    const { port, tachograph } = await socketProxyTo(url)
    const { socket } = await connected(port, path)
    socket.send(create({ input: "Hello" }))
    const [event] = await recorded(tachograph, 1)
    const [summary] = (await tachograph.api.listEvents()).events
    expect({ ...event, ...summary }).toMatchObject(expected)
  })

  it("is also a response that follows a steered one of itself", async () => {
    const { url } = await socketUpstream((socket, message) => {
      const { type } = JSON.parse(message)
      const [created, , completed] = eventsOf("resp_1", "first")
      if (type === "response.create") return socket.send(JSON.stringify(created))
      const next = eventsOf("resp_2", "steered").map((event) =>
        "response" in event ? { ...event, response: { ...event.response, previous_response_id: "resp_1" } } : event
      )
      sendAll(socket, [{ type: "response.steer.accepted" }, completed!, ...next])
    })
    const { port, tachograph } = await socketProxyTo(url)
    const { received, socket } = await connected(port, path)
    socket.send(create({ input: "Hello" }))
    await vi.waitFor(() => expect(received).toHaveLength(1))
    socket.send(JSON.stringify({ type: "response.steer", previous_response_id: "resp_1", input: "Be short" }))
    const events = await recorded(tachograph, 2)
    expect(
      events.map(({ properties: { inputs, output } }) => [(inputs as { input: string }).input, textIn(output)])
    ).toEqual([
      ["Hello", "first"],
      ["Be short", "steered"]
    ])
  })

  it.each([
    ["by the application", (application: WebSocket) => application.terminate(), "aborted", null],
    ["by a frame of the application", (application: WebSocket) => application.close(1000), "aborted", null],
    ["by the provider", (_: WebSocket, upstream: WebSocket) => upstream.close(1011), "connection_error", "CLOSE_1011"]
  ])("that are cut %s are recorded as far as they came", async (_name, end, type, code) => {
    const { server, url } = await socketUpstream((socket) => sendAll(socket, eventsOf("r", "half").slice(0, 2)))
    const { port, tachograph } = await socketProxyTo(url)
    const { received, socket } = await connected(port, path)
    socket.send(create({ input: "Hello" }))
    await vi.waitFor(() => expect(received).toHaveLength(2))
    end(socket, [...server.clients][0]!)
    const [event] = await recorded(tachograph, 1)
    expect(textIn(event!.properties.output)).toBe("half")
    const { error } = event!.properties.output as { error: { type: string; message: string } }
    expect(error.type).toBe(type)
    if (code !== null) expect(error.message).toContain(code)
  })

  it("are masked like any: the key of the provider is not stored", async () => {
    const { url } = await provider(() => eventsOf("r", "sk-provider-0123456789abcdef is your key"))
    const { port, tachograph } = await socketProxyTo(url)
    const headers = { ...withKey, authorization: "Bearer sk-provider-0123456789abcdef" }
    const { socket } = await connected(port, path, { headers })
    socket.send(create({ input: "Hello" }))
    const [event] = await recorded(tachograph, 1)
    expect(textIn(event!.properties.output)).toBe("[redacted] is your key")
  })
})

/** Bytes of both directions as a raw connection has them, behind the answer of 101. */
const rawConnection = async (port: number, at: string, more = "") => {
  const socket = connect(port, "127.0.0.1")
  socket.write(
    `GET ${at} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nx-tachograph-key: ${apiKey}\r\n${more}\r\n`
  )
  const chunks: Array<Buffer> = []
  socket.on("data", (chunk) => chunks.push(chunk))
  const bytes = () => Buffer.concat(chunks)
  await vi.waitFor(() => expect(bytes().includes("\r\n\r\n")).toBe(true))
  return { socket, bytes: () => bytes().subarray(bytes().indexOf("\r\n\r\n") + 4), head: () => String(bytes()) }
}

/** A provider that accepts a WebSocket and hands its connection over. */
const rawSocketUpstream = async (take: (socket: Socket) => void) =>
  rawUpstream((socket) => {
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\nX-Own: \xe9\r\n\r\n",
      "latin1"
    )
    take(socket)
  })

const frame = (first: number, payload: Buffer, mask: Buffer | undefined) => {
  let length = [127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (payload.length >> shift) & 255)]
  if (payload.length < 65_536) length = [126, payload.length >> 8, payload.length & 255]
  if (payload.length < 126) length = [payload.length]
  if (mask !== undefined) length[0]! |= 128
  const masked = mask === undefined ? payload : payload.map((byte, at) => byte ^ mask[at % 4]!)
  return Buffer.concat([Buffer.from([first, ...length]), mask ?? Buffer.alloc(0), masked])
}

const mask = Buffer.from([1, 2, 3, 4])

describe("what passes over a WebSocket", () => {
  it("are the bytes themselves, in frames of all kinds, cut anywhere, which are recorded all the same", async () => {
    const request = Buffer.from(create({ input: "x".repeat(70_000) }))
    const sent = Buffer.concat([
      frame(0x01, request.subarray(0, 1), mask),
      frame(0x89, Buffer.from("ping"), mask),
      frame(0x00, request.subarray(1, 300), mask),
      frame(0x00, Buffer.alloc(0), mask),
      frame(0x8a, Buffer.alloc(0), mask),
      frame(0x80, request.subarray(300), mask)
    ])
    const [created, delta, completed] = eventsOf("r", "y".repeat(70_000)).map((event) =>
      Buffer.from(JSON.stringify(event, undefined, 1))
    )
    const answered = Buffer.concat([
      frame(0x81, created!, undefined),
      frame(0x82, delta!, undefined),
      frame(0x01, completed!.subarray(0, 40), undefined),
      frame(0x89, Buffer.alloc(0), undefined),
      frame(0x80, completed!.subarray(40), undefined)
    ])
    let taken = Buffer.alloc(0)
    const url = await rawSocketUpstream((socket) => {
      socket.on("data", (chunk) => {
        taken = Buffer.concat([taken, chunk])
        if (taken.length < sent.length) return
        for (let at = 0; at < answered.length; at += at < 200 ? 1 : 9_973) {
          socket.write(answered.subarray(at, at < 200 ? at + 1 : at + 9_973))
        }
      })
    })
    const { port, tachograph } = await socketProxyTo(url)
    const { bytes, head, socket } = await rawConnection(port, path)
    for (let at = 0; at < sent.length; at += at < 50 ? 1 : 20_011) {
      socket.write(sent.subarray(at, at < 50 ? at + 1 : at + 20_011))
    }
    await vi.waitFor(() => expect(bytes().length).toBe(answered.length), { timeout: 30_000 })
    expect([taken.equals(sent), bytes().equals(answered)]).toEqual([true, true])
    expect(head()).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\nX-Own: /)
    const [event] = await recorded(tachograph, 1)
    expect((event!.properties.inputs as { input: string }).input).toHaveLength(70_000)
    expect(textIn(event!.properties.output)).toHaveLength(70_000)
    socket.destroy()
  })

  it.each([
    ["a frame without a mask", frame(0x81, Buffer.from("{}"), undefined)],
    ["a frame of an extension", frame(0xc1, Buffer.from("{}"), mask)],
    ["a kind of frame that there is not", frame(0x83, Buffer.from("{}"), mask)],
    ["a control frame in parts", frame(0x09, Buffer.from("{}"), mask)],
    ["a long control frame", frame(0x89, Buffer.alloc(126), mask)],
    ["the rest of no message", frame(0x80, Buffer.from("{}"), mask)],
    [
      "a message within another",
      Buffer.concat([frame(0x01, Buffer.from("{"), mask), frame(0x81, Buffer.from("{}"), mask)])
    ],
    ["a length beyond all", Buffer.from([0x81, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4, 5, 6])]
  ])("is also %s, which ends recording alone", async (_name, invalid) => {
    const sent = Buffer.concat([invalid, frame(0x81, Buffer.from(create({ input: "x" })), mask)])
    let taken = Buffer.alloc(0)
    const url = await rawSocketUpstream((socket) => {
      socket.on("data", (chunk) => {
        taken = Buffer.concat([taken, chunk])
        if (taken.length === sent.length) socket.write("these are no frames")
      })
    })
    const { port, tachograph } = await socketProxyTo(url)
    const before = await outcomesOf(tachograph)
    const { bytes, socket } = await rawConnection(port, path)
    socket.write(sent)
    await vi.waitFor(() => expect(String(bytes())).toBe("these are no frames"))
    expect(taken.equals(sent)).toBe(true)
    socket.destroy()
    await vi.waitFor(async () => expect(await outcomesSince(tachograph, before)).toEqual([["undecodable", 1]]))
    expect((await tachograph.api.listEvents()).events).toEqual([])
  })

  it("is not held: a provider that takes nothing stops the application, and the other way round", async () => {
    const upstreams: Array<Socket> = []
    const url = await rawSocketUpstream((socket) => {
      socket.pause()
      upstreams.push(socket)
    })
    const { port } = await socketProxyTo(url)
    const { socket } = await rawConnection(port, "/proxy/local/realtime")
    const flood = (from: Socket) => {
      let written = 0
      const chunk = Buffer.alloc(256 * 1024)
      while (written < 200_000_000 && (from.write(chunk) || from.writableLength < 1024 * 1024)) written += chunk.length
      return from.writableLength
    }
    socket.pause()
    for (const from of [socket, upstreams[0]!]) {
      expect(flood(from)).toBeGreaterThan(0)
      // What the system holds of a connection is some megabytes; all else would be held by the proxy.
      await vi.waitFor(() => expect(from.writableNeedDrain).toBe(true))
    }
    socket.destroy()
    upstreams[0]!.destroy()
  })

  it("are also messages that are too long to be recorded, and the next one is recorded", async () => {
    let answers = 0
    const { messages, url } = await provider(() => eventsOf(`r${++answers}`, "fine"))
    const { port, tachograph } = await socketProxyTo(url, {}, 2_000)
    const before = await outcomesOf(tachograph)
    const { received, socket } = await connected(port, path)
    const atLimit = create({ input: "" })
    for (const bytes of [2_001, 700]) {
      socket.send(create({ input: "x".repeat(bytes - atLimit.length) }))
      await vi.waitFor(() => expect(received.length % 3).toBe(0))
      await vi.waitFor(() => expect(received.length).toBe(3 * messages.length))
    }
    const [event] = await recorded(tachograph, 1)
    expect((event!.properties.inputs as { input: string }).input).toHaveLength(700 - atLimit.length)
    expect(messages[0]).toHaveLength(2_001)
    expect(await outcomesSince(tachograph, before)).toEqual([
      ["recorded", 1],
      ["payload-too-large", 1]
    ])
  })

  it("are also calls that take more than the proxy may hold", async () => {
    const { messages, url } = await provider(() => eventsOf("r", "fine"))
    const { port, tachograph } = await socketProxyTo(url, { maxHeldBytes: 4_000 })
    const before = await outcomesOf(tachograph)
    const { received, socket } = await connected(port, path)
    socket.send(create({ input: "x".repeat(5_000) }))
    await vi.waitFor(() => expect(received).toHaveLength(3))
    expect(messages[0]!.length).toBeGreaterThan(5_000)
    expect(await outcomesSince(tachograph, before)).toEqual([["held-bytes", 1]])
  })

  it("are other WebSockets, with their extensions, which are counted by path", async () => {
    const { requests, url } = await socketUpstream((socket, message) => socket.send(`${message}, too`), {
      perMessageDeflate: { threshold: 0 },
      handleProtocols: () => "realtime"
    })
    const { port, tachograph } = await socketProxyTo(`${url}/v1`)
    const { received, socket } = await connected(port, "/proxy/local/realtime?model=gpt-x", { headers: withKey })
    socket.send("hello")
    await vi.waitFor(() => expect(received).toEqual(["hello, too"]))
    expect(socket.extensions).toContain("permessage-deflate")
    expect(requests[0]).toMatchObject({ url: "/v1/realtime?model=gpt-x" })
    expect(requests[0]!.headers["x-tachograph-key"]).toBe(undefined)
    const metrics = await (await tachograph.fetch(new Request("http://host/metrics"))).text()
    expect(metrics).toMatch(/^tachograph_proxy_unrecorded_websockets_total\{path="\/realtime"\} \d+$/m)
  })

  it("is compressed by nobody where calls are recorded", async () => {
    const { requests, url } = await socketUpstream(() => {}, { perMessageDeflate: true })
    const { port } = await socketProxyTo(url)
    const { socket } = await connected(port, path)
    expect([socket.extensions, requests[0]!.headers["sec-websocket-extensions"]]).toEqual(["", undefined])
  })

  it.each([
    ["the application's", 4_001, (application: WebSocket) => application],
    ["the provider's", 1_008, (_: WebSocket, upstream: WebSocket) => upstream]
  ])("is the code of %s end", async (_name, code, endOf) => {
    const { server, url } = await socketUpstream(() => {})
    const { port } = await socketProxyTo(url)
    const { socket } = await connected(port, path)
    const [upstream] = server.clients
    const from = endOf(socket, upstream!)
    const closed = once(from === socket ? upstream! : socket, "close")
    from.close(code, "a reason")
    const [got, reason] = await closed
    expect([got, String(reason)]).toEqual([code, "a reason"])
  })
})

describe("a WebSocket", () => {
  it.each([
    ["without a key", {}, path, 401],
    ["with a wrong key", { "x-tachograph-key": "wrong" }, path, 401],
    ["of an upstream that there is not", withKey, "/proxy/other/responses", 404],
    ["with a body", { ...withKey, "content-length": "2" }, path, 400],
    ["that the provider refuses", withKey, path, 403]
  ])("%s gets the answer", async (_name, headers, at, status) => {
    const { url } = await socketUpstream(() => {}, { verifyClient: (_info, done) => done(false, 403) })
    const { port } = await socketProxyTo(url)
    const socket = new WebSocket(`ws://127.0.0.1:${port}${at}`, { headers })
    socket.on("error", () => {})
    const [, answer] = await once(socket, "unexpected-response")
    expect(answer.statusCode).toBe(status)
    answer.resume()
  })

  it("gets 502 where the provider cannot be reached, and ends when the application goes before it answers", async () => {
    const { port } = await socketProxyTo("http://127.0.0.1:1")
    const refused = await rawConnection(port, path)
    expect(refused.head()).toMatch(/^HTTP\/1\.1 502 (?:.*\r\n)*connection: close\r\n/i)
    expect((await rawConnection(port, "/proxy/local/%2e%2e/x")).head()).toMatch(/^HTTP\/1\.1 400 /)
    const arrived = Promise.withResolvers<Socket>()
    const silent = await rawUpstream((socket) => arrived.resolve(socket))
    const { port: second } = await socketProxyTo(silent)
    const socket = connect(second, "127.0.0.1")
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nx-tachograph-key: ${apiKey}\r\n\r\n`
    )
    const closed = once(await arrived.promise, "close")
    socket.destroy()
    await closed
  })

  it("is ended where nothing passes for too long, and its call is recorded as a timeout", async () => {
    const { server, url } = await socketUpstream((socket) => sendAll(socket, eventsOf("r", "half").slice(0, 2)))
    const { port, tachograph } = await socketProxyTo(url, { idleTimeoutMs: 300 })
    const { socket } = await connected(port, path)
    const closed = [once(socket, "close"), once([...server.clients][0]!, "close")]
    socket.send(create({ input: "Hello" }))
    for (const end of closed) expect((await end)[0]).toBe(1001)
    const [event] = await recorded(tachograph, 1)
    expect(event!.properties.output).toMatchObject({ error: { type: "timeout" } })
  })

  it("is ended by a close once no call is under way", async () => {
    const release = Promise.withResolvers<void>()
    const { server, url } = await socketUpstream(async (socket) => {
      const [created, ...rest] = eventsOf("r", "late")
      sendAll(socket, [created!])
      await release.promise
      sendAll(socket, rest)
    })
    const { port, tachograph } = await socketProxyTo(url)
    const [idle, busy] = [await connected(port, path), await connected(port, path)]
    busy.socket.send(create({ input: "Hello" }))
    await vi.waitFor(() => expect(busy.received).toHaveLength(1))
    const closing = tachograph.close()
    expect((await once(idle.socket, "close"))[0]).toBe(1001)
    expect(busy.socket.readyState).toBe(busy.socket.OPEN)
    const ended = once(busy.socket, "close")
    release.resolve()
    expect((await ended)[0]).toBe(1001)
    expect(busy.received).toHaveLength(3)
    await closing
    expect(server.clients.size).toBe(0)
  })
})
