/** Bodies of 20 MB through each SDK. They are compared by their hashes: a text of that length in an assertion takes long. */
import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import { createHash } from "node:crypto"
import OpenAI from "openai"
import { beforeAll, describe, expect, it } from "vitest"
import { json, type Provider, startProvider, stream } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { chat, gemini, messages } from "./Wire.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const apiKey = "sk-planted-key"
const image = "A".repeat(20_000_000)
const words = "ö".repeat(10_000_000)

const hash = (value: unknown): string =>
  createHash("sha256")
    .update(typeof value === "string" ? value : JSON.stringify(value))
    .digest("hex")

/** Sends an image, or only the words that are asked for. Answers with the text of the answer. */
type Ask = (fetch: typeof globalThis.fetch, data: string | undefined) => Promise<string | null | undefined>

const question = "Weather in Köln?"

const openai: Ask = async (fetch, data) => {
  const client = new OpenAI({ apiKey, baseURL: `${provider.url}/v1`, fetch, maxRetries: 0 })
  const content = data === undefined ? question : [{ type: "image_url" as const, image_url: { url: `data:,${data}` } }]
  const { choices } = await client.chat.completions.create({ model: "m", messages: [{ role: "user", content }] })
  return choices[0]!.message.content
}

const anthropic: Ask = async (fetch, data) => {
  const client = new Anthropic({ apiKey, baseURL: provider.url, fetch, maxRetries: 0 })
  const source = { type: "base64" as const, media_type: "image/png" as const, data: data ?? "" }
  const content = data === undefined ? question : [{ type: "image" as const, source }]
  const answer = await client.messages.create({ ...messages.request, messages: [{ role: "user", content }] })
  return answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")
}

const anthropicStream: Ask = async (fetch, data) => {
  const client = new Anthropic({ apiKey, baseURL: provider.url, fetch, maxRetries: 0 })
  const content = data ?? question
  const answer = await client.messages
    .stream({ ...messages.request, messages: [{ role: "user", content }] })
    .finalText()
  return answer
}

const genai: Ask = async (fetch, data) => {
  const before = globalThis.fetch
  globalThis.fetch = fetch
  try {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: provider.url } })
    const parts = [data === undefined ? { text: question } : { inlineData: { mimeType: "image/png", data } }]
    return (await client.models.generateContent({ model: "m", contents: [{ role: "user", parts }] })).text
  } finally {
    globalThis.fetch = before
  }
}

const ofOpenAi = (content: string) =>
  json({ ...chat.answer, choices: [{ index: 0, message: { role: "assistant", content } }] })
const ofAnthropic = (text: string) => json({ ...messages.answer, content: [{ type: "text", text }] })
const ofGemini = (text: string) =>
  json({ ...gemini.answer, candidates: [{ content: { role: "model", parts: [{ text }] } }] })
const ofAnthropicStream = (text: string) => {
  const delta = (part: string) =>
    `event: content_block_delta\ndata: ${JSON.stringify({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: part }
    })}\n\n`
  const parts = Array.from({ length: 100 }, (_, index) =>
    text.slice((index * text.length) / 100, ((index + 1) * text.length) / 100)
  )
  const [start, begin] = messages.chunks
  return stream([start!, begin!, ...parts.map(delta), ...messages.chunks.slice(5, 6), ...messages.chunks.slice(-2)])
}

describe.each<[string, Ask, (text: string) => Provider["answer"]]>([
  ["openai", openai, ofOpenAi],
  ["@anthropic-ai/sdk", anthropic, ofAnthropic],
  ["@anthropic-ai/sdk with a stream", anthropicStream, ofAnthropicStream],
  ["@google/genai", genai, ofGemini]
])("%s", (_name, ask, answerOf) => {
  it.each<[string, string | undefined, string]>([
    ["request", image, "18 °C"],
    ["answer", undefined, words]
  ])("records a %s of 20 MB, and leaves it as it is", async (_direction, data, text) => {
    const recording = await startRecording()
    provider.answer = answerOf(text)
    provider.requests.length = 0
    const plain = await ask(fetch, data)
    const tapped = await ask(recording.recorder.fetch, data)
    expect([hash(plain), hash(tapped)]).toEqual([hash(text), hash(text)])
    const [without, withTap] = provider.requests.map(({ body }) => body)
    expect(hash(withTap)).toBe(hash(without))
    expect(without!.length > 20_000_000).toBe(data !== undefined)
    const [event] = await recording.events()
    expect(hash(event!.properties.inputs)).toBe(hash(JSON.parse(without!)))
    const recorded = JSON.stringify(event!.properties.output)
    expect([recorded.includes(JSON.stringify(text)), recorded.includes('"error"')]).toEqual([true, false])
    expect(recording.drops).toEqual([])
    expect(recording.recorder.counters()).toMatchObject({ sent: 1, heldBytes: 0 })
  })
})
