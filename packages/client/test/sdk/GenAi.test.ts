import { GoogleGenAI } from "@google/genai"
import { GoogleGenAI as GoogleGenAI2 } from "genai2"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { begun, json, type Provider, startProvider, stream } from "../Provider.ts"
import { type RecordedCall, startRecording } from "../Recording.ts"
import { collected, compared } from "./Compared.ts"
import { withGlobal } from "./Sdks.ts"
import { cut, gemini } from "./Wire.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const apiKey = "planted-gemini-key"

// The major before has the same interface, as far as these tests use it.
const majors: ReadonlyArray<readonly [string, typeof GoogleGenAI]> = [
  ["3", GoogleGenAI],
  ["2", GoogleGenAI2 as unknown as typeof GoogleGenAI]
]

/** The headers hold the time of the answer. */
const withoutHeaders = (answer: object) => ({ ...answer, sdkHttpResponse: undefined })

describe.each(majors)("@google/genai %s", (_major, Sdk) => {
  const client = () => new Sdk({ apiKey, httpOptions: { baseUrl: provider.url } })

  it("records generateContent", async () => {
    provider.answer = json(gemini.answer)
    const [event] = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, async () => {
        return withoutHeaders(await client().models.generateContent(gemini.request))
      })
    )
    expect(event!.properties).toMatchObject({ api: "provider3-models", output: gemini.answer })
    expect(event!.model).toBe(gemini.request.model)
    expect(event!.text).not.toContain(apiKey)
  })

  it("records a stream as the answer that it stands for", async () => {
    provider.answer = stream(cut(gemini.chunks))
    const events = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, async () => {
        const chunks = await collected(await client().models.generateContentStream(gemini.request))
        return chunks.map(withoutHeaders)
      })
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([gemini.answer])
  })

  it.each([400, 401, 429, 500])("records the error %i as what it is", async (code) => {
    const error = { error: { code, message: `No, ${apiKey}`, status: "SOME_STATUS" } }
    provider.answer = json(error, code)
    const events = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, () => client().models.generateContent(gemini.request))
    )
    expect(events.length).toBeGreaterThan(0)
    for (const { properties } of events) {
      expect(properties.output).toEqual({ error: { ...error.error, message: "No, [redacted]" } })
    }
  })

  it("records each retry as a call of its own", async () => {
    const error = { error: { code: 503, message: "Later", status: "UNAVAILABLE" } }
    let calls = 0
    provider.answer = (response) => (calls++ % 2 === 0 ? json(error, 503) : json(gemini.answer))(response)
    const httpOptions = { baseUrl: provider.url, retryOptions: { attempts: 2, initialDelay: 0.001 } }
    const events = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, async () =>
        withoutHeaders(await new Sdk({ apiKey, httpOptions }).models.generateContent(gemini.request))
      )
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([error, gemini.answer])
  })

  it("records tools that the SDK calls, each call of the model by itself", async () => {
    const call = { functionCall: { name: "weather", args: { city: "Köln" } } }
    const calling = {
      ...gemini.answer,
      candidates: [{ content: { role: "model", parts: [call] }, finishReason: "STOP" }]
    }
    let calls = 0
    provider.answer = (response) => json(calls++ % 2 === 0 ? calling : gemini.answer)(response)
    const ran: Array<unknown> = []
    const weather = {
      tool: async () => ({
        functionDeclarations: [
          { name: "weather", parametersJsonSchema: { type: "object", properties: { city: { type: "string" } } } }
        ]
      }),
      callTool: async (called: ReadonlyArray<{ readonly args?: unknown }>) => {
        ran.push(...called.map(({ args }) => args))
        return [{ functionResponse: { name: "weather", response: { text: "18 °C in Köln" } } }]
      }
    }
    const events = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, async () =>
        withoutHeaders(await client().models.generateContent({ ...gemini.request, config: { tools: [weather] } }))
      )
    )
    // Sent at the same time, they are received in any order. The second call has what the tool answered.
    const isSecond = ({ properties }: RecordedCall) => JSON.stringify(properties.inputs).includes("18 °C in Köln")
    expect(events.filter((event) => !isSecond(event)).map(({ properties }) => properties.output)).toEqual([calling])
    expect(events.filter(isSecond).map(({ properties }) => properties.output)).toEqual([gemini.answer])
    expect(new Set(events.map(({ session }) => session)).size).toBe(1)
    expect(ran).toEqual(Array(3).fill({ city: "Köln" }))
  })

  it("records structured outputs", async () => {
    const answer = {
      ...gemini.answer,
      candidates: [{ content: { role: "model", parts: [{ text: '{"celsius":18}' }] } }]
    }
    provider.answer = json(answer)
    const responseJsonSchema = { type: "object", properties: { celsius: { type: "number" } } }
    const config = { responseMimeType: "application/json", responseJsonSchema }
    const events = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, async () =>
        withoutHeaders(await client().models.generateContent({ ...gemini.request, config }))
      )
    )
    expect(events.map(({ properties }) => properties)).toMatchObject([
      { inputs: { generationConfig: config }, output: answer }
    ])
  })

  it("records a call that the application aborts before its answer", async () => {
    let abort = () => {}
    provider.answer = () => abort()
    const events = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, () => {
        const controller = new AbortController()
        abort = () => controller.abort()
        return client().models.generateContent({ ...gemini.request, config: { abortSignal: controller.signal } })
      })
    )
    expect(events).toMatchObject([{ properties: { output: { error: { type: "aborted" } } } }])
  })

  it("records a stream that the application aborts", async () => {
    provider.answer = begun(gemini.chunks.slice(0, 1))
    const [event] = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, async () => {
        const controller = new AbortController()
        const config = { abortSignal: controller.signal }
        const texts: Array<string | undefined> = []
        for await (const { text } of await client().models.generateContentStream({ ...gemini.request, config })) {
          texts.push(text)
          controller.abort()
        }
        return texts
      })
    )
    expect(event!.properties.output).toMatchObject({
      candidates: [{ content: { parts: [{ text: "Grüße" }] } }],
      error: { type: "aborted" }
    })
  })

  it("records a stream that the application leaves in the middle", async () => {
    provider.answer = stream(gemini.chunks)
    const run = (fetch: typeof globalThis.fetch) =>
      withGlobal(fetch, async () => {
        for await (const { text } of await client().models.generateContentStream(gemini.request)) return text
        return undefined
      })
    // The SDK lets go of the body, but does not cancel it: the process that ends, or the garbage, says so.
    const recording = await startRecording({ unreadMs: 1 })
    // The proxy records what it passed on, read or not.
    const isProxied = false
    await compared(recording, provider, run, isProxied)
    await vi.waitFor(() => expect(recording.recorder.counters().recorded).toBe(1), { timeout: 60_000 })
    expect(await recording.events()).toMatchObject([
      { properties: { output: { candidates: [{ content: { parts: [{ text: expect.stringMatching(/^Grüße/) }] } }] } } }
    ])
  })
})
