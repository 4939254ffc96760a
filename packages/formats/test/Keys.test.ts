/** Streams whose every event brings fields that were not there before. */
import { expect, it } from "vitest"
import { wireFormats } from "../src/WireFormats.ts"
import { accumulator as aiSdk } from "../src/aisdk/Stream.ts"
import { growthOfMemory } from "./Memory.ts"
import { toText } from "./Streams.ts"

/** As many that objects of them change their form in the engine: then they take a little more than twice the room of half as many. */
const count = 1000
const maxGrowth = 4

const call = (args: object) => ({ functionCall: { args, willContinue: true } })

/** By what the fields are of: the format, and a payload with a field of such a name. */
const streams: ReadonlyArray<readonly [string, keyof typeof wireFormats, (key: string) => object]> = [
  ["a body without a type", "provider1-responses", (key) => ({ [key]: 1 })],
  ["an item", "provider1-responses", (key) => ({ type: "response.refusal.delta", item_id: key, delta: "a" })],
  ["a usage", "provider3-models", (key) => ({ usageMetadata: { [key]: 1 } })],
  ["an answer", "provider3-models", (key) => ({ [key]: 1 })],
  ["a call", "provider3-models", (key) => ({ candidates: [{ content: { parts: [call({ [key]: 1 })] } }] })],
  ["a chunk", "provider1-chat-completions", (key) => ({ [key]: 1, x_groq: { [key]: 1 }, choices: [] })],
  ["a delta", "provider1-chat-completions", (key) => ({ choices: [{ delta: { [key]: 1, audio: { [key]: 1 } } }] })],
  ["a change", "provider2-messages", (key) => ({ type: "message_delta", delta: { [key]: 1 }, usage: { [key]: 1 } })],
  ["a status", "provider3-interactions", (key) => ({ event_type: "interaction.status_update", [key]: 1 })],
  ["a step", "provider3-interactions", (key) => ({ event_type: "step.delta", delta: { type: "new", [key]: [1] } })]
]

const encoder = new TextEncoder()

const many = (length: number, payload: (key: string) => object) =>
  Array.from({ length }, (_, index) => encoder.encode(toText([payload(`key${index}`)])))

it.each(streams)("take as much memory for each new field of %s", async (_, api, payload) => {
  const chunks = many(count, payload)
  expect(await growthOfMemory(wireFormats[api].accumulator, chunks, chunks.slice(0, count / 2))).toBeLessThan(maxGrowth)
})

it("take as much memory for each new field of a response's metadata", async () => {
  const parts = Array.from({ length: count }, (_, index) => ({ type: "response-metadata", [`key${index}`]: 1 }))
  expect(await growthOfMemory(aiSdk, parts, parts.slice(0, count / 2))).toBeLessThan(maxGrowth)
})

it("take as much memory for each value of a field however large its first one is", async () => {
  const first = { id: Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 1])) }
  const chunks = many(count, () => ({ id: "a" }))
  const large = [encoder.encode(toText([first])), ...chunks]
  expect(await growthOfMemory(wireFormats["provider1-chat-completions"].accumulator, large, chunks)).toBeLessThan(
    maxGrowth
  )
})
