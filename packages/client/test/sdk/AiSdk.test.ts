import { formats } from "@tachograph/formats"
import { beforeAll, describe, expect, it } from "vitest"
import { begun, json, type Provider, startProvider, stream } from "../Provider.ts"
import { startRecording } from "../Recording.ts"
import { versions } from "../aisdk/Versions.ts"
import { compared } from "./Compared.ts"
import { chat, cut } from "./Wire.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const apiKey = "sk-planted-key"
const prompt = "Weather in Köln?"
const done = {
  ...chat.answer,
  choices: [{ index: 0, message: { role: "assistant", content: "18 °C" }, finish_reason: "stop" }]
}

describe.each(versions)("ai %s", (version, { createOpenAI, sdk, telemetry }) => {
  const model = (fetch: typeof globalThis.fetch = globalThis.fetch) =>
    createOpenAI({ apiKey, baseURL: `${provider.url}/v1`, fetch }).chat("gpt-x")
  const tools = {
    weather: sdk.tool({
      description: "The weather",
      inputSchema: sdk.jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
      execute: async ({ city }) => `18 °C in ${city}`
    })
  }
  const generate = (fetch: typeof globalThis.fetch | undefined, options: object = {}) =>
    sdk.generateText({
      model: model(fetch),
      system: "Be kind",
      prompt,
      tools,
      temperature: 0.5,
      headers: { "x-secret": "planted-header" },
      stopWhen: sdk.stepCountIs(3),
      maxRetries: 0,
      ...options
    })
  /** Answers with a call of a tool, and then with a text. */
  const answerInTwoSteps = () => {
    let calls = 0
    provider.answer = (response) => json(calls++ % 2 === 0 ? chat.answer : done)(response)
  }

  it("is recorded by the tap as what goes over the wire", async () => {
    answerInTwoSteps()
    const events = await compared(await startRecording(), provider, async (fetch) => (await generate(fetch)).text)
    expect(events.map(({ properties }) => properties.api)).toEqual(Array(2).fill("provider1-chat-completions"))
    expect(events.map(({ properties }) => properties.output)).toEqual([chat.answer, done])
    expect(new Set(events.map(({ session }) => session)).size).toBe(1)
  })

  it("streams through the tap as without it", async () => {
    provider.answer = stream(cut(chat.chunks))
    const events = await compared(await startRecording(), provider, async (fetch) => {
      const parts: Array<string> = []
      for await (const part of sdk.streamText({ model: model(fetch), prompt, maxRetries: 0 }).textStream)
        parts.push(part)
      return parts
    })
    expect(events.map(({ properties }) => properties.output)).toEqual([chat.answer])
  })

  it.each([400, 401, 429, 500])("records the error %i by the tap as what it is", async (status) => {
    const error = { error: { message: `No, ${apiKey}`, type: "some_error" } }
    provider.answer = json(error, status)
    const events = await compared(await startRecording(), provider, (fetch) => generate(fetch))
    const recorded = { error: { message: "No, [redacted]", type: "some_error" } }
    expect(events.map(({ properties }) => properties.output)).toEqual([recorded])
  })

  it("records each retry by the tap as a call of its own", async () => {
    const error = { error: { message: "Slow down", type: "rate_limit" } }
    let calls = 0
    provider.answer = (response) =>
      (calls++ % 2 === 0 ? json(error, 429, { "retry-after-ms": "1" }) : json(done))(response)
    const events = await compared(
      await startRecording(),
      provider,
      async (fetch) => (await generate(fetch, { maxRetries: 1 })).text
    )
    expect(events.map(({ properties }) => properties.output)).toEqual([error, done])
  })

  it("gives structured outputs with the tap as without it", async () => {
    const message = { role: "assistant", content: '{"celsius":18}' }
    const answer = { ...done, choices: [{ ...done.choices[0], message }] }
    provider.answer = json(answer)
    const schema = sdk.jsonSchema<{ celsius: number }>({
      type: "object",
      properties: { celsius: { type: "number" } },
      required: ["celsius"],
      additionalProperties: false
    })
    const events = await compared(await startRecording(), provider, async (fetch) => {
      const { output } = await generate(fetch, { output: sdk.Output.object({ schema }) })
      return output
    })
    expect(events.map(({ properties }) => properties.output)).toEqual([answer])
    expect(events[0]!.properties.inputs).toHaveProperty("response_format.type", "json_schema")
  })

  it("records by the tap a call that the application aborts before its answer", async () => {
    let abort = () => {}
    provider.answer = () => abort()
    const events = await compared(await startRecording(), provider, (fetch) => {
      const controller = new AbortController()
      abort = () => controller.abort()
      return generate(fetch, { abortSignal: controller.signal })
    })
    expect(events).toMatchObject([{ properties: { output: { error: { type: "aborted" } } } }])
  })

  it("records by the tap a stream that the application aborts half read", async () => {
    provider.answer = begun(chat.chunks.slice(0, 3))
    const events = await compared(await startRecording(), provider, async (fetch) => {
      const controller = new AbortController()
      const { textStream } = sdk.streamText({
        model: model(fetch),
        prompt,
        maxRetries: 0,
        abortSignal: controller.signal
      })
      const parts: Array<string> = []
      for await (const part of textStream) {
        parts.push(part)
        if (part === " ☀") controller.abort()
      }
      return parts
    })
    expect(events).toMatchObject([
      { properties: { output: { choices: [{ message: { content: "Grüße ☀" } }], error: { type: "aborted" } } } }
    ])
  })

  it("is recorded by its telemetry, step by step", async () => {
    answerInTwoSteps()
    const recording = await startRecording()
    const result = await recording.recorder.with({ agent: "a" }, () => generate(undefined, telemetry(recording)))
    expect(result.text).toBe("18 °C")
    const events = await recording.events()
    expect(events).toHaveLength(2)
    expect(new Set(events.map(({ session }) => session)).size).toBe(1)
    for (const { agent, properties, text } of events) {
      expect(agent).toBe("a")
      expect(properties.api).toBe("aisdk")
      const { input, tools: definitions } = formats.aisdk.messages(properties.inputs, properties.output)
      expect(input.find(({ role }) => role === "user")?.parts).toMatchObject([{ type: "text", content: prompt }])
      expect(definitions).toMatchObject([{ name: "weather", description: "The weather" }])
      for (const secret of [apiKey, "planted-header"]) expect(text).not.toContain(secret)
    }
    const facts = events.map(({ properties }) => formats.aisdk.facts(properties.inputs, properties.output))
    expect(facts).toMatchObject([
      { model: "gpt-x", provider: "openai", tool_calls: ["weather"], stop_reason: "tool_calls", input_tokens: 3 },
      { model: "gpt-x", provider: "openai", tool_calls: [], stop_reason: "end", output_tokens: 5 }
    ])
    // The second step was sent the call of the tool and its result.
    const { input } = formats.aisdk.messages(events[1]!.properties.inputs, {})
    expect(input.map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
  })

  it("is recorded by its telemetry when it streams, and when several generations run at once", async () => {
    provider.answer = stream(chat.chunks)
    const recording = await startRecording()
    const run = async (index: number) => {
      const text = `${prompt} ${index}`
      const { textStream } = sdk.streamText({ model: model(), prompt: text, maxRetries: 0, ...telemetry(recording) })
      for await (const _ of textStream) void 0
    }
    await Promise.all(Array.from({ length: 5 }, (_, index) => run(index)))
    const events = await recording.events()
    const asked = events.map(({ properties }) => JSON.stringify(properties.inputs))
    for (let index = 0; index < 5; index++)
      expect(asked.filter((text) => text.includes(`${prompt} ${index}`))).toHaveLength(1)
    for (const { properties } of events) {
      expect(formats.aisdk.facts(properties.inputs, properties.output)).toMatchObject({ tool_calls: ["weather"] })
    }
  })

  it("is recorded by its telemetry with tools and arguments that are named like parts of a request", async () => {
    const call = { id: "call_1", type: "function", function: { name: "request", arguments: '{"headers":"h1"}' } }
    const asking = {
      ...chat.answer,
      choices: [{ ...chat.answer.choices[0], message: { role: "assistant", tool_calls: [call] } }]
    }
    let calls = 0
    provider.answer = (response) => json(calls++ % 2 === 0 ? asking : done)(response)
    const recording = await startRecording()
    const request = sdk.tool({
      description: "Sends a request",
      inputSchema: sdk.jsonSchema<object>({ type: "object", properties: { headers: { type: "string" } } }),
      execute: async () => ({ responseBody: "b1", request: { headers: "h2" } })
    })
    await generate(undefined, { tools: { request }, ...telemetry(recording) })
    const [first, second] = await recording.events()
    expect(first!.properties.inputs["tools"]).toHaveProperty("0.name", "request")
    expect(first!.properties.output).toMatchObject({
      content: [
        { type: "tool-call", toolName: "request", input: { headers: "h1" } },
        { type: "tool-result", output: { responseBody: "b1", request: { headers: "h2" } } }
      ]
    })
    const asked = JSON.stringify(second!.properties.inputs["messages"])
    expect(asked).toContain('{"headers":"h1"}')
    expect(asked).toContain('{"responseBody":"b1","request":{"headers":"h2"}}')
    for (const { properties } of [first!, second!]) {
      expect(properties.inputs).not.toHaveProperty("headers")
      expect(properties.output).not.toHaveProperty("request")
      expect(properties.output["response"]).not.toHaveProperty("headers")
    }
  })

  it("is recorded by its telemetry without credentials that a provider repeats", async () => {
    // The last one is an ordinary word.
    const variables = {
      PLANTED_API_KEY: "planted-in-the-environment",
      PLANTED_SECRET: "planted-a1B2c3D4e5F6g7",
      PLANTED_PASSWORD: "password"
    }
    Object.assign(process.env, variables)
    const ofProcess = "planted-in-the-environment planted-a1B2c3D4e5F6g7"
    const said = version === "7" ? ofProcess : `${ofProcess} planted-custom-1 planted-z9Y8x7W6v5U4t3`
    const message = { role: "assistant", content: `The password: you said ${said}` }
    provider.answer = json({ ...done, choices: [{ ...done.choices[0], message }] })
    const recording = await startRecording()
    try {
      const headers = { authorization: "Bearer planted-custom-1", "x-mine": "planted-z9Y8x7W6v5U4t3" }
      await generate(undefined, { headers, ...telemetry(recording) })
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name]
    }
    const [event] = await recording.events()
    expect(event!.text).toContain(`The password: you said ${said.replace(/planted-[\w-]+/g, "[redacted]")}`)
    expect(event!.text).not.toContain("planted-")
  })

  it("is recorded by its telemetry with what surrounded its start", async () => {
    const recording = await startRecording()
    const { recorder } = recording
    const told = { ...(version === "7" ? { callId: "c" } : {}), model: { modelId: "m" }, messages: [] }
    recorder.with({ session: "start", agent: "starter" }, () => recorder.aiSdk.onStepStart(told))
    recorder.with({ session: "end", person: "reader" }, () => recorder.aiSdk.onStepFinish({ ...told, content: [] }))
    expect(await recording.events()).toMatchObject([{ session: "start", agent: "starter", person: null }])
  })

  it("is counted where it is forgotten, because too many of its calls are under way", async () => {
    const recording = await startRecording()
    const { aiSdk } = recording.recorder
    const id = (n: number) => (version === "7" ? { callId: `call-${n}` } : {})
    for (let n = 0; n < 1003; n++) aiSdk.onStepStart({ ...id(n), model: { modelId: "m" }, messages: [] })
    expect(recording.drops).toEqual(Array(3).fill({ reason: "memory" }))
  })

  it("is forgotten where others need its memory", async () => {
    const { drops, recorder } = await startRecording({ maxBytes: 400_000 })
    const content = [{ type: "text", text: "x".repeat(30_000) }]
    const id = (n: number) => (version === "7" ? { callId: `call-${n}` } : {})
    for (let n = 0; n < 10; n++) {
      recorder.aiSdk.onStepStart({ ...id(n), model: { modelId: "m" }, messages: [{ role: "user", content }] })
    }
    const { heldBytes, underWay } = recorder.counters()
    expect(underWay).toBe(3)
    expect(heldBytes).toBeGreaterThan(90_000)
    expect(heldBytes).toBeLessThanOrEqual(100_000)
    expect(drops).toEqual(Array(7).fill({ reason: "memory" }))
  })

  // Version 6 does not tell of errors: there the tap is what records them.
  if (version === "6") return

  it("is recorded by its telemetry when it fails", async () => {
    provider.answer = json({ error: { message: "No", type: "bad_thing" } }, 400)
    const recording = await startRecording()
    await expect(generate(undefined, telemetry(recording))).rejects.toThrow("No")
    const [event] = await recording.events()
    expect(formats.aisdk.facts(event!.properties.inputs, event!.properties.output)).toMatchObject({
      error_type: "bad_thing"
    })
    for (const secret of [apiKey, "planted-header"]) expect(event!.text).not.toContain(secret)
  })

  it("is recorded by its telemetry without keys that an error repeats", async () => {
    provider.answer = json({ error: { message: `Wrong key ${apiKey}`, type: "bad_key" } }, 401)
    const recording = await startRecording()
    await expect(generate(undefined, { maxRetries: 1, ...telemetry(recording) })).rejects.toThrow(apiKey)
    const [event] = await recording.events()
    expect(event!.properties.output["error"]).toMatchObject({ message: "Wrong key [redacted]", statusCode: 401 })
    expect(event!.text).not.toContain("planted")
  })
})
