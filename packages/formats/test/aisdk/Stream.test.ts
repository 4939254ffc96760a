import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "@tachograph/formats"
import { AiSdk } from "../../src/aisdk/AiSdk.ts"
import { accumulator } from "../../src/aisdk/Stream.ts"
import { callOutput, callParts, modelOutput, modelParts } from "../data/AiSdk.ts"
import { areThere, streamsOf } from "../Workloads.ts"

const accumulate = (...parts: ReadonlyArray<unknown>) => {
  const stream = accumulator()
  for (const part of parts) stream.push(part)
  return stream.end()
}

const contentOf = (...parts: ReadonlyArray<unknown>) => accumulate(...parts).output["content"]

describe("a stream of the AI SDK", () => {
  it("is the result of a model without streaming, with its keys in order", () => {
    const { output, text, ended } = accumulate(...modelParts)
    expect(JSON.stringify(output)).toBe(JSON.stringify(modelOutput))
    expect([text, ended]).toEqual([null, "done"])
  })

  it("is the result of a call with steps without streaming, with its keys in order", () => {
    const { output, ended } = accumulate(...callParts)
    expect(JSON.stringify(output)).toBe(JSON.stringify(callOutput))
    expect(ended).toBe("done")
  })

  it("is a call's also where only its text and its end were taken", () => {
    const taken = callParts.filter((part) => ["text-delta", "finish"].includes(String(part["type"])))
    expect(accumulate(...taken).output).toMatchObject({
      text: "It is sunny.",
      finishReason: "stop",
      totalUsage: callOutput["totalUsage"]
    })
  })

  it("has content and usage of all steps from version 7 on", () => {
    const parts = callParts.map((part) => (part["type"] === "finish-step" ? { ...part, performance: {} } : part))
    const steps = callOutput["steps"] as ReadonlyArray<{ readonly content: ReadonlyArray<JsonObject> }>
    const { output } = accumulate(...parts)
    expect(output["content"]).toEqual(steps.flatMap(({ content }) => content))
    expect(output["usage"]).toEqual(callOutput["totalUsage"])
    expect(AiSdk.facts({}, output)).toEqual(AiSdk.facts({}, callOutput))
  })

  it("can be read at any moment, and grows", () => {
    for (const parts of [modelParts, callParts]) {
      const stream = accumulator()
      let before = 0
      for (const [index, part] of parts.entries()) {
        stream.push(part)
        const { output, ended } = stream.end()
        const facts = AiSdk.facts({}, output)
        if (ended === "cut" && parts === modelParts) expect(facts.stop_reason).toBeNull()
        expect(ended).toBe(index === parts.length - 1 ? "done" : "cut")
        const said = JSON.stringify(AiSdk.messages({}, output).output.map((message) => message.parts)).length
        expect(said).toBeGreaterThan(before / 2)
        before = Math.max(before, said)
      }
      expect(stream.end()).toEqual(accumulate(...parts))
    }
    expect(accumulate()).toEqual({ output: {}, text: null, ended: "cut" })
  })

  it("has what was being written when it was cut", () => {
    const begun = modelParts.findIndex((part) => part["type"] === "tool-input-end")
    expect(contentOf(...modelParts.slice(0, begun - 1))).toEqual([
      { type: "reasoning", text: "Weather needs a look." },
      { type: "tool-call", toolCallId: "c1", toolName: "look", input: '{"city":' }
    ])
  })

  it("takes texts by turns, by kind and id", () => {
    const text = (id: string, delta: string) => ({ type: "text-delta", id, delta })
    const thought = { type: "reasoning-delta", id: "0", delta: "c" }
    expect(
      contentOf(text("0", "a"), text("1", "b"), thought, text("0", "a"), { type: "text-end", id: "0" }, text("0", "d"))
    ).toEqual([
      { type: "text", text: "aa" },
      { type: "text", text: "b" },
      { type: "reasoning", text: "c" },
      { type: "text", text: "d" }
    ])
  })

  it("joins the pieces of kinds that are new, and begins a text again where one has begun", () => {
    const part = (type: string, delta?: string) => ({ type, id: "0", ...(delta === undefined ? {} : { delta }) })
    const parts = ["a", "b"].map((delta) => part("musing-delta", delta))
    expect(contentOf(part("musing-start"), ...parts, part("musing-end"), part("text-delta", "c"))).toEqual([
      { type: "musing", text: "ab" },
      { type: "text", text: "c" }
    ])
    const texts = [
      part("text-start"),
      part("text-start"),
      part("text-delta", "a"),
      part("text-start"),
      part("text-delta", "b")
    ]
    expect(contentOf(...texts)).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b" }
    ])
  })

  it("keeps the last of what a provider says of a text", () => {
    const metadata = (signature: string) => ({ providerMetadata: { google: { signature } } })
    const parts = [
      { type: "text-start", id: "0", ...metadata("a") },
      { type: "text-delta", id: "0", delta: "" },
      { type: "text-end", id: "0", ...metadata("b") }
    ]
    expect(contentOf(...parts)).toEqual([{ type: "text", text: "", ...metadata("b") }])
  })

  it("takes the parts of version 4", () => {
    const parts = [
      { type: "reasoning", textDelta: "Hm" },
      { type: "reasoning", textDelta: "m" },
      { type: "text-delta", textDelta: "a" },
      { type: "text-delta", textDelta: "b" },
      { type: "tool-call-delta", toolCallId: "c", toolName: "look", argsTextDelta: '{"a":' },
      { type: "tool-call", toolCallId: "c", toolName: "look", args: '{"a":1}' },
      { type: "text-delta", textDelta: "c" }
    ]
    expect(contentOf(...parts)).toEqual([
      { type: "reasoning", text: "Hmm" },
      { type: "text", text: "ab" },
      { type: "tool-call", toolCallId: "c", toolName: "look", args: '{"a":1}' },
      { type: "text", text: "c" }
    ])
  })

  it("ends with an error, and is then an error", () => {
    const error = Object.assign(new Error("No"), { name: "AI_APICallError", statusCode: 429 })
    const { output, ended } = accumulate(...modelParts.slice(0, 6), { type: "error", error })
    expect(ended).toBe("error")
    expect(output["error"]).toEqual({ name: "AI_APICallError", message: "No", statusCode: 429 })
    expect(AiSdk.facts({}, output)).toMatchObject({ error_type: "429", error_status: 429 })
    expect(accumulate({ type: "error", error: "No" }, { type: "finish", finishReason: "error" })).toMatchObject({
      output: { error: "No" },
      ended: "error"
    })
    expect(accumulate(...callParts.slice(0, 6), { type: "abort" }).ended).toBe("cut")
  })

  it("is plain JSON, whatever its parts hold", () => {
    const holdsItself: Record<string, unknown> = { type: "text-delta", id: "0", delta: "a" }
    holdsItself["itself"] = holdsItself
    const file = { type: "file", mediaType: "image/png", data: new Uint8Array([65, 66, 67]) }
    const times = { type: "response-metadata", id: "r1", timestamp: new Date(0), headers: undefined, call: () => 1 }
    const { output } = accumulate(
      holdsItself,
      file,
      times,
      { type: "x", big: 1n },
      null,
      "text",
      4,
      {},
      { type: "raw" }
    )
    expect(output).toEqual({
      content: [
        { type: "text", text: "a" },
        { type: "file", mediaType: "image/png", data: "QUJD" },
        { type: "x", big: "1" }
      ],
      response: { id: "r1", timestamp: "1970-01-01T00:00:00.000Z" }
    })
  })

  it("never throws, whatever its parts are", () => {
    const types = [...new Set([...modelParts, ...callParts].map((part) => part["type"])), "error", "__proto__"]
    const part = fc.record(
      {
        type: fc.constantFrom(...types),
        id: fc.jsonValue(),
        delta: fc.jsonValue(),
        usage: fc.jsonValue(),
        output: fc.anything()
      },
      { requiredKeys: ["type"] }
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.anything())), (parts) => {
        const { output } = accumulate(...parts)
        AiSdk.facts({}, output)
        AiSdk.messages({}, output)
      })
    )
  })

  it("leaves out what is nested too deep", () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    expect(accumulate({ type: "source", id: "s", deep }).output).toEqual({ content: [{ type: "source", id: "s" }] })
  })

  it("can have parts that throw when they are read, of which the rest is left", () => {
    const refuse = () => {
      throw new Error("no")
    }
    const field = Object.defineProperty({ type: "text-delta", id: "0", delta: "Hello" }, "broken", {
      get: refuse,
      enumerable: true
    })
    const { proxy: revoked, revoke } = Proxy.revocable({}, {})
    revoke()
    const keys = new Proxy({ type: "text-delta", id: "0", delta: "lost" }, { ownKeys: refuse })
    expect(accumulate(keys, revoked, field, { type: "text-delta", id: "0", delta: { toJSON: refuse } })).toEqual({
      output: { content: [{ type: "text", text: "Hello" }] },
      text: null,
      ended: "cut"
    })
  })

  it("can have 20,000 deltas, and takes as much work for each", () => {
    let read = 0
    // Parts are read once each: their texts are not read again when others follow.
    const part = {
      type: "text-delta",
      id: "0",
      get delta() {
        read++
        return "word "
      }
    }
    const stream = accumulator()
    for (let index = 0; index < 20_000; index++) stream.push(part)
    expect((stream.end().output["content"] as ReadonlyArray<JsonObject>)[0]?.["text"]).toHaveLength(100_000)
    expect(read).toBe(20_000)
  })
})

/** Kinds of values, with texts and numbers of another call left out. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([key, item]) => [key, key === "type" ? item : shapeOf(item)]))
}

const replays = streamsOf("aisdk").filter(({ chunks }) => chunks !== undefined)

const isResultField = (key: string) => Object.hasOwn(callOutput, key) && !["response", "steps"].includes(key)

describe.runIf(areThere)("recorded streams of the AI SDK", () => {
  it("are the result that the SDK itself hands out at the end", () => {
    const calls = replays.filter(({ kind }) => kind === "aisdk:replay:streamText")
    expect(calls.length).toBe(4)
    for (const { source, chunks, response } of calls) {
      const { output, ended } = accumulate(...(chunks ?? []))
      const result = response as Record<string, unknown> & { readonly steps: ReadonlyArray<JsonObject> }
      const fields = Object.fromEntries(Object.entries(result).filter(([key]) => isResultField(key)))
      expect(output, source).toMatchObject(fields)
      const [step] = output["steps"] as ReadonlyArray<JsonObject>
      // What the stream does not say of a step: ids of the SDK, its model, and the answer as messages.
      const { response: answered, ...told } = step ?? {}
      expect(result.steps[0], source).toMatchObject(told)
      expect(result.steps[0]?.["response"], source).toMatchObject(answered as JsonObject)
      expect(ended).toBe("done")
    }
  })

  it("have the structure of a model's answer without streaming", () => {
    const models = replays.filter(({ kind }) => kind === "aisdk:replay:doGenerate+doStream")
    expect(models.length).toBe(4)
    for (const { source, chunks, response } of models) {
      // The stream has no bodies of HTTP: those are `request` and `response.body`.
      const { request: _request, response: answered, ...result } = response as JsonObject
      const { body: _body, ...metadata } = answered as JsonObject
      const { output } = accumulate(...(chunks ?? []))
      expect(shapeOf(output), source).toEqual(shapeOf({ ...result, response: metadata }))
    }
  })
})
