/** Runs the example as a separate process, against a stub of the provider. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, expect, it } from "vitest"
import * as Embedded from "../../test/Embedded.ts"

const program = new URL("../src/main.ts", import.meta.url)

// White space and `1.0` that no JSON serialiser writes: they show that nothing was re-serialised.
const answer = `{"id": "resp_1",  "model":"gpt-5-mini", "status":"completed", "temperature": 1.0}`
const requests: Array<string> = []
const provider = createServer(async (request, response) => {
  requests.push(Buffer.concat(await request.toArray()).toString())
  response.writeHead(200, { "content-type": "application/json" }).end(answer)
})
await new Promise<void>((done) => provider.listen(0, "127.0.0.1", done))
afterAll(() => void provider.close())

const { port } = provider.address() as AddressInfo
const env = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: "sk" }
const question = (session: string) => JSON.stringify({ session, question: "Why?" })

Embedded.suite({ program, base: "/tachograph", hello: "Hello from Effect\n", none: { status: 404 }, env }, (app) => {
  const call = (path: string, body?: string) => app().call(path, Embedded.key, body)

  it("records the model call of its own route byte for byte", async () => {
    expect(await call("/chat", question("s"))).toEqual({ status: 200, text: answer })
    const { events } = JSON.parse((await call("/tachograph/api/v1/events?session=s")).text)
    expect(events).toMatchObject([{ model: "gpt-5-mini", stop_reason: "end", provider_stop_reason: "completed" }])
    const { text } = await call(`/tachograph/api/v1/events/${events[0].event_id}`)
    expect(text).toContain(`"inputs":${requests[0]},"output":${answer}}`)
  })

  it("answers when recording the call fails", async () => {
    expect(await call("/chat", question(""))).toEqual({ status: 200, text: answer })
  })
})
