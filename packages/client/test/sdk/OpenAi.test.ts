import OpenAI from "openai"
import OpenAI6 from "openai6"
import { beforeAll, describe, expect, it } from "vitest"
import { json, type Provider, startProvider, stream } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { compared } from "./Compared.ts"
import { chat, responses } from "./Wire.ts"

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

describe.each(majors)("openai %s", (_major, Sdk) => {
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
      const seen = [response, raw].map(({ headers, ok, redirected, status, statusText, type, url }) => ({
        headers: [...headers].filter(([name]) => name !== "date"),
        ...{ ok, redirected, status, statusText, type, url }
      }))
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
    const [event] = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).chat.completions.create(chat.request)
    )
    expect(event!.properties.output).toMatchObject({ error: { type: "connection_error" } })
  })

  it("records each retry as a call of its own", async () => {
    const error = { error: { message: "Slow down", type: "rate_limit", param: null, code: null } }
    let calls = 0
    provider.answer = (response) =>
      (calls++ % 2 === 0 ? json(error, 429, { "retry-after-ms": "1" }) : json(chat.answer))(response)
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch, 1).chat.completions.create(chat.request)
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([error, chat.answer])
  })

  it("passes each chunk of a stream on as it comes", async () => {
    provider.answer = stream(chat.chunks)
    await compared(await startRecording(), provider, async (fetch) => {
      const deltas: Array<unknown> = []
      const chunks = await client(fetch).chat.completions.create({ ...chat.request, stream: true })
      for await (const chunk of chunks) deltas.push(chunk)
      return deltas
    })
  })
})
