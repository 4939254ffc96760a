import { beforeAll, expect, it } from "vitest"
import { type Provider, startProvider } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { compared } from "./Compared.ts"
import { sdks, streamingSdks, withGlobal } from "./Sdks.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const texts = Array.from({ length: 10 }, (_, index) => `question ${index}`)
const image = "A".repeat(20_000)

it.each([...sdks, ...streamingSdks])(
  "%s: images and parallel calls, each with what it was asked",
  async (_name, sdk) => {
    provider.answer = (response, { body }) =>
      sdk.answer(`to ${/question \d+/.exec(body)![0]}`)(response, { body } as never)
    const events = await compared(await startRecording(), provider, (fetch) =>
      withGlobal(fetch, () => Promise.all(texts.map((text) => sdk.ask({ url: provider.url, fetch, text, image }))))
    )
    expect(events).toHaveLength(texts.length)
    for (const { properties } of events) {
      const [question] = /question \d+/.exec(JSON.stringify(properties.inputs))!
      expect(JSON.stringify(properties.output)).toContain(`to ${question}`)
    }
  }
)
