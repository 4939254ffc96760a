import { GoogleGenAI } from "@google/genai"
import { GoogleGenAI as GoogleGenAI2 } from "genai2"
import { beforeAll, describe, expect, it } from "vitest"
import { json, type Provider, startProvider, stream } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { collected, compared } from "./Compared.ts"
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

/** Runs with a global `fetch`, because the SDK takes none. */
const withGlobal = async (fetch: typeof globalThis.fetch, run: () => Promise<unknown>) => {
  const before = globalThis.fetch
  globalThis.fetch = fetch
  try {
    return await run()
  } finally {
    globalThis.fetch = before
  }
}

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

  it("records errors", async () => {
    const error = { error: { code: 429, message: "Slow down", status: "RESOURCE_EXHAUSTED" } }
    provider.answer = json(error, 429)
    const events = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, () => client().models.generateContent(gemini.request))
    )
    expect(new Set(events.map(({ properties }) => JSON.stringify(properties.output)))).toEqual(
      new Set([JSON.stringify(error)])
    )
  })
})
