import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Api, type Facts, type Format, formats } from "@tachograph/formats"
import { arrayAt } from "../src/json/Places.ts"
import { identity } from "@tachograph/formats/normal/Identity"
import { toText } from "./Streams.ts"

const all = Object.entries(formats) as unknown as ReadonlyArray<readonly [Api, Format<unknown>]>

/** Keys that the formats read, and keys that objects have without having been given them. */
const keys = [
  ...["choices", "message", "delta", "content", "tool_calls", "function", "arguments", "role", "index", "id", "error"],
  ...["usage", "prompt_tokens", "total_tokens", "output", "input", "type", "item", "part", "response", "output_index"],
  ...["content_block", "text", "thinking", "signature", "input_tokens", "iterations", "stop_reason", "model", "name"],
  ...[
    "candidates",
    "parts",
    "functionCall",
    "args",
    "usageMetadata",
    "finishReason",
    "promptFeedback",
    "systemInstruction"
  ],
  ...["steps", "step", "interaction", "toolCalls", "finishReason", "unified", "raw", "attributes", "span", "prompt"],
  ...["messages", "contents", "tools", "system", "instructions", "summary", "annotations", "logprobs", "audio", "data"],
  ...[
    "otel.scope.name",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "input.value"
  ],
  ...["output.value", "llm.input_messages", "llm.output_messages", "message.role", "message.contents", "kwargs"],
  ...["genkit:input", "genkit:output", "langfuse.observation.input", "langfuse.observation.output", "toolRequest"],
  ...["gen_ai.response.text", "gen_ai.response.tool_calls", "gen_ai.prompt", "mastra.model_step.output", "generations"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "length", "0", "1", "then", "toJSON"]
]

/** Types of events, blocks and parts. */
const words = [
  ...[
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "text_delta"
  ],
  ...[
    "input_json_delta",
    "thinking_delta",
    "text",
    "tool_use",
    "tool_result",
    "image",
    "image_url",
    "input_audio",
    "file"
  ],
  ...["response.created", "response.output_item.added", "response.output_text.delta", "response.completed", "message"],
  ...["response.reasoning_summary_text.delta", "response.function_call_arguments.done", "function_call", "reasoning"],
  ...["step.start", "step.delta", "step.stop", "interaction.completed", "arguments_delta", "tool-call", "text-delta"],
  ...["finish", "tool-input-delta", "error", "assistant", "user", "tool", "system", "stop", "end_turn", "STOP", ""]
]

const odd = fc.oneof(
  fc.constantFrom<unknown>(...words),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    1,
    -1,
    1.5,
    2 ** 53,
    1e308,
    "a",
    '{"a":',
    '{"a":1}',
    "data:image/png;base64,AA"
  )
)

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: "large" },
    odd,
    fc.array(tie("value"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...keys), tie("value")), { maxLength: 5 })
      .map((fields) =>
        JSON.parse(`{${fields.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`)
      )
  )
})).value

const counts: ReadonlyArray<keyof Facts> = [
  ...(["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"] as const)
]

const isCount = (value: unknown) => value === null || (Number.isSafeInteger(value) && (value as number) >= 0)

const readAll = (api: Api, format: Format<unknown>, inputs: unknown, output: unknown) => {
  const facts = format.facts(inputs, output)
  for (const key of counts) expect(isCount(facts[key]), key).toBe(true)
  for (const value of Object.values(formats[api].billing(inputs, output)))
    expect(typeof value === "string" || isCount(value) || Array.isArray(value)).toBe(true)
  const conversation = format.messages(inputs, output)
  for (const message of [...conversation.input, ...conversation.output]) {
    expect(typeof message.role).toBe("string")
    for (const part of message.parts) expect(typeof part.type).toBe("string")
    expect(typeof identity(message)).toBe("string")
  }
  const elements = arrayAt(inputs, format.conversationPaths)?.elements
  if (elements !== undefined) expect(conversation.input).toEqual(elements.flatMap(format.element))
  for (const message of format.element(inputs)) expect(identity(message)).toBeTypeOf("string")
}

const chunksOf = (api: Api, payloads: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  api === "aisdk" ? payloads : payloads.map((payload) => new TextEncoder().encode(toText([payload])))

describe.each(all)("any value in the format %s", (api, format) => {
  it("is read without an exception", () => {
    fc.assert(fc.property(json, json, (inputs, output) => readAll(api, format, inputs, output)))
  })

  it("can be in a stream", () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 6 }), (payloads) => {
        const stream = format.accumulator()
        for (const chunk of chunksOf(api, payloads)) {
          stream.push(chunk)
          expect(stream.end()).toEqual(stream.end())
        }
        const { output, ended } = stream.end()
        readAll(api, format, {}, output)
        expect(["done", "error", "cut"]).toContain(ended)
      })
    )
  })

  it("can be deep wherever it stands", () => {
    // Two levels each: more than a function that recurses has room for, which is about 11,000 calls.
    const depth = 8_000
    const deep = JSON.parse(`${'{"a":['.repeat(depth)}${"]}".repeat(depth)}`)
    for (const key of keys) {
      const field = Object.fromEntries([[key, deep]])
      readAll(api, format, field, field)
    }
    for (const outer of ["choices", "output", "content", "candidates", "messages", "input", "contents", "steps"]) {
      for (const key of ["content", "message", "parts", "tool_calls", "input", "summary", "delta", "arguments"]) {
        const field = {
          [outer]: [
            Object.fromEntries([
              ["type", "text"],
              [key, deep]
            ])
          ]
        }
        readAll(api, format, field, field)
      }
    }
  })
})
