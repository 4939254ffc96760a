import OpenAI, { AzureOpenAI } from "openai"
import OpenAI6, { AzureOpenAI as AzureOpenAI6 } from "openai6"
import { beforeAll, describe, expect, it } from "vitest"
import { begun, json, type Provider, startProvider, stream } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { collected, compared, seenOf } from "./Compared.ts"
import { chat, cut, responses } from "./Wire.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const apiKey = "sk-planted-key"

// The major before has the same interface, as far as these tests use it.
const majors: ReadonlyArray<readonly [string, typeof OpenAI]> = [
  ["7", OpenAI],
  ["6", OpenAI6 as unknown as typeof OpenAI]
]

describe.each(majors)("openai %s", (major, Sdk) => {
  const client = (fetch: typeof globalThis.fetch, maxRetries = 0) =>
    new Sdk({ apiKey, baseURL: `${provider.url}/v1`, fetch, maxRetries })

  it("records chat completions", async () => {
    provider.answer = json(chat.answer)
    const [event] = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).chat.completions.create(chat.request)
    )
    expect(event!.properties).toEqual({
      api: "provider1-chat-completions",
      inputs: chat.request,
      output: chat.answer
    })
  })

  it("records responses", async () => {
    provider.answer = json(responses.answer)
    const [event] = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).responses.create(responses.request)
    )
    expect(event!.properties).toEqual({
      api: "provider1-responses",
      inputs: responses.request,
      output: responses.answer
    })
  })

  it("leaves `withResponse` and `asResponse` as they are", async () => {
    provider.answer = json(chat.answer)
    await compared(await startRecording(), provider, async (fetch) => {
      const call = () => client(fetch).chat.completions.create(chat.request)
      const { data, request_id, response } = await call().withResponse()
      const raw = await call().asResponse()
      const seen = [response, raw].map(seenOf)
      return { data, request_id, seen, clone: await raw.clone().text(), text: await raw.text(), used: raw.bodyUsed }
    })
  })

  it.each([400, 401, 429, 500])("records the error %i as what it is", async (status) => {
    const error = { error: { message: "No", type: "some_error", param: null, code: null } }
    provider.answer = json(error, status)
    const [event] = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).chat.completions.create(chat.request)
    )
    expect(event!.properties.output).toEqual(error)
  })

  it("records a failed connection", async () => {
    provider.answer = (response) => void response.destroy()
    // The proxy answers 502.
    const isProxied = false
    const run = (fetch: typeof globalThis.fetch) => client(fetch).chat.completions.create(chat.request)
    const [event] = await compared(await startRecording(), provider, run, isProxied)
    expect(event!.properties.output).toMatchObject({ error: { type: "connection_error" } })
  })

  it("records each retry as a call of its own", async () => {
    const error = { error: { message: "Slow down", type: "rate_limit", param: null, code: null } }
    let calls = 0
    provider.answer = (response) =>
      (calls++ % 2 === 0 ? json(error, 429, { "retry-after-ms": "20" }) : json(chat.answer))(response)
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch, 1).chat.completions.create(chat.request)
    )
    // The body of the error is read to its end beside the second call, and may end after it.
    const inOrder = events.toSorted((a, b) => String(a.occurred_at).localeCompare(String(b.occurred_at)))
    expect(inOrder.map(({ properties }) => properties.output)).toEqual([error, chat.answer])
  })

  it("records a stream of chat completions as the answer that it stands for", async () => {
    provider.answer = stream(cut(chat.chunks))
    const events = await compared(await startRecording(), provider, async (fetch) =>
      collected(await client(fetch).chat.completions.create({ ...chat.request, stream: true }))
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([chat.answer])
  })

  it("records a stream of responses as the answer that it stands for", async () => {
    provider.answer = stream(cut(responses.chunks))
    const events = await compared(await startRecording(), provider, async (fetch) =>
      collected(await client(fetch).responses.create({ ...responses.request, stream: true }))
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([responses.answer])
  })

  it("records what the helpers of streams read", async () => {
    provider.answer = stream(chat.chunks)
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).chat.completions.stream(chat.request).finalChatCompletion()
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([chat.answer])
  })

  it("records each call of the helper of tools", async () => {
    const done = {
      ...chat.answer,
      choices: [{ index: 0, message: { role: "assistant", content: "18 °C" }, finish_reason: "stop" }]
    }
    let calls = 0
    provider.answer = (response) => json(calls++ % 2 === 0 ? chat.answer : done)(response)
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch)
        .chat.completions.runTools({
          ...chat.request,
          tools: [
            {
              type: "function",
              function: {
                name: "weather",
                description: "The weather",
                parse: JSON.parse,
                parameters: { type: "object", properties: { city: { type: "string" } } },
                function: ({ city }: { city: string }) => `18 °C in ${city}`
              }
            }
          ]
        })
        .finalContent()
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([chat.answer, done])
    // The conversation has grown, and is the same session.
    expect(new Set(events.map(({ session }) => session)).size).toBe(1)
  })

  it("records structured outputs", async () => {
    const answer = {
      ...chat.answer,
      choices: [{ index: 0, message: { role: "assistant", content: '{"celsius":18}' }, finish_reason: "stop" }]
    }
    provider.answer = json(answer)
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).chat.completions.parse({
        ...chat.request,
        response_format: {
          type: "json_schema",
          json_schema: { name: "weather", schema: { type: "object" }, strict: true }
        }
      })
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([answer])
  })

  it("records a stream that the application leaves in the middle", async () => {
    provider.answer = begun(chat.chunks.slice(0, 3))
    const run = async (fetch: typeof globalThis.fetch) => {
      const chunks = await client(fetch).chat.completions.create({ ...chat.request, stream: true })
      for await (const chunk of chunks) if (chunk.choices[0]?.delta.content === " ☀") return chunk
      return undefined
    }
    const events = await compared(await startRecording(), provider, run)
    // Version 6 cancels the body, and version 7 aborts the request.
    const type = major === "7" ? "aborted" : "cancelled"
    expect(events).toMatchObject([
      { properties: { output: { choices: [{ message: { content: "Grüße ☀" } }], error: { type } } } }
    ])
  })

  it("records a call that the application aborts before its answer", async () => {
    let abort = () => {}
    provider.answer = () => abort()
    const events = await compared(await startRecording(), provider, (fetch) => {
      const controller = new AbortController()
      abort = () => controller.abort()
      return client(fetch).chat.completions.create(chat.request, { signal: controller.signal })
    })
    expect(events).toMatchObject([{ properties: { output: { error: { type: "aborted" } } } }])
  })

  it("passes a broken stream on as it is", async () => {
    provider.answer = stream([
      ...chat.chunks.slice(0, 3),
      'data: {"error":{"message":"Overloaded","type":"server_error"}}\n\n'
    ])
    const events = await compared(await startRecording(), provider, async (fetch) =>
      collected(await client(fetch).chat.completions.create({ ...chat.request, stream: true }))
    )
    expect(events).toMatchObject([
      { properties: { output: { error: { message: "Overloaded", type: "server_error" } } } }
    ])
  })

  it("recognises Azure", async () => {
    provider.answer = json(chat.answer)
    const azure = major === "7" ? AzureOpenAI : (AzureOpenAI6 as unknown as typeof AzureOpenAI)
    const recording = await startRecording()
    const [event] = await compared(recording, provider, (fetch) =>
      new azure({
        apiKey,
        endpoint: provider.url,
        apiVersion: "2025-01-01",
        deployment: "d",
        fetch,
        maxRetries: 0
      }).chat.completions.create(chat.request)
    )
    expect(event!.properties).toMatchObject({ api: "provider1-chat-completions", output: chat.answer })
    expect(event!.text).not.toContain(apiKey)
  })
})
