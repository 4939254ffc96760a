/** How the steps of a generation are recorded by the telemetry of both versions. */
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { json, type Provider, startProvider, stream } from "../Provider.ts"
import { type Recording, startRecording } from "../Recording.ts"
import { apiKey } from "../Server.ts"
import { chat } from "../sdk/Wire.ts"
import { versions } from "./Versions.ts"
import { wires } from "./Wires.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const said = { role: "assistant", content: "18 °C" }
const done = { ...chat.answer, choices: [{ index: 0, message: said, finish_reason: "stop" }] }

const read = async ({ tachograph }: Recording, path: string): Promise<any> => {
  const response = await tachograph.fetch(
    new Request(`http://localhost/api/v1/${path}`, { headers: { authorization: `Bearer ${apiKey}` } })
  )
  return response.json()
}

const kinds = ["generateText", "streamText"] as const

describe.each(versions)("steps of ai %s", (_version, { createOpenAI, sdk, telemetry }) => {
  const city = z.object({ name: z.string().describe("Its name"), zip: z.number().optional() })
  const tools = {
    weather: sdk.tool({
      description: "The weather",
      inputSchema: z.object({ city: z.string(), others: z.array(city).default([]) }),
      execute: async (input) => `18 °C in ${input.city}`
    }),
    other: sdk.tool({ description: "None", inputSchema: sdk.jsonSchema<object>({ type: "object", properties: {} }) })
  }

  /** Three steps: two that call a tool, and one that answers. */
  const run = async (kind: (typeof kinds)[number], recording: Recording, options: object = {}) => {
    let calls = 0
    provider.answer = (response, { body }) => {
      const isLast = ++calls === 3
      if (!body.includes('"stream":true')) return json(isLast ? done : chat.answer)(response)
      const { call, said } = wires.openAiChat
      return stream(isLast ? said("18 °C") : call.map((chunk) => chunk.replace("call_1", `call_${calls}`)))(response)
    }
    const model = createOpenAI({ apiKey: "sk-planted-key", baseURL: `${provider.url}/v1` }).chat("gpt-x")
    const stopWhen = sdk.stepCountIs(5)
    const all: any = { model, tools, stopWhen, prompt: "Weather?", maxRetries: 0, ...telemetry(recording), ...options }
    const text = await recording.recorder.with({ session: "s" }, async () => (await sdk[kind](all)).text)
    expect(text).toBe("18 °C")
    return recording.events()
  }

  it.each(kinds)("of %s are one conversation, in which each message is said once", async (kind) => {
    const recording = await startRecording({}, [apiKey])
    const events = await run(kind, recording)
    const { messages } = await read(recording, "sessions/s/messages")
    expect(messages.map(({ role }: any) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "assistant"
    ])
    const { calls } = await read(recording, "sessions/s/calls")
    expect(calls.map(({ tool_calls }: any) => tool_calls)).toEqual([["weather"], ["weather"], []])
    expect(calls.map(({ output }: any) => output)).toEqual([[2, 3], [4, 5], [6]])
    for (const call of calls) expect(call.parameters_changed).toBe(false)
    for (const call of calls) expect(call.tools_changed).toBe(false)
    const counts = events.map(({ properties }) => {
      const { response } = properties.output as { readonly response: { readonly messages: ReadonlyArray<unknown> } }
      return response.messages.length
    })
    expect(counts).toEqual([2, 2, 1])
  })

  it.each(kinds)("of %s are recorded without what went over the wire", async (kind) => {
    for (const { properties, text } of await run(kind, await startRecording({}, [apiKey]))) {
      expect(properties.output).not.toHaveProperty("request")
      for (const field of ["body", "headers"]) expect(properties.output["response"]).not.toHaveProperty(field)
      expect(text).not.toContain("chat.completion")
    }
  })

  it.each(kinds)("of %s are recorded with the JSON Schemas of their tools", async (kind) => {
    const events = await run(kind, await startRecording({}, [apiKey]))
    const own = {
      type: "object",
      properties: { name: { type: "string", description: "Its name" }, zip: { type: "number" } },
      required: ["name"],
      additionalProperties: false
    }
    const inputSchema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { city: { type: "string" }, others: { type: "array", default: [], items: own } },
      required: ["city"],
      additionalProperties: false
    }
    const other = {
      type: "function",
      name: "other",
      description: "None",
      inputSchema: { type: "object", properties: {} }
    }
    for (const { properties } of events) {
      const weather = { type: "function", name: "weather", description: "The weather", inputSchema }
      expect(properties.inputs["tools"]).toEqual([weather, other])
    }
    const [active] = await run(kind, await startRecording({}, [apiKey]), { activeTools: ["weather"] })
    expect(active!.properties.inputs["tools"]).toMatchObject([{ name: "weather" }])
  })
})
