import { describe, expect, it } from "vitest"
import type { Api } from "../../../src/domain/Event.ts"
import * as ModelFacts from "../../../src/payload/scan/ModelFacts.ts"

const facts = { model: "m", inputTokens: 10, outputTokens: 20, stopReason: "stop" }

/** The same call in the format of each API. */
const outputs: Readonly<Record<Api, object>> = {
  "provider1-chat-completions": {
    model: "m",
    choices: [{ finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 20 }
  },
  "provider1-responses": { model: "m", status: "stop", usage: { input_tokens: 10, output_tokens: 20 } },
  "provider2-messages": { model: "m", stop_reason: "stop", usage: { input_tokens: 10, output_tokens: 20 } },
  "provider2-beta-messages": { model: "m", stop_reason: "stop", usage: { input_tokens: 10, output_tokens: 20 } },
  "provider3-models": {
    modelVersion: "m",
    candidates: [{ finishReason: "stop" }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 20 }
  },
  "provider3-interactions": {
    model: "m",
    status: "stop",
    usage: { total_input_tokens: 10, total_output_tokens: 20 }
  },
  aisdk: { response: { modelId: "m" }, finishReason: "stop", usage: { inputTokens: 10, outputTokens: 20 } }
}

describe("ModelFacts", () => {
  it.each(Object.keys(outputs) as ReadonlyArray<Api>)("reads model, tokens and stop reason from %s", (api) => {
    expect(ModelFacts.read(api, {}, outputs[api])).toEqual(facts)
  })

  it("reads the counts and the reason that a middleware of the AI SDK gets from version 6 on", () => {
    const output = {
      content: [{ type: "text", text: "hi" }],
      response: { modelId: "m" },
      finishReason: { unified: "stop", raw: "end_turn" },
      usage: { inputTokens: { total: 10, noCache: 4, cacheRead: 6 }, outputTokens: { total: 20, text: 20 }, raw: {} }
    }
    expect(ModelFacts.read("aisdk", {}, output)).toEqual(facts)
  })

  it("uses the requested model if the output does not name one", () => {
    expect(ModelFacts.read("aisdk", { model: "requested" }, {}).model).toBe("requested")
    expect(ModelFacts.read("aisdk", { modelId: "requested" }, {}).model).toBe("requested")
    expect(ModelFacts.read("aisdk", { model: { provider: "p", modelId: "requested" } }, {}).model).toBe("requested")
  })

  it("returns null for unexpected values, and does not throw", () => {
    const noFacts = { model: null, inputTokens: null, outputTokens: null, stopReason: null }
    const unexpected: ReadonlyArray<object> = [
      {},
      { model: 5, usage: { input_tokens: -1, output_tokens: 1.5 }, stop_reason: {} },
      { model: "\u0000", usage: { input_tokens: "10", output_tokens: 1e300 }, stop_reason: "\ud800" },
      { model: "x".repeat(256), usage: null, stop_reason: ["end"] },
      { model: {}, usage: [], stop_reason: 0 },
      JSON.parse(`{"__proto__":{"model":"m","usage":{"input_tokens":1}}}`)
    ]
    for (const output of unexpected) expect(ModelFacts.read("provider2-messages", {}, output)).toEqual(noFacts)
  })
})
