/** What the telemetry of version 7 records of streams that do not come to their end. */
import { createOpenAI } from "@ai-sdk/openai"
import * as ai from "ai"
import { formats } from "@tachograph/formats"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { begun, json, type Provider, startProvider, stream } from "../Provider.ts"
import { type Recording, startRecording } from "../Recording.ts"
import { chat } from "../sdk/Wire.ts"
import { wires } from "./Wires.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

/** Resolves with the parts of the text. */
const read = async (
  { recorder }: Recording,
  abortAfter: string | undefined,
  { reason, ...options }: { readonly reason?: unknown; readonly [option: string]: unknown } = {}
) => {
  const model = createOpenAI({ apiKey: "sk-planted-key", baseURL: `${provider.url}/v1` }).chat("gpt-x")
  const controller = new AbortController()
  const { textStream } = ai.streamText({
    model,
    prompt: "Weather?",
    maxRetries: 0,
    abortSignal: controller.signal,
    telemetry: { integrations: [recorder.aiSdk] },
    onError: () => {},
    ...options
  })
  const parts: Array<string> = []
  for await (const part of textStream) {
    parts.push(part)
    if (part === abortAfter) controller.abort(reason)
  }
  return parts
}

it("records a stream that the application aborts as far as it came", async () => {
  provider.answer = begun(chat.chunks.slice(0, 3))
  const recording = await startRecording()
  expect(await read(recording, " ☀")).toEqual(["Grüße", " ☀"])
  const [{ properties }] = (await recording.events()) as [any]
  expect(properties.output).toMatchObject({
    content: [{ type: "text", text: "Grüße ☀" }],
    response: { id: "chatcmpl-1", modelId: "gpt-x" },
    error: { type: "aborted" }
  })
  const { inputs, output } = properties
  expect(formats.aisdk.facts(inputs, output)).toMatchObject({ response_model: "gpt-x", error_type: "aborted" })
  expect(formats.aisdk.messages(inputs, output).output).toMatchObject([{ parts: [{ content: "Grüße ☀" }] }])
})

it("records a stream as too long where that is why it is aborted, as by the SDK's own timeout", async () => {
  provider.answer = begun(chat.chunks.slice(0, 3))
  const recording = await startRecording()
  await read(recording, " ☀", { reason: new DOMException("Too long", "TimeoutError") })
  const [{ properties }] = (await recording.events()) as [any]
  expect(properties.output).toMatchObject({ content: [{ text: "Grüße ☀" }], error: { type: "timeout" } })
})

it("counts what a stream has said in the memory of the recorder, and gives the application all of it", async () => {
  const piece = "x".repeat(1000)
  const chunks = wires.openAiChat.said(piece).slice(0, 1)
  provider.answer = stream([...Array<string>(40).fill(chunks[0]!), ...wires.openAiChat.said("end")])
  const recording = await startRecording({ maxBytes: 30_000 })
  const held: Array<number> = []
  const parts = await read(recording, undefined, {
    onChunk: () => void held.push(recording.recorder.counters().heldBytes)
  })
  expect(parts.join("")).toBe(`${piece.repeat(40)}end`)
  expect(Math.max(...held)).toBeGreaterThan(20_000)
  expect(Math.max(...held)).toBeLessThanOrEqual(30_000)
  expect(await recording.events()).toEqual([])
  expect(recording.drops).toEqual([{ reason: "memory" }])
  expect(recording.recorder.counters()).toMatchObject({ heldBytes: 0, underWay: 0 })
})

it("records a stream that breaks as far as it came", async () => {
  provider.answer = (response) => {
    begun(chat.chunks.slice(0, 3))(response)
    setImmediate(() => response.write("", () => response.destroy()))
  }
  const recording = await startRecording()
  await read(recording, undefined).catch(() => {})
  const [{ properties }] = (await recording.events()) as [any]
  expect(properties.output).toMatchObject({
    content: [{ type: "text", text: "Grüße ☀" }],
    error: { cause: { message: "terminated" } }
  })
})

it("records the status of an error that came again", async () => {
  provider.answer = json({ error: { message: "Slow down", type: "rate_limit" } }, 429, { "retry-after-ms": "1" })
  const recording = await startRecording()
  await read(recording, undefined, { maxRetries: 1 })
  expect(provider.requests.length).toBeGreaterThan(1)
  expect(await recording.events()).toMatchObject([{ http_status: 429, properties: { output: { error: {} } } }])
})

it("records the second step of a stream that is aborted, and gives the application the same", async () => {
  let calls = 0
  provider.answer = (response) =>
    calls++ === 0
      ? stream(wires.openAiChat.call)(response)
      : begun(wires.openAiChat.said("18 °C").slice(0, 1))(response)
  const recording = await startRecording()
  const inputSchema = ai.jsonSchema<object>({ type: "object", properties: {} })
  const tools = { weather: ai.tool({ inputSchema, execute: async () => "18 °C" }) }
  const parts = await read(recording, "18 °C", { tools, stopWhen: ai.isStepCount(3) })
  expect(parts).toEqual(["Grüße", " ☀", "18 °C"])
  const outputs = (await recording.events()).map(({ properties }) => properties.output)
  expect(outputs).toMatchObject([{ finishReason: "tool-calls" }, { content: [{ type: "text", text: "18 °C" }] }])
})

describe.each(["in time", "as a whole"])("a stream that comes %s, and is not read to its end", (speed) => {
  const many = Array.from({ length: 200 }, (_, n) => wires.openAiChat.said(`${n} `)[0]!)

  /** The stream of a model that says `0 1 2 …`. */
  const ask = ({ recorder }: Recording) => {
    provider.answer = speed === "in time" ? stream([...many, ...chat.chunks]) : stream([many.slice(0, 3).join("")])
    const model = createOpenAI({ apiKey: "sk-planted-key", baseURL: `${provider.url}/v1` }).chat("gpt-x")
    return ai.streamText({ model, prompt: "?", telemetry: { integrations: [recorder.aiSdk] } })
  }

  const outputOf = async (recording: Recording) => {
    await vi.waitFor(() => expect(recording.recorder.counters()).toMatchObject({ underWay: 0 }), { timeout: 60_000 })
    const [{ properties }] = (await recording.events()) as [any]
    return properties.output
  }

  it("is recorded as far as it came, after a time", async () => {
    const recording = await startRecording({ unreadMs: 1_000 })
    for await (const part of ask(recording).textStream) if (part === "1 ") break
    const output = await outputOf(recording)
    expect(output).toMatchObject({ content: [{ type: "text" }], error: { type: "unread" } })
    expect(output.content[0].text).toMatch(/^0 1 /)
  })
})

it("counts a stream that is not read on, and whose inputs JSON cannot write", async () => {
  provider.answer = stream([...wires.openAiChat.said("a").slice(0, 1), ...wires.openAiChat.said("b")])
  const recording = await startRecording({ unreadMs: 100 })
  const model = createOpenAI({ apiKey: "sk-planted-key", baseURL: `${provider.url}/v1` }).chat("gpt-x")
  const { textStream } = ai.streamText({
    model,
    prompt: "?",
    providerOptions: { mine: { n: 1n as never } },
    telemetry: { integrations: [recording.recorder.aiSdk] }
  })
  for await (const part of textStream) if (part === "a") break
  await vi.waitFor(() => expect(recording.drops).toMatchObject([{ reason: "unreadable" }]), { timeout: 60_000 })
  expect(recording.recorder.counters()).toMatchObject({ underWay: 0, heldBytes: 0 })
})

it("records a step whose tool takes longer than a stream may lie unread", async () => {
  let calls = 0
  provider.answer = (response) =>
    stream(calls++ === 0 ? wires.openAiChat.call : wires.openAiChat.said("18 °C"))(response)
  const recording = await startRecording({ unreadMs: 1_000 })
  const inputSchema = ai.jsonSchema<object>({ type: "object", properties: {} })
  const execute = () => new Promise<string>((resolve) => setTimeout(resolve, 2_500, "18 °C"))
  const parts = await read(recording, undefined, {
    tools: { weather: ai.tool({ inputSchema, execute }) },
    stopWhen: ai.isStepCount(3)
  })
  expect(parts.join("")).toContain("18 °C")
  const outputs = (await recording.events()).map(({ properties }) => properties.output)
  expect(outputs).toMatchObject([{ finishReason: "tool-calls" }, { finishReason: "stop" }])
})

it("records the answer of a stream that the SDK begins again", async () => {
  const failed = `data: ${JSON.stringify({ error: { message: "Overloaded", type: "server_error" } })}\n\n`
  const first = [...wires.openAiChat.said("first ").slice(0, 1), failed]
  let calls = 0
  provider.answer = (response) => stream(calls++ === 0 ? first : wires.openAiChat.said("second"))(response)
  const recording = await startRecording()
  expect(await read(recording, undefined, { streamRetries: 1 })).toContain("second")
  expect(calls).toBe(2)
  const [{ properties }] = (await recording.events()) as [any]
  expect(JSON.stringify(properties.output)).toContain("second")
  expect(properties.output).not.toHaveProperty("error")
})
