import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "@tachograph/formats"
import { Models } from "../../src/google/Models.ts"
import { everyPart, toArray, toEvents } from "../data/Models.ts"
import { countWork } from "../Work.ts"
import { areThere, longStrings, streamsOf } from "../Workloads.ts"

const encoder = new TextEncoder()

const accumulate = (body: string | Uint8Array, cuts: ReadonlyArray<number> = []) => {
  const bytes = typeof body === "string" ? encoder.encode(body) : body
  const stream = Models.accumulator()
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    stream.push(bytes.subarray(from, cut))
    from = cut
  }
  return stream.end()
}

const accumulateChunks = (...chunks: ReadonlyArray<JsonObject>) => accumulate(toEvents(chunks))

/** The parts of the one candidate of a stream whose chunks have these parts. */
const partsOf = (...chunks: ReadonlyArray<ReadonlyArray<unknown>>) => {
  const { output } = accumulateChunks(
    ...chunks.map((parts) => ({ candidates: [{ content: { parts: parts as never } }] }))
  )
  const [candidate] = (output["candidates"] ?? []) as ReadonlyArray<{ readonly content: { readonly parts: unknown } }>
  return candidate?.content.parts
}

describe("a stream of generateContent", () => {
  it("is the answer without streaming, with its keys in the order of the wire", () => {
    for (const body of [toEvents(everyPart.chunks), toArray(everyPart.chunks)]) {
      const { output, text, ended } = accumulate(body)
      expect(JSON.stringify(output, null, 1)).toBe(JSON.stringify(everyPart.output, null, 1))
      expect([text, ended]).toEqual([null, "done"])
    }
  })

  it("is itself where it is one answer, streamed or not", () => {
    const { output } = everyPart
    for (const body of [
      JSON.stringify(output),
      JSON.stringify(output, null, 2),
      `[${JSON.stringify(output)}]`,
      toEvents([output])
    ]) {
      expect(JSON.stringify(accumulate(body).output)).toBe(JSON.stringify(output))
    }
  })

  it("is the same wherever its bytes are cut, and whichever frame, line ends and comments it has", () => {
    const whole = accumulate(toEvents(everyPart.chunks))
    const bodies = ["\n", "\r\n", "\r"].map((end) => `\uFEFF: ping${end}${end}${toEvents(everyPart.chunks, end)}`)
    for (const body of [...bodies, toArray(everyPart.chunks)]) {
      const bytes = encoder.encode(body)
      for (let cut = 0; cut <= bytes.length; cut += 401) expect(accumulate(bytes, [cut])).toEqual(whole)
      expect(
        accumulate(
          bytes,
          Array.from(bytes, (_, index) => index)
        )
      ).toEqual(whole)
    }
    const cuts = fc.array(fc.nat(6000), { maxLength: 6 }).map((cuts) => cuts.toSorted((a, b) => a - b))
    const bytes = encoder.encode(toArray(everyPart.chunks))
    fc.assert(
      fc.property(cuts, (cuts) => {
        expect(accumulate(bytes, cuts)).toEqual(whole)
      })
    )
  })

  it("takes events of several lines, blank lines, a mark that nothing follows, and a last event without its end", () => {
    const whole = accumulate(toEvents(everyPart.chunks))
    const lines = everyPart.chunks.map((chunk) => JSON.stringify(chunk, null, 1).replaceAll("\n", "\ndata: "))
    const body = lines.map((line) => `\n\ndata: ${line}\n\n\n`).join("")
    expect(accumulate(body)).toEqual(whole)
    expect(accumulate(`${body}data: [DONE]\n\n`)).toEqual(whole)
    expect(accumulate(body.trimEnd())).toEqual(whole)
    expect(accumulate(`data:\n\n${body}`)).toEqual(whole)
    expect(accumulate("data: [DONE]\n\n")).toEqual({ output: {}, text: null, ended: "done" })
  })

  it("can be read at any moment, and goes on afterwards", () => {
    for (const body of [toEvents(everyPart.chunks), toArray(everyPart.chunks)]) {
      const bytes = encoder.encode(body)
      const stream = Models.accumulator()
      for (let from = 0; from < bytes.length; from += 41) {
        stream.push(bytes.subarray(from, from + 41))
        stream.end()
      }
      expect(stream.end()).toEqual(accumulate(bytes))
      expect(stream.end()).toEqual(stream.end())
    }
  })

  it("is what its whole chunks say where it was cut, and ends by nothing", () => {
    const { chunks } = everyPart
    const bytes = encoder.encode(toEvents(chunks))
    let known = 0
    for (let cut = 0; cut < bytes.length; cut += 43) {
      const result = accumulate(bytes.subarray(0, cut))
      // The chunk that the cut is in counts as soon as its JSON is whole.
      while (known < chunks.length && encoder.encode(toEvents(chunks.slice(0, known + 1))).length - 4 <= cut) known++
      expect(result, `${cut}`).toEqual(accumulateChunks(...chunks.slice(0, known)))
      const isWhole = known === chunks.length
      expect(result.ended).toBe(isWhole ? "done" : "cut")
      expect(Models.facts({}, result.output).stop_reason).toBe(isWhole ? "tool_calls" : null)
    }
    expect(accumulate("")).toEqual({ output: {}, text: null, ended: "cut" })
  })

  it("joins text until a signature or another part ends it", () => {
    const thought = { text: "Hm", thought: true }
    const signed = { text: "", thoughtSignature: "AA==" }
    expect(partsOf([{ text: "a" }], [{ text: "" }, { text: "b" }], [signed], [{ text: "c" }])).toEqual([
      { text: "ab", thoughtSignature: "AA==" },
      { text: "c" }
    ])
    expect(partsOf([thought], [thought], [{ text: "a" }], [thought])).toEqual([
      { text: "HmHm", thought: true },
      { text: "a" },
      thought
    ])
    expect(partsOf([thought], [signed])).toEqual([thought, signed])
    expect(partsOf([{ functionCall: { name: "a", args: {} } }], [{ text: "" }], [signed])).toEqual([
      { functionCall: { name: "a", args: {} } },
      signed
    ])
    expect(partsOf([{ text: "a", partMetadata: { b: 1 } }], [{ text: "c" }])).toEqual([
      { text: "a", partMetadata: { b: 1 } },
      { text: "c" }
    ])
    expect(partsOf([{ text: "" }], [{ text: "" }])).toEqual([{ text: "" }])
    // Fields that say the same, or nothing, tell no texts apart.
    const said = (text: string, fields: object = {}) => ({ text, lang: "en", ...fields })
    expect(
      partsOf([said("a")], [said("b", { inlineData: null })], [said("", { thought_signature: "AA==" })], [said("c")])
    ).toEqual([said("ab", { thought_signature: "AA==" }), said("c")])
    expect(partsOf([said("a")], [said("b", { lang: "de" })])).toEqual([said("a"), said("b", { lang: "de" })])
  })

  it("tells candidates apart by their index, which is 0 where there is none", () => {
    const candidate = (text: string, more: JsonObject = {}) => ({ content: { parts: [{ text }] }, ...more })
    const { output, ended } = accumulateChunks(
      { candidates: [candidate("b", { index: 1 }), candidate("a")] },
      { candidates: [candidate("B", { index: 1, finishReason: "STOP" })] },
      { candidates: [candidate("A", { index: 0, finishReason: "MAX_TOKENS" })] }
    )
    expect(output).toEqual({
      candidates: [
        candidate("aA", { finishReason: "MAX_TOKENS", index: 0 }),
        candidate("bB", { finishReason: "STOP", index: 1 })
      ]
    })
    expect(ended).toBe("done")
    expect(accumulateChunks({ candidates: [candidate("a"), candidate("b")] }).output).toEqual({
      candidates: [candidate("a"), candidate("b")]
    })
  })

  it("had not finished where content follows a reason to finish", () => {
    const chunk = (text: string, finishReason?: string) => ({
      candidates: [{ content: { parts: [{ text }] }, ...(finishReason === undefined ? {} : { finishReason }) }]
    })
    expect(accumulateChunks(chunk("a", "STOP"), chunk("b"))).toMatchObject({
      output: { candidates: [{ content: { parts: [{ text: "ab" }] } }] },
      ended: "cut"
    })
    expect(accumulateChunks(chunk("a", "STOP"), chunk("b")).output).not.toHaveProperty("candidates.0.finishReason")
    expect(accumulateChunks(chunk("a", "STOP"), chunk("b", "OTHER"))).toMatchObject({
      output: { candidates: [{ finishReason: "OTHER" }] },
      ended: "done"
    })
    const late = { candidates: [{ content: {}, groundingMetadata: { webSearchQueries: ["a"] } }] }
    expect(accumulateChunks(chunk("a", "STOP"), late, { usageMetadata: { totalTokenCount: 3 } })).toEqual({
      output: {
        candidates: [
          {
            content: { parts: [{ text: "a" }] },
            finishReason: "STOP",
            ...late.candidates[0],
            ...chunk("a").candidates[0]
          }
        ],
        usageMetadata: { totalTokenCount: 3 }
      },
      text: null,
      ended: "done"
    })
  })

  it("has the last usage, whole, unless it counts nothing", () => {
    const usage = (...all: ReadonlyArray<JsonObject>) =>
      accumulateChunks(...all.map((usageMetadata) => ({ usageMetadata }))).output["usageMetadata"]
    expect(
      usage(
        { promptTokenCount: 9, candidatesTokenCount: 21, totalTokenCount: 65 },
        { promptTokenCount: 87, totalTokenCount: 165 }
      )
    ).toEqual({
      promptTokenCount: 87,
      totalTokenCount: 165
    })
    expect(usage({ promptTokenCount: 9 }, { trafficType: "ON_DEMAND" })).toEqual({
      promptTokenCount: 9,
      trafficType: "ON_DEMAND"
    })
  })

  it("ends where the prompt was blocked, and keeps candidates without content", () => {
    const promptFeedback = { blockReason: "SAFETY", safetyRatings: [] }
    expect(accumulateChunks({ promptFeedback })).toEqual({ output: { promptFeedback }, text: null, ended: "done" })
    const empty = { candidates: [{ content: {}, index: 0 }], promptFeedback: { safetyRatings: [] } }
    expect(accumulateChunks(empty)).toEqual({ output: empty, text: null, ended: "cut" })
    const role = { candidates: [{ content: { role: "model" }, finishReason: "STOP" }] }
    expect(accumulateChunks(role).output).toEqual(role)
    const bare = { candidates: [{ finishReason: "OTHER", finishMessage: "No." }] }
    expect(accumulateChunks(bare)).toEqual({ output: bare, text: null, ended: "done" })
  })

  it("ends with an error, whatever frames it, and keeps what came before", () => {
    const error = { error: { code: 499, message: "The operation was cancelled.", status: "CANCELLED" } }
    const before = { candidates: [{ content: { parts: [{ text: "First " }] } }] }
    const bodies = [
      `${toEvents([before])}${JSON.stringify(error, null, 2)}\n`,
      `${toEvents([before])}${JSON.stringify(error)}`,
      toEvents([before, error]),
      toArray([before, error]),
      `${toEvents([before])}event: error\ndata: ${JSON.stringify(error)}\n\n`
    ]
    for (const body of bodies)
      expect(accumulate(body)).toEqual({ output: { ...before, ...error }, text: null, ended: "error" })
    for (const body of [JSON.stringify(error, null, 2), toArray([error]), toEvents([error])]) {
      expect(accumulate(body)).toEqual({ output: error, text: null, ended: "error" })
      expect(Models.facts({}, accumulate(body).output).error_status).toBe(499)
    }
  })

  it("puts arguments of functions together from their pieces", () => {
    const call = (piece: JsonObject) => [{ functionCall: piece }]
    const piece = (jsonPath: string, value: JsonObject, willContinue = false) =>
      call({ partialArgs: [{ jsonPath, ...value, ...(willContinue ? { willContinue } : {}) }], willContinue: true })
    const args = (...pieces: ReadonlyArray<ReadonlyArray<unknown>>) =>
      partsOf(call({ name: "a", willContinue: true }), ...pieces, call({}))
    const made = (value: unknown) => [{ functionCall: { name: "a", args: value } }]
    expect(args()).toEqual(made({}))
    expect(args(piece("$.a", { stringValue: "1" }), piece("$.a", { stringValue: "2" }))).toEqual(made({ a: "2" }))
    expect(
      args(
        piece("$.a", { stringValue: "1" }, true),
        piece("$.b", { stringValue: "2" }, true),
        piece("$.b", { stringValue: "3" })
      )
    ).toEqual(made({ a: "1", b: "23" }))
    expect(
      args(
        piece("$.a[0][1]", { numberValue: 1 }),
        piece("$.a[0][0]", { numberValue: 0 }),
        piece("$.a[4294967295]", { numberValue: 9 })
      )
    ).toEqual(made({ a: [[0]] }))
    expect(args(piece(`$["a.b"]['c\\'d'].é`, { boolValue: false }))).toEqual(made({ "a.b": { "c'd": { é: false } } }))
    for (const path of ["", "$", "a", "$..a", "$.a[*]", "$[?(@.a)]", `$.${"a".repeat(20_000)}`]) {
      expect(args(piece(path, { stringValue: "1" })), path.slice(0, 20)).toEqual(made({}))
    }
    expect(JSON.stringify(args(piece("$.__proto__.a", { stringValue: "1" })))).toBe(
      '[{"functionCall":{"name":"a","args":{"__proto__":{"a":"1"}}}}]'
    )
    // What was cut has the arguments that came.
    expect(partsOf(call({ name: "a", willContinue: true }), piece("$.b", { stringValue: "1" }, true))).toEqual(
      made({ b: "1" })
    )
    expect(partsOf(call({ name: "a", willContinue: true }), call({ name: "b", args: { c: 1 } }))).toEqual([
      { functionCall: { name: "a" } },
      { functionCall: { name: "b", args: { c: 1 } } }
    ])
    expect(partsOf([{ functionCall: { name: "a", willContinue: true }, thoughtSignature: "AA==" }], call({}))).toEqual([
      { functionCall: { name: "a", args: {} }, thoughtSignature: "AA==" }
    ])
  })

  it("joins sound that has no head, and no other bytes", () => {
    const sound = (data: string, mimeType = "audio/L16;rate=24000") => [{ inlineData: { mimeType, data } }]
    expect(partsOf(sound("AAEC"), sound("AwQ="), sound("BQ=="))).toEqual(sound("AAECAwQF"))
    expect(partsOf(sound("AAEC"), sound("AwQF"))).toEqual(sound("AAECAwQF"))
    expect(partsOf(sound("AAEC"), sound("AwQF", "audio/L16;rate=8000"))).toEqual([
      ...sound("AAEC"),
      ...sound("AwQF", "audio/L16;rate=8000")
    ])
    expect(partsOf(sound("UklG", "audio/wav"), sound("UklG", "audio/wav"))).toEqual([
      ...sound("UklG", "audio/wav"),
      ...sound("UklG", "audio/wav")
    ])
    expect(partsOf(sound("not base64="), sound("=AA"))).toEqual(sound("not base64==AA"))
  })

  it("gives the text where a number is too large", () => {
    const { output, text } = accumulate(
      'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"id":9007199254740993}}}]}}]}\n\n'
    )
    expect(output).toMatchObject({
      candidates: [{ content: { parts: [{ functionCall: { args: { id: 9007199254740992 } } }] } }]
    })
    expect(text).toBe(
      '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"id":9007199254740993}}}]}}]}'
    )
  })

  it("never throws, whatever its payloads are", () => {
    const value = fc.jsonValue({ maxDepth: 2 })
    const piece = fc.record(
      { jsonPath: fc.constantFrom("$.a", "$.a[0]", "$.a.b", "$", ""), stringValue: value, willContinue: value },
      { requiredKeys: [] }
    )
    const call = fc.record(
      { name: value, args: value, partialArgs: fc.oneof(value, fc.array(piece)), willContinue: fc.boolean() },
      { requiredKeys: [] }
    )
    const part = fc.record(
      {
        text: fc.oneof(fc.string(), value),
        thoughtSignature: value,
        thought: value,
        functionCall: fc.oneof(value, call),
        inlineData: fc.oneof(value, fc.record({ mimeType: fc.constant("audio/l16"), data: value }))
      },
      { requiredKeys: [] }
    )
    const candidate = fc.record(
      {
        index: value,
        content: fc.oneof(value, fc.record({ parts: fc.oneof(value, fc.array(fc.oneof(part, value))) })),
        finishReason: value,
        citationMetadata: value,
        groundingMetadata: value,
        logprobsResult: value
      },
      { requiredKeys: [] }
    )
    const chunk = fc.record(
      {
        candidates: fc.oneof(value, fc.array(fc.oneof(candidate, value))),
        usageMetadata: value,
        promptFeedback: value,
        error: value
      },
      { requiredKeys: [] }
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(chunk, value), { maxLength: 5 }), (chunks) => {
        const { output } = accumulate(toEvents(chunks as ReadonlyArray<JsonObject>))
        Models.facts({}, output)
        Models.messages({}, output)
      })
    )
  })

  it("takes keys that mean something to JavaScript as data, and nesting of any depth", () => {
    const odd =
      '{"candidates":[{"content":{"parts":[{"__proto__":{"a":1},"constructor":1,"7":2}],"__proto__":2},"__proto__":3}],"__proto__":{"b":4}}'
    const text = JSON.stringify(accumulate(`data: ${odd}\n\ndata: ${odd}\n\n`).output)
    for (const piece of [
      '"__proto__":{"a":1},"constructor":1',
      '"__proto__":2',
      '"__proto__":3',
      '"__proto__":{"b":4}'
    ]) {
      expect(text).toContain(piece)
    }
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    expect(accumulate(`data: {"candidates":[{"content":{"parts":[{"x":${deep}}]}}]}\n\n`).text).toContain(deep)
  })

  const piece = { jsonPath: "$.a", stringValue: "word ", willContinue: true }
  const longChunks = [
    { index: 0, content: { parts: [{ text: "word " }] } },
    { index: 1, content: { parts: [{ functionCall: { partialArgs: [piece], willContinue: true } }] } },
    { index: 2, content: { parts: [{ inlineData: { mimeType: "audio/L16", data: "AQ==" } }] } },
    { index: 3, logprobsResult: { chosenCandidates: [1] }, citationMetadata: { citations: [2] } }
  ].map((candidate) => toEvents([{ candidates: [candidate] }]))

  it("takes as much work for each chunk", async () => {
    const [work = 0, twice = 0] = await countWork("google/ModelsStream.ts", longChunks, [600, 1200])
    expect(twice / work).toBeGreaterThan(1.9)
    expect(twice / work).toBeLessThan(2.1)
  })

  it("can have 20,000 chunks", () => {
    const count = 5_000
    const stream = Models.accumulator()
    const chunks = longChunks.map((chunk) => encoder.encode(chunk))
    for (let index = 0; index < count; index++) for (const bytes of chunks) stream.push(bytes)
    const lengths = (stream.end().output["candidates"] as ReadonlyArray<JsonObject>).map((candidate) => {
      const { parts } = (candidate["content"] ?? { parts: [] }) as { readonly parts: ReadonlyArray<JsonObject> }
      const tokens = candidate["logprobsResult"] as JsonObject | undefined
      return [
        parts.length,
        longStrings([parts, tokens?.["chosenCandidates"] ?? []]).map(({ length }) => length),
        Object.values(tokens ?? {}).flat().length
      ]
    })
    expect(lengths).toEqual([
      [1, [count * 5], 0],
      [1, [count * 5], 0],
      [1, [Math.ceil(count / 3) * 4], 0],
      [0, [], count]
    ])
  })
})

const recorded = streamsOf("provider3-models").filter(({ stream }) => stream !== null)

/** Words that are the same in two calls to the same request. Other texts and numbers are compared by their kind. */
const words = new Set([
  "role",
  "finishReason",
  "modelVersion",
  "name",
  "modality",
  "language",
  "outcome",
  "toolType",
  "trafficType",
  "thought"
])

/** The structure of a value, with keys in any order, because recorders sorted some. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, words.has(key) ? item : shapeOf(item)])
  )
}

type Adjust = (output: JsonObject) => JsonObject

const candidateOf = (output: JsonObject) => (output["candidates"] as ReadonlyArray<JsonObject>)[0] as JsonObject

/** Google gives the average of a candidate's log probabilities only without streaming. */
const withoutAverage: Adjust = (output) => {
  const { avgLogprobs: _, ...candidate } = candidateOf(output)
  return { ...output, candidates: [candidate] }
}

/** Where two calls of a pair differ in more than that. `adjust` takes out of both what they do not share. */
const differences: ReadonlyArray<{ readonly source: string; readonly why: string; readonly adjust: Adjust }> = [
  {
    source: "reports_consistent_token_counts_compared_to_non-streaming.yml",
    why: "the answer was recorded from the Gemini API and the stream from Vertex",
    adjust: ({ createTime: _time, usageMetadata: _usage, ...output }) => {
      const { index: _index, ...candidate } = candidateOf(output)
      return { ...output, candidates: [candidate] }
    }
  },
  {
    source: "should_call_server_side_MCP_server,_stream.json",
    why: "after a call to an MCP server, Google answers the text as it was streamed, one part for each chunk",
    adjust: (output) => {
      const content = candidateOf(output)["content"] as { readonly parts: ReadonlyArray<JsonObject> }
      const parts = content.parts.filter(
        (part, index) => part["text"] === undefined || content.parts[index - 1]?.["text"] === undefined
      )
      return { ...output, candidates: [{ ...candidateOf(output), content: { ...content, parts } }] }
    }
  }
]

describe.runIf(areThere)("recorded streams of generateContent", () => {
  it("end as they say, and never throw where they are cut", () => {
    const ends = recorded.map(({ source, stream }) => {
      const bytes = encoder.encode(stream ?? "")
      const whole = accumulate(bytes)
      const step = Math.max(1, Math.floor(bytes.length / 12))
      for (let cut = 0; cut < bytes.length; cut += step) {
        expect(accumulate(bytes, [cut]), source).toEqual(whole)
        const { output, ended } = accumulate(bytes.subarray(0, cut))
        if (ended === "cut") expect(Models.facts({}, output).stop_reason, source).toBeNull()
      }
      return whole.ended
    })
    const countOf = (end: string) => ends.filter((ended) => ended === end).length
    // One ends with content that is empty and no reason to finish, and one with an error.
    expect([ends.length, countOf("done"), countOf("cut"), countOf("error")]).toEqual([22, 20, 1, 1])
  })

  it("have the structure of the same calls without streaming", () => {
    const pairs = recorded.filter(({ response }) => response !== null)
    expect(pairs.length).toBe(12)
    for (const { source, stream, response } of pairs) {
      const found = differences.find((difference) => source.endsWith(difference.source))
      const adjust: Adjust = (output) => withoutAverage(found === undefined ? output : found.adjust(output))
      expect(shapeOf(adjust(accumulate(stream ?? "").output)), source).toEqual(shapeOf(adjust(response as JsonObject)))
    }
  })

  it("say what their chunks say", () => {
    for (const { source, stream } of recorded) {
      const pieces = [...(stream ?? "").matchAll(/"text": ?("(?:[^"\\]|\\.)*")/g)].map(
        ([, text]) => JSON.parse(text ?? "") as string
      )
      const { output } = accumulate(stream ?? "")
      const texts = JSON.stringify(output["candidates"] ?? []).matchAll(/"text":("(?:[^"\\]|\\.)*")/g)
      const said = [...texts].map(([, text]) => JSON.parse(text ?? "") as string)
      expect(said.join(""), source).toBe(pieces.join(""))
    }
  })
})
