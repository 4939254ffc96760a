/** What the telemetry of version 7 records of `generateObject` and `streamObject`. That of version 6 tells nothing of them. */
import { createOpenAI } from "@ai-sdk/openai"
import * as ai from "ai"
import { formats } from "@tachograph/formats"
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { begun, json, type Provider, startProvider, stream } from "../Provider.ts"
import { type Recording, startRecording } from "../Recording.ts"
import { chat } from "../sdk/Wire.ts"
import { wires } from "./Wires.ts"

let provider: Provider

beforeAll(async () => {
  // They are deprecated.
  globalThis.AI_SDK_LOG_WARNINGS = false
  provider = await startProvider()
})

const kinds = ["generateObject", "streamObject"] as const
const said = '{"celsius":18}'

/** Answers with a text, streamed where that is asked for. */
const answerWith = (content: string) => {
  provider.answer = (response, { body }) => {
    const choice = { index: 0, message: { role: "assistant", content }, finish_reason: "stop" }
    const answer = body.includes('"stream":true')
      ? stream(wires.openAiChat.said(content))
      : json({ ...chat.answer, choices: [choice] })
    return answer(response)
  }
}

describe.each(kinds)("%s of ai 7", (kind) => {
  const run = async (
    { recorder }: Recording,
    { onPart = () => {}, ...options }: { readonly onPart?: () => void; readonly abortSignal?: AbortSignal } = {}
  ) => {
    const model = createOpenAI({ apiKey: "sk-planted-key", baseURL: `${provider.url}/v1` }).chat("gpt-x")
    const all = {
      model,
      schema: z.object({ celsius: z.number() }),
      schemaName: "weather",
      system: "Be kind",
      prompt: "Weather?",
      temperature: 0.5,
      maxRetries: 0,
      headers: { "x-secret": "planted-header" },
      onError: () => {},
      telemetry: { integrations: [recorder.aiSdk] },
      ...options
    }
    return recorder.with({ session: "s", agent: "a" }, async () => {
      if (kind === "generateObject") return (await ai.generateObject(all)).object
      const result = ai.streamObject(all)
      for await (const _ of result.fullStream) onPart()
      return result.object
    })
  }

  it("is recorded with its schema and its object", async () => {
    answerWith(said)
    const recording = await startRecording()
    expect(await run(recording)).toEqual({ celsius: 18 })
    const events = await recording.events()
    expect(events).toMatchObject([{ session: "s", agent: "a", properties: { api: "aisdk" } }])
    expect(recording.recorder.counters()).toMatchObject({ underWay: 0 })
    const [{ properties, text }] = events as [(typeof events)[0]]
    const { inputs, output } = properties
    expect(inputs).toMatchObject({
      system: "Be kind",
      prompt: "Weather?",
      temperature: 0.5,
      output: "object",
      schema: { type: "object", properties: { celsius: { type: "number" } } },
      schemaName: "weather"
    })
    expect(output).toMatchObject({ object: { celsius: 18 }, finishReason: "stop", response: { modelId: "gpt-x" } })
    expect(formats.aisdk.facts(inputs, output)).toMatchObject({
      provider: "openai",
      model: "gpt-x",
      response_model: "gpt-x",
      input_tokens: 3,
      output_tokens: 5,
      stop_reason: "end",
      tool_calls: [],
      error_type: null
    })
    const conversation = formats.aisdk.messages(inputs, output)
    expect(conversation.input).toMatchObject([{ role: "user", parts: [{ content: "Weather?" }] }])
    expect(conversation.output).toMatchObject([{ role: "assistant", parts: [{ object: { celsius: 18 } }] }])
    for (const secret of ["planted", "chat.completion"]) expect(text).not.toContain(secret)
    expect(output["response"]).not.toHaveProperty("headers")
  })

  it("is recorded with what it said instead of an object", async () => {
    answerWith('{"celsius":"warm"}')
    const recording = await startRecording()
    await expect(run(recording)).rejects.toThrow("did not match schema")
    const [{ properties }] = (await recording.events()) as [any]
    expect(properties.output).toMatchObject({
      text: '{"celsius":"warm"}',
      usage: { inputTokens: 3 },
      error: { name: "AI_NoObjectGeneratedError" }
    })
    const { inputs, output } = properties
    expect(formats.aisdk.facts(inputs, output)).toMatchObject({
      output_tokens: 5,
      error_type: "AI_NoObjectGeneratedError"
    })
    expect(formats.aisdk.messages(inputs, output).output).toMatchObject([
      { parts: [{ type: "text", content: '{"celsius":"warm"}' }] }
    ])
  })

  it("is recorded where the provider refuses it, without the key that it repeats", async () => {
    provider.answer = json({ error: { message: "Wrong key sk-planted-key", type: "bad_key" } }, 401)
    const recording = await startRecording()
    await expect(run(recording)).rejects.toThrow("Wrong key")
    const events = await recording.events()
    expect(events).toHaveLength(1)
    const { http_status, properties, text } = events[0]!
    expect(http_status).toBe(401)
    expect(formats.aisdk.facts(properties.inputs, properties.output)).toMatchObject({
      error_type: "bad_key",
      error_status: 401
    })
    expect(text).not.toContain("planted")
  })

  it("is recorded where the application aborts it, unless it streams, of which nothing is told", async () => {
    const controller = new AbortController()
    provider.answer = (response) => {
      begun(wires.openAiChat.said('{"celsius":').slice(0, 1))(response)
      if (kind === "generateObject") controller.abort()
    }
    const recording = await startRecording()
    const options = { abortSignal: controller.signal, onPart: () => controller.abort() }
    await run(recording, options).catch(() => {})
    const told = kind === "streamObject" ? [] : [{ properties: { output: { error: { name: "AbortError" } } } }]
    expect(await recording.events()).toMatchObject(told)
    expect(recording.recorder.counters()).toMatchObject({ underWay: kind === "streamObject" ? 1 : 0 })
  })
})
