/** Calls whose answer comes by another request, and requests whose path says nothing. */
import { beforeAll, expect, it, vi } from "vitest"
import { chunkFrame, eventFrame } from "../../../../scripts/vitest/BedrockFrames.ts"
import { json, type Provider, startProvider, stream } from "../Provider.ts"
import { eventsOf, openTachograph, startRecording } from "../Recording.ts"
import { createRecorder } from "../../src/index.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const question = { model: "gpt-5", background: true, input: "hi" }
const queued = {
  ...{ id: "resp_1", object: "response", created_at: Math.floor(Date.now() / 1000), status: "queued", model: "gpt-5" },
  ...{ background: true, output: [] as ReadonlyArray<unknown>, usage: null as unknown }
}
const answered = {
  ...queued,
  status: "completed",
  output: [{ id: "m", type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] }],
  usage: { input_tokens: 100, output_tokens: 50, total_tokens: 150 }
}

type Fetch = typeof globalThis.fetch

const post = async (fetch: Fetch, path: string, request: unknown, answer: unknown) => {
  provider.answer = json(answer)
  const response = await fetch(`${provider.url}${path}`, { method: "POST", body: JSON.stringify(request) })
  expect(await response.json()).toEqual(answer)
}

const get = async (fetch: Fetch, answer: unknown, path = "/v1/responses/resp_1", status = 200) => {
  provider.answer = json(answer, status)
  expect(await (await fetch(`${provider.url}${path}`)).json()).toEqual(answer)
}

it("record the end of a call in the background once, however often it is asked for", async () => {
  const recording = await startRecording()
  const { fetch } = recording.recorder
  await recording.recorder.with({ session: "s", agent: "a", person: "p" }, () =>
    post(fetch, "/v1/responses", question, queued)
  )
  await recording.recorder.flush()
  await get(fetch, { ...queued, status: "in_progress" })
  await get(fetch, { error: { message: "away" } }, "/v1/responses/resp_1", 500)
  for (let n = 0; n < 3; n++) {
    await get(fetch, answered)
    await recording.recorder.flush()
  }
  const events = await recording.events()
  const named = { session: "s", agent: "a", person: "p" }
  expect(events).toMatchObject([
    { ...named, input_tokens: null, recorded: null },
    { ...named, input_tokens: 100, recorded: { retrieved: true }, properties: { inputs: question, output: answered } }
  ])
  expect(events.length).toBe(2)
  expect(events[1]!.occurred_at).toBe(events[0]!.occurred_at)
  expect(events[1]!.duration_ms).toBeGreaterThan(events[0]!.duration_ms!)
  expect([recording.drops, recording.recorder.counters().dropped]).toEqual([[], {}])
})

it("record it once for recorders that do not know what others have seen", async () => {
  const tachograph = await openTachograph()
  const recorders = Array.from({ length: 3 }, () => createRecorder({ tachograph }))
  const run = async (at: number, step: (fetch: Fetch) => Promise<void>) => {
    await step(recorders[at]!.fetch)
    await recorders[at]!.flush()
  }
  await run(0, (fetch) => post(fetch, "/v1/responses", question, queued))
  for (const at of [1, 2, 0, 1]) await run(at, (fetch) => get(fetch, answered))
  const events = await eventsOf(tachograph)
  expect(events.map(({ input_tokens }) => input_tokens)).toEqual([null, 100])
  expect(events[1]).toMatchObject({ model: "gpt-5", properties: { inputs: { response_id: "resp_1" } } })
  expect(events[1]!.session).toBe(events[0]!.session)
  for (const recorder of recorders) expect(recorder.counters().dropped).toEqual({})
})

it("record nothing where a call was answered at once", async () => {
  const recording = await startRecording()
  const { fetch } = recording.recorder
  await post(fetch, "/v1/responses", { model: "gpt-5", input: "hi" }, { ...answered, background: false })
  await recording.recorder.flush()
  await get(fetch, { ...answered, background: false })
  expect((await recording.events()).length).toBe(1)
})

it("record what an answer says of a path that says nothing, and count what is in no format", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
  const recording = await startRecording()
  const { fetch } = recording.recorder
  const chat = { model: "m", messages: [{ role: "user", content: "hi" }] }
  const usage = { prompt_tokens: 3, completion_tokens: 4 }
  const choice = { index: 0, finish_reason: "stop" }
  const completion = { object: "chat.completion", choices: [{ ...choice, message: { content: "ok" } }], usage }
  const chunk = { object: "chat.completion.chunk", choices: [{ ...choice, delta: { content: "ok" } }], usage }
  await post(fetch, "/llm", chat, completion)
  const streamed = async (path: string, request: unknown, event: unknown) => {
    provider.answer = stream([`data: ${JSON.stringify(event)}\n\n`, "data: [DONE]\n\n"])
    await (await fetch(`${provider.url}${path}`, { method: "POST", body: JSON.stringify(request) })).text()
  }
  await streamed("/llm", chat, chunk)
  await streamed("/v1/completions", { model: "m", prompt: "hi" }, { usage })
  for (let n = 0; n < 2; n++) await post(fetch, "/v1/embeddings", { model: "m", input: "hi" }, { data: [], usage })
  await post(fetch, "/v1/cars", { model: "Golf" }, { cars: [] })
  await post(fetch, "/v1/embeddings", { input: "hi" }, { data: [], usage })
  const message = { id: "m", type: "message", role: "assistant", content: [], usage: { input_tokens: 1 } }
  const anthropic = { anthropic_version: "bedrock-2023-05-31", messages: chat.messages }
  await post(fetch, "/model/arn%3Aaws%3Abedrock%3Ar%3A1%3Aapplication-inference-profile%2Fa/invoke", anthropic, message)
  const events = await recording.events()
  expect(events.map(({ properties, output_tokens }) => [properties.api, output_tokens])).toEqual([
    ["provider1-chat-completions", 4],
    ["provider1-chat-completions", 4],
    ["provider2-messages", null]
  ])
  expect(recording.recorder.counters()).toMatchObject({
    ...{ dropped: {}, heldBytes: 0, underWay: 0 },
    unrecognised: { "/v1/completions": 1, "/v1/embeddings": 2 }
  })
  const said = warn.mock.calls.map(([text]) => String(text)).filter((text) => text.includes("only counted"))
  expect(said).toHaveLength(2)
  warn.mockRestore()
})

it("record calls of Bedrock, by their frames, and Converse as what it is rebuilt to", async () => {
  const recording = await startRecording()
  const { fetch } = recording.recorder
  const frames = [
    eventFrame("messageStart", { role: "assistant" }),
    eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Grüße" } }),
    eventFrame("messageStop", { stopReason: "end_turn" }),
    eventFrame("metadata", { usage: { inputTokens: 3, outputTokens: 4 } })
  ]
  const converse = { messages: [{ role: "user", content: [{ text: "hi" }] }] }
  const native = { anthropic_version: "bedrock-2023-05-31", messages: [{ role: "user", content: "hi" }] }
  const message = { id: "msg_bdrk_1", type: "message", role: "assistant", content: [], usage: { input_tokens: 3 } }
  const chunks = [
    chunkFrame({ type: "message_start", message }),
    chunkFrame({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } })
  ]
  const profile = "arn%3Aaws%3Abedrock%3Ar%3A1%3Aapplication-inference-profile%2Fa"
  for (const [path, request, body] of [
    [`/model/${profile}/invoke-with-response-stream`, native, chunks],
    ["/model/anthropic.claude-x/invoke-with-response-stream", native, chunks],
    ["/model/anthropic.claude-x/converse-stream", converse, frames],
    ["/model/amazon.nova-pro/converse-stream", converse, frames]
  ] as const) {
    provider.answer = stream(body, "application/vnd.amazon.eventstream")
    const response = await fetch(`${provider.url}${path}`, { method: "POST", body: JSON.stringify(request) })
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.concat(body))).toBe(true)
  }
  await post(fetch, "/model/anthropic.claude-x/converse", converse, {
    output: { message: { role: "assistant", content: [{ text: "ok" }] } },
    ...{ stopReason: "end_turn", usage: { inputTokens: 3, outputTokens: 4 } }
  })
  const [messages, chat] = ["provider2-messages", "provider1-chat-completions"]
  const events = await recording.events()
  const counted = { input_tokens: 3, output_tokens: 4, stop_reason: "end", error_type: null }
  expect(
    events.map((event) => Object.fromEntries(Object.keys(counted).map((key) => [key, event[key as "stop_reason"]])))
  ).toEqual(Array.from({ length: 5 }, () => counted))
  expect(events.map(({ properties, recorded }) => [properties.api, recorded])).toEqual([
    [messages, null],
    [messages, null],
    [messages, { rebuilt: true }],
    [chat, { rebuilt: true }],
    [messages, { rebuilt: true }]
  ])
})
