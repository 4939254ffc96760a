import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "@tachograph/formats"
import { errorOf } from "../../src/facts/Errors.ts"
import { accumulator } from "../../src/anthropic/MessagesStream.ts"
import { everyBlock, errorInTheMiddle, make, toText } from "../data/Messages.ts"
import { countWork } from "../Work.ts"
import { areThere, streamsOf } from "../Workloads.ts"

const encoder = new TextEncoder()

const accumulate = (body: string | Uint8Array, cuts: ReadonlyArray<number> = []) => {
  const bytes = typeof body === "string" ? encoder.encode(body) : body
  const stream = accumulator()
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    stream.push(bytes.subarray(from, cut))
    from = cut
  }
  return stream.end()
}

const accumulateEvents = (...events: ReadonlyArray<JsonObject>) => accumulate(toText(events))

const { messageStart, blockStart, textDelta, inputDelta, blockStop, delta, messageDelta, messageStop } = make

const content = (...events: ReadonlyArray<JsonObject>) => accumulateEvents(messageStart(), ...events).output["content"]

describe("a stream of messages", () => {
  it("is the answer without streaming, with its keys in the order of the wire", () => {
    const { output, text, ended } = accumulate(toText(everyBlock.events))
    const exact = text?.replace("9007199254740993", "9007199254740992")
    expect(JSON.stringify(output)).toBe(JSON.stringify(everyBlock.output))
    expect([exact, ended]).toEqual([JSON.stringify(output), "done"])
  })

  it("is the same wherever its bytes are cut, and whichever line ends, padding and comments it has", () => {
    const whole = accumulate(toText(everyBlock.events))
    for (const end of ["\n", "\r\n", "\r"]) {
      const bytes = encoder.encode(`\uFEFF: begin${end}${end}${toText(everyBlock.events, end, "   ")}`)
      for (let cut = 0; cut <= bytes.length; cut += 61) expect(accumulate(bytes, [cut])).toEqual(whole)
      const each = Array.from(bytes, (_, index) => index)
      expect(accumulate(bytes, each)).toEqual(whole)
    }
    const cut = fc.array(fc.nat(3000), { maxLength: 6 }).map((cuts) => cuts.toSorted((a, b) => a - b))
    const bytes = encoder.encode(toText(everyBlock.events))
    fc.assert(
      fc.property(cut, (cuts) => {
        expect(accumulate(bytes, cuts)).toEqual(whole)
      })
    )
  })

  it("does not need names of events, blank lines at the end, or `message_stop`", () => {
    const data = everyBlock.events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
    expect(accumulate(data.trimEnd())).toEqual(accumulate(toText(everyBlock.events)))
    expect(accumulate(toText(everyBlock.events.slice(0, -1)))).toEqual(accumulate(toText(everyBlock.events)))
    expect(accumulate(`${data}data: [DONE]\n\n`)).toEqual(accumulate(toText(everyBlock.events)))
  })

  it("may have events of several lines, and empty ones", () => {
    const texts = everyBlock.events.map((event) => JSON.stringify(event, null, 1).split("\n"))
    const lines = texts.flatMap((text) => ["data:", "", "data", "", ...text.map((line) => `data: ${line}`), "", "", ""])
    const body = lines.join("\n")
    expect(accumulate(body)).toEqual(accumulate(toText(everyBlock.events)))
  })

  it("may be no stream: the answer as it is, or an error", () => {
    const { output } = everyBlock
    expect(accumulate(JSON.stringify(output, null, 2))).toMatchObject({ output, ended: "done" })
    const error = { type: "error", error: { type: "api_error", message: "No" } }
    expect(accumulate(JSON.stringify(error, null, 2))).toEqual({ output: error, text: null, ended: "error" })
  })

  it("takes the type of an event from its name where the payload has none", () => {
    const body = toText(everyBlock.events)
    expect(accumulate(body.replaceAll(/"type":"(message_|content_block_)\w+",/g, ""))).toEqual(accumulate(body))
  })

  it("can be read at any moment, and goes on afterwards", () => {
    const bytes = encoder.encode(toText(everyBlock.events))
    const stream = accumulator()
    for (let from = 0; from < bytes.length; from += 5) {
      stream.push(bytes.subarray(from, from + 5))
      stream.end()
    }
    expect(stream.end()).toEqual(accumulate(bytes))
    expect(stream.end()).toEqual(stream.end())
  })

  it("is what its whole events say where it was cut, and ends by nothing", () => {
    const { events } = everyBlock
    const bytes = encoder.encode(toText(events))
    const ends = events.map((_, index) => encoder.encode(toText(events.slice(0, index + 1))).length - "\n\n".length)
    let known = 0
    for (let cut = 0; cut < bytes.length; cut += 7) {
      const result = accumulate(bytes.subarray(0, cut))
      // The event that the cut is in counts as soon as its JSON is whole.
      while ((ends[known] ?? Infinity) <= cut) known++
      expect(result, `${cut}`).toEqual(accumulateEvents(...events.slice(0, known)))
      expect(result.output["stop_reason"] ?? null).toBe(result.ended === "cut" ? null : "tool_use")
    }
    expect(accumulateEvents(...events.slice(0, 5)).output["content"]).toEqual([
      { type: "thinking", thinking: "The user is in Zürich 🏔️.", signature: "" }
    ])
    expect(accumulate("")).toEqual({ output: {}, text: null, ended: "cut" })
  })

  it("keeps the text of an input that was cut, or is no JSON", () => {
    const tool = { type: "tool_use", id: "toolu_1", name: "note", input: {} }
    const begun = [blockStart(0, tool), inputDelta(0, '{"text": "a'), inputDelta(0, "b")]
    expect(content(...begun)).toEqual([{ ...tool, input: '{"text": "ab' }])
    expect(content(...begun, blockStop(0), messageDelta({ stop_reason: "max_tokens" }, {}))).toEqual([
      { ...tool, input: '{"text": "ab' }
    ])
  })

  it("keeps an input with which a block begins, unless deltas follow", () => {
    const tool = { type: "tool_use", id: "toolu_1", name: "note", input: { text: "a" } }
    expect(content(blockStart(0, tool), inputDelta(0, ""), blockStop(0))).toEqual([tool])
    expect(content(blockStart(0, tool), inputDelta(0, '{"text":"b"}'))).toEqual([{ ...tool, input: { text: "b" } }])
  })

  it("takes an answer whose start has its content and has no delta", () => {
    const filled = [{ type: "tool_use", id: "toolu_1", name: "roll", input: { player: 2 } }]
    const start = messageStart({ content: filled, stop_reason: "tool_use", container: { id: "container_1" } })
    const { output, ended } = accumulateEvents(start, messageStop)
    expect([output, ended]).toEqual([start["message"], "done"])
    expect(accumulateEvents(start, blockStart(1, { type: "text", text: "" }), textDelta(1, "a")).output).toMatchObject({
      content: [...filled, { type: "text", text: "a" }]
    })
  })

  it("begins again with another message, and not with the same one", () => {
    const first = [messageStart(), blockStart(0, { type: "text", text: "" }), textDelta(0, "given up")]
    const second = [blockStart(0, { type: "text", text: "" }), textDelta(0, "answered"), blockStop(0), messageStop]
    const again = accumulateEvents(...first, messageStart({ id: "msg_2" }), ...second).output
    expect(again).toMatchObject({ id: "msg_2", content: [{ type: "text", text: "answered" }] })
    const repeated = accumulateEvents(
      messageStart(),
      messageStart(),
      ...first.slice(1),
      messageStart(),
      messageStop
    ).output
    expect(repeated).toMatchObject({ id: "msg_1", content: [{ type: "text", text: "given up" }] })
  })

  it("has no holes where indexes have gaps, and takes deltas of blocks by turns", () => {
    const text = { type: "text", text: "" }
    const turns = [textDelta(9, "b"), textDelta(2, "a"), textDelta(9, "b"), inputDelta(5, "lost"), textDelta(2, "a")]
    expect(content(blockStart(2, text), blockStart(9, text), ...turns)).toEqual([
      { type: "text", text: "aa" },
      { type: "text", text: "bb" }
    ])
  })

  it("replaces usage field by field", () => {
    const usage = (...events: ReadonlyArray<JsonObject>) => accumulateEvents(messageStart(), ...events).output["usage"]
    const start = everyBlock.events[0]?.["message"] as JsonObject
    const before = start["usage"] as JsonObject
    expect(usage(messageDelta({}, { output_tokens: 50 }))).toEqual({ ...before, output_tokens: 50 })
    expect(usage(messageDelta({}, { output_tokens: 5 }), messageDelta({}, { output_tokens: 7 }))).toEqual({
      ...before,
      output_tokens: 7
    })
    expect(usage(messageDelta({}, { input_tokens: null, output_tokens: 0, iterations: [] }))).toEqual({
      ...before,
      iterations: []
    })
  })

  it("has counts that a gateway puts into a delta, or tells at the end", () => {
    const [told, last] = [{ input_tokens: 8, output_tokens: 3 }, { output_tokens: 9 }]
    const events = [
      { type: "message_delta", delta: { usage: told } },
      { type: "message_stop", usage: last }
    ]
    expect(accumulateEvents(...events).output["usage"]).toEqual({ ...told, ...last })
  })

  it("begins a block where a delta is of none, or of another kind", () => {
    const thinking = (index: number, said: string) => delta(index, { type: "thinking_delta", thinking: said })
    expect(content(textDelta(0, "a"), textDelta(0, "b"))).toEqual([{ type: "text", text: "ab" }])
    expect(content(thinking(0, "a"), thinking(0, "b"), textDelta(0, "c"), textDelta(0, "d"))).toEqual([
      { type: "thinking", thinking: "ab" },
      { type: "text", text: "cd" }
    ])
    const tool = { type: "tool_use", id: "1", name: "look", input: {} }
    expect(content(blockStart(0, tool), inputDelta(0, "{}"), textDelta(0, "a"))).toEqual([
      tool,
      { type: "text", text: "a" }
    ])
    // A type that is new may have text.
    expect(content(blockStart(0, { type: "musing" }), textDelta(0, "a"))).toEqual([{ type: "musing", text: "a" }])
    const { index: _, ...placeless } = textDelta(0, "b")
    expect(content(textDelta(0, "a"), placeless)).toEqual([{ type: "text", text: "ab" }])
  })

  it("takes a compaction as the whole that it is, and appends the text of kinds of deltas that are new", () => {
    const compaction = [blockStart(0, { type: "compaction", content: "" })]
    const whole = delta(0, { type: "compaction_delta", content: "The user asked.", encrypted_content: "QUJD" })
    expect(content(...compaction, whole, whole)).toEqual([
      { type: "compaction", content: "The user asked.", encrypted_content: "QUJD" }
    ])
    expect(content(...compaction, delta(0, { type: "compaction_delta", content: null }))).toEqual([
      { type: "compaction", content: null }
    ])
    const changes = [{ more: "a" }, { more: "b", level: 1, of: { a: 1 } }, { more: null, level: 2 }]
    expect(
      content(
        blockStart(0, { type: "x" }),
        ...changes.map((change) => delta(0, { type: "unheard_of_delta", ...change }))
      )
    ).toEqual([{ type: "x", more: "ab", level: 2, of: { a: 1 } }])
  })

  it("names the model that went on where another one had declined", () => {
    const fallback = { type: "fallback", from: { model: "a" }, to: { model: "b" } }
    const advice = {
      type: "advisor_tool_result",
      tool_use_id: "srvtoolu_1",
      content: { type: "advisor_result", text: "Go" }
    }
    const { output } = accumulateEvents(messageStart(), blockStart(0, fallback), blockStop(0), blockStart(1, advice))
    expect(output).toMatchObject({ model: "b", content: [fallback, advice] })
  })

  it("does not forget by null what it knows", () => {
    const start = messageStart({ container: { id: "container_1" } })
    const change = messageDelta({ container: null, stop_reason: "end_turn" }, {}, { context_management: null })
    expect(accumulateEvents(start, change).output).toMatchObject({
      container: { id: "container_1" },
      stop_reason: "end_turn",
      context_management: null
    })
    const applied = messageDelta({}, {}, { context_management: { applied_edits: [] } })
    expect(accumulateEvents(start, applied, change).output).toMatchObject({ context_management: { applied_edits: [] } })
  })

  it("ends with an error, also after content has begun", () => {
    const { output, ended } = accumulateEvents(...errorInTheMiddle.events, textDelta(0, "never said"))
    expect([JSON.stringify(output), ended]).toEqual([JSON.stringify(errorInTheMiddle.output), "error"])
    const [only] = errorInTheMiddle.events.slice(-1)
    expect(accumulateEvents(only as JsonObject)).toEqual({ output: only, text: null, ended: "error" })
    expect(accumulate('event: error\ndata: {"error":{"type":"api_error"}}\n\n').ended).toBe("error")
  })

  it.each<[string, JsonObject, string]>([
    ["xAI's", { code: "invalid", error: "Incorrect API key" }, "invalid"],
    ["FastAPI's", { detail: "Not Found" }, "unknown"],
    ["AWS'", { message: "slow down", __type: "ThrottlingException" }, "ThrottlingException"],
    ["Cloudflare's", { success: false, errors: [{ code: 7003, message: "m" }] }, "7003"],
    ["vLLM's", { object: "error", message: "m", type: "NotFoundError" }, "NotFoundError"]
  ])("is the body of an error that is not Anthropic's, and has it after content has begun: %s", (_, body, type) => {
    for (const text of [JSON.stringify(body), `data: ${JSON.stringify(body)}\n\n`]) {
      const { output, ended } = accumulate(text)
      expect([errorOf(output)?.type, ended]).toEqual([type, "error"])
    }
    const { output, ended } = accumulateEvents(
      messageStart(),
      blockStart(0, { type: "text", text: "" }),
      textDelta(0, "a"),
      body
    )
    expect([output["content"], errorOf(output)?.type, ended]).toEqual([[{ type: "text", text: "a" }], type, "error"])
  })

  it("has citations and signatures also where the block began without", () => {
    const cited = { type: "web_search_result_location", url: "https://example.com" }
    const events = [
      blockStart(0, { type: "thinking", thinking: "" }),
      delta(0, { type: "signature_delta", signature: "Qg==" }),
      delta(0, { type: "signature_delta", signature: "QQ==" }),
      blockStart(1, { type: "text", text: "" }),
      delta(1, { type: "citations_delta", citation: cited })
    ]
    expect(content(...events)).toEqual([
      { type: "thinking", thinking: "", signature: "QQ==" },
      { type: "text", text: "", citations: [cited] }
    ])
  })

  it("never throws, whatever its payloads are", () => {
    const kinds = [
      "message_start",
      "content_block_start",
      "content_block_delta",
      "message_delta",
      "message",
      "error",
      "ping"
    ]
    const hostile = fc.record(
      {
        type: fc.constantFrom(...kinds),
        message: fc.jsonValue(),
        index: fc.jsonValue(),
        content_block: fc.jsonValue(),
        delta: fc.jsonValue(),
        usage: fc.jsonValue(),
        error: fc.jsonValue()
      },
      { requiredKeys: ["type"] }
    )
    fc.assert(
      fc.property(fc.array(hostile), (events) => {
        expect(() => accumulate(toText(events as ReadonlyArray<JsonObject>))).not.toThrow()
      })
    )
  })

  it("takes keys that mean something to JavaScript as data, and nesting of any depth", () => {
    const block = JSON.parse('{"type":"x","__proto__":{"a":1},"constructor":1,"7":2}') as JsonObject
    const { output } = accumulateEvents(messageStart(), blockStart(0, block), delta(0, block))
    const text = JSON.stringify(output)
    expect(text).toContain('"__proto__":{"a":1}')
    expect(Object.getPrototypeOf((output["content"] as ReadonlyArray<object>)[0])).toBe(Object.prototype)
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    const nested = `data: {"type":"content_block_start","index":0,"content_block":{"type":"x","value":${deep}}}\n\n`
    expect(accumulate(nested).text).toContain(deep)
  })

  describe("that is long", () => {
    const begin = [
      messageStart(),
      blockStart(0, { type: "text", text: "" }),
      blockStart(1, { type: "tool_use", input: {} }),
      inputDelta(1, "[")
    ]
    const changes = [
      textDelta(0, "word "),
      inputDelta(1, "1,"),
      delta(0, { type: "citations_delta", citation: { url: "a" } }),
      delta(0, { type: "unheard_of_delta", more: "a" })
    ]

    it("takes as much work for each delta", async () => {
      const many = Array.from({ length: 150 }, () => changes).flat()
      const pieces = [...begin, ...many].map((event) => toText([event]))
      const half = begin.length + many.length / 2
      const [work = 0, twice = 0] = await countWork("anthropic/MessagesStream.ts", pieces, [half, pieces.length])
      expect(twice / work).toBeGreaterThan(1.8)
      expect(twice / work).toBeLessThan(2.1)
    })

    it("takes as much work for each field", async () => {
      const changes = Array.from({ length: 500 }, (_, at) => messageDelta({ [`a${at}`]: 1 }, { [`b${at}`]: 1 }))
      const pieces = [...begin, ...changes].map((event) => toText([event]))
      const [work = 0, twice = 0] = await countWork("anthropic/MessagesStream.ts", pieces, [
        begin.length + 250,
        pieces.length
      ])
      expect(twice / work).toBeGreaterThan(1.5)
      expect(twice / work).toBeLessThan(2.1)
    })

    it("can have 20,000 deltas", () => {
      const stream = accumulator()
      stream.push(encoder.encode(toText(begin)))
      const bytes = encoder.encode(toText(changes).repeat(50))
      for (let index = 0; index < 100; index++) stream.push(bytes)
      stream.push(encoder.encode(toText([inputDelta(1, "0]")])))
      const [first, second] = stream.end().output["content"] as ReadonlyArray<JsonObject>
      const lists = [first?.["citations"], first?.["more"], second?.["input"]]
      expect(lists.map((list) => (list as string).length)).toEqual([5_000, 5_000, 5_001])
      expect(first?.["text"]).toHaveLength(5_000 * "word ".length)
    })
  })
})

const recorded = streamsOf("provider2-messages", "provider2-beta-messages").filter(({ stream }) => stream !== null)

/** Words that are the same in two calls to the same request. Other texts and numbers are compared by their kind. */
const words = new Set(["type", "role", "model", "stop_reason", "name", "file_type"])

/** What may be null in one call and not in the other. */
const optional = new Set(["page_age"])

const byText = <A>(values: ReadonlyArray<A>, textOf: (value: A) => string) =>
  values.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))

/** The structure of a value. Elements of an array that have the same one count once, because numbers of results differ. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    const shapes = new Map(value.map(shapeOf).map((shape) => [JSON.stringify(shape), shape]))
    return byText([...shapes], ([text]) => text).map(([, shape]) => shape)
  }
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value
  const shapes = Object.entries(value).map(([key, item]) => {
    if (optional.has(key)) return [key, "optional"] as const
    return [key, words.has(key) ? item : shapeOf(item)] as const
  })
  return Object.fromEntries(byText(shapes, ([key]) => key))
}

interface Difference {
  /** The end of the source's name. */
  readonly source: string
  readonly why: string
  readonly adjust: (output: JsonObject) => JsonObject
}

const without =
  (...keys: ReadonlyArray<string>) =>
  (output: JsonObject | undefined) =>
    Object.fromEntries(Object.entries(output ?? {}).filter(([key]) => !keys.includes(key)))

const blocksOf = (output: JsonObject) => (output["content"] ?? []) as ReadonlyArray<JsonObject>

/** Where two calls of a pair differ in more than that. `adjust` takes out of both what they do not share. */
const differences: ReadonlyArray<Difference> = [
  { source: "anthropic-json-tool.1.{chunks.txt,json}", why: "edited by hand", adjust: without("stop_sequence") },
  { source: "anthropic-json-other-tool.1.{chunks.txt,json}", why: "edited by hand", adjust: without("stop_sequence") },
  {
    source: "test_anthropic_tools_streaming_with_events_with_content.yaml",
    why: "the answer was recorded before usage had caches and tiers",
    adjust: (output) => {
      const later = without("cache_creation_input_tokens", "cache_read_input_tokens", "service_tier")
      return { ...output, usage: later(output["usage"] as JsonObject) }
    }
  },
  {
    source: "anthropic-web-search-tool.1.{chunks.txt,json}",
    why: "one of the answer's searches found nothing",
    adjust: (output) => ({
      ...output,
      content: blocksOf(output).filter((block) => JSON.stringify(block["content"]) !== "[]")
    })
  },
  {
    source: "anthropic-code-execution-file-upload.1.{chunks.txt,json}",
    why: "the streamed call wrote its program to a file before it ran it",
    adjust: (output) => ({
      ...output,
      content: blocksOf(output).filter((block) => !/is_file_update|file_text/.test(JSON.stringify(block)))
    })
  }
]

describe.runIf(areThere)("recorded streams of messages", () => {
  it("end as they say, and never throw where they are cut", () => {
    const ends = recorded.map(({ source, stream }) => {
      const bytes = encoder.encode(stream ?? "")
      const whole = accumulate(bytes)
      const step = Math.max(1, Math.floor(bytes.length / 25))
      for (let cut = 0; cut < bytes.length; cut += step) {
        expect(accumulate(bytes, [cut]), source).toEqual(whole)
        accumulate(bytes.subarray(0, cut))
      }
      return whole.ended
    })
    expect([ends.length, ends.filter((ended) => ended === "done").length]).toEqual([31, 30])
    expect(ends.filter((ended) => ended === "error").length).toBe(1)
  })

  it("have the structure of the same calls without streaming", () => {
    const pairs = recorded.filter(({ response }) => response !== null)
    expect(pairs.length).toBe(17)
    for (const { source, stream, response } of pairs) {
      const adjust =
        differences.find((difference) => source.endsWith(difference.source))?.adjust ?? ((output) => output)
      const { output } = accumulate(stream ?? "")
      expect(shapeOf(adjust(output)), source).toEqual(shapeOf(adjust(response as JsonObject)))
    }
  })

  it("say what their deltas say", () => {
    // The second message of one stream takes the place of the first.
    for (const { source, stream } of recorded.filter(({ source }) => !source.includes("spliced"))) {
      const data = (stream ?? "").split("\n").filter((line) => /^data: .*content_block_delta/.test(line))
      const events = data.map((line) => JSON.parse(line.slice("data: ".length)) as Record<"delta", JsonObject>)
      const said = (key: string) => events.map((event) => event.delta[key] ?? "").join("")
      const blocks = blocksOf(accumulate(stream ?? "").output)
      const kept = (key: string) => blocks.map((block) => block[key]).filter((text) => typeof text === "string")
      for (const key of ["text", "thinking", "signature"]) expect(kept(key).join(""), source).toBe(said(key))
      // Written again by the test, inputs differ in white space and escapes only.
      const inputs = blocks.filter((block) => block["input"] !== undefined && block["caller"] === undefined)
      const written = inputs.map(({ input }) => (typeof input === "string" ? input : JSON.stringify(input)))
      const letters = (text: string) => text.replaceAll(/\\u[0-9a-f]{4}|[^a-z]/g, "")
      if (inputs.length > 0) expect(letters(said("partial_json")), source).toContain(letters(written.join("")))
    }
  })
})
