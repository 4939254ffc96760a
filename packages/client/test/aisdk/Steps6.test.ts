/** What the telemetry of version 6 records of generations with several steps, which it does not tell the ids of. */
import { createAnthropic } from "ai-sdk-anthropic3"
import { createGoogleGenerativeAI } from "ai-sdk-google3"
import { createOpenAI } from "ai-sdk-openai3"
import * as ai from "ai6"
import { formats } from "@tachograph/formats"
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { json, type Provider, startProvider, stream } from "../Provider.ts"
import { type Recording, startRecording } from "../Recording.ts"
import { wires } from "./Wires.ts"

let provider: Provider

beforeAll(async () => {
  // The names of the models are unknown to it.
  globalThis.AI_SDK_LOG_WARNINGS = false
  provider = await startProvider()
})

const apiKey = "sk-planted-key"
const tools = {
  weather: ai.tool({
    description: "The weather",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `18 °C in ${city}`
  })
}

const providers = {
  openAiChat: () => createOpenAI({ apiKey, baseURL: `${provider.url}/v1` }).chat("gpt-x"),
  openAiResponses: () => createOpenAI({ apiKey, baseURL: `${provider.url}/v1` }).responses("gpt-x"),
  anthropic: () => createAnthropic({ apiKey, baseURL: `${provider.url}/v1` })("claude-x"),
  google: () => createGoogleGenerativeAI({ apiKey, baseURL: `${provider.url}/v1beta` })("gemini-x")
}

const telemetry = ({ recorder }: Recording) => ({
  experimental_telemetry: { isEnabled: true, integrations: [recorder.aiSdk] }
})

const isAfterTool = (body: string) => /"role":"tool"|function_call_output|tool_result|functionResponse/.test(body)

describe.each(Object.keys(providers) as ReadonlyArray<keyof typeof providers>)("ai 6 with %s", (name) => {
  const read = async (recording: Recording, options: Omit<Parameters<typeof ai.streamText>[0], "model">) => {
    const stopWhen = ai.stepCountIs(3)
    const model = providers[name]()
    const { text } = ai.streamText({
      model,
      tools,
      stopWhen,
      maxRetries: 0,
      ...telemetry(recording),
      ...options
    } as never)
    return text
  }

  it("records each step of a stream", async () => {
    provider.answer = (response, { body }) =>
      stream(isAfterTool(body) ? wires[name].said("18 °C") : wires[name].call)(response)
    const recording = await startRecording()
    expect(await read(recording, { prompt: "Weather in Köln?" })).toBe("18 °C")
    const events = await recording.events()
    expect(events).toHaveLength(2)
    const [first, second] = events.map(({ properties: { inputs, output } }) => formats.aisdk.messages(inputs, output))
    expect(first!.output).toMatchObject([{ role: "assistant" }, { role: "tool" }])
    expect(second!.input.map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
    expect(second!.output.at(-1)!.parts).toMatchObject([{ type: "text", content: "18 °C" }])
  })

  it("records each step under its own question, when several streams run at once", async () => {
    provider.answer = (response, { body }) => {
      const index = /Ask (\d+)!/.exec(body)![1]!
      return stream(isAfterTool(body) ? wires[name].said(`Told ${index}!`) : wires[name].call)(response)
    }
    const recording = await startRecording()
    // The first is the beginning of others.
    const prompts = [1, 10, 100, 2, 20].map((index) => `Ask ${index}!`)
    await Promise.all(prompts.map((prompt) => read(recording, { prompt })))
    const events = await recording.events()
    expect(events).toHaveLength(2 * prompts.length)
    const told = events.map(({ properties: { inputs, output } }) => {
      const { input, output: said } = formats.aisdk.messages(inputs, output)
      return [input[0]!.parts[0]!["content"], input.length, said.at(-1)!.parts.at(-1)!["content"]]
    })
    const last = told.filter(([, length]) => length === 3)
    expect(last.map(([, , said]) => said).toSorted()).toEqual(prompts.map((p) => p.replace("Ask", "Told")).toSorted())
    for (const [asked, , said] of last) expect(said).toBe(String(asked).replace("Ask", "Told"))
    const first = told.filter(([, length]) => length === 1)
    expect(first.map(([asked]) => asked).toSorted()).toEqual(prompts.toSorted())
  })

  it("records the same question in the session of each that asks it", async () => {
    provider.answer = (response, { headers }) =>
      stream(wires[name].said(`Told ${String(headers["x-session"])}`))(response)
    const recording = await startRecording()
    const sessions = ["s1", "s2", "s3"]
    const ask = (session: string) => {
      const headers = { "x-session": session }
      return recording.recorder.with({ session }, () => read(recording, { prompt: "Weather?", headers }))
    }
    await Promise.all(sessions.map(ask))
    const told = (await recording.events()).map(({ properties: { inputs, output }, session }) => {
      const [said] = formats.aisdk.messages(inputs, output).output
      return `${session}: ${String(said!.parts[0]!["content"])}`
    })
    expect(told.toSorted()).toEqual(["s1: Told s1", "s2: Told s2", "s3: Told s3"])
  })

  it("records a question with a picture, and the same one again after it failed", async () => {
    provider.answer = json({ error: { message: "No" } }, 400)
    const recording = await startRecording()
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    const content = [
      { type: "text" as const, text: "What is it?" },
      { type: "image" as const, image: `data:image/png;base64,${data}` }
    ]
    const messages: Array<ai.ModelMessage> = [{ role: "user", content }]
    const ask = (session: string) =>
      recording.recorder.with({ session }, () => read(recording, { messages, onError: () => {} }))
    await expect(ask("failed")).rejects.toThrow()
    provider.answer = stream(wires[name].said("A dot"))
    expect(await ask("again")).toBe("A dot")
    const events = await recording.events()
    expect(events.map(({ session }) => session)).toEqual(["again"])
  })
})
