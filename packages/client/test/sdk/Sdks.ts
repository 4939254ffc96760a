/** One question to a model, asked by each SDK in each major, and the provider's answer to it. */
import { createOpenAI } from "@ai-sdk/openai"
import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import * as ai from "ai"
import { createOpenAI as createOpenAI3 } from "ai-sdk-openai3"
import * as ai6 from "ai6"
import Anthropic0 from "anthropic0"
import { GoogleGenAI as GoogleGenAI2 } from "genai2"
import OpenAI from "openai"
import OpenAI6 from "openai6"
import { json, type Provider, stream } from "../Provider.ts"
import { chat, gemini, messages } from "./Wire.ts"

interface Question {
  readonly url: string
  readonly fetch: typeof globalThis.fetch
  readonly text: string
  /** In Base64. */
  readonly image?: string | undefined
}

export interface Sdk {
  /** Resolves with the text of the answer. Where the SDK takes no `fetch`, it uses the global one. */
  readonly ask: (question: Question) => Promise<string | null | undefined>
  readonly answer: (text: string) => Provider["answer"]
}

const apiKey = "sk-planted-key"

/** Runs with a global `fetch`, for SDKs that take none. */
export const withGlobal = async <A>(fetch: typeof globalThis.fetch, run: () => Promise<A>): Promise<A> => {
  const before = globalThis.fetch
  globalThis.fetch = fetch
  try {
    return await run()
  } finally {
    globalThis.fetch = before
  }
}

const ofChat = (content: string) =>
  json({ ...chat.answer, choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] })

const openai = (Client: typeof OpenAI): Sdk => ({
  ask: async ({ fetch, image, text, url }) => {
    const client = new Client({ apiKey, baseURL: `${url}/v1`, fetch, maxRetries: 0 })
    const picture = { type: "image_url" as const, image_url: { url: `data:image/png;base64,${image}` } }
    const content = [{ type: "text" as const, text }, ...(image === undefined ? [] : [picture])]
    const { choices } = await client.chat.completions.create({ model: "m", messages: [{ role: "user", content }] })
    return choices[0]!.message.content
  },
  answer: ofChat
})

const anthropicRequest = ({ image, text }: Question) => {
  const source = { type: "base64" as const, media_type: "image/png" as const, data: image ?? "" }
  const picture = { type: "image" as const, source }
  const content = [{ type: "text" as const, text }, ...(image === undefined ? [] : [picture])]
  return { ...messages.request, messages: [{ role: "user" as const, content }] }
}

const anthropic = (Client: typeof Anthropic): Sdk => ({
  ask: async (question) => {
    const client = new Client({ apiKey, baseURL: question.url, fetch: question.fetch, maxRetries: 0 })
    const { content } = await client.messages.create(anthropicRequest(question))
    return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")
  },
  answer: (text) => json({ ...messages.answer, content: [{ type: "text", text }] })
})

const anthropicStream = (Client: typeof Anthropic): Sdk => ({
  ask: (question) => {
    const client = new Client({ apiKey, baseURL: question.url, fetch: question.fetch, maxRetries: 0 })
    return client.messages.stream(anthropicRequest(question)).finalText()
  },
  answer: (text) => {
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
})

const genai = (Client: typeof GoogleGenAI): Sdk => ({
  ask: async ({ image, text, url }) => {
    const client = new Client({ apiKey, httpOptions: { baseUrl: url } })
    const picture = { inlineData: { mimeType: "image/png", data: image ?? "" } }
    const contents = [{ role: "user", parts: [{ text }, ...(image === undefined ? [] : [picture])] }]
    return (await client.models.generateContent({ model: "m", contents })).text
  },
  answer: (text) => json({ ...gemini.answer, candidates: [{ content: { role: "model", parts: [{ text }] } }] })
})

const aiSdk = (sdk: typeof ai, create: typeof createOpenAI): Sdk => ({
  ask: async ({ fetch, image, text, url }) => {
    const model = create({ apiKey, baseURL: `${url}/v1`, fetch }).chat("m")
    const picture = { type: "file" as const, data: image ?? "", mediaType: "image/png" }
    const content = [{ type: "text" as const, text }, ...(image === undefined ? [] : [picture])]
    return (await sdk.generateText({ model, maxRetries: 0, messages: [{ role: "user", content }] })).text
  },
  answer: ofChat
})

export const sdksOfNow: ReadonlyArray<readonly [name: string, Sdk]> = [
  ["openai 7", openai(OpenAI)],
  ["@anthropic-ai/sdk 1", anthropic(Anthropic)],
  ["@google/genai 3", genai(GoogleGenAI)],
  ["ai 7", aiSdk(ai, createOpenAI)]
]

// The major before has the same interface, as far as the tests use it.
export const sdks: typeof sdksOfNow = [
  ...sdksOfNow,
  ["openai 6", openai(OpenAI6 as unknown as typeof OpenAI)],
  ["@anthropic-ai/sdk 0", anthropic(Anthropic0 as unknown as typeof Anthropic)],
  ["@google/genai 2", genai(GoogleGenAI2 as unknown as typeof GoogleGenAI)],
  ["ai 6", aiSdk(ai6 as unknown as typeof ai, createOpenAI3 as unknown as typeof createOpenAI)]
]

/** Those that stream. */
export const streamingSdks: typeof sdksOfNow = [
  ["@anthropic-ai/sdk 1 with a stream", anthropicStream(Anthropic)],
  ["@anthropic-ai/sdk 0 with a stream", anthropicStream(Anthropic0 as unknown as typeof Anthropic)]
]
