import { beforeAll, describe, expect, it, vi } from "vitest"
import { json, type Provider, startProvider, stream } from "../Provider.ts"
import { type Recording, startRecording } from "../Recording.ts"
import { chat, messages } from "../sdk/Wire.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const body = JSON.stringify(messages.request)
const post = (fetch: typeof globalThis.fetch, init: RequestInit = {}) =>
  fetch(`${provider.url}/v1/messages`, { method: "POST", body, ...init })

const fetchOf = ({ recorder }: Recording, path: string) => recorder.fetch(provider.url + path, { method: "POST", body })

const outputs = async (recording: Recording) => (await recording.events()).map(({ properties }) => properties.output)

describe("the response of a tapped call", () => {
  it.each([
    ["a stream", "text/event-stream", messages.chunks.join("")],
    ["JSON", "application/json", JSON.stringify(messages.answer)]
  ])("is the application's before it is read for the recorder: %s", async (_name, type, answer) => {
    const recording = await startRecording()
    provider.answer = (response) => void response.writeHead(200, { "content-type": type }).end(answer)
    const parse = vi.spyOn(JSON, "parse")
    const decode = vi.spyOn(TextDecoder.prototype, "decode")
    const calls = () => [...parse.mock.calls, ...decode.mock.calls].length
    try {
      const reader = (await post(recording.recorder.fetch)).body!.getReader()
      for (let before = calls(), isDone = false; !isDone; before = calls()) {
        isDone = (await reader.read()).done
        expect(calls()).toBe(before)
      }
      await recording.recorder.flush()
      expect(calls()).toBeGreaterThan(0)
    } finally {
      parse.mockRestore()
      decode.mockRestore()
    }
    expect(await outputs(recording)).toEqual([messages.answer])
  })

  it.each(["text/plain", "application/json"])(
    "is recorded as what its stream stands for, although it is %s",
    async (type) => {
      const recording = await startRecording()
      const answer = messages.chunks.join("")
      provider.answer = (response) => void response.writeHead(200, { "content-type": type }).end(answer)
      expect(await (await post(recording.recorder.fetch)).text()).toBe(answer)
      expect(await outputs(recording)).toEqual([messages.answer])
    }
  )

  it("comes to its end where the clock is broken, and the call is counted", async () => {
    const recording = await startRecording()
    provider.answer = json(messages.answer)
    const { Date: Clock } = globalThis
    class Broken extends Clock {
      constructor(...given: [] | [number]) {
        super(...((given.length === 0 ? [Number.NaN] : given) as [number]))
      }
    }
    globalThis.Date = Broken as unknown as DateConstructor
    try {
      expect(await (await post(recording.recorder.fetch)).json()).toEqual(messages.answer)
    } finally {
      globalThis.Date = Clock
    }
    expect(await outputs(recording)).toEqual([])
    expect(recording.recorder.counters()).toMatchObject({ dropped: { unreadable: 1 }, heldBytes: 0 })
  })

  it("is the same in copies of copies", async () => {
    const recording = await startRecording()
    provider.answer = json(messages.answer)
    const seen = async (fetch: typeof globalThis.fetch) => {
      const response = await post(fetch)
      const copies = [response, response.clone(), response.clone().clone().clone()]
      return Promise.all(
        copies.map(async (copy) => [copy.url, copy.type, copy.redirected, copy.status, await copy.text()])
      )
    }
    const plain = await seen(fetch)
    expect(await seen(recording.recorder.fetch)).toEqual(plain)
    expect(await outputs(recording)).toEqual([messages.answer])
  })

  it("leaves alone the memory of chunks that a `fetch` of the application's hands out", async () => {
    const text = new TextEncoder().encode(JSON.stringify(messages.answer))
    const shared = new Uint8Array(new SharedArrayBuffer(text.length))
    shared.set(text)
    // Parts of one buffer, an empty chunk, and one of memory that cannot be detached.
    const chunks = [
      text.subarray(0, 20),
      new Uint8Array(0),
      Buffer.from(text.subarray(20, 30)),
      shared.subarray(30, 40)
    ]
    chunks.push(text.subarray(40))
    const answer = () =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            for (const chunk of chunks) controller.enqueue(chunk)
            controller.close()
          }
        })
      )
    const recording = await startRecording({ fetch: (async () => answer()) as never })
    for (let n = 0; n < 2; n++) {
      const seen: Array<unknown> = []
      for await (const chunk of (await post(recording.recorder.fetch)).body!) seen.push(chunk)
      expect(seen.map((chunk, index) => chunk === chunks[index])).toEqual(chunks.map(() => true))
    }
    expect(await outputs(recording)).toEqual([messages.answer, messages.answer])
  })

  it("is recorded as it came where the application overwrites what it has read", async () => {
    const text = Buffer.from(JSON.stringify(messages.answer))
    const chunks = [text.subarray(0, 50), new DataView(text.buffer, text.byteOffset + 50, text.length - 50)]
    const source = () =>
      new ReadableStream({
        pull: (controller) => {
          const chunk = chunks.shift()
          if (chunk === undefined) controller.close()
          else controller.enqueue(chunk)
        }
      })
    const recording = await startRecording({ fetch: (async () => new Response(source())) as never })
    const reader = (await post(recording.recorder.fetch)).body!.getReader()
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const { buffer, byteLength, byteOffset } = read.value
      new Uint8Array(buffer, byteOffset, byteLength).fill(0)
    }
    expect(await outputs(recording)).toEqual([messages.answer])
  })

  it("may come from a `fetch` that answers at once", async () => {
    const recording = await startRecording({ fetch: (() => Response.json(messages.answer)) as never })
    expect(await (await post(recording.recorder.fetch)).json()).toEqual(messages.answer)
    expect(await outputs(recording)).toEqual([messages.answer])
  })

  it("is read from the provider only as the application reads it", async () => {
    const recording = await startRecording()
    const piece = "x".repeat(64 * 1024)
    provider.answer = (response) => {
      response.writeHead(200, { "content-type": "application/json" })
      for (let index = 0; index < 320; index++) response.write(piece)
      response.end()
    }
    const response = await post(recording.recorder.fetch)
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    // Nothing is read ahead: only what was read is held, in one chunk.
    expect(recording.recorder.counters().heldBytes).toBe(body.length + value!.byteLength + 256)
    await reader.cancel()
  })

  it("is counted as what it stands for, and not as the bytes of its stream", async () => {
    const recording = await startRecording({ maxBytes: 400_000 })
    const piece = (index: number) =>
      `data: ${JSON.stringify({ ...chat.answer, object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: `${index} ` } }], obfuscation: "x".repeat(700) })}\n\n`
    const chunks = Array.from({ length: 50 }, (_, n) =>
      Array.from({ length: 20 }, (__, m) => piece(n * 20 + m)).join("")
    )
    provider.answer = stream([...chunks, "data: [DONE]\n\n"])
    const response = await fetchOf(recording, "/v1/chat/completions")
    let [bytes, most] = [0, 0]
    for await (const chunk of response.body!) {
      bytes += chunk.byteLength
      most = Math.max(most, recording.recorder.counters().heldBytes)
    }
    expect(bytes).toBeGreaterThan(800_000)
    const [event] = await recording.events()
    const content = Array.from({ length: 1000 }, (_, n) => `${n} `).join("")
    expect(event!.properties.output).toMatchObject({ choices: [{ message: { content } }] })
    expect(most).toBeLessThan(300_000)
    expect(recording.recorder.counters()).toMatchObject({ heldBytes: 0, dropped: {} })
  })

  /** A stream that is read by the application at once, in the chunks that are given. */
  const streamed = async (chunks: ReadonlyArray<string>, maxBytes?: number) => {
    const encoder = new TextEncoder()
    const source = new ReadableStream({
      start: (controller) => {
        for (const chunk of chunks) controller.enqueue(encoder.encode(chunk))
        controller.close()
      }
    })
    const answer = new Response(source, { headers: { "content-type": "text/event-stream" } })
    const recording = await startRecording({
      fetch: (async () => answer) as never,
      ...(maxBytes === undefined ? {} : { maxBytes })
    })
    return { recording, body: (await post(recording.recorder.fetch)).body! }
  }

  it("is counted, and not parsed, while a line of it goes on", async () => {
    const text = "a".repeat(50_000)
    const start = messages.chunks.join("").split('"text_delta","text":"')[0]!
    const { body: read, recording } = await streamed(
      [`${start}"text_delta","text":"`, ...Array<string>(20).fill(text)],
      600_000
    )
    const parse = vi.spyOn(JSON, "parse")
    try {
      let bytes = 0
      for await (const chunk of read) {
        bytes += chunk.byteLength
        // The recorder gets what the application has read.
        await new Promise((resolve) => setImmediate(resolve))
        const { dropped, heldBytes } = recording.recorder.counters()
        expect([heldBytes >= Math.min(bytes, 600_000), dropped.memory]).toEqual(
          bytes + body.length < 600_000 ? [true, undefined] : [false, 1]
        )
      }
      expect(bytes).toBeGreaterThan(1_000_000)
      expect(Math.max(...parse.mock.calls.map(([json]) => json.length))).toBeLessThan(1000)
    } finally {
      parse.mockRestore()
    }
  })

  it("takes as much work for each chunk, also where it stands for less than what is kept of it", async () => {
    const delta = (json: string) => {
      const event = { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: json } }
      return `data: ${JSON.stringify(event)}\n\n`
    }
    const start = { type: "content_block_start", index: 0, content_block: { type: "tool_use", input: {} } }
    const parsed = async (chunks: number) => {
      const { body: read, recording } = await streamed([
        `data: ${JSON.stringify(start)}\n\n${delta("1")}`,
        ...Array<string>(chunks).fill(delta(" ".repeat(50_000)))
      ])
      const parse = vi.spyOn(JSON, "parse")
      try {
        await new Response(read).text()
        await recording.recorder.flush()
        return parse.mock.calls.reduce((total, [json]) => total + json.length, 0)
      } finally {
        parse.mockRestore()
      }
    }
    expect((await parsed(80)) / (await parsed(40))).toBeLessThan(2.5)
  })

  it("can be read into a buffer of the application", async () => {
    const recording = await startRecording()
    provider.answer = json(messages.answer)
    const reader = (await post(recording.recorder.fetch)).body!.getReader({ mode: "byob" })
    const decoder = new TextDecoder()
    let read = ""
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(7))
      if (done) break
      read += decoder.decode(value, { stream: true })
    }
    expect(JSON.parse(read)).toEqual(messages.answer)
    expect(await outputs(recording)).toEqual([messages.answer])
  })

  it("may have no body", async () => {
    const recording = await startRecording()
    provider.answer = (response) => void response.writeHead(204).end()
    expect((await post(recording.recorder.fetch)).status).toBe(204)
    expect(await outputs(recording)).toMatchObject([{ error: { type: "http_204" } }])
  })

  it("may be something else than JSON", async () => {
    const recording = await startRecording()
    provider.answer = (response) => void response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad</h1>")
    expect(await (await post(recording.recorder.fetch)).text()).toBe("<h1>Bad</h1>")
    const [event] = await recording.events()
    expect(event!.properties.output).toMatchObject({ error: { type: "http_502", body: "<h1>Bad</h1>" } })
  })
  it("may have bytes that are no UTF-8, which are recorded as U+FFFD, and so may the request", async () => {
    const recording = await startRecording()
    const withBytes = (json: string, bytes: string) =>
      Buffer.concat([Buffer.from(`{"a":"J${bytes}J",`, "latin1"), Buffer.from(json.slice(1))])
    const sent = withBytes(body, "\xff\xfeJ\xe2\x82")
    const answer = withBytes(JSON.stringify(messages.answer), "\xed\xa0\x80")
    provider.answer = (response) => void response.writeHead(200, { "content-type": "application/json" }).end(answer)
    const response = await post(recording.recorder.fetch, { body: sent })
    expect(Buffer.from(await response.arrayBuffer()).equals(answer)).toBe(true)
    const [event] = await recording.events()
    expect(event!.properties.inputs).toEqual({ a: "J\ufffd\ufffdJ\ufffdJ", ...messages.request })
    expect(event!.properties.output).toEqual({ a: "J\ufffd\ufffd\ufffdJ", ...messages.answer })
  })
})
