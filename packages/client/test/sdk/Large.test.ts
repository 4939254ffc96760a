/** Long bodies through each SDK, the first of them of 8 MB; `tap/Request.test.ts` has one of 20 MB. No assertion is given one of them: a text of that length in it takes long. */
import { beforeAll, expect, it } from "vitest"
import { type Provider, startProvider } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { startProxied } from "./Proxied.ts"
import { type Sdk, sdks, sdksOfNow, streamingSdks, withGlobal } from "./Sdks.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

/** As long as a few pictures are in one request, and as one of them: more than the client reads at once. */
const [few, one] = [8_000_000, 2_000_000]
const words = "ö".repeat(few / 2)

type Large = readonly [name: string, bytes: number, direction: string, isRequest: boolean, sdk: Sdk]

// A request is made by the SDK, so each is tried. How long an answer is changes nothing but for a stream, which one has.
const cases: ReadonlyArray<Large> = [
  ...sdks.map(([name, sdk], at): Large => [name, at === 0 ? few : one, "a request", true, sdk]),
  ...[sdksOfNow[0]!, streamingSdks[0]!].map(([name, sdk]): Large => [name, few, "an answer", false, sdk])
]

it.each(cases)("%s passes and records %i bytes of %s as they are", async (_name, bytes, _direction, isRequest, sdk) => {
  const image = isRequest ? "A".repeat(bytes) : undefined
  const answer = isRequest ? "18 °C" : words
  const recording = await startRecording()
  const proxied = await startProxied(provider)
  provider.answer = sdk.answer(answer)
  provider.requests.length = 0
  const ask = (fetch: typeof globalThis.fetch) =>
    withGlobal(fetch, async () => {
      const said = await sdk.ask({ url: provider.url, fetch, text: "Weather in Köln?", image })
      return said === answer
    })
  const seen = [await ask(fetch), await ask(recording.recorder.fetch), await ask(proxied.fetch)]
  expect(seen).toEqual([true, true, true])
  const [sent, ...others] = provider.requests.map(({ body }) => body)
  expect(others.map((other) => other === sent)).toEqual([true, true])
  expect(sent!.length > bytes).toBe(isRequest)

  const written = JSON.stringify(answer)
  for (const [event] of [await recording.events(), await proxied.events(1)]) {
    const { text } = event!
    // The very bytes of the request, and of the answer its text.
    expect([text.includes(sent!), text.includes(written), text.includes('"error"')]).toEqual([true, true, false])
  }
  expect(recording.drops).toEqual([])
  expect(recording.recorder.counters()).toMatchObject({ sent: 1, heldBytes: 0 })
})
