import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Facts, JsonObject } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { Models as format } from "../../src/google/Models.ts"
import { billing } from "../../src/google/ModelsFacts.ts"
import { everyPart } from "../data/Models.ts"
import { answersOf, areThere, longStrings } from "../Workloads.ts"

const unknown: Facts = {
  provider: "google",
  model: null,
  response_model: null,
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  reasoning_tokens: null,
  stop_reason: null,
  provider_stop_reason: null,
  tool_calls: null,
  error_type: null,
  error_code: null,
  error_status: null
}

const usage = (counts: JsonObject) => format.facts({}, { usageMetadata: counts })

const candidate = (content: unknown, finishReason: unknown = "STOP") => ({ candidates: [{ content, finishReason }] })

const answered = (...parts: ReadonlyArray<JsonObject>) => candidate({ role: "model", parts })

describe("facts of generateContent", () => {
  it("are read from request and answer", () => {
    expect(format.facts(everyPart.inputs, everyPart.output)).toEqual({
      provider: "google",
      model: "gemini-3-pro-preview",
      response_model: "gemini-3-pro-preview",
      input_tokens: 20 + 50,
      output_tokens: 40 + 60,
      cache_read_tokens: 8,
      cache_write_tokens: null,
      reasoning_tokens: 60,
      stop_reason: "tool_calls",
      provider_stop_reason: "STOP",
      tool_calls: ["GOOGLE_SEARCH_WEB", "now", "note"],
      error_type: null,
      error_code: null,
      error_status: null
    })
    expect(billing(everyPart.inputs, everyPart.output)).toMatchObject({
      service_tier: "ON_DEMAND",
      cache_write_1h_tokens: null,
      input_audio_tokens: 7 + 2,
      cache_audio_read_tokens: 3,
      output_audio_tokens: 5,
      output_image_tokens: 25,
      web_searches: 1
    })
    const grounded = (...webSearchQueries: ReadonlyArray<unknown>) => ({ groundingMetadata: { webSearchQueries } })
    const candidates = [grounded("a", "b", "a", ""), grounded("b"), { groundingMetadata: { webSearchQueries: null } }]
    expect(billing({}, { candidates }).web_searches).toBe(2)
    expect(billing({}, { candidates: candidates.slice(2) }).web_searches).toBeNull()
    const groundingChunks = [{ maps: { uri: "https://maps.example" } }]
    expect(billing({}, { candidates: [{ groundingMetadata: { groundingChunks } }] }).uncounted).toEqual(["maps"])
    const web = [{ groundingMetadata: { groundingChunks: [{ web: { uri: "https://a.example" } }] } }]
    expect(billing({}, { candidates: web }).uncounted).toEqual(["web_search"])
    const pictures = [{ groundingMetadata: { webSearchQueries: ["a"], imageSearchQueries: ["a", "b"] } }]
    expect(billing({}, { candidates: pictures })).toMatchObject({ web_searches: 3, uncounted: [] })
    const made = (mimeType: string, usageMetadata = {}, ...before: ReadonlyArray<object>) =>
      billing({}, { candidates: [{ content: { parts: [...before, { inlineData: { mimeType } }] } }], usageMetadata })
    expect(made("image/png").uncounted).toEqual(["images"])
    expect(made("audio/L16").uncounted).toEqual(["audio"])
    const candidatesTokensDetails = [{ modality: "IMAGE", tokenCount: 1290 }]
    expect(made("image/png", { candidatesTokensDetails }).uncounted).toEqual([])
    expect(made("image/png", {}, { executableCode: {} }).uncounted).toEqual([])
    expect(billing({}, { usageMetadata: { serviceTier: "flex", trafficType: "ON_DEMAND_FLEX" } })).toMatchObject({
      service_tier: "flex",
      web_searches: null
    })
  })

  it("are null where nothing is known", () => {
    for (const output of [null, undefined, 0, "text", [], {}, true]) expect(format.facts({}, output)).toEqual(unknown)
    for (const inputs of [null, undefined, [], "a", { model: 4 }]) expect(format.facts(inputs, {})).toEqual(unknown)
  })

  it("have a zero where Google leaves it out and its total says it", () => {
    expect(usage({ promptTokenCount: 14, totalTokenCount: 14 })).toMatchObject({ input_tokens: 14, output_tokens: 0 })
    expect(usage({ promptTokenCount: 14, totalTokenCount: 9 }).output_tokens).toBeNull()
    expect(usage({ promptTokenCount: 14 })).toMatchObject({ input_tokens: 14, output_tokens: null })
    expect(usage({ promptTokenCount: 4, thoughtsTokenCount: 7 })).toMatchObject({
      output_tokens: 7,
      reasoning_tokens: 7
    })
    expect(usage({ candidatesTokenCount: 2, toolUsePromptTokenCount: 5 })).toMatchObject({
      input_tokens: null,
      output_tokens: 2
    })
  })

  it("have no counts that are none", () => {
    for (const bad of [-1, 1.5, "3", 2 ** 53, true, {}, []]) {
      const counts = {
        promptTokenCount: bad,
        candidatesTokenCount: bad,
        cachedContentTokenCount: bad,
        totalTokenCount: bad
      }
      expect(usage(counts as JsonObject)).toEqual(unknown)
    }
    expect(usage({ promptTokenCount: 2 ** 53 - 1, toolUsePromptTokenCount: 1 }).input_tokens).toBeNull()
  })

  it("name a model without the path of its resource", () => {
    const named = (model: string) => format.facts({ model }, {}).model
    expect(named("models/gemini-2.5-flash")).toBe("gemini-2.5-flash")
    expect(named("projects/p/locations/l/publishers/google/models/gemini-2.5-flash")).toBe("gemini-2.5-flash")
    expect(named("tunedModels/mine")).toBe("tunedModels/mine")
    expect(named("models/")).toBe("models/")
  })

  it("translate every reason to stop", () => {
    const reasons: Readonly<Record<string, string>> = {
      STOP: "end",
      MAX_TOKENS: "length",
      SAFETY: "content_filter",
      RECITATION: "content_filter",
      BLOCKLIST: "content_filter",
      PROHIBITED_CONTENT: "content_filter",
      SPII: "content_filter",
      IMAGE_SAFETY: "content_filter",
      MALFORMED_FUNCTION_CALL: "error",
      UNEXPECTED_TOOL_CALL: "error",
      CONTINUATION: "pause",
      LANGUAGE: "other",
      OTHER: "other",
      FINISH_REASON_UNSPECIFIED: "other",
      UNHEARD_OF: "other"
    }
    for (const [word, reason] of Object.entries(reasons)) {
      expect(format.facts({}, candidate({}, word))).toMatchObject({ stop_reason: reason, provider_stop_reason: word })
    }
    for (const none of [null, "", 4]) expect(format.facts({}, candidate({}, none)).stop_reason).toBeNull()
  })

  it("tell that the model waits for functions, but not for those that the answer holds a response for", () => {
    const call = (name: string, id?: string) => ({ functionCall: { name, ...(id === undefined ? {} : { id }) } })
    const response = (name: string, id?: string) => ({
      functionResponse: { name, ...(id === undefined ? {} : { id }) }
    })
    const reasonOf = (...parts: ReadonlyArray<JsonObject>) => format.facts({}, answered(...parts)).stop_reason
    expect(reasonOf({ text: "a" }, call("look"))).toBe("tool_calls")
    expect(reasonOf(call("look"), response("look"), { text: "a" })).toBe("end")
    expect(reasonOf(call("look"), response("look"), call("note"))).toBe("tool_calls")
    expect(reasonOf(call("look", "a"), call("look", "b"), response("look", "a"))).toBe("tool_calls")
    expect(reasonOf({ toolCall: { toolType: "GOOGLE_SEARCH_WEB" } })).toBe("end")
    expect(format.facts({}, candidate({ parts: [call("look")] }, "MAX_TOKENS")).stop_reason).toBe("length")
  })

  it("tell a prompt that was blocked", () => {
    const output = {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT", blockReasonMessage: "The prompt was blocked." }
    }
    expect(format.facts({}, output)).toEqual({
      ...unknown,
      stop_reason: "content_filter",
      provider_stop_reason: "PROHIBITED_CONTENT"
    })
    expect(format.messages({}, output).output).toEqual([
      { ...output, role: "assistant", parts: [], finish_reason: "PROHIBITED_CONTENT" }
    ])
  })

  it("tell errors, also beside what came before", () => {
    const error = { error: { code: 429, message: "m", status: "RESOURCE_EXHAUSTED" } }
    const failed = { error_type: "429", error_code: "RESOURCE_EXHAUSTED", error_status: 429 }
    expect(format.facts({}, error)).toEqual({ ...unknown, ...failed })
    expect(format.facts({}, [error])).toEqual({ ...unknown, ...failed })
    expect(format.messages({}, error).output).toEqual([])
    expect(format.facts({}, { ...candidate({}), ...error })).toMatchObject({ ...failed, stop_reason: null })
    const late = { ...candidate({ parts: [{ text: "a" }] }, null), ...error }
    expect(format.facts({}, late)).toEqual({ ...unknown, ...failed, tool_calls: [] })
    expect(format.messages({}, late).output).toEqual([
      { ...error, role: "assistant", parts: [{ type: "text", content: "a" }] }
    ])
  })
})

const partsOf = (...parts: ReadonlyArray<unknown>) =>
  format.messages({ contents: [{ role: "user", parts }] }, null).input[0]?.parts

describe("generateContent in normal form", () => {
  it("has the parts of the semantic conventions", () => {
    const { input, output, instructions, tools, parameters } = format.messages(everyPart.inputs, everyPart.output)
    expect(instructions).toEqual([{ type: "text", content: "Be brief." }])
    expect(tools).toEqual([
      { type: "function", name: "look", description: "Looks", parameters: { type: "OBJECT" } },
      { type: "function", name: "now", parameters: { type: "object" } },
      { googleSearch: {} },
      { codeExecution: {} }
    ])
    expect(parameters).toEqual({
      model: "models/gemini-3-pro-preview",
      generationConfig: { temperature: 0, stopSequences: [] }
    })
    expect(input).toEqual([
      {
        role: "user",
        parts: [
          { type: "text", content: "How is Zürich?" },
          { type: "blob", mime_type: "audio/wav", modality: "audio", content: "UklGRg==" }
        ]
      },
      {
        role: "user",
        parts: [
          {
            type: "uri",
            mime_type: "application/pdf",
            modality: "document",
            uri: "gs://bucket/a.pdf",
            videoMetadata: { fps: 1 }
          }
        ]
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "Hm." },
          { type: "tool_call", name: "look", arguments: { at: "Zürich" }, thoughtSignature: "DD_-" }
        ]
      },
      {
        role: "tool",
        parts: [
          {
            type: "tool_call_response",
            name: "look",
            response: { result: "sun" },
            parts: [{ type: "blob", mime_type: "image/png", modality: "image", content: "iVBORw==" }]
          }
        ]
      }
    ])
    expect(output).toEqual([
      {
        modelVersion: "gemini-3-pro-preview",
        responseId: "response-1",
        citationMetadata: everyPart.output.candidates[0]?.citationMetadata,
        logprobsResult: everyPart.output.candidates[0]?.logprobsResult,
        groundingMetadata: everyPart.output.candidates[0]?.groundingMetadata,
        role: "assistant",
        finish_reason: "STOP",
        parts: [
          { type: "reasoning", content: "The user asks about Zürich." },
          {
            type: "tool_call",
            id: "abcd1234",
            name: "GOOGLE_SEARCH_WEB",
            arguments: { queries: ["Zürich"] },
            tool_type: "toolCall",
            thoughtSignature: "AAAA"
          },
          {
            type: "tool_call_response",
            id: "abcd1234",
            name: "GOOGLE_SEARCH_WEB",
            response: { found: "much" },
            tool_type: "toolResponse",
            thoughtSignature: "BBBB"
          },
          { type: "text", content: "It is warm\u2028— 晴れ 🏔️.", thoughtSignature: "CCCC" },
          { type: "executableCode", executableCode: { language: "PYTHON", code: "print(1)" } },
          { type: "codeExecutionResult", codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
          { type: "blob", mime_type: "image/png", modality: "image", content: "iVBORw==" },
          { type: "blob", mime_type: "audio/L16;codec=pcm;rate=24000", modality: "audio", content: "AQIDBAU=" },
          { type: "tool_call", name: "now" },
          {
            type: "tool_call",
            id: "efgh5678",
            name: "note",
            arguments: { text: "Sunny", places: [{ "full name": "Zürich", height: 408.5 }, null], sure: true }
          }
        ]
      }
    ])
  })

  it("takes names in JSON and in protocol buffers alike", () => {
    const toSnake = (text: string) =>
      text.replaceAll(
        /"([a-z]+[A-Z][A-Za-z]*)":/g,
        (_, key: string) => `"${key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}":`
      )
    const { contents, systemInstruction, tools } = everyPart.inputs
    const known = { contents: contents.filter((_, index) => index !== 1), systemInstruction, tools: tools.slice(0, 1) }
    const other = JSON.parse(toSnake(JSON.stringify(known)).replace(',"google_search":{}', "")) as JsonObject
    const expected = format.messages(known, null)
    expect(format.messages(other, null)).toEqual({ ...expected, tools: expected.tools.slice(0, 2) })
  })

  it("takes a request that is no list of contents, as SDKs do", () => {
    const user = [{ role: "user", parts: [{ type: "text", content: "a" }] }]
    for (const contents of [
      "a",
      { text: "a" },
      { parts: [{ text: "a" }] },
      ["a"],
      [{ text: "a" }],
      [{ parts: ["a"] }]
    ]) {
      expect(format.messages({ contents }, null).input).toEqual(user)
    }
    for (const contents of [null, undefined, "", [], {}]) expect(format.messages({ contents }, null).input).toEqual([])
    expect(format.messages({ system_instruction: "Be brief." }, null).instructions).toEqual([
      { type: "text", content: "Be brief." }
    ])
  })

  it("leaves out text that is empty, and keeps a signature that comes with it", () => {
    expect(partsOf({ text: "" }, null, {}, { text: "", thoughtSignature: "AA==" })).toEqual([
      { type: "text", thoughtSignature: "AA==" }
    ])
  })

  it("keeps what is not known, with all of its keys", () => {
    const odd = JSON.parse('{"unheardOf":{"b":[1],"__proto__":{"c":1}},"constructor":"d"}') as JsonObject
    expect(JSON.stringify(partsOf(odd))).toBe(JSON.stringify([{ type: "unheardOf", ...odd }]))
    expect(partsOf({ text: "a", partMetadata: { b: 1 } }, { text: 4 }, 4, { type: "mine", c: 1 })).toEqual([
      { type: "text", content: "a", partMetadata: { b: 1 } },
      { type: "unknown", text: 4 },
      { type: "unknown", content: 4 },
      { type: "mine", c: 1 }
    ])
    expect(partsOf({ functionCall: { name: "a", args: { b: 1 }, willContinue: true } })).toEqual([
      { type: "tool_call", name: "a", arguments: { b: 1 }, willContinue: true }
    ])
  })

  it("has the same identity without the id that a client made up, and without signatures", () => {
    const sent = (call: JsonObject, more: JsonObject = {}) =>
      identity(
        format.messages({ contents: [{ role: "model", parts: [{ functionCall: call, ...more }] }] }, null).input[0]!
      )
    const answer = identity(
      format.messages({}, answered({ functionCall: { name: "a", args: {} }, thoughtSignature: "A+/=" })).output[0]!
    )
    expect(sent({ name: "a", id: "client_made_this" }, { thought_signature: "A-_=" })).toBe(answer)
    expect(sent({ name: "a", id: "abcd1234" })).not.toBe(sent({ name: "a", id: "abcd1235" }))
    expect(sent({ name: "a", args: { b: 1 } })).not.toBe(answer)
  })

  it("takes any value, nested however deep", () => {
    let deep: JsonObject = { text: "a" }
    for (let depth = 0; depth < 100_000; depth++) deep = { functionResponse: { name: "a", parts: [deep] } }
    expect(partsOf(deep)).toHaveLength(1)
    expect(format.facts(deep, deep)).toEqual(unknown)
    const value = fc.jsonValue({ maxDepth: 2 })
    const part = fc.record(
      {
        text: value,
        thought: value,
        thoughtSignature: value,
        functionCall: fc.oneof(value, fc.record({ name: value, args: value, id: value })),
        functionResponse: fc.oneof(value, fc.record({ parts: value, response: value })),
        inlineData: fc.oneof(value, fc.record({ data: value, mimeType: value })),
        toolCall: value,
        executableCode: value
      },
      { requiredKeys: [], noNullPrototype: true }
    )
    const content = fc.oneof(value, fc.record({ role: value, parts: fc.oneof(value, fc.array(part)) }))
    const any = fc.oneof(
      value,
      fc.record({
        contents: fc.oneof(value, fc.array(content)),
        tools: fc.oneof(value, fc.array(fc.record({ functionDeclarations: fc.oneof(value, fc.array(value)) }))),
        systemInstruction: content,
        candidates: fc.oneof(
          value,
          fc.array(fc.oneof(value, fc.record({ content, finishReason: value, groundingMetadata: value })))
        ),
        usageMetadata: value,
        promptFeedback: value
      })
    )
    fc.assert(
      fc.property(any, any, (inputs, output) => {
        format.facts(inputs, output)
        billing(inputs, output)
        const { input, output: answers } = format.messages(inputs, output)
        for (const message of [...input, ...answers]) identity(message)
      })
    )
  })
})

interface Part {
  readonly functionCall?: { readonly name: string }
  readonly toolCall?: { readonly toolType: string }
  readonly functionResponse?: unknown
  readonly thoughtSignature?: string
}

interface Answer {
  readonly candidates?: ReadonlyArray<{
    readonly content: { readonly parts?: ReadonlyArray<Part> }
    readonly finishReason: string
  }>
  readonly usageMetadata?: Readonly<Record<string, number | undefined>>
  readonly modelVersion?: string
  readonly error?: { readonly code: number; readonly status: string }
}

const words: Readonly<Record<string, Facts["stop_reason"]>> = { STOP: "end", SAFETY: "content_filter" }

/** Facts as one would read them from an answer by hand. Each has one candidate. */
const readPlainly = (inputs: unknown, { candidates, usageMetadata: used, modelVersion, error }: Answer): Facts => {
  const model = (inputs as { readonly model?: string } | null)?.model ?? null
  if (error !== undefined) {
    const { code, status } = error
    return { ...unknown, model, error_type: `${code}`, error_code: status, error_status: code }
  }
  const [only] = candidates ?? []
  const parts = only?.content.parts ?? []
  const waits = parts.findLastIndex((part) => part.functionCall) > parts.findLastIndex((part) => part.functionResponse)
  const beside = used?.["toolUsePromptTokenCount"] ?? 0
  const prompt = used?.["promptTokenCount"]
  return {
    ...unknown,
    model,
    response_model: modelVersion ?? null,
    input_tokens: prompt === undefined ? null : prompt + beside,
    output_tokens: (used?.["candidatesTokenCount"] ?? 0) + (used?.["thoughtsTokenCount"] ?? 0),
    cache_read_tokens: used?.["cachedContentTokenCount"] ?? null,
    reasoning_tokens: used?.["thoughtsTokenCount"] ?? null,
    stop_reason: waits ? "tool_calls" : (words[only?.finishReason ?? ""] ?? null),
    provider_stop_reason: only?.finishReason ?? null,
    tool_calls: parts.flatMap((part) => part.functionCall?.name ?? part.toolCall?.toolType ?? [])
  }
}

const answers = answersOf("provider3-models")
const withAnswer = answers.filter(({ output }) => output !== null)

/** A signature in either alphabet of base64. */
const plain = (signature: string) => signature.replaceAll("-", "+").replaceAll("_", "/")

describe.runIf(areThere)("recorded calls of generateContent", () => {
  it("have the facts that a plain reading gives", () => {
    expect([answers.length, withAnswer.length]).toEqual([75, 65])
    for (const { source, inputs, output } of withAnswer) {
      expect(format.facts(inputs, output), source).toEqual(readPlainly(inputs, output as Answer))
    }
  })

  it("lack facts for known reasons only", () => {
    const all = withAnswer.map(({ inputs, output }) => format.facts(inputs, output))
    const missing = (key: keyof Facts) => all.filter((facts) => facts[key] === null).length
    expect(missing("error_type")).toBe(65 - 7)
    expect({
      // Google has the model in the URL; the 47 calls of `calls.ndjson` have it beside the request.
      model: missing("model"),
      // The seven errors have no answer.
      response_model: missing("response_model"),
      output_tokens: missing("output_tokens"),
      stop_reason: missing("stop_reason"),
      tool_calls: missing("tool_calls"),
      // The errors, and one answer about an image whose usage has no prompt.
      input_tokens: missing("input_tokens"),
      // Google leaves out what is zero: 3 read a cache.
      cache_read_tokens: missing("cache_read_tokens"),
      // Google has no such count.
      cache_write_tokens: missing("cache_write_tokens"),
      // The errors, and ten answers without thoughts.
      reasoning_tokens: missing("reasoning_tokens")
    }).toEqual({
      model: 18,
      response_model: 7,
      output_tokens: 7,
      stop_reason: 7,
      tool_calls: 7,
      input_tokens: 8,
      cache_read_tokens: 62,
      cache_write_tokens: 65,
      reasoning_tokens: 17
    })
  })

  it("lose no text in normal form", () => {
    for (const { source, inputs, output } of answers) {
      const kept = new Set(longStrings(format.messages(inputs, output)))
      const isError = (output as Answer | null)?.error !== undefined
      const lost = [...longStrings(inputs), ...(isError ? [] : longStrings(output))].filter((text) => !kept.has(text))
      expect(lost, source).toEqual([])
    }
  })

  it("are the same message when a later call sends an answer back", () => {
    const partsIn = (content: unknown) => (content as { readonly parts?: ReadonlyArray<Part> }).parts ?? []
    const calls = answers.filter(({ inputs }) => inputs !== null)
    const pairs = withAnswer.flatMap(({ source, output }) => {
      const [only] = (output as Answer).candidates ?? []
      const [signature] = partsIn(only?.content ?? {}).flatMap((part) => part.thoughtSignature ?? [])
      if (signature === undefined) return []
      return calls.flatMap(({ inputs }) => {
        const { contents } = inputs as { readonly contents: ReadonlyArray<unknown> }
        const isOfModel = (content: unknown) => (content as { readonly role?: string }).role === "model"
        const place = contents.findIndex(
          (content) => isOfModel(content) && plain(JSON.stringify(content)).includes(plain(signature))
        )
        return place === -1 ? [] : [{ source, output, content: contents[place] }]
      })
    })
    expect(pairs.length).toBe(4)
    for (const { source, output, content } of pairs) {
      const [answer] = format.messages(null, output).output
      const [sent] = format.element(content)
      expect(identity(sent!), source).toBe(identity(answer!))
    }
  })
})
