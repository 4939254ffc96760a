import { describe, expect, it } from "vitest"
import type { JsonObject } from "@tachograph/formats"
import { Responses } from "../../src/openai/Responses.ts"
import { billing } from "../../src/openai/ResponsesFacts.ts"
import { accumulator } from "../../src/openai/ResponsesStream.ts"
import { openAi } from "../data/Responses.ts"
import {
  accumulate,
  expectReadableAtAnyMoment,
  expectSameHoweverCut,
  expectTruePrefixes,
  structuralDifferences,
  toText
} from "../Streams.ts"
import { countWork } from "../Work.ts"
import { areThere, streamsOf } from "../Workloads.ts"

const take = (...payloads: ReadonlyArray<unknown>) => accumulate(accumulator, toText(payloads))

const items = (...payloads: ReadonlyArray<unknown>) => take(...payloads).output["output"]

describe("a stream of responses", () => {
  it("is the response of its last event", () => {
    const { output, text, ended } = take(...openAi.payloads)
    expect(JSON.stringify(output)).toBe(JSON.stringify(openAi.output))
    expect([text, ended]).toEqual([null, "done"])
  })

  it("is put together from its pieces where it was cut", () => {
    const { output, ended } = take(...openAi.pieces)
    expect(JSON.stringify(output)).toBe(JSON.stringify(openAi.unfinished))
    expect(ended).toBe("cut")
    expect(Responses.facts({}, output)).toMatchObject({
      stop_reason: null,
      provider_stop_reason: null,
      tool_calls: ["look"],
      error_type: null
    })
    expect(accumulate(accumulator, "")).toEqual({ output: {}, text: null, ended: "cut" })
  })

  it("is the same however it is framed and cut", () => expectSameHoweverCut(accumulator, openAi.payloads))

  it("is the longest true prefix where it is cut", () => {
    expectTruePrefixes(accumulator, [openAi.payloads[0], ...openAi.payloads.slice(3, 12)])
    expectTruePrefixes(accumulator, openAi.payloads.slice(12))
  })

  it("can be read at any moment", () => expectReadableAtAnyMoment(accumulator, openAi.payloads))

  it.each(["incomplete", "failed", "cancelled"])("ends with response.%s as with response.completed", (status) => {
    const response = { ...openAi.base, status, output: [{ id: "msg_1", type: "message" }] }
    const { output, ended } = take(...openAi.pieces, { type: `response.${status}`, response })
    expect(output).toEqual(response)
    expect(ended).toBe("done")
  })

  it("takes the type of an event from its name where the payload has none", () => {
    const named = openAi.payloads.map(({ type, ...payload }) => `event: ${type}\ndata: ${JSON.stringify(payload)}\n\n`)
    expect(accumulate(accumulator, named.join(""))).toEqual(take(...openAi.payloads))
  })

  it("has its items although the last event leaves them out", () => {
    const { output, ended } = take(...openAi.pieces, {
      type: "response.completed",
      response: { ...openAi.output, output: [] }
    })
    expect(output["output"]).toEqual(openAi.unfinished.output)
    expect([ended, output["status"]]).toEqual(["done", "completed"])
  })

  it("begins items and blocks that no event began", () => {
    const delta = (type: string, rest: object = {}) => ({ type: `response.${type}.delta`, delta: "a", ...rest })
    expect(items(delta("output_text", { item_id: "msg_1", output_index: 4 }))).toEqual([
      {
        id: "msg_1",
        type: "message",
        status: "in_progress",
        role: "assistant",
        content: [{ type: "output_text", annotations: [], text: "a" }]
      }
    ])
    expect(items(delta("custom_tool_call_input"), delta("custom_tool_call_input"))).toEqual([
      { type: "custom_tool_call", status: "in_progress", input: "aa" }
    ])
    expect(
      items(
        delta("reasoning_text", { item_id: "a" }),
        delta("mcp_call_arguments", { item_id: "b" }),
        delta("reasoning_text", { item_id: "a" })
      )
    ).toEqual([
      {
        id: "a",
        type: "reasoning",
        status: "in_progress",
        summary: [],
        content: [{ type: "reasoning_text", text: "aa" }]
      },
      { id: "b", type: "mcp_call", status: "in_progress", arguments: "a" }
    ])
  })

  it("joins the pieces of items and blocks whose types are new", () => {
    const delta = (type: string, rest: object) => ({
      type: `response.${type}.delta`,
      delta: "a",
      output_index: 0,
      ...rest
    })
    const twice = (type: string, rest: object = {}) => items(delta(type, rest), delta(type, rest))
    expect(twice("shell_call_command")).toMatchObject([{ type: "shell_call", command: "aa" }])
    expect(twice("musing_text", { content_index: 0 })).toMatchObject([
      { type: "message", content: [{ type: "musing_text", text: "aa" }] }
    ])
    expect(twice("musing", { content_index: 1 })).toMatchObject([
      { type: "message", content: [{ type: "musing", musing: "aa" }] }
    ])
    expect(twice("reasoning_summary", { summary_index: 0 })).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "aa" }] }
    ])
    // Sound has no place.
    expect(
      items({ type: "response.audio.delta", delta: "AAAA" }, { type: "response.sound.delta", delta: "AAAA" })
    ).toBeUndefined()
  })

  it("tells items apart that have one index", () => {
    const event = (phase: string, item: object) => ({ type: `response.output_item.${phase}`, output_index: 0, item })
    const call = (id: string, given: string, status = "completed") => ({
      type: "function_call",
      id,
      arguments: given,
      status
    })
    const piece = { type: "response.function_call_arguments.delta", output_index: 0, delta: "{}" }
    const begun = (id: string) => event("added", call(id, "", "in_progress"))
    const all = [
      event("added", { type: "reasoning", id: "rs", summary: [] }),
      begun("a"),
      piece,
      event("done", call("a", "{}")),
      begun("b"),
      piece
    ]
    expect(items(...all)).toEqual([
      { type: "reasoning", id: "rs", summary: [] },
      call("a", "{}"),
      call("b", "{}", "in_progress")
    ])
    // Some gateways give an item another id in each event, or send an event twice.
    expect(items(begun("a"), begun("b"), event("done", call("c", "{}")))).toEqual([call("c", "{}")])
    expect(items(event("done", call("a", "{}")), begun("a"), event("done", call("a", "{}")))).toEqual([call("a", "{}")])
  })

  it("has the usage that a gateway puts beside the response", () => {
    const [response, usage] = [{ object: "response", usage: null }, { input_tokens: 3 }]
    expect(take({ type: "response.completed", response, usage }).output).toEqual({ ...response, usage })
  })

  it("joins log probabilities without changing what came", () => {
    const delta = (token: string) => ({
      type: "response.output_text.delta",
      output_index: 0,
      delta: token,
      logprobs: [{ token }]
    })
    const part = { type: "output_text", text: "", annotations: [], logprobs: [{ token: "" }] }
    expect(
      items({ type: "response.content_part.added", output_index: 0, content_index: 0, part }, delta("a"), delta("b"))
    ).toMatchObject([{ content: [{ text: "ab", logprobs: [{ token: "" }, { token: "a" }, { token: "b" }] }] }])
  })

  it("can be no stream, but a response or an error", () => {
    expect(accumulate(accumulator, JSON.stringify(openAi.output, null, 2))).toMatchObject({
      output: openAi.output,
      ended: "done"
    })
    const error = { message: "Incorrect API key provided", type: "invalid_request_error", code: "invalid_api_key" }
    expect(accumulate(accumulator, JSON.stringify({ error }))).toEqual({
      output: { error },
      text: null,
      ended: "error"
    })
  })

  it("can be an error that says in its object that it is one, also after pieces", () => {
    const error = { object: "error", message: "m", type: "NotFoundError", code: 404 }
    expect(take(error)).toEqual({ output: error, text: null, ended: "error" })
    const { output, ended } = take(...openAi.pieces, error)
    expect([Responses.facts({}, output).error_status, ended]).toEqual([404, "error"])
  })

  it("keeps an error with what came before it", () => {
    const error = { type: "insufficient_quota", code: "insufficient_quota", message: "m", param: null }
    const nested = take(...openAi.pieces, { type: "error", sequence_number: 9, error })
    expect(nested).toMatchObject({ output: { ...openAi.unfinished, error }, ended: "error" })
    expect(Responses.facts({}, nested.output)).toMatchObject({ error_type: "insufficient_quota", stop_reason: null })
    const flat = take({ type: "error", code: "server_error", message: "m", param: null, sequence_number: 9 })
    expect(flat).toEqual({
      output: { error: { code: "server_error", message: "m", param: null } },
      text: null,
      ended: "error"
    })
  })

  it("prefers the error of a failed response", () => {
    const failed = { ...openAi.base, status: "failed", error: { code: "rate_limit_exceeded", message: "m" } }
    const { output, ended } = take(
      { type: "error", error: { type: "x" } },
      { type: "response.failed", response: failed }
    )
    expect([output, ended]).toEqual([failed, "error"])
    expect(Responses.facts({}, output)).toMatchObject({
      error_type: "rate_limit_exceeded",
      stop_reason: "error",
      provider_stop_reason: "failed"
    })
  })

  it("keeps numbers as they came", () => {
    const body = 'data: {"type":"response.completed","response":{"seed":15259210161316577001}}\n\n'
    expect(accumulate(accumulator, body).text).toBe('{"seed":15259210161316577001}')
  })

  it("never throws", () => {
    const odd = [null, 0, -1, "a", [], [[]], {}, { a: [] }, [null], true, "__proto__"]
    const types = openAi.payloads.map(({ type }) => type)
    const keys = ["item", "part", "delta", "output_index", "content_index", "summary_index", "annotation", "logprobs"]
    for (const value of odd) {
      const payloads = types.flatMap((type) => [
        { type, response: value, error: value },
        ...keys.map((key) => ({ type, output_index: 0, [key]: value })),
        { type, item: { content: value, summary: value, annotations: value }, output_index: 0 },
        { type, part: { text: value, annotations: value, logprobs: value }, output_index: 0 }
      ])
      const { output } = take(...payloads, ...openAi.payloads.slice(0, -1), ...payloads)
      for (const each of [output, { output: value }, { output: [value] }]) {
        Responses.facts(value, each)
        billing(value, each)
        Responses.messages({ input: value, instructions: value, tools: value }, each)
        Responses.messages({ input: [value], instructions: [value], tools: [value] }, each)
        Responses.element(value)
      }
    }
  })
})

describe("long streams of responses", () => {
  const encoder = new TextEncoder()
  const delta = { type: "response.output_text.delta", output_index: 0, delta: "word ", logprobs: [{ token: "word" }] }
  const annotation = { type: "response.output_text.annotation.added", output_index: 0, annotation: { n: 1 } }
  const pieces = [delta, annotation].map((payload) => toText([payload]))

  it("take as much work for each event", async () => {
    const [work = 0, twice = 0] = await countWork("openai/ResponsesStream.ts", pieces, [600, 1200])
    expect(twice / work).toBeGreaterThan(1.9)
    expect(twice / work).toBeLessThan(2.1)
  })

  it("can have 20,000 deltas", () => {
    const stream = accumulator()
    const bytes = encoder.encode(toText([{ ...delta, logprobs: [] }]).repeat(20))
    for (let index = 0; index < 1_000; index++) stream.push(bytes)
    expect(stream.end().output).toMatchObject({ output: [{ content: [{ text: "word ".repeat(20_000) }] }] })
  })
})

describe.runIf(areThere)("recorded streams of responses", () => {
  const recorded = streamsOf("provider1-responses").filter(({ stream }) => stream !== null)

  /** Paths at which a pair differs, and why. What OpenAI does not stream is `billing`; xAI does not stream `reasoning`. */
  const exceptions: ReadonlyArray<readonly [source: string, paths: ReadonlyArray<string>]> = [
    ["openai-tool-search", [".billing"]],
    ["openai-shell-container", [".billing", ".frequency_penalty", ".presence_penalty"]],
    ["xai-image-generation-tool", [".reasoning"]],
    ["_xai_grok-4-1-fast-non-reasoning", [".reasoning"]],
    // One call read or wrote a cache, or reasoned, and the other did not.
    ["test_reused_tool_call_ids", [".usage.input_tokens_details", ".billing"]],
    // The model did something else: other searches, commands and outputs of code.
    ["openai-file-search-tool", [".output.1.queries.3"]],
    ["include_raw_annotations", [".output.0.action.queries.1", ".billing"]],
    ["openai-code-interpreter-tool", [".output.3.outputs", ".usage.input_tokens_details", ".billing"]],
    [
      "openai-local-shell-tool",
      [
        ...[".output.1.action.command.1", ".output.1.action.command.2", ".output.1.action.working_directory"],
        ...[".usage.output_tokens_details", ".billing"]
      ]
    ],
    // Two different models, of which one reasoned and wrote a message before its call.
    [
      "lmstudio-tool-call",
      [
        ...[
          ".output.0.content",
          ".output.0.call_id",
          ".output.0.name",
          ".output.0.arguments",
          ".output.1",
          ".output.2"
        ],
        ...[".usage.output_tokens_details", ".max_output_tokens"]
      ]
    ],
    // The call without streaming ran in the background: what it answered at once is a response that has not begun.
    ["test_background_mode_streaming", [".usage", ".completed_at", ".output"]]
  ]

  it("have the structure of their answers without streaming", () => {
    const pairs = recorded.filter(({ response }) => response !== null)
    for (const { source, stream, response } of pairs) {
      const { output } = accumulate(accumulator, stream as string)
      if (source.includes("openai-error")) {
        // The call without streaming was refused, and the other failed: the code is the same.
        const code = (error: unknown) => (error as JsonObject)["error"]
        expect(code(output)).toMatchObject({ code: "insufficient_quota" })
        expect(code(response)).toMatchObject({ code: "insufficient_quota" })
        continue
      }
      const [, allowed = []] = exceptions.find(([part]) => source.includes(part)) ?? []
      expect(structuralDifferences(output, response).toSorted(), source).toEqual(allowed.toSorted())
    }
    expect(pairs.length).toBe(19)
  })

  const withoutEvents = (stream: string, events: RegExp) =>
    stream
      .split(/\r?\n\r?\n/)
      .filter((event) => !events.test(event))
      .join("\n\n")

  const completed = /"type": ?"response\.(?:completed|failed)"/
  const whole = /"type": ?"response\.(?:completed|failed|output_item\.done|content_part\.done)"/

  it("have the items of their last event without it, too", () => {
    for (const { source, stream } of recorded) {
      const real = accumulate(accumulator, stream as string).output["output"]
      const built = accumulate(accumulator, withoutEvents(stream as string, completed)).output["output"]
      // Reasoning is encrypted anew in each event.
      const withoutSecrets = (output: unknown): unknown =>
        JSON.parse(JSON.stringify(output).replaceAll(/"encrypted_content":"[^"]*"/g, '"encrypted_content":""'))
      expect(withoutSecrets(built), source).toEqual(withoutSecrets(real))
    }
  })

  it("have their texts and arguments from deltas alone", () => {
    const said = (output: JsonObject) => {
      const { output: messages } = Responses.messages({}, output)
      const parts = messages.flatMap((message) => message.parts)
      return parts.map((part) =>
        part.type.endsWith("_call") && part.type !== "tool_call" ? part.type : [part["content"], part["arguments"]]
      )
    }
    for (const { source, stream } of recorded) {
      const built = accumulate(accumulator, withoutEvents(stream as string, whole)).output
      expect(said(built), source).toEqual(said(accumulate(accumulator, stream as string).output))
    }
  })

  it("are the same wherever they are cut", () => {
    for (const { stream, source } of recorded) {
      const bytes = new TextEncoder().encode(stream as string)
      const step = bytes.length < 6000 ? 1 : 997
      const cuts = Array.from({ length: Math.floor(bytes.length / step) }, (_, index) => index * step)
      const once = accumulate(accumulator, bytes)
      expect(accumulate(accumulator, bytes, cuts), source).toEqual(once)
      expect(accumulate(accumulator, (stream as string).replaceAll(/\r?\n/g, "\r\n")), source).toEqual(once)
    }
  })
})
