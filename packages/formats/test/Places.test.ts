/** Streams that begin a new choice, item, step or tool call with every few bytes. */
import { expect, it } from "vitest"
import { wireFormats } from "../src/WireFormats.ts"

const bound = 10_000

const after = (api: keyof typeof wireFormats, payloads: ReadonlyArray<object>, event = "") => {
  const accumulator = wireFormats[api].accumulator()
  const text = payloads.map((payload) => `${event}data: ${JSON.stringify(payload)}\n\n`).join("")
  accumulator.push(new TextEncoder().encode(text))
  return accumulator.end().output as Record<string, ReadonlyArray<Record<string, unknown>>>
}

const places = (more: number) => Array.from({ length: bound + more }, (_, index) => index)

it.each([0, 1, 500])("keeps 10,000 choices of a stream, and not the %s after them", (more) => {
  const delta = { content: "x" }
  const chunks = places(more).map((index) => ({ choices: [{ index: 7 * index, delta }] }))
  const again = { choices: [{ index: 0, delta }] }
  const { choices } = after("provider1-chat-completions", [...chunks, again])
  expect(choices).toHaveLength(bound)
  expect(choices!.at(-1)!["index"]).toBe(7 * (bound - 1))
  // Those that are known go on.
  expect(choices![0]!["message"]).toMatchObject({ content: "xx" })
})

it.each([0, 1])("keeps 10,000 tool calls of a message, and not the %s after them", (more) => {
  const chunks = places(more).map((index) => ({
    choices: [{ index: 0, delta: { tool_calls: [{ index, id: `call ${index}`, function: { name: "f" } }] } }]
  }))
  const { choices } = after("provider1-chat-completions", chunks)
  expect((choices![0]!["message"] as { tool_calls: Array<unknown> }).tool_calls).toHaveLength(bound)
})

it.each([0, 1])("keeps 10,000 items of a response, and not the %s after them", (more) => {
  const chunks = places(more).map((index) => ({
    type: "response.output_text.delta",
    output_index: index,
    content_index: 0,
    delta: "x"
  }))
  expect(after("provider1-responses", chunks)["output"]).toHaveLength(bound)
})

it.each([0, 1])("keeps 10,000 candidates, and not the %s after them", (more) => {
  const content = { parts: [{ text: "x" }] }
  const chunks = places(more).map((index) => ({ candidates: [{ index, content }] }))
  expect(after("provider3-models", chunks)["candidates"]).toHaveLength(bound)
})

it.each([0, 1])("keeps 10,000 steps of an interaction, and not the %s after them", (more) => {
  const chunks = places(more).map((index) => ({
    event_type: "step.start",
    index,
    step: { type: "model_output" }
  }))
  expect(after("provider3-interactions", chunks)["steps"]).toHaveLength(bound)
})
