/** Runs the example's programs as separate processes, against a stub of the provider. */
import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import { renameSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import * as Program from "../../test/Program.ts"

type OnFinished = (cleanup: () => Promise<void>) => void

const run = (name: string, env: Record<string, string>, onFinished: OnFinished = onTestFinished) =>
  Program.run(new URL(`../src/${name}.ts`, import.meta.url), env, onFinished)

const soon = { timeout: 60_000 }

const ada = "token-of-ada"
const bob = "token-of-bob"

/** A stub of the provider. It answers each request when `mayAnswer` resolves. */
const provider = async (mayAnswer: () => Promise<void> = async () => {}, onFinished: OnFinished = onTestFinished) => {
  const requests: Array<string> = []
  const server = createServer(async (request, response) => {
    requests.push(Buffer.concat(await request.toArray()).toString())
    await mayAnswer()
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onFinished(async () => void server.close())
  const { port } = server.address() as AddressInfo
  return { requests, env: { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: "none" } }
}

const answer = {
  id: "resp_1",
  object: "response",
  model: "gpt-5-mini",
  status: "completed",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "42" }] }]
}

const question = (session?: string) => JSON.stringify({ question: "What is it?", session })

it("works without Tachograph", async () => {
  const { url } = await run("provider", {})
  const app = await run("before", { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "none" })
  expect(await app.call("/chat", "nobody's", question("s"))).toMatchObject({ status: 401 })
  expect(await app.call("/chat", bob, question("s"))).toEqual({ status: 200, text: `{"answer":"42"}` })
  expect(await app.stop()).toBe(0)
})

describe("with Tachograph", () => {
  let app: Program.Program
  let requests: ReadonlyArray<string>

  beforeAll(async () => {
    const cleanups: Array<() => Promise<void>> = []
    const stub = await provider(undefined, (cleanup) => cleanups.push(cleanup))
    requests = stub.requests
    app = await run("main", stub.env, (cleanup) => cleanups.push(cleanup))
    return async () => {
      for (const cleanup of cleanups) await cleanup()
    }
  })

  it("does not change the application's routes and authentication", async () => {
    const refused = { status: 401, text: `{"error":"Who are you?"}` }
    expect(await app.call("/chat", "nobody's", question("s"))).toEqual(refused)
    expect(await app.call("/tachograph/api/v1/events", "nobody's")).toEqual(refused)
    expect(await app.call("/tachograph/api/v1/events", bob)).toEqual({ status: 401, text: `{"type":"unauthorized"}` })
    expect(await app.call("/tachograph/api/v1/events", ada)).toMatchObject({ status: 200 })
    const none = { status: 404, text: expect.stringContaining("Cannot GET /none") }
    expect(await app.call("/none", ada)).toMatchObject(none)
  })

  it("records the SDK's request and the provider's response", async () => {
    expect(await app.call("/chat", bob, question("s"))).toEqual({ status: 200, text: `{"answer":"42"}` })
    const event = await vi.waitFor(async () => {
      const { events } = JSON.parse((await app.call("/tachograph/api/v1/events?session=s", ada)).text)
      expect(events).toMatchObject([
        { model: "gpt-5-mini", person: "bob", stop_reason: "end", provider_stop_reason: "completed" }
      ])
      return events[0]
    }, soon)
    const { text } = await app.call(`/tachograph/api/v1/events/${event.event_id}`, ada)
    expect(text).toContain(`"inputs":${requests[0]},"output":${JSON.stringify(answer)}}`)
  })

  it("records a call without a session under one that is derived", async () => {
    expect(await app.call("/chat", bob, question(undefined))).toEqual({ status: 200, text: `{"answer":"42"}` })
    await vi.waitFor(async () => {
      const { events } = JSON.parse((await app.call("/tachograph/api/v1/events?order=desc", ada)).text)
      expect(events[0]).toMatchObject({ session: expect.stringMatching(/^[0-9a-f]{64}$/), person: "bob" })
    }, soon)
  })

  it("records a call whose session is a number under the text of it", async () => {
    const numbered = JSON.stringify({ question: "What is it?", session: 42 })
    expect(await app.call("/chat", bob, numbered)).toEqual({ status: 200, text: `{"answer":"42"}` })
    await vi.waitFor(async () => {
      const { events } = JSON.parse((await app.call("/tachograph/api/v1/events?session=42", ada)).text)
      expect(events).toMatchObject([{ session: "42", person: "bob" }])
    }, soon)
  })

  it("answers when recording a call fails, and warns", async () => {
    renameSync(join(app.cwd, "tachograph.db"), join(app.cwd, "moved.db"))
    expect(await app.call("/chat", bob, question("s"))).toEqual({ status: 200, text: `{"answer":"42"}` })
    await vi.waitFor(() => expect(app.output()).toContain("storage-unavailable"), soon)
  })
})

it("answers and records requests in progress before it stops on SIGTERM", async () => {
  let answerIt = () => {}
  const { requests, env } = await provider(() => new Promise((resolve) => (answerIt = resolve)))
  const app = await run("main", env)
  const chat = app.call("/chat", bob, question("s"))
  await vi.waitFor(() => expect(requests).toHaveLength(1), soon)
  const ended = app.stop()
  await vi.waitFor(() => expect(app.call("/none", ada)).rejects.toThrow(), soon)
  answerIt()
  expect(await chat).toEqual({ status: 200, text: `{"answer":"42"}` })
  expect(await ended).toBe(0)
  const tachograph = await createTachograph({ storage: sqlite(join(app.cwd, "tachograph.db")) })
  expect((await tachograph.api.listEvents()).events).toMatchObject([{ session: "s", person: "bob" }])
  await tachograph.close()
})

it("behind a parser, it records the bytes that were sent, also above the parser's default of 100 kB", async () => {
  const key = "a key of the example's own"
  const app = await run("behind-a-parser", { TACHOGRAPH_API_KEY: key })
  const runtime = `{"language": "typescript", "language_version": "7", "system": "linux"}`
  const { fingerprint_id } = JSON.parse((await app.call("/tachograph/api/v1/fingerprints", key, runtime)).text)
  const payload = `{"model":"m",  "temperature": 1.0, "input": "${"x".repeat(200_000)}"}`
  const event = `{
    "event_name": "llm", "fingerprint_id": "${fingerprint_id}", "session": "s",
    "properties": {"api": "openai-responses", "inputs": ${payload}, "output": {}}
  }`
  const { event_id } = JSON.parse((await app.call("/tachograph/api/v1/events", key, event)).text)
  expect((await app.call(`/tachograph/api/v1/events/${event_id}`, key)).text).toContain(`"inputs":${payload},`)
  expect(app.output()).toBe("")
  expect(await app.stop()).toBe(0)
})
