/** Calls whose answer comes by another request: the request that brings it is their end, once. */
import { MemoryStorage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it, onTestFinished, vi } from "vitest"
import { createTachograph, type Tachograph } from "../../src/index.ts"
import { apiKey } from "../Samples.ts"
import { served } from "../Served.ts"
import { type Sent, send, withKey } from "./Client.ts"
import { upstream } from "./Upstream.ts"

const now = Math.floor(Date.now() / 1000)
const response = {
  id: "resp_1",
  object: "response",
  created_at: now,
  status: "queued",
  model: "gpt-5",
  output: [] as ReadonlyArray<unknown>,
  usage: null as unknown
}
const answered = {
  ...response,
  status: "completed",
  output: [{ id: "m", type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] }],
  usage: { input_tokens: 100, output_tokens: 50, total_tokens: 150 }
}
const question = { model: "gpt-5", background: true, input: "hi" }

interface Step extends Sent {
  readonly path: string
  readonly answer: unknown
  readonly status?: number
  readonly named?: boolean
}

const post = (request: unknown, answer: unknown, path = "/v1/responses"): Step => ({
  path,
  answer,
  body: JSON.stringify(request)
})
const get = (answer: unknown, path = "/v1/responses/resp_1"): Step => ({ path, answer, method: "GET" })

const textOf = (answer: unknown) => (typeof answer === "string" ? answer : JSON.stringify(answer))

/** A proxy over a storage that several have, and what is recorded there. */
const start = async (memory = MemoryStorage.layer) => {
  let step: Step | undefined
  const { url } = await upstream((to) => {
    const body = textOf(step!.answer)
    const type = body.startsWith("event:") ? "text/event-stream" : "application/json"
    to.writeHead(step!.status ?? 200, { "content-type": type }).end(body)
  })
  const open = async () => {
    const proxy = { upstreams: { local: url } }
    const tachograph = await createTachograph({ storage: memory, thread: false, apiKeys: [apiKey], proxy })
    onTestFinished(() => tachograph.close())
    return { tachograph, port: (await served(tachograph.node)).port }
  }
  const run = async ({ port }: { readonly port: number }, steps: ReadonlyArray<Step>) => {
    for (step of steps) {
      const headers = { ...withKey, "x-tachograph-agent": "worker", ...step.headers }
      const { body } = await send(port, `/proxy/local${step.path}`, { ...step, headers })
      expect(body.toString()).toBe(textOf(step.answer))
    }
  }
  return { open, run }
}

/** A storage in memory that several servers have. */
const sharedMemory = async () =>
  Layer.succeedContext(await Effect.runPromise(Effect.scoped(Layer.build(MemoryStorage.layer))))

const eventsOf = async ({ api }: Tachograph, count: number) => {
  const { events } = await vi.waitFor(
    async () => {
      const page = await api.listEvents({ order: "asc" })
      expect(page.events.length).toBeGreaterThanOrEqual(count)
      return page
    },
    { timeout: 60_000, interval: 5 }
  )
  return Promise.all(events.map(({ event_id }) => api.getEvent({ event_id })))
}

/** A call of another kind, which is recorded after all before it. */
const last = post({ messages: [] }, { choices: [] }, "/v1/chat/completions")

const runIn = async (steps: ReadonlyArray<Step>, count: number) => {
  const { open, run } = await start()
  const server = await open()
  await run(server, [...steps, last])
  const events = await eventsOf(server.tachograph, count + 1)
  expect(events.map(({ properties }) => properties.api).at(-1)).toBe("provider1-chat-completions")
  return { ...server, events: events.slice(0, -1) }
}

it("has its question, its answer and its tokens once, however often it is asked for", async () => {
  const headers = { "x-tachograph-session": "s", "x-tachograph-person": "p" }
  const { events, tachograph } = await runIn(
    [
      { ...post(question, response), headers },
      get({ ...response, status: "in_progress" }),
      get({ error: { message: "away" } }),
      { ...get({ status: "unavailable" }), status: 503 },
      get(answered),
      get(answered, "/v1/responses/resp_1?include[]=x"),
      get(answered)
    ],
    2
  )
  expect(events).toMatchObject([
    { session: "s", stop_reason: null, input_tokens: null, cost_usd: null, recorded: null },
    {
      session: "s",
      agent: "worker",
      person: "p",
      properties: { inputs: question, output: answered },
      stop_reason: "end",
      input_tokens: 100,
      output_tokens: 50,
      http_status: 200,
      first_token_ms: null,
      recorded: { retrieved: true }
    }
  ])
  expect(events[1]!.occurred_at).toBe(events[0]!.occurred_at)
  expect(Number(events[1]!.cost_usd)).toBeGreaterThan(0)
  const { messages } = await tachograph.api.listSessionMessages({ session: "s" })
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"])
})

it("ends by a stream that is resumed, and by nothing where that is cut", async () => {
  const event = (type: string, body: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`
  const begun = event("response.created", { response })
  const delta = event("response.output_text.delta", { output_index: 0, content_index: 0, item_id: "m", delta: "o" })
  const done = event("response.completed", { response: answered })
  const resumed = "/v1/responses/resp_1?stream=true&starting_after=1"
  const { events } = await runIn(
    [post({ ...question, stream: true }, begun), get(delta, resumed), get(delta + done, resumed)],
    2
  )
  expect(events.map(({ error_type, output_tokens }) => [error_type, output_tokens])).toEqual([
    ["cut", null],
    [null, 50]
  ])
  expect(events[1]!.properties.output).toMatchObject({ output: answered.output })
  expect(new Set(events.map(({ session }) => session)).size).toBe(1)
})

it.each([
  ["cancelled", post({}, { ...response, status: "cancelled" }, "/v1/responses/resp_1/cancel"), "other", null],
  ["failed", get({ ...response, status: "failed", error: { code: "server_error" } }), "error", "server_error"],
  [
    "incomplete",
    get({ ...answered, status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }),
    "length",
    null
  ]
])("ends where it is %s", async (_name, end, stop_reason, error_type) => {
  const { events } = await runIn([post(question, response), end, get(answered)], 2)
  expect(events[1]).toMatchObject({ stop_reason, error_type, recorded: { retrieved: true } })
})

it("is an interaction as well, and a completion that is deferred", async () => {
  const interaction = { id: "i", status: "in_progress", agent: "deep-research", object: "interaction" }
  const usage = { total_input_tokens: 7, total_output_tokens: 5 }
  const steps = [{ type: "model_output", content: [{ type: "text", text: "ok" }] }]
  const completion = { id: "c", object: "chat.completion", model: "grok-4", choices: [{ message: { content: "ok" } }] }
  const chat = { model: "grok-4", deferred: true, messages: [{ role: "user", content: "hi" }] }
  const { events } = await runIn(
    [
      post({ agent: "deep-research", input: "hi", background: true }, interaction, "/v1beta/interactions"),
      get(interaction, "/v1beta/interactions/i"),
      get({ ...interaction, status: "completed", usage, steps }, "/v1beta/interactions/i"),
      get({ ...interaction, status: "completed", usage, steps }, "/v1beta/interactions/i"),
      post(chat, { request_id: "d" }, "/v1/chat/completions"),
      { ...get("", "/v1/chat/deferred-completion/d"), status: 202 },
      get({ ...completion, usage: { prompt_tokens: 3, completion_tokens: 4 } }, "/v1/chat/deferred-completion/d")
    ],
    4
  )
  expect(events.map(({ input_tokens, output_tokens }) => [input_tokens, output_tokens])).toEqual([
    [null, null],
    [7, 5],
    [null, null],
    [3, 4]
  ])
  expect(events[3]!.properties.inputs).toEqual(chat)
})

it("is counted once by servers that do not know what others have seen, and shows its question once", async () => {
  const { open, run } = await start(await sharedMemory())
  const [first, second, third] = [await open(), await open(), await open()]
  const inBackground = { ...answered, background: true }
  await run(first, [post(question, { ...response, background: true })])
  await eventsOf(first.tachograph, 1)
  await run(second, [get(inBackground)])
  await eventsOf(first.tachograph, 2)
  for (const server of [third, first, second]) await run(server, [get(inBackground), last])
  const events = await eventsOf(first.tachograph, 5)
  const ends = events.filter(({ input_tokens }) => input_tokens !== null)
  expect(ends).toMatchObject([{ properties: { inputs: { response_id: "resp_1" } }, model: "gpt-5" }])
  expect(events.length).toBe(5)
  const { messages } = await first.tachograph.api.listSessionMessages({ session: ends[0]!.session })
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"])
})

it("is no end of a call that was answered at once, or that may have been recorded long ago", async () => {
  const old = { ...answered, background: true, created_at: now - 7 * 24 * 60 * 60 }
  const streamed = `event: response.completed\ndata: ${JSON.stringify({ type: "response.completed", response: { ...answered, id: "resp_2", background: true } })}\n\n`
  const { events } = await runIn(
    [
      post({ model: "gpt-5", input: "hi" }, { ...answered, background: false }),
      get({ ...answered, background: false }),
      get(old, "/v1/responses/resp_old"),
      { ...post({ ...question, stream: true }, streamed), headers: { "x-tachograph-session": "named" } },
      get({ ...answered, id: "resp_2", background: true }, "/v1/responses/resp_2")
    ],
    2
  )
  expect(events.map(({ input_tokens, recorded }) => [input_tokens, recorded])).toEqual([
    [100, null],
    [100, null]
  ])
})
