import Anthropic from "@anthropic-ai/sdk"
import Anthropic0 from "anthropic0"
import { beforeAll, describe, expect, it } from "vitest"
import { json, type Provider, startProvider, stream } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { collected, compared } from "./Compared.ts"
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

describe.each(majors)("@anthropic-ai/sdk %s", (_major, Sdk) => {
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
      (calls++ % 2 === 0 ? json(overloaded, 529, { "retry-after-ms": "1" }) : json(messages.answer))(response)
    const events = await compared(await startRecording(), provider, (fetch) =>
      client(fetch).messages.create(messages.request)
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([overloaded, messages.answer])
  })
})
