/** A key whose value is null says what a key says that is not there. */
import { formats } from "@tachograph/formats"
import { describe, expect, it } from "vitest"
import { wireFormats } from "../src/WireFormats.ts"
import { errorOf } from "../src/facts/Errors.ts"
import { accumulate, toText } from "./Streams.ts"

describe("a null", () => {
  it("in place of choices is none, beside an error", () => {
    const error = { message: "overloaded", type: "server_error" }
    const read = (payload: object, event = "") =>
      accumulate(wireFormats["provider1-chat-completions"].accumulator, `${event}data: ${JSON.stringify(payload)}\n\n`)
    expect(read({ error, choices: null, object: "error" })).toMatchObject({ output: { error }, ended: "error" })
    expect(read({ ...error, error: null, choices: null }, "event: error\n")).toMatchObject({
      output: { error },
      ended: "error"
    })
    expect(errorOf({ message: { message: null, code: null } })).toBeNull()
  })

  it("in place of Groq's usage is none", () => {
    const { output } = accumulate(
      wireFormats["provider1-chat-completions"].accumulator,
      toText([{ choices: [], x_groq: { id: "1", usage: null } }])
    )
    expect(output).toEqual({ choices: [], x_groq: { id: "1", usage: null } })
  })

  it("of the last event leaves what was told before", () => {
    const told = {
      event_type: "interaction.created",
      interaction: { id: "1", model: "m", usage: { total_input_tokens: 3 } }
    }
    const ended = {
      event_type: "interaction.completed",
      interaction: { id: "1", model: null, usage: null, status: "completed" }
    }
    const { output } = accumulate(wireFormats["provider3-interactions"].accumulator, toText([told, ended]))
    expect(output).toMatchObject({ model: "m", usage: { total_input_tokens: 3 }, status: "completed" })
    const failed = { type: "response.failed", response: { object: "response", status: "failed", usage: null } }
    const response = { type: "response.in_progress", response: { object: "response", usage: { input_tokens: 3 } } }
    expect(accumulate(wireFormats["provider1-responses"].accumulator, toText([response, failed])).output).toMatchObject(
      {
        usage: { input_tokens: 3 }
      }
    )
  })

  it("in place of a role leaves a part of Gemini's what it is", () => {
    const { input } = formats["provider3-models"].messages({ contents: [{ role: null, parts: null, text: "a" }] }, {})
    expect(input).toMatchObject([{ role: "user", parts: [{ type: "text", content: "a" }] }])
  })

  it("in place of queries is no search", () => {
    const candidates = [{ groundingMetadata: { webSearchQueries: null } }]
    expect(formats["provider3-models"].billing({}, { candidates }).web_searches).toBeNull()
  })

  it("in a result of the AI SDK is no answer", () => {
    expect(
      formats.aisdk.messages({}, { content: null, text: null, finishReason: null, error: { message: "e" } }).output
    ).toEqual([])
    const usage = { inputTokens: 5, inputTokenDetails: null, outputTokens: 2, cachedInputTokens: 3 }
    expect(formats.aisdk.facts({}, { usage, providerMetadata: { anthropic: {} } }).input_tokens).toBe(8)
  })
})
