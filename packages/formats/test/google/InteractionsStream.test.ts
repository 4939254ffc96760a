import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "@tachograph/formats"
import { Interactions } from "../../src/google/Interactions.ts"
import { everyStep, make, toText } from "../data/Interactions.ts"
import { countWork } from "../Work.ts"
import { areThere, longStrings, streamsOf } from "../Workloads.ts"

const encoder = new TextEncoder()

const accumulate = (body: string | Uint8Array, cuts: ReadonlyArray<number> = []) => {
  const bytes = typeof body === "string" ? encoder.encode(body) : body
  const stream = Interactions.accumulator()
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    stream.push(bytes.subarray(from, cut))
    from = cut
  }
  return stream.end()
}

const accumulateEvents = (...events: ReadonlyArray<JsonObject>) => accumulate(toText(events, "\n", ""))

const stepsOf = (...events: ReadonlyArray<JsonObject>) => accumulateEvents(...events).output["steps"]

const { start, delta, stop, text } = make

describe("a stream of an interaction", () => {
  it("is the answer without streaming, with its keys in the order of the wire", () => {
    const { output, text, ended } = accumulate(toText(everyStep.events))
    expect(JSON.stringify(output, null, 1)).toBe(JSON.stringify(everyStep.output, null, 1))
    expect([text, ended]).toEqual([null, "done"])
  })

  it("is itself where it is one answer", () => {
    for (const body of [JSON.stringify(everyStep.output), JSON.stringify(everyStep.output, null, 2)]) {
      expect(JSON.stringify(accumulate(body).output)).toBe(JSON.stringify(everyStep.output))
      expect(accumulate(body).ended).toBe("done")
    }
    const running = { id: "v1", status: "in_progress" }
    expect(accumulate(JSON.stringify(running))).toEqual({ output: running, text: null, ended: "cut" })
  })

  it("is the same wherever its bytes are cut, and whichever line ends and comments it has", () => {
    const whole = accumulate(toText(everyStep.events))
    for (const end of ["\n", "\r\n", "\r"]) {
      const bytes = encoder.encode(`\uFEFF: ping${end}${end}${toText(everyStep.events, end)}`)
      for (let cut = 0; cut <= bytes.length; cut += 401) expect(accumulate(bytes, [cut])).toEqual(whole)
      expect(
        accumulate(
          bytes,
          Array.from(bytes, (_, index) => index)
        )
      ).toEqual(whole)
    }
    const bytes = encoder.encode(toText(everyStep.events))
    const cuts = fc.array(fc.nat(5000), { maxLength: 6 }).map((cuts) => cuts.toSorted((a, b) => a - b))
    fc.assert(
      fc.property(cuts, (cuts) => {
        expect(accumulate(bytes, cuts)).toEqual(whole)
      })
    )
  })

  it("does not need names of events, blank lines at the end, or `[DONE]`", () => {
    const whole = accumulate(toText(everyStep.events))
    const data = everyStep.events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
    expect(accumulate(data.trimEnd())).toEqual(whole)
    expect(accumulate(toText(everyStep.events, "\n", ""))).toEqual(whole)
    expect(accumulate(toText(everyStep.events).replaceAll(/,"event_type":"[^"]*"/g, ""))).toEqual(whole)
  })

  it("can be read at any moment, and goes on afterwards", () => {
    const bytes = encoder.encode(toText(everyStep.events))
    const stream = Interactions.accumulator()
    for (let from = 0; from < bytes.length; from += 23) {
      stream.push(bytes.subarray(from, from + 23))
      stream.end()
    }
    expect(stream.end()).toEqual(accumulate(bytes))
    expect(stream.end()).toEqual(stream.end())
  })

  it("is what its whole events say where it was cut, and ends by nothing", () => {
    const { events } = everyStep
    const bytes = encoder.encode(toText(events, "\n", ""))
    let known = 0
    for (let cut = 0; cut < bytes.length; cut += 37) {
      const result = accumulate(bytes.subarray(0, cut))
      // The event that the cut is in counts as soon as its JSON is whole.
      while (known < events.length && encoder.encode(toText(events.slice(0, known + 1), "\n", "")).length - 2 <= cut)
        known++
      expect(result, `${cut}`).toEqual(accumulateEvents(...events.slice(0, known)))
      const isWhole = known === events.length
      expect(result.ended).toBe(isWhole ? "done" : "cut")
      expect(Interactions.facts({}, result.output).stop_reason).toBe(isWhole ? "tool_calls" : null)
    }
    expect(accumulate("")).toEqual({ output: {}, text: null, ended: "cut" })
    // What was counted until then.
    expect(accumulateEvents(...events.slice(0, 2)).output["usage"]).toEqual({
      total_input_tokens: 100,
      total_output_tokens: 0
    })
    expect(accumulate(toText(events.slice(0, 2))).ended).toBe("done")
  })

  it("keeps the text of arguments that were cut, or are no JSON", () => {
    const call = { id: "a", type: "function_call", name: "note", arguments: {} }
    const piece = (arguments_: string) => delta(0, { arguments: arguments_, type: "arguments_delta" })
    expect(stepsOf(start(0, call), piece('{"text"'), piece(':"a'))).toEqual([{ ...call, arguments: '{"text":"a' }])
    expect(stepsOf(start(0, { ...call, arguments: { b: 1 } }), stop(0))).toEqual([{ ...call, arguments: { b: 1 } }])
    const { output, text } = accumulateEvents(start(0, call), piece('{"at":9007199254740993}'))
    expect(output["steps"]).toEqual([{ ...call, arguments: { at: 9_007_199_254_740_992 } }])
    expect(text).toContain('{"at":9007199254740993}')
  })

  it("takes steps by turns, without a start, and with gaps in their indexes", () => {
    const said = (index: number, said: string) => delta(index, text(said))
    const output = (said: string) => ({ content: [text(said)], type: "model_output" })
    expect(
      stepsOf(
        start(9, { type: "model_output" }),
        start(2, { type: "model_output" }),
        said(9, "b"),
        said(2, "a"),
        said(9, "b")
      )
    ).toEqual([output("a"), output("bb")])
    expect(
      stepsOf(
        said(0, "a"),
        delta(1, { signature: "QQ==", type: "thought_signature" }),
        delta(2, { arguments: "{}", type: "arguments_delta" })
      )
    ).toEqual([output("a"), { signature: "QQ==", type: "thought" }, { type: "function_call", arguments: {} }])
    const filled = { type: "model_output", content: [text("a")] }
    expect(stepsOf(start(0, filled), said(0, "b"))).toEqual([output("ab")])
    expect(
      stepsOf(
        start(0, { type: "thought", summary: [text("a")] }),
        delta(0, { type: "thought_summary", content: { type: "image", data: "iVBORw==" } }),
        delta(0, { type: "thought_summary", content: text("b") })
      )
    ).toEqual([{ summary: [text("a"), { type: "image", data: "iVBORw==" }, text("b")], type: "thought" }])
  })

  it("tells steps apart that have one index, once one has grown, and joins the texts of kinds that are new", () => {
    const call = (id: string) => start(0, { type: "function_call", id, name: "look", arguments: {} })
    const given = delta(0, { type: "arguments_delta", arguments: '{"a":1}' })
    const made = (id: string) => ({ type: "function_call", id, name: "look", arguments: { a: 1 } })
    expect(stepsOf(call("a"), given, stop(0), call("b"), given, stop(0))).toEqual([made("a"), made("b")])
    expect(stepsOf(call("a"), call("b"), given)).toEqual([made("b")])
    const musing = (text: string) => delta(0, { type: "musing", text })
    expect(stepsOf(start(0, { type: "musing" }), musing("a"), musing("b"))).toEqual([{ type: "musing", text: "ab" }])
  })

  it("takes the last signature that says something", () => {
    const signed = (signature: string) => delta(0, { signature, type: "thought_signature" })
    expect(stepsOf(start(0, { type: "thought" }), signed("QQ=="), signed(""))).toEqual([
      { signature: "QQ==", type: "thought" }
    ])
  })

  it("takes deltas of kinds that are new", () => {
    const events = [
      start(0, { type: "x_call", id: "a", signature: "" }),
      delta(0, { type: "x_call", level: 1, of: { b: 1 }, signature: "QQ==", none: null })
    ]
    expect(stepsOf(...events)).toEqual([{ type: "x_call", id: "a", signature: "QQ==", level: 1, of: { b: 1 } }])
  })

  it("is an interaction with outputs where it has contents in place of steps", () => {
    const legacy = (type: string, fields: JsonObject) => ({ ...fields, event_type: `content.${type}` })
    const events = [
      { interaction: { id: "v1", status: "in_progress", object: "interaction" }, event_type: "interaction.start" },
      legacy("start", { index: 0, content: { type: "thought" } }),
      legacy("delta", { index: 0, delta: { type: "thought_signature", signature: "QQ==" } }),
      legacy("start", { index: 1, content: { type: "text" } }),
      legacy("delta", { index: 1, delta: text("It is ") }),
      legacy("delta", { index: 1, delta: { ...text("warm."), annotations: [{ start_index: 0 }] } }),
      legacy("delta", { index: 2, delta: { type: "function_call", id: "a", name: "look", arguments: { b: 1 } } }),
      legacy("delta", { index: 3, delta: text("Bye") }),
      legacy("stop", { index: 3 }),
      {
        interaction: { id: "v1", status: "completed", object: "interaction", usage: { total_tokens: 3 } },
        event_type: "interaction.complete"
      }
    ]
    expect(accumulateEvents(...events)).toEqual({
      output: {
        id: "v1",
        status: "completed",
        outputs: [
          { signature: "QQ==", type: "thought" },
          { text: "It is warm.", annotations: [{ start_index: 0 }], type: "text" },
          { type: "function_call", id: "a", name: "look", arguments: { b: 1 } },
          { text: "Bye", type: "text" }
        ],
        object: "interaction",
        usage: { total_tokens: 3 }
      },
      text: null,
      ended: "done"
    })
  })

  it("has the steps of its last event, if that has some", () => {
    const steps = [{ content: [text("whole")], type: "model_output" }]
    const events = [
      start(0, { type: "model_output" }),
      delta(0, text("part")),
      { interaction: { id: "v1", status: "completed", steps }, event_type: "interaction.completed" }
    ]
    expect(stepsOf(...events)).toEqual(steps)
  })

  it("ends with an error, also after steps have begun, and where it failed", () => {
    const error = { code: "internal", message: "m" }
    const begun = [everyStep.events[0] as JsonObject, start(0, { type: "model_output" }), delta(0, text("It is "))]
    const { output, ended } = accumulateEvents(...begun, { error, event_type: "error" })
    expect([output["steps"], output["error"], ended]).toEqual([
      [{ content: [text("It is ")], type: "model_output" }],
      error,
      "error"
    ])
    expect(Interactions.facts({}, output)).toMatchObject({ error_type: "internal", stop_reason: null })
    expect(accumulate(JSON.stringify({ error }, null, 2))).toEqual({ output: { error }, text: null, ended: "error" })
    expect(accumulate("event: error\ndata: upstream went away\n\n")).toEqual({
      output: { error: "upstream went away" },
      text: null,
      ended: "error"
    })
  })

  it("never throws, whatever its payloads are", () => {
    const value = fc.jsonValue({ maxDepth: 2 })
    const kinds = [
      "interaction.created",
      "interaction.status_update",
      "step.start",
      "step.delta",
      "content.start",
      "content.delta",
      "interaction.completed",
      "error",
      ""
    ]
    const types = fc.constantFrom(
      "text",
      "thought_summary",
      "thought_signature",
      "arguments_delta",
      "audio",
      "image",
      "text_annotation_delta",
      "google_search_result",
      "model_output",
      "thought"
    )
    const fields = fc.record(
      {
        type: types,
        text: value,
        content: value,
        summary: value,
        signature: value,
        arguments: value,
        data: value,
        annotations: value,
        result: value,
        mime_type: value
      },
      { requiredKeys: ["type"] }
    )
    const event = fc.record(
      {
        event_type: fc.constantFrom(...kinds),
        index: fc.oneof(fc.nat(3), value),
        step: fc.oneof(fields, value),
        content: fc.oneof(fields, value),
        delta: fc.oneof(fields, value),
        interaction: value,
        error: value,
        metadata: value,
        status: value
      },
      { requiredKeys: ["event_type"] }
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(event, event, event, value), { maxLength: 6 }), (events) => {
        const { output } = accumulate(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(""))
        Interactions.facts({}, output)
        Interactions.messages({}, output)
      })
    )
  })

  it("takes keys that mean something to JavaScript as data, and nesting of any depth", () => {
    const step = JSON.parse('{"type":"x","__proto__":{"a":1},"constructor":1,"7":2}') as JsonObject
    const { output } = accumulateEvents(start(0, step), delta(0, step), {
      interaction: step,
      event_type: "interaction.completed"
    })
    expect(JSON.stringify(output).split('"__proto__":{"a":1}')).toHaveLength(3)
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    expect(
      accumulate(`data: {"event_type":"step.start","index":0,"step":{"type":"x","value":${deep}}}\n\n`).text
    ).toContain(deep)
  })

  const longDeltas = [
    delta(0, text("word ")),
    delta(1, { type: "thought_summary", content: text("word ") }),
    delta(2, { type: "audio", data: "AQ==", mime_type: "audio/l16" }),
    delta(3, { type: "arguments_delta", arguments: "1," }),
    delta(0, { type: "text_annotation_delta", annotations: [1] })
  ].map((event) => toText([event], "\n", ""))

  it("takes as much work for each delta", async () => {
    const [work = 0, twice = 0] = await countWork("google/InteractionsStream.ts", longDeltas, [600, 1200])
    expect(twice / work).toBeGreaterThan(1.9)
    expect(twice / work).toBeLessThan(2.1)
  })

  it("can have 20,000 deltas", () => {
    const count = 4_000
    const stream = Interactions.accumulator()
    const call = { type: "function_call", name: "a", arguments: {} }
    stream.push(
      encoder.encode(toText([start(3, call), delta(3, { type: "arguments_delta", arguments: "[" })], "\n", ""))
    )
    const deltas = longDeltas.map((event) => encoder.encode(event))
    for (let index = 0; index < count; index++) for (const bytes of deltas) stream.push(bytes)
    stream.push(encoder.encode(toText([delta(3, { type: "arguments_delta", arguments: "0]" })], "\n", "")))
    const steps = stream.end().output["steps"] as ReadonlyArray<JsonObject>
    const [said] = (steps[0]?.["content"] ?? []) as ReadonlyArray<JsonObject>
    expect(steps.map((step) => longStrings(step).map(({ length }) => length))).toEqual([
      [count * 5],
      [count * 5],
      [Math.ceil(count / 3) * 4],
      []
    ])
    expect(
      [said?.["annotations"], steps[3]?.["arguments"]].map((items) => (items as ReadonlyArray<number>).length)
    ).toEqual([count, count + 1])
  })
})

const recorded = streamsOf("provider3-interactions").filter(({ stream }) => stream !== null)

/** Words that are the same in two calls to the same request. Other texts and numbers are compared by their kind. */
const words = new Set(["type", "status", "service_tier", "object", "model", "name", "modality", "is_error"])

/** The structure of a value, keys in their order. Annotations that have the same one count once: their number differs. */
const shapeOf = (value: unknown, key = ""): unknown => {
  if (Array.isArray(value)) {
    const shapes = value.map((item) => shapeOf(item))
    return key === "annotations" ? [...new Set(shapes.map((shape) => JSON.stringify(shape)))] : shapes
  }
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, words.has(key) ? item : shapeOf(item, key)])
  )
}

/** The stream of Google's search does not say that it searched the web, and how many it searched for differs. */
const withoutSearch = (output: unknown): unknown =>
  JSON.parse(
    JSON.stringify(output, (key, value: unknown) => {
      if (key === "search_type") return undefined
      return key === "queries" || key === "result" ? typeof value : value
    })
  )

describe.runIf(areThere)("recorded streams of interactions", () => {
  it("are done, and never throw where they are cut", () => {
    expect(recorded.length).toBe(7)
    for (const { source, stream } of recorded) {
      const bytes = encoder.encode(stream ?? "")
      const whole = accumulate(bytes)
      expect(whole.ended, source).toBe("done")
      const step = Math.max(1, Math.floor(bytes.length / 12))
      for (let cut = 0; cut < bytes.length; cut += step) {
        expect(accumulate(bytes, [cut]), source).toEqual(whole)
        const { output, ended } = accumulate(bytes.subarray(0, cut))
        if (ended === "cut") expect(Interactions.facts({}, output).stop_reason, source).toBeNull()
      }
    }
  })

  it("have the structure of the same calls without streaming, and the order of keys", () => {
    const pairs = recorded.filter(({ response }) => response !== null)
    expect(pairs.length).toBe(5)
    for (const { source, stream, response } of pairs) {
      const [streamed, whole] = [accumulate(stream ?? "").output, response].map((output) =>
        JSON.stringify(shapeOf(withoutSearch(output)))
      )
      expect(streamed, source).toBe(whole)
    }
  })

  it("say what their deltas say", () => {
    for (const { source, stream } of recorded) {
      const all = [...(stream ?? "").matchAll(/"text":("(?:[^"\\]|\\.)*")/g)].map(
        ([, said]) => JSON.parse(said ?? "") as string
      )
      const { output } = accumulate(stream ?? "")
      const said = [...JSON.stringify(output).matchAll(/"text":("(?:[^"\\]|\\.)*")/g)].map(
        ([, said]) => JSON.parse(said ?? "") as string
      )
      expect(said.join(""), source).toBe(all.join(""))
    }
  })
})
