/** Calls whose path says nothing: recorded where the answer says what they are, and else counted where they are billed. */
import { MemoryStorage } from "@tachograph/core"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { expect, it, onTestFinished, vi } from "vitest"
import { createTachograph } from "../../src/index.ts"
import { apiKey } from "../Samples.ts"
import { served } from "../Served.ts"
import { send, withKey } from "./Client.ts"
import { upstream } from "./Upstream.ts"

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const chat = { model: "m", messages: [{ role: "user", content: "hi" }] }
const completion = {
  id: "c",
  object: "chat.completion",
  model: "gpt-5",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }],
  usage
}
const chunk = { ...completion, object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "ok" } }] }
const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-x", content: [], usage: {} }

interface Case {
  readonly path: string
  readonly request: unknown
  readonly answer: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const bodyOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

/** Sends through a proxy, one after the other. Returns the formats of what was recorded, the counts by path, and the lines of the log. */
const run = async (cases: ReadonlyArray<Case>, count: number) => {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
  let answer: unknown
  const { url } = await upstream((response) => {
    const body = bodyOf(answer)
    const type = body.startsWith("data:") || body.startsWith(":") ? "text/event-stream" : "application/json"
    response.writeHead(200, { "content-type": type }).end(body)
  })
  const storage = Layer.mergeAll(MemoryStorage.layer, logger)
  const tachograph = await createTachograph({ storage, apiKeys: [apiKey], proxy: { upstreams: { local: url } } })
  onTestFinished(() => tachograph.close())
  const { port } = await served(tachograph.node)
  const counted = async (): Promise<ReadonlyMap<string, number>> => {
    const text = await (await tachograph.fetch(new Request("http://host/metrics"))).text()
    const found = text.matchAll(/unrecognised_calls_total\{path="([^"]*)"\} (\d+)/g)
    return new Map(Array.from(found, ([, path, count]) => [path!, Number(count)]))
  }
  // Metrics are of the process, in which other tests have run.
  const before = await counted()
  const counts = async (): Promise<Readonly<Record<string, number>>> => {
    const since = Array.from(await counted(), ([path, count]) => [path, count - (before.get(path) ?? 0)] as const)
    return Object.fromEntries(since.filter(([, count]) => count > 0))
  }
  for (const one of cases) {
    answer = one.answer
    const headers = { "content-type": "application/json", ...one.headers, ...withKey }
    const { body } = await send(port, `/proxy/local${one.path}`, { headers, body: bodyOf(one.request) })
    expect(body.toString()).toBe(bodyOf(answer))
  }
  const events = await vi.waitFor(
    async () => {
      const { events } = await tachograph.api.listEvents({ order: "asc" })
      const counted = Object.values(await counts()).reduce((sum, each) => sum + each, 0)
      expect(events.length + counted).toBe(count)
      return events
    },
    { timeout: 60_000, interval: 5 }
  )
  return { apis: events.map(({ api }) => api), events, counts: await counts(), lines }
}

it("are recorded as what their answers and their bodies say", async () => {
  const contents = [{ role: "user", parts: [{ text: "hi" }] }]
  const { apis, events } = await run(
    [
      { path: "/serving-endpoints/mine/invocations", request: { messages: chat.messages }, answer: completion },
      { path: "/llm", request: chat, answer: `: hello\n\ndata: {"choices":[]}\n\ndata: ${JSON.stringify(chunk)}\n\n` },
      { path: "/claude", request: { ...chat, max_tokens: 1 }, answer: message },
      { path: "/r", request: { model: "m", input: "hi" }, answer: { id: "r", object: "response", output: [] } },
      { path: "/g", request: { contents }, answer: { candidates: [], usageMetadata: { promptTokenCount: 1 } } },
      { path: "/i", request: { model: "g", input: "hi" }, answer: { id: "i", object: "interaction", steps: [] } }
    ],
    6
  )
  expect(apis).toEqual([
    "provider1-chat-completions",
    "provider1-chat-completions",
    "provider2-messages",
    "provider1-responses",
    "provider3-models",
    "provider3-interactions"
  ])
  expect(events.slice(0, 2).map(({ input_tokens, output_tokens }) => [input_tokens, output_tokens])).toEqual([
    [3, 4],
    [3, 4]
  ])
})

it("are counted by path where no format is theirs, and named once in the log", async () => {
  const embeddings = { model: "text-embedding-3-small", input: "hi" }
  const form = '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-4o-transcribe\r\n--x--\r\n'
  const { apis, counts, lines } = await run(
    [
      { path: "/v1/embeddings?key=secret", request: embeddings, answer: { object: "list", data: [], usage } },
      { path: "/v1/embeddings", request: embeddings, answer: { object: "list", data: [], usage } },
      {
        path: "/v1/completions",
        request: { model: "m", prompt: "hi" },
        answer: `data: ${JSON.stringify({ usage })}\n\n`
      },
      {
        path: "/v1/audio/transcriptions",
        headers: { "content-type": "multipart/form-data; boundary=x" },
        request: form,
        answer: { text: "hi", usage }
      },
      {
        path: "/v1internal:generateContent",
        request: { model: "gemini-3-pro", project: "mine", request: {} },
        answer: { response: { candidates: [], usageMetadata: {} } }
      },
      {
        path: "/model/meta.llama3/invoke",
        request: { prompt: "hi" },
        answer: { generation: "", prompt_token_count: 1 }
      },
      // None of these is billed by a model's use.
      { path: "/v1/messages/count_tokens", request: chat, answer: { input_tokens: 5 } },
      {
        path: "/v1/responses/input_tokens",
        request: chat,
        answer: { object: "response.input_tokens", input_tokens: 5 }
      },
      { path: "/v1/embeddings", request: embeddings, answer: { error: { message: '{"usage":{}}' }, usage: null } },
      { path: "/v1/chat/completions/c", request: { metadata: {} }, answer: completion },
      {
        path: "/v1/files",
        request: "bytes",
        headers: { "content-type": "application/octet-stream" },
        answer: { usage }
      }
    ],
    6
  )
  expect(apis).toEqual([])
  expect(counts).toEqual({
    "/v1/embeddings": 2,
    "/v1/completions": 1,
    "/v1/audio/transcriptions": 1,
    "/v1internal:generateContent": 1,
    "/model/*/invoke": 1
  })
  const said = lines.map((line) => (JSON.parse(line) as { annotations: object }).annotations)
  expect(said).toEqual(Object.keys(counts).map((path) => ({ upstream: "local", path })))
})
