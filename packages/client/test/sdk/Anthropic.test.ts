import Anthropic from "@anthropic-ai/sdk"
import Anthropic0 from "anthropic0"
import { beforeAll, describe, expect, it } from "vitest"
import { begun, json, type Provider, startProvider, stream } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { collected, compared, seenOf } from "./Compared.ts"
import { cut, messages } from "./Wire.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const apiKey = "sk-ant-planted-key"

// The major before has the same interface, as far as these tests use it.
const majors: ReadonlyArray<readonly [string, typeof Anthropic]> = [
  ["1", Anthropic],
  ["0", Anthropic0 as unknown as typeof Anthropic]
]

describe.each(majors)("@anthropic-ai/sdk %s", (major, Sdk) => {
  const client = (fetch: typeof globalThis.fetch) => new Sdk({ apiKey, baseURL: provider.url, fetch, maxRetries: 1 })

  it("records a call", async () => {
    provider.answer = json(messages.answer)
    const [event] = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).messages.create(messages.request)
    )
    expect(event!.properties).toEqual({
      api: "provider2-messages",
      inputs: messages.request,
      output: messages.answer
    })
  })

  it("leaves `withResponse` and `asResponse` as they are", async () => {
    provider.answer = json(messages.answer)
    await compared(await startRecording(), provider, async (fetch) => {
      const call = () => client(fetch).messages.create(messages.request)
      const { data, request_id, response } = await call().withResponse()
      const raw = await call().asResponse()
      return { data, request_id, seen: [response, raw].map(seenOf), text: await raw.text() }
    })
  })

  it("records a stream as the answer that it stands for", async () => {
    provider.answer = stream(cut(messages.chunks))
    const events = await compared(await startRecording(), provider, async (fetch) =>
      collected(await client(fetch).messages.create({ ...messages.request, stream: true }))
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([messages.answer])
  })

  it("records what the helper of streams reads", async () => {
    provider.answer = stream(messages.chunks)
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).messages.stream(messages.request).finalMessage()
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([messages.answer])
  })

  it("records beta messages", async () => {
    provider.answer = json(messages.answer)
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).beta.messages.create({ ...messages.request, betas: ["tools-x"] })
    )
    expect(events.map(({ properties }) => properties.api)).toEqual(["provider2-beta-messages"])
  })

  it("records each retry as a call of its own", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
    let calls = 0
    provider.answer = (response) =>
      (calls++ % 2 === 0 ? json(overloaded, 529, { "retry-after-ms": "20" }) : json(messages.answer))(response)
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).messages.create(messages.request)
    )
    // The body of the error is read to its end beside the second call, and may end after it.
    const inOrder = events.toSorted((a, b) => String(a.occurred_at).localeCompare(String(b.occurred_at)))
    expect(inOrder.map(({ properties }) => properties.output)).toEqual([overloaded, messages.answer])
  })

  it("records each call of the helper of tools", async () => {
    const done = { ...messages.answer, content: [{ type: "text", text: "18 °C" }], stop_reason: "end_turn" }
    let calls = 0
    provider.answer = (response) => json(calls++ % 2 === 0 ? messages.answer : done)(response)
    const ran: Array<unknown> = []
    const weather = {
      name: "weather",
      description: "The weather",
      input_schema: { type: "object" as const, properties: { city: { type: "string" } } },
      parse: (input: unknown) => input as { city: string },
      run: (input: { city: string }) => {
        ran.push(input)
        return `18 °C in ${input.city}`
      }
    }
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch)
        .beta.messages.toolRunner({ ...messages.request, tools: [weather] })
        .runUntilDone()
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([messages.answer, done])
    expect(JSON.stringify(events[1]!.properties.inputs)).toContain("18 °C in Köln")
    // Version 1 lets the provider keep the conversation, and sends only what is new, from which no session can be derived.
    expect(new Set(events.map(({ session }) => session)).size).toBe(major === "1" ? 2 : 1)
    expect(ran).toEqual(Array(3).fill({ city: "Köln" }))
  })

  it("records structured outputs", async () => {
    const answer = { ...messages.answer, content: [{ type: "text", text: '{"celsius":18}' }], stop_reason: "end_turn" }
    provider.answer = json(answer)
    const format = {
      type: "json_schema" as const,
      schema: { type: "object", properties: { celsius: { type: "number" } } }
    }
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).messages.parse({ ...messages.request, output_config: { format } })
    )
    expect(events.map(({ properties }) => properties)).toMatchObject([
      { inputs: { output_config: { format } }, output: answer }
    ])
  })

  it.each([400, 401, 429, 500])("records the error %i as what it is", async (status) => {
    const error = { type: "error", error: { type: "some_error", message: `No, ${apiKey}` } }
    provider.answer = json(error, status)
    const events = await compared(await startRecording(), provider, (fetch) =>
      new Sdk({ apiKey, baseURL: provider.url, fetch, maxRetries: 0 }).messages.create(messages.request)
    )
    expect(events).toMatchObject([
      { properties: { output: { error: { type: "some_error", message: "No, [redacted]" } } } }
    ])
  })

  it("records a call that the application aborts before its answer", async () => {
    let abort = () => {}
    provider.answer = () => abort()
    const events = await compared(await startRecording(), provider, (fetch) => {
      const controller = new AbortController()
      abort = () => controller.abort()
      return client(fetch).messages.create(messages.request, { signal: controller.signal })
    })
    expect(events).toMatchObject([{ properties: { output: { error: { type: "aborted" } } } }])
  })

  it("records a stream that the application aborts", async () => {
    provider.answer = begun(messages.chunks.slice(0, 5))
    const run = async (fetch: typeof globalThis.fetch) => {
      const chunks = client(fetch).messages.stream(messages.request)
      const seen: Array<string> = []
      chunks.on("text", (delta) => {
        seen.push(delta)
        if (delta === " ☀") chunks.abort()
      })
      return {
        seen,
        error: await chunks.done().then(undefined, (error: Error) => [error.constructor.name, error.message])
      }
    }
    const [event] = await compared(await startRecording(), provider, run)
    expect(event!.properties.output).toMatchObject({
      content: [{ type: "text", text: "Grüße ☀" }],
      error: { type: "aborted" }
    })
  })

  it("records a stream that the application leaves in the middle", async () => {
    provider.answer = begun(messages.chunks.slice(0, 5))
    const run = async (fetch: typeof globalThis.fetch) => {
      const chunks = await client(fetch).messages.create({ ...messages.request, stream: true })
      for await (const chunk of chunks)
        if (chunk.type === "content_block_delta" && chunk.delta.type === "text_delta" && chunk.delta.text === " ☀")
          return chunk
      return undefined
    }
    const [event] = await compared(await startRecording(), provider, run)
    expect(event!.properties.output).toMatchObject({
      content: [{ type: "text", text: "Grüße ☀" }],
      error: { type: expect.stringMatching(/^(?:aborted|cancelled)$/) }
    })
  })

  it("passes a stream on that the provider breaks", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
    provider.answer = stream([...messages.chunks.slice(0, 4), `event: error\ndata: ${JSON.stringify(overloaded)}\n\n`])
    const events = await compared(await startRecording(), provider, async (fetch) =>
      collected(await client(fetch).messages.create({ ...messages.request, stream: true }))
    )
    expect(events).toMatchObject([{ properties: { output: { error: { type: "overloaded_error" } } } }])
  })
})
