import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { json, type Provider, startProvider } from "../Provider.ts"
import { type Recording, startRecording } from "../Recording.ts"
import { messages } from "../sdk/Wire.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const body = JSON.stringify(messages.request)
const post = (fetch: typeof globalThis.fetch, init: RequestInit = {}) =>
  fetch(`${provider.url}/v1/messages`, { method: "POST", body, ...init })

const outputs = async (recording: Recording) => (await recording.events()).map(({ properties }) => properties.output)

describe("the request of a tapped call", () => {
  it.each<[string, () => Parameters<typeof fetch>]>([
    ["bytes", () => [`${provider.url}/v1/messages`, { method: "POST", body: new TextEncoder().encode(body) }]],
    ["a blob", () => [new URL(`${provider.url}/v1/messages`), { method: "post", body: new Blob([body]) }]],
    ["a Request", () => [new Request(`${provider.url}/v1/messages`, { method: "POST", body })]],
    [
      "a Request with another body",
      () => [new Request(`${provider.url}/v1/messages`, { method: "POST", body: "{}" }), { body }]
    ]
  ])("may be %s", async (_name, args) => {
    const recording = await startRecording()
    provider.answer = json(messages.answer)
    provider.requests.length = 0
    await (await recording.recorder.fetch(...args())).text()
    const [event] = await recording.events()
    expect(event!.properties.inputs).toEqual(messages.request)
    expect(provider.requests[0]!.body).toBe(body)
  })

  it.each<[string, NonNullable<RequestInit["body"]>]>([
    ["a text", `\uFEFF${body}`],
    ["bytes", new TextEncoder().encode(`\uFEFF${body}`)],
    ["a blob", new Blob([`\uFEFF${body}`])]
  ])("may be %s that begins with a byte order mark", async (_name, marked) => {
    const recording = await startRecording()
    provider.answer = json(messages.answer)
    provider.requests.length = 0
    await (await post(recording.recorder.fetch, { body: marked })).text()
    const [event] = await recording.events()
    expect(event!.properties.inputs).toEqual(messages.request)
    expect(provider.requests[0]!.body).toBe(`\uFEFF${body}`)
  })

  it.each([
    ["no JSON", "{"],
    ["no object", "[]"]
  ])("is dropped if it is %s", async (_name, text) => {
    const recording = await startRecording()
    provider.answer = json(messages.answer)
    expect(await (await post(recording.recorder.fetch, { body: text })).json()).toEqual(messages.answer)
    expect(await outputs(recording)).toEqual([])
    expect(recording.drops).toMatchObject([{ reason: "unreadable" }])
  })

  const pairs = () => [
    ["x-one", "1"],
    ["x-api-key", "planted-key"]
  ]
  it.each<[string, () => unknown]>([
    ["an iterator", () => pairs().values()],
    [
      "pairs that are iterators",
      () =>
        pairs()
          .map((pair) => pair.values())
          .values()
    ],
    ["a record", () => Object.fromEntries(pairs())],
    ["pairs", pairs]
  ])("has the headers that the application gives as %s", async (_name, headers) => {
    const recording = await startRecording()
    provider.answer = json({ error: { type: "authentication_error", message: "Wrong key planted-key" } }, 401)
    provider.requests.length = 0
    await (await post(fetch, { headers: headers() as never })).text()
    await (await post(recording.recorder.fetch, { headers: headers() as never })).text()
    const [without, withTap] = provider.requests
    expect(without!.headers).toMatchObject({ "x-one": "1", "x-api-key": "planted-key" })
    expect(withTap).toEqual(without)
    expect(await outputs(recording)).toMatchObject([{ error: { message: "Wrong key [redacted]" } }])
  })

  /** Notes each field that is asked for, of an object of a class with private fields. */
  class Computed {
    readonly #fields: Record<string, unknown>
    readonly #asked: Array<string>
    constructor(fields: Record<string, unknown>, asked: Array<string>) {
      this.#fields = fields
      this.#asked = asked
    }
    #get(name: string) {
      this.#asked.push(name)
      if (this.#fields[name] instanceof Error) throw this.#fields[name]
      return this.#fields[name]
    }
    get method() {
      return this.#get("method")
    }
    get body() {
      return this.#get("body")
    }
    get headers() {
      return this.#get("headers")
    }
    get signal() {
      return this.#get("signal")
    }
  }

  it.each<[string, () => Record<string, unknown>]>([
    ["a call", () => ({ headers: { "x-one": "1" } })],
    ["a call with headers that can be read once", () => ({ headers: new Map([["x-one", "1"]]).entries() })],
    ["no call of a model", () => ({ method: "PUT" })],
    ["a call that cannot be made", () => ({ body: new RangeError("no body") })]
  ])("has fields that are computed, each once: %s", async (_name, fields) => {
    provider.answer = json(messages.answer)
    const run = async (fetch: typeof globalThis.fetch) => {
      provider.requests.length = 0
      const asked: Array<string> = []
      const init = new Computed({ method: "POST", body, ...fields() }, asked) as RequestInit
      const answer = await fetch(`${provider.url}/v1/messages`, init).then(
        (response) => response.json(),
        (error: unknown) => error
      )
      return { answer, asked: asked.sort(), requests: [...provider.requests] }
    }
    const recording = await startRecording()
    const without = await run(fetch)
    const withTap = await run(recording.recorder.fetch)
    expect(withTap.answer).toEqual(without.answer)
    expect(withTap.requests).toEqual(without.requests)
    // `fetch` asks for no more where it has failed.
    expect(withTap.asked).toEqual([...new Set(withTap.asked)])
    expect(withTap.asked).toEqual(expect.arrayContaining(without.asked))
  })

  it("may be an object that cannot change, whose fields the fetch below copies", async () => {
    const { events, recorder } = await startRecording({ fetch: (url, init) => fetch(url, { ...init }) })
    provider.answer = json(messages.answer)
    provider.requests.length = 0
    const init = Object.freeze({ method: "POST", body, headers: pairs().values() }) as never
    expect(await (await recorder.fetch(`${provider.url}/v1/messages`, init)).json()).toEqual(messages.answer)
    expect(provider.requests).toMatchObject([{ body, headers: { "x-one": "1" } }])
    expect(await events()).toHaveLength(1)
  })

  it("reaches the fetch below with the arguments that the application gives", async () => {
    const seen: Array<ReadonlyArray<unknown>> = []
    const below = (...args: ReadonlyArray<unknown>) => {
      seen.push(args)
      return fetch(...(args as Parameters<typeof fetch>))
    }
    const { recorder } = await startRecording({ fetch: below as typeof fetch })
    provider.answer = json(messages.answer)
    const tapped = recorder.fetch as unknown as typeof below
    const given: ReadonlyArray<ReadonlyArray<unknown>> = [
      [`${provider.url}/v1/messages`, { method: "POST", body }, { of: "a wrapper" }],
      [new Request(`${provider.url}/v1/messages`, { method: "POST", body })]
    ]
    for (const args of given) await (await tapped(...args)).text()
    expect(seen).toHaveLength(2)
    for (const [index, args] of seen.entries()) {
      expect(args).toHaveLength(given[index]!.length)
      for (const [at, arg] of args.entries()) expect(arg).toBe(given[index]![at])
    }
  })

  it.each<[string, (next: () => string) => object]>([
    [
      "a getter",
      (next) => ({
        get "x-nonce"() {
          return next()
        }
      })
    ],
    ["a text that is computed", (next) => ({ "x-nonce": { toString: next } })],
    ["a pair", (next) => [["x-nonce", { toString: next }]]]
  ])("has a header that is computed, once: %s", async (_name, headersOf) => {
    const recording = await startRecording()
    provider.answer = json(messages.answer)
    provider.requests.length = 0
    const sendBy = async (fetch: typeof globalThis.fetch) => {
      let n = 0
      await (await post(fetch, { headers: headersOf(() => String(++n)) as never })).text()
      return n
    }
    expect(await sendBy(recording.recorder.fetch)).toBe(await sendBy(fetch))
    expect(provider.requests.map(({ headers }) => headers["x-nonce"])).toEqual(["1", "1"])
    expect(await recording.events()).toHaveLength(1)
  })

  const key = "sk-planted-key-of-provider"
  const hidden = (headers: object) => Object.defineProperty(headers, "authorization", { value: `Bearer ${key}` })

  it.each<[string, object]>([
    ["one that is not enumerable", hidden({})],
    ["one that is not enumerable, beside one that is computed", hidden({ "x-one": { toString: () => "1" } })],
    ["those of a function", Object.assign(() => {}, { authorization: `Bearer ${key}` })],
    [
      "those of a list that iterates otherwise",
      Object.assign([], { [Symbol.iterator]: () => [["authorization", `Bearer ${key}`]].values() })
    ]
  ])("has the same headers, and their credentials are known: %s", async (_name, headers) => {
    const recording = await startRecording()
    provider.answer = json({ ...messages.answer, echo: `${key} is wrong` })
    provider.requests.length = 0
    for (const send of [fetch, recording.recorder.fetch]) await (await post(send, { headers: headers as never })).text()
    const [plain, tapped] = provider.requests.map(({ headers }) => headers)
    expect(plain!.authorization).toBe(`Bearer ${key}`)
    expect(tapped).toEqual(plain)
    expect((await recording.events())[0]!.properties.output).toMatchObject({ echo: "[redacted] is wrong" })
  })

  it("fails as without the tap where a header is a symbol", async () => {
    const recording = await startRecording()
    const run = (fetch: typeof globalThis.fetch) =>
      post(fetch, { headers: { "x-one": { toString: () => "1" }, "x-two": Symbol("two") } as never })
    await expect(run(fetch)).rejects.toThrow(TypeError)
    await expect(run(recording.recorder.fetch)).rejects.toThrow(TypeError)
  })

  it("fails as without the tap where its headers cannot be read", async () => {
    const recording = await startRecording()
    const headers = function* () {
      yield ["x-one", "1"]
      throw new Error("no more headers")
    }
    const run = (fetch: typeof globalThis.fetch) => post(fetch, { headers: headers() as never })
    await expect(run(fetch)).rejects.toThrow("no more headers")
    await expect(run(recording.recorder.fetch)).rejects.toThrow("no more headers")
  })

  it("is decoded after it was sent, and as it was when it was sent", async () => {
    const decode = vi.spyOn(TextDecoder.prototype, "decode")
    const bytes = new TextEncoder().encode(body)
    let decodedBefore = -1
    const recording = await startRecording({
      fetch: (...args) => {
        decodedBefore = decode.mock.calls.length
        return fetch(...args)
      }
    })
    provider.answer = json(messages.answer)
    const before = decode.mock.calls.length
    const answer = post(recording.recorder.fetch, { body: bytes })
    expect(decodedBefore).toBe(before)
    bytes.fill(0)
    await (await answer).text()
    decode.mockRestore()
    const [event] = await recording.events()
    expect(event!.properties.inputs).toEqual(messages.request)
  })

  it.each<[string, () => RequestInit]>([
    ["a stream", () => ({ body: new Blob([body]).stream(), duplex: "half" })],
    ["a form", () => ({ body: new FormData() })],
    ["parameters", () => ({ body: new URLSearchParams({ a: "1" }) })]
  ])("is counted where its body is %s", async (_name, init) => {
    const recording = await startRecording()
    provider.answer = json(messages.answer)
    expect(await (await post(recording.recorder.fetch, init())).json()).toEqual(messages.answer)
    expect(recording.drops).toMatchObject([{ reason: "unreadable", cause: { message: /stream or a form/ } }])
    expect(recording.recorder.counters()).toMatchObject({ recorded: 0, dropped: { unreadable: 1 } })
  })

  it("is counted where it is a Request", async () => {
    const recording = await startRecording({ maxBytes: 100_000 })
    provider.answer = json(messages.answer)
    const target = `${provider.url}/v1/messages`
    const text = JSON.stringify({ ...messages.request, system: "x".repeat(50_000) })
    const response = await recording.recorder.fetch(new Request(target, { method: "POST", body: text }))
    expect(recording.recorder.counters().heldBytes).toBe(Buffer.byteLength(text))
    await response.text()
    expect(await outputs(recording)).toEqual([messages.answer])
    const large = JSON.stringify({ ...messages.request, system: "x".repeat(200_000) })
    await (await recording.recorder.fetch(new Request(target, { method: "POST", body: large }))).text()
    expect(await outputs(recording)).toEqual([messages.answer])
    expect(recording.drops).toMatchObject([{ reason: "memory" }])
    expect(provider.requests.at(-1)!.body).toBe(large)
    expect(recording.recorder.counters().heldBytes).toBe(0)
  })

  it("may be a Request whose stream is read only as the provider takes it", async () => {
    const piece = new Uint8Array(64 * 1024).fill(32)
    const pieces = 512
    const run = async (fetch: typeof globalThis.fetch) => {
      let pulled = 0
      let take = () => {}
      const taken = new Promise<void>((resolve) => (take = resolve))
      const source = new ReadableStream({
        async pull(controller) {
          // In a later turn, so that a reader that takes what it can gets ahead.
          await new Promise((resolve) => setImmediate(resolve))
          if (pulled++ < pieces) controller.enqueue(piece.slice())
          else controller.close()
        }
      })
      const server = createServer(() => {
        // Nothing is read of the body until the test says so.
      })
      server.on("request", (request, response) => {
        void taken.then(() => {
          request.resume()
          request.on("end", () => json(messages.answer)(response))
        })
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/messages`
      const answer = fetch(new Request(url, { method: "POST", body: source, duplex: "half" } as RequestInit))
      // Until what is sent fills the connection.
      for (let before = -1; before !== pulled;) {
        before = pulled
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      const ahead = pulled
      take()
      await (await answer).text()
      expect(pulled).toBeGreaterThanOrEqual(pieces)
      server.close()
      return ahead
    }
    const recording = await startRecording()
    expect(await run(fetch)).toBeLessThan(pieces / 2)
    expect(await run(recording.recorder.fetch)).toBeLessThan(pieces / 2)
    await recording.recorder.flush()
    expect(recording.drops).toMatchObject([{ reason: "unreadable" }])
  })

  it("may be a Request whose stream does not go on after the call was aborted", async () => {
    const recording = await startRecording()
    const source = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) })
    const aborter = new AbortController()
    const init = { method: "POST", body: source, duplex: "half", signal: aborter.signal } as RequestInit
    const answer = recording.recorder.fetch(new Request(`${provider.url}/v1/messages`, init))
    aborter.abort()
    await expect(answer).rejects.toThrow("aborted")
    expect(await recording.recorder.flush()).toBe(true)
    expect(recording.drops).toMatchObject([{ reason: "unreadable" }])
    expect(recording.recorder.counters()).toMatchObject({ heldBytes: 0, underWay: 0 })
  })

  it("may have an address that is relative to that of a page", async () => {
    const answer = async () => new Response(JSON.stringify(messages.answer))
    const recording = await startRecording({ fetch: answer })
    vi.stubGlobal("location", { href: "https://app.example/chat" })
    try {
      await (await recording.recorder.fetch("/proxy/anthropic/messages", { method: "POST", body })).text()
    } finally {
      vi.unstubAllGlobals()
    }
    expect(await outputs(recording)).toEqual([messages.answer])
  })

  it("is not recorded where its body is none of a model call", async () => {
    const recording = await startRecording()
    provider.answer = json({ sent: true })
    const mail = { body: JSON.stringify({ to: "someone", text: "Hello" }) }
    expect(await (await post(recording.recorder.fetch, mail)).json()).toEqual({ sent: true })
    expect(await outputs(recording)).toEqual([])
    expect(recording.drops).toEqual([])
    expect(recording.recorder.counters().heldBytes).toBe(0)
  })

  it("may have 20 MB", async () => {
    const recording = await startRecording()
    const request = JSON.stringify({ ...messages.request, system: "y".repeat(20_000_000) })
    provider.answer = json(messages.answer)
    await (await post(recording.recorder.fetch, { body: request })).text()
    await recording.recorder.flush()
    const { events } = await recording.tachograph.api.listEvents()
    expect(events).toMatchObject([{ inputs_bytes: Buffer.byteLength(request) }])
    expect(recording.recorder.counters().heldBytes).toBe(0)
  })

  it("is not recorded where it exceeds the memory of the recorder, and nothing stays held", async () => {
    const recording = await startRecording({ maxBytes: 10_000 })
    const large = "z".repeat(20_000)
    provider.answer = json({ ...messages.answer, large })
    expect(await (await post(recording.recorder.fetch)).json()).toEqual({ ...messages.answer, large })
    provider.answer = json(messages.answer)
    const request = JSON.stringify({ ...messages.request, system: large })
    expect(await (await post(recording.recorder.fetch, { body: request })).json()).toEqual(messages.answer)
    expect(await outputs(recording)).toEqual([])
    expect(recording.drops.map(({ reason }) => reason)).toEqual(["memory", "memory"])
    expect(recording.recorder.counters().heldBytes).toBe(0)
  })

  it("has credentials that are nowhere in an event, even if the provider repeats them", async () => {
    const recording = await startRecording()
    const keys = ["sk-planted-1", "planted-two-2", "planted-three", "planted-four!", "planted/five=="]
    const answer = { error: { type: "authentication_error", message: `Wrong keys: ${keys.join(", ")}` } }
    provider.answer = json(answer, 401)
    const headers = { authorization: `Bearer ${keys[0]}`, "x-api-key": keys[1]!, cookie: `session=${keys[3]}` }
    const url = `${provider.url}/v1/messages?key=${keys[2]}&access_token=${encodeURIComponent(keys[4]!)}`
    const response = await recording.recorder.fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...messages.request, system: keys[0] })
    })
    expect(await response.json()).toEqual(answer)
    const [event] = await recording.events()
    for (const key of keys) expect(event!.text).not.toContain(key)
    expect(event!.text.match(/\[redacted\]/g)).toHaveLength(6)
  })

  it("has no password of a URL, which fetch repeats as it refuses it", async () => {
    const recording = await startRecording()
    const url = `${provider.url.replace("//", "//user:planted%zz-word@")}/v1/messages`
    const body = JSON.stringify(messages.request)
    await expect(recording.recorder.fetch(url, { method: "POST", body })).rejects.toThrow("planted%zz-word")
    const [event] = await recording.events()
    expect(event!.properties.output).toMatchObject({ error: { type: "connection_error" } })
    expect(event!.text).not.toContain("planted")
  })

  it.each(["sk-planted-KEY-0123456789abcdef", "planted-Kq7Zx022mP2vW9rT4b:word5678"])(
    "has no key as the name of a user in a URL: %s",
    async (userinfo) => {
      const recording = await startRecording()
      const url = `${provider.url.replace("//", `//${userinfo}@`)}/v1/messages`
      const body = JSON.stringify(messages.request)
      await expect(recording.recorder.fetch(url, { method: "POST", body })).rejects.toThrow("planted")
      const [event] = await recording.events()
      expect(event!.text).not.toContain("planted")
    }
  )
})
