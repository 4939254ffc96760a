import { describe, expect, it } from "vitest"
import type { JsonObject } from "@tachograph/formats"
import { ChatCompletions } from "../../src/openai/ChatCompletions.ts"
import { accumulator } from "../../src/openai/ChatCompletionsStream.ts"
import { deltas, openAi } from "../data/ChatCompletions.ts"
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

const firstChoice = (...payloads: ReadonlyArray<unknown>) =>
  (take(...payloads).output["choices"] as ReadonlyArray<JsonObject>)[0]

const message = (...all: ReadonlyArray<object>) => firstChoice(...deltas(...all))?.["message"]

const calls = (...all: ReadonlyArray<object>) =>
  (message(...all.map((call) => ({ tool_calls: [call] }))) as JsonObject)["tool_calls"]

const call = (id: string | undefined, name: string, given: string | null) => ({
  ...(id === undefined ? {} : { id }),
  type: "function",
  function: { name, arguments: given }
})

describe("a stream of chat completions", () => {
  it("is the answer without streaming, with its keys in the order of the wire", () => {
    const { output, text, ended } = accumulate(accumulator, toText(openAi.payloads, { done: true }))
    expect(JSON.stringify(output)).toBe(JSON.stringify(openAi.output))
    expect([text, ended]).toEqual([null, "done"])
  })

  it("is the same however it is framed and cut", () => expectSameHoweverCut(accumulator, openAi.payloads))

  it("is the longest true prefix where it is cut", () => expectTruePrefixes(accumulator, openAi.payloads.slice(3)))

  it("can be read at any moment", () => expectReadableAtAnyMoment(accumulator, openAi.payloads))

  it("has no reason to stop where it was cut, and needs no [DONE]", () => {
    const cut = take(...openAi.payloads.slice(0, -2))
    expect(cut.ended).toBe("cut")
    expect(ChatCompletions.facts({}, cut.output)).toMatchObject({ stop_reason: null, provider_stop_reason: null })
    expect(take(...openAi.payloads.slice(0, -1)).ended).toBe("done")
    expect(accumulate(accumulator, "")).toEqual({ output: {}, text: null, ended: "cut" })
  })

  it("can be no stream, but an answer", () => {
    const { id, ...others } = openAi.output
    const answer = { ...others, id, p: "kept" }
    const { output, ended } = accumulate(accumulator, JSON.stringify(answer, null, 2))
    expect([JSON.stringify(output), ended]).toEqual([JSON.stringify(answer), "done"])
  })

  it("may have data of several lines, empty data, and line separators of Unicode", () => {
    const [first, ...others] = openAi.payloads.map((payload) => JSON.stringify(payload, null, 1))
    const body = [first, "", ...others].map((data) => `data: ${data?.replaceAll("\n", "\ndata:")}\n\n`).join("")
    expect(accumulate(accumulator, body).output).toEqual(openAi.output)
    expect(message({ content: "a\u2028b\u0085" })).toMatchObject({ content: "a\u2028b\u0085" })
  })

  it("keeps numbers as they came", () => {
    const body = 'data: {"id":"1","choices":[{"index":0,"seed":15259210161316577001,"delta":{"content":"a"}}]}\n\n'
    expect(accumulate(accumulator, body).text).toContain('"seed":15259210161316577001')
  })
})

describe("tool calls in a stream of chat completions", () => {
  it.each<[string, ReadonlyArray<object>, ReadonlyArray<object>]>([
    [
      "with an index that begins at 1, without holes",
      [
        { index: 1, ...call("a", "look", "") },
        { index: 1, function: { arguments: "{}" } }
      ],
      [call("a", "look", "{}")]
    ],
    [
      "without an index",
      [call("a", "look", "{}"), call("b", "go", "{}")],
      [call("a", "look", "{}"), call("b", "go", "{}")]
    ],
    [
      "with the id in each delta",
      [
        { index: 0, ...call("a", "look", "{") },
        { index: 0, id: "a", function: { arguments: "}" } }
      ],
      [call("a", "look", "{}")]
    ],
    [
      "with an empty id and name later",
      [
        { index: 0, ...call("a", "look", "{") },
        { index: 0, id: "", type: "function", function: { name: "", arguments: "}" } }
      ],
      [call("a", "look", "{}")]
    ],
    ["with no arguments but null", [{ index: 0, ...call("a", "look", null) }], [call("a", "look", "")]],
    [
      "with empty arguments first",
      [
        { index: 0, ...call("a", "look", "") },
        { index: 0, function: { arguments: "{}" } }
      ],
      [call("a", "look", "{}")]
    ],
    [
      "with the same index for each",
      [
        { index: 0, ...call("a", "look", "{}") },
        { index: 0, ...call("b", "go", "{}") },
        { index: 0, function: { arguments: " " } }
      ],
      [call("a", "look", "{}"), call("b", "go", "{} ")]
    ],
    [
      "whose pieces have neither index nor id",
      [call("a", "look", ""), { function: { arguments: "{}" } }],
      [call("a", "look", "{}")]
    ],
    [
      "that are custom",
      [
        { index: 0, id: "a", type: "custom", custom: { name: "sh", input: "l" } },
        { index: 0, custom: { input: "s" } }
      ],
      [{ id: "a", type: "custom", custom: { name: "sh", input: "ls" } }]
    ]
  ])("are put together: %s", (_, pieces, expected) => {
    expect(calls(...pieces)).toEqual(expected)
  })

  it("are of their choice, also where one id is under two", () => {
    const delta = { tool_calls: [{ index: 0, ...call("a", "look", "{}") }] }
    const choices = [0, 1].map((index) => ({ index, delta, finish_reason: "tool_calls" }))
    const { output } = take({ choices: [choices[0]] }, { choices: [choices[1]] })
    expect(ChatCompletions.facts({}, output).tool_calls).toEqual(["look", "look"])
  })

  it("can follow a reason to stop, and content can come with it", () => {
    const late = { index: 1, ...call("b", "go", "{}") }
    const payloads = [
      {
        choices: [
          {
            index: 0,
            delta: { content: "a", tool_calls: [{ index: 0, ...call("a", "look", "{}") }] },
            finish_reason: "tool_calls"
          }
        ]
      },
      { choices: [{ index: 0, delta: { tool_calls: [late] }, finish_reason: null }] },
      { choices: [{ index: 0, delta: { content: "b" }, finish_reason: "tool_calls" }] }
    ]
    expect(firstChoice(...payloads)).toMatchObject({
      message: { content: "ab", tool_calls: [{ id: "a" }, { id: "b" }] },
      finish_reason: "tool_calls"
    })
  })

  it("keep their index where the provider numbers them without streaming too", () => {
    const delta = { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call("a", "look", "{}") }] } }] }
    const { output } = take({ model: "deepseek-chat", ...delta })
    expect(output).toMatchObject({ choices: [{ message: { tool_calls: [{ index: 0, id: "a" }] } }] })
  })
})

describe("messages in a stream of chat completions", () => {
  it("join reasoning under each of its names, and refusals", () => {
    for (const key of ["reasoning", "reasoning_content", "refusal"])
      expect(message({ role: "assistant", [key]: "a" }, { [key]: null }, { [key]: "b" })).toEqual({
        role: "assistant",
        content: null,
        [key]: "ab"
      })
  })

  it("join what comes with an index", () => {
    const detail = (fields: object) => ({ reasoning_details: [{ type: "reasoning.text", index: 0, ...fields }] })
    expect(message(detail({ text: "a" }), detail({ text: "b" }), detail({ signature: "s" }))).toMatchObject({
      reasoning_details: [{ type: "reasoning.text", index: 0, text: "ab", signature: "s" }]
    })
    const executed = (fields: object) => ({ executed_tools: [{ index: 0, type: "search", ...fields }] })
    expect(message(executed({ arguments: "{}" }), executed({ output: "found" }))).toMatchObject({
      executed_tools: [{ index: 0, type: "search", arguments: "{}", output: "found" }]
    })
  })

  it("join lists, and keep the last of what comes whole", () => {
    const note = (n: number) => ({ type: "url_citation", n })
    expect(
      message({ annotations: [note(1)], channel: "analysis" }, { annotations: [note(2)], channel: "final" })
    ).toEqual({
      role: "assistant",
      content: null,
      annotations: [note(1), note(2)],
      channel: "final"
    })
  })

  it("join blocks of one type", () => {
    const thinking = (text: string) => ({
      content: [{ type: "thinking", thinking: [{ type: "text", text }], closed: true }]
    })
    expect(
      message(
        { role: "assistant", content: "" },
        thinking("a"),
        thinking("b"),
        { content: [{ type: "text", text: "c" }] },
        { content: "d" }
      )
    ).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "ab" }], closed: true },
        { type: "text", text: "cd" }
      ]
    })
  })

  it("join sound, each piece of which is encoded apart", () => {
    const piece = (data: string) => ({ audio: { id: "audio_1", data } })
    const audio = { id: "audio_1", data: btoa("abcdefg"), transcript: "Hi there", expires_at: 7 }
    const texts = [{ audio: { transcript: "Hi " } }, { audio: { transcript: "there", expires_at: 7 } }]
    expect(message(piece(btoa("abcd")), ...texts, piece(btoa("efg")))).toMatchObject({ audio })
    expect(message(piece("YWJj"), piece("ZGVm"))).toMatchObject({ audio: { data: "YWJjZGVm" } })
    expect(message(piece("YQ=="), piece("not base64!"))).toMatchObject({ audio: { data: "YQ==not base64!" } })
  })

  it("join the function calls of before tools", () => {
    expect(
      message({ function_call: { name: "old", arguments: "" } }, { function_call: { arguments: "{}" } })
    ).toMatchObject({
      function_call: { name: "old", arguments: "{}" }
    })
  })

  it("join log probabilities", () => {
    const token = (text: string) => ({ token: text, logprob: -1 })
    const chunk = (text: string) => ({
      choices: [{ index: 0, delta: {}, logprobs: { content: [token(text)], refusal: null } }]
    })
    expect(firstChoice(chunk("a"), chunk("b"), { choices: [{ index: 0, delta: {}, logprobs: null }] })).toMatchObject({
      logprobs: { content: [token("a"), token("b")], refusal: null }
    })
  })

  it("are taken whole where there is no delta", () => {
    const whole = { role: "assistant", content: "all of it", tool_calls: null }
    expect(
      firstChoice({ object: "chat.completion.done", choices: [{ index: 0, message: whole }] })?.["message"]
    ).toEqual(whole)
    const beside = {
      index: 0,
      message: { role: "assistant", content: "a" },
      delta: { role: "assistant", content: "a" }
    }
    expect(
      firstChoice(
        { choices: [beside] },
        { choices: [{ ...beside, message: { content: "ab" }, delta: { content: "b" } }] }
      )
    ).toMatchObject({
      message: { role: "assistant", content: "ab" }
    })
  })

  it("have keys of their own, whatever their names", () => {
    const payload = JSON.parse(
      '{"__proto__":{"a":1},"choices":[{"__proto__":2,"delta":{"__proto__":"x","constructor":"y","1":"z"}}]}'
    )
    const text = JSON.stringify(take(payload, payload).output)
    expect(text).toContain('"__proto__":{"a":1}')
    expect(text).toContain('"__proto__":"x"')
    expect(text).toContain('"constructor":"y"')
  })
})

describe("the figures of a stream of chat completions", () => {
  const usage = (completion_tokens: number) => ({ prompt_tokens: 5, completion_tokens })

  it("are the last, never a sum", () => {
    const { output } = take(
      { choices: [], usage: usage(1) },
      { choices: [], usage: usage(2) },
      { choices: [], usage: null }
    )
    expect(output["usage"]).toEqual(usage(2))
  })

  it("are found where Groq puts them", () => {
    const { output } = take({ x_groq: { id: "req_1" }, choices: [] }, { choices: [], x_groq: { usage: usage(3) } })
    expect(output).toEqual({ x_groq: { id: "req_1" }, choices: [], usage: usage(3) })
  })

  it("belong to the first that names an id, a time and a model", () => {
    const filter = {
      choices: [],
      created: 0,
      id: "",
      model: "",
      object: "",
      prompt_filter_results: [{ prompt_index: 0 }]
    }
    const chunk = (id: string) => ({ id, object: "chat.completion.chunk", created: 9, model: "gpt-4o", choices: [] })
    expect(take(filter, chunk("a"), chunk("b")).output).toMatchObject({
      id: "a",
      created: 9,
      model: "gpt-4o",
      object: "chat.completion"
    })
  })
})

describe("an error in a stream of chat completions", () => {
  const begun = deltas({ role: "assistant", content: "Let me" })
  const error = {
    message: "Tool choice is required",
    type: "invalid_request_error",
    code: "tool_use_failed",
    status_code: 400
  }

  it("is kept with what came before it", () => {
    for (const body of [
      toText([...begun, { error }]),
      `${toText(begun)}event: error\ndata: ${JSON.stringify({ error })}\n\n`
    ]) {
      const { output, ended } = accumulate(accumulator, body)
      expect(output).toMatchObject({ choices: [{ message: { content: "Let me" }, finish_reason: null }], error })
      expect(ended).toBe("error")
      expect(ChatCompletions.facts({}, output)).toMatchObject({
        error_type: "invalid_request_error",
        error_status: 400,
        stop_reason: null
      })
    }
  })

  it("is the output where nothing came before it, as a body without streaming too", () => {
    for (const body of [
      JSON.stringify({ error }, null, 2),
      `event: error\ndata: ${JSON.stringify(error)}\n\n`,
      toText([{ error }])
    ])
      expect(accumulate(accumulator, body)).toEqual({ output: { error }, text: null, ended: "error" })
  })

  it("can be a choice's, and text", () => {
    const { output, ended } = take({
      choices: [{ index: 0, delta: { content: "" }, error: { code: 502 }, finish_reason: "error" }]
    })
    expect([ended, ChatCompletions.facts({}, output)]).toMatchObject([
      "error",
      { error_type: "502", error_status: 502, stop_reason: "error" }
    ])
    expect(accumulate(accumulator, "event: error\ndata: went away\n\n").output).toEqual({ error: "went away" })
  })
})

describe("hostile streams of chat completions", () => {
  it("never throw", () => {
    const odd = [null, 0, "a", [], [[]], {}, { a: [] }, [null], [{ index: -1 }], true]
    const places = ["choices", "usage", "error", "id", "x_groq", "object", "latency_checkpoint"]
    const fields = ["delta", "message", "index", "logprobs", "finish_reason", "content_filter_results"]
    const inner = [
      "content",
      "tool_calls",
      "role",
      "audio",
      "function_call",
      "reasoning_details",
      "refusal",
      "annotations"
    ]
    const nested = ["index", "id", "function", "custom", "type"]
    for (const value of odd) {
      const payloads = [
        value,
        ...places.map((key) => ({ choices: [{ delta: { content: "a" } }], [key]: value })),
        ...fields.map((key) => ({ choices: [{ index: 0, delta: { content: "a" }, [key]: value }] })),
        ...inner.flatMap((key) => deltas({ [key]: value })),
        ...nested.flatMap((key) => deltas({ tool_calls: [{ index: 0, function: { name: "a" }, [key]: value }] }))
      ]
      for (const payload of payloads) {
        const { output } = take(...openAi.payloads, payload, ...openAi.payloads)
        ChatCompletions.facts(payload, output)
        ChatCompletions.messages({ messages: [payload] }, output)
      }
      take(...payloads)
    }
  })

  it("are walked without recursion, and have a text where they are deep", () => {
    const deep = JSON.parse(`${'{"a":['.repeat(20_000)}${"]}".repeat(20_000)}`)
    const body = `data: {"choices":[{"delta":{"content":"a"}}],"deep":${"[".repeat(20_000)}${"]".repeat(20_000)}}\n\n`
    const { output, text } = accumulate(accumulator, body)
    expect(output).toMatchObject({ choices: [{ message: { content: "a" } }] })
    expect(text?.length).toBeGreaterThan(40_000)
    ChatCompletions.facts(deep, deep)
    ChatCompletions.messages(
      { messages: [deep, { content: [deep] }], a: deep },
      { choices: [{ message: { odd: deep } }] }
    )
  })
})

describe("long streams of chat completions", () => {
  const encoder = new TextEncoder()
  const detail = { type: "reasoning.text", text: "a", index: 0 }
  const delta = {
    content: "a",
    reasoning: "b",
    annotations: [{ n: 1 }],
    reasoning_details: [detail],
    audio: { data: "YWJj" }
  }
  const tool = { tool_calls: [{ index: 0, id: "call", function: { name: "look", arguments: "1" } }] }
  const piece = (fields: object) => toText([{ choices: [{ index: 0, delta: fields, logprobs: { content: [1] } }] }])
  const pieces = [delta, tool, { content: [{ type: "text", text: "a" }] }].map(piece)

  it("take as much work for each delta", async () => {
    const [work = 0, twice = 0] = await countWork("openai/ChatCompletionsStream.ts", pieces, [600, 1200])
    expect(twice / work).toBeGreaterThan(1.9)
    expect(twice / work).toBeLessThan(2.1)
  })

  it("can have thoughts within thoughts, however deep", () => {
    const depth = 20_000
    const thoughts = `${'[{"type":"thinking","thinking":'.repeat(depth)}[]${"}]".repeat(depth)}`
    const body = `data: {"choices":[{"index":0,"delta":{"content":${thoughts}}}]}\n\n`
    expect(accumulate(accumulator, body).text).toContain(thoughts)
    // Those of the same depth are joined up to a depth.
    expect(accumulate(accumulator, body.repeat(2)).text!.length).toBeGreaterThan(1.9 * thoughts.length)
  })

  it("can have 20,000 deltas", () => {
    const stream = accumulator()
    const bytes = encoder.encode(toText(deltas({ content: "word " })).repeat(20))
    for (let index = 0; index < 1_000; index++) stream.push(bytes)
    expect(stream.end().output).toMatchObject({ choices: [{ message: { content: "word ".repeat(20_000) } }] })
  })
})

describe.runIf(areThere)("recorded streams of chat completions", () => {
  const recorded = streamsOf("provider1-chat-completions").filter(({ stream }) => stream !== null)

  /** Paths at which a pair differs, and why. */
  const exceptions: ReadonlyArray<readonly [source: string, paths: ReadonlyArray<string>]> = [
    // The filter's results are of the whole answer in one, and only of the prompt in the other.
    [
      "azure_gpt-5-nano_streams_thinking",
      ["hate", "protected_material_text", "self_harm", "sexual", "violence"].map(
        (key) => `.choices.0.content_filter_results.${key}`
      )
    ],
    // Fields that these providers do not stream.
    ["groq-tool-call", [".service_tier"]],
    ["test_zai_thinking_stream", [".request_id"]],
    ["test_snowflake", [".created"]],
    // Alibaba numbers the calls of an answer without streaming, but no field tells that it was Alibaba.
    ["alibaba-tool-call", [".choices.0.message.tool_calls.0.index"]],
    // The two were answered by different providers.
    ["test_chat/test_chat_streaming", [".usage.prompt_cache_miss_tokens", ".system_fingerprint"]],
    // One was stopped by a filter, and no usage was asked for in the other.
    ["test_azure/test_chat_streaming", [".choices.0.message", ".usage"]],
    ["test_trace_propagation_stream", [".usage"]]
  ]

  it("have the structure of their answers without streaming", () => {
    const pairs = recorded.filter(({ response }) => response !== null)
    for (const { source, stream, response } of pairs) {
      const { output } = accumulate(accumulator, stream as string)
      const [, allowed = []] = exceptions.find(([part]) => source.includes(part)) ?? []
      expect(structuralDifferences(output, response), source).toEqual(allowed)
    }
    expect(pairs.length).toBe(20)
  })

  it("say what their deltas say, read line by line", () => {
    const textsOf = (value: any): string => {
      if (typeof value === "string") return value
      if (Array.isArray(value)) return value.map(textsOf).join("")
      return textsOf(value?.text ?? value?.thinking ?? "")
    }
    for (const { stream, source } of recorded) {
      const said: Record<string, string> = {}
      const add = (key: string, piece: any) => (said[key] = (said[key] ?? "") + textsOf(piece))
      for (const [, data] of (stream as string).matchAll(/^ ?data: ?(\{.*\})\s*$/gm)) {
        for (const { index, delta } of JSON.parse(data as string).choices ?? []) {
          add(`${index} content`, delta?.content)
          add(`${index} reasoning`, delta?.reasoning_content ?? delta?.reasoning)
          for (const call of delta?.tool_calls ?? []) add(`${index} call ${call.index}`, call.function.arguments)
        }
      }
      const { output } = accumulate(accumulator, stream as string)
      const whole: Record<string, string> = {}
      for (const { index, message } of output["choices"] as ReadonlyArray<any>) {
        whole[`${index} content`] = textsOf(message.content)
        whole[`${index} reasoning`] = textsOf(message.reasoning_content ?? message.reasoning)
        // One provider begins to count at 1.
        const first = source.includes("anthropic-fallback") ? 1 : 0
        message.tool_calls?.forEach(
          (call: any, at: number) => (whole[`${index} call ${at + first}`] = call.function.arguments)
        )
      }
      expect(whole, source).toEqual(said)
    }
  })

  it("are the same wherever they are cut", () => {
    for (const { stream, source } of recorded) {
      const bytes = new TextEncoder().encode(stream as string)
      const whole = accumulate(accumulator, bytes)
      const step = bytes.length < 12_000 ? 1 : 997
      const cuts = Array.from({ length: Math.floor(bytes.length / step) }, (_, index) => index * step)
      expect(accumulate(accumulator, bytes, cuts), source).toEqual(whole)
      expect(accumulate(accumulator, (stream as string).replaceAll(/\r?\n/g, "\r\n")), source).toEqual(whole)
    }
  })

  it("are a beginning of the whole wherever they end", () => {
    const said = (output: JsonObject) =>
      ChatCompletions.messages({}, output).output[0]?.parts.find((part) => part.type === "text")
    for (const { stream, source } of recorded) {
      const bytes = new TextEncoder().encode(stream as string)
      const whole = accumulate(accumulator, bytes)
      const text = String(said(whole.output)?.["content"] ?? "")
      for (let cut = 0; cut < bytes.length; cut += Math.ceil(bytes.length / 9)) {
        const { output } = accumulate(accumulator, bytes.subarray(0, cut))
        expect(text.startsWith(String(said(output)?.["content"] ?? "")), source).toBe(true)
      }
    }
  })
})
