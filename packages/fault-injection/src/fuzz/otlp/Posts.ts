/** Random posts of OpenTelemetry as JSON values: spans and log records of every emitter that is known, with hostile values among them. */
import type { Random } from "../../harness/Random.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
type Signal = "traces" | "logs"

export interface Post {
  readonly signal: Signal
  readonly value: Json
  /** The ids of calls in it that are whole, and wait for nothing. */
  readonly calls: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
}

export const oneOf = <A>(random: Random, values: ReadonlyArray<A>): A => values[random(0, values.length - 1)]!

const times = <A>(random: Random, min: number, max: number, make: (n: number) => A): Array<A> =>
  Array.from({ length: random(min, max) }, (_, n) => make(n))

const hex = (random: Random, digits: number): string =>
  Array.from({ length: digits }, () => random(0, 15).toString(16)).join("")

/** Most are ids of a few spans, so that these meet. */
const idOf = (random: Random, digits: number): string => {
  const kind = random(0, 60)
  if (kind === 0) return "0".repeat(digits)
  if (kind === 1) return hex(random, digits + oneOf(random, [-2, 2, 16]))
  if (kind === 2) return oneOf(random, ["", "x".repeat(digits), "F".repeat(digits), "é", "\0"])
  return kind < 20 ? hex(random, digits) : String(random(1, 6)).repeat(digits)
}

const scopes = [
  "ai",
  "gen_ai",
  "langfuse-sdk",
  "@mastra/otel-exporter",
  "@opentelemetry/instrumentation-openai",
  "@arizeai/openinference-instrumentation-anthropic",
  "@anthropic-ai/sdk",
  "com.anthropic.sdk.typescript",
  "com.anthropic.claude_code.events",
  "gemini-cli",
  "codex_otel.log_only",
  "@opentelemetry/instrumentation-http",
  "genkit-tracer",
  "",
  "__proto__"
]

const marks: ReadonlyArray<readonly [key: string, values: ReadonlyArray<string>]> = [
  ["gen_ai.operation.name", ["chat", "chat", "chat", "execute_tool", "invoke_agent", "toString"]],
  ["openinference.span.kind", ["LLM", "TOOL", "AGENT", "constructor"]],
  ["langfuse.observation.type", ["generation", "agent", "__proto__"]],
  ["ai.operationId", ["ai.generateText.doGenerate", "ai.streamText.doStream", "ai.toolCall"]],
  ["mastra.span.type", ["model_inference", "tool_call", "model_step"]],
  ["genkit:metadata:subtype", ["model", "tool", "flow"]],
  ["span.type", ["llm_request", "tool"]]
]

const logNames = [
  "gen_ai.user.message",
  "gen_ai.choice",
  "gen_ai.constructor.message",
  "gen_ai.client.inference.operation.details",
  "gen_ai.content.prompt",
  "claude_code.api_request_body",
  "claude_code.api_response_body",
  "claude_code.api_request",
  "claude_code.api_error",
  "gemini_cli.api_response",
  "codex.sse_event",
  "gen_ai.evaluation.result",
  "other"
]

const keys = [
  "gen_ai.request.model",
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
  "gen_ai.tool.definitions",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.response.finish_reasons",
  "gen_ai.response.id",
  "gen_ai.response.time_to_first_chunk",
  "gen_ai.conversation.id",
  "session.id",
  "user.id",
  "gen_ai.agent.name",
  "gen_ai.agent.version",
  "gen_ai.prompt.0.role",
  "gen_ai.prompt.0.content",
  "gen_ai.prompt.1.content",
  "gen_ai.prompt.999999.content",
  "llm.input_messages.0.message.role",
  "llm.input_messages.0.message.tool_calls.0.tool_call.id",
  "llm.output_messages.0.message.content",
  "llm.output_messages.0.__proto__.x",
  "llm.token_count.prompt",
  "input.value",
  "input.mime_type",
  "output.value",
  "ai.prompt.messages",
  "ai.response.text",
  "ai.telemetry.metadata.userId",
  "metadata",
  "langfuse.observation.input",
  "mastra.metadata.body",
  "mastra.completion_start_time",
  "request_body_id",
  "body",
  "event.name",
  "event.sequence",
  "event.kind",
  "model",
  "duration_ms",
  "ttft_ms",
  "error.type",
  "http.response.status_code",
  "http.request.header.authorization",
  "url.full",
  "otel.scope.name",
  "api_key",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "",
  "\0",
  "map of attributes",
  "integer of 64 bits"
]

const bodies = [
  `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`,
  `{"model":"m","system":"s","messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}]}`,
  `{"model":"m","input":"Hello"}`,
  `{"choices":[{"message":{"role":"assistant","content":"Hi"}}],"usage":{"prompt_tokens":5}}`,
  `[{"role":"user","parts":[{"type":"text","content":"Hello"}]}]`,
  `[{"role":"assistant","parts":[{"type":"tool_call","id":"1","name":"t","arguments":{"a":1}}]}]`,
  `{"session_id":"in metadata","__proto__":{"a":1},"constructor":null}`,
  `{"__proto__":{"session_id":1},"user_id":{}}`
]

const texts = [
  "a text",
  "chat",
  "true",
  "429",
  "1e999",
  "9223372036854775808",
  "\0",
  "\ud800",
  "\udfff and more",
  "😀",
  "\u2028",
  "2026-11-29T10:00:00Z",
  "9999999-01-01",
  "Bearer sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "__proto__"
]

const integers = [
  "0",
  "-1",
  "7",
  "9007199254740993",
  "9223372036854775807",
  "-9223372036854775808",
  "18446744073709551615",
  "99999999999999999999999",
  "1.5",
  "1e3",
  ""
]

const textOf = (random: Random): string => {
  const kind = random(0, 2_000)
  if (kind === 0) return oneOf(random, ["x", "😀", "\0", "[", `{"a":`]).repeat(random(1, 1_000_000))
  if (kind < 800) return oneOf(random, texts)
  const body = oneOf(random, bodies)
  // JSON that is cut, as by a limit on the length of attributes.
  return kind < 1_000 ? body.slice(0, random(0, body.length)) : body
}

const deepOf = (random: Random): Json => {
  let value: Json = { stringValue: "deep" }
  for (let depth = random(1, 200); depth > 0; depth--) {
    value =
      random(0, 1) === 0
        ? { arrayValue: { values: [value] } }
        : { kvlistValue: { values: [{ key: oneOf(random, keys), value }] } }
  }
  return value
}

/** An `AnyValue`. */
const valueOf = (random: Random, depth = 0): Json => {
  const kind = random(0, 40)
  if (kind < 18) return { stringValue: textOf(random) }
  if (kind < 24) return { intValue: random(0, 1) === 0 ? random(0, 2_000) : oneOf(random, integers) }
  if (kind < 27) return { doubleValue: oneOf<Json>(random, [0.5, -0, 1e308, "NaN", "-Infinity", "Infinity", "x"]) }
  if (kind < 29) return { boolValue: random(0, 1) === 0 }
  if (kind === 29) return { bytesValue: "AAECAw==" }
  if (kind === 30) return random(0, 9) === 0 ? deepOf(random) : { stringValue: "" }
  if (kind === 31) return {}
  if (kind === 32) return null
  if (kind === 33) return { stringValue: "one", intValue: "2", arrayValue: { values: [] } }
  if (depth > 3) return { arrayValue: {} }
  return kind < 37
    ? { arrayValue: { values: times(random, 0, 4, () => valueOf(random, depth + 1)) } }
    : { kvlistValue: { values: times(random, 0, 4, () => pairOf(random, depth + 1)) } }
}

const pairOf = (random: Random, depth = 0): Json => ({ key: oneOf(random, keys), value: valueOf(random, depth) })

const text = (key: string, value: string): Json => ({ key, value: { stringValue: value } })

/** Thousands now and then, though SDKs send 128 at most. */
const attributesOf = (random: Random): Array<Json> => {
  const kind = random(0, 200)
  if (kind === 0) return times(random, 129, 4_000, (n) => text(`gen_ai.prompt.${n}.content`, "m"))
  if (kind === 1) return times(random, 120, 130, (n) => text(`llm.input_messages.${n}.message.content`, "m"))
  return times(random, 0, 9, () => pairOf(random))
}

const nanoseconds = ["0", "18446744073709551615", "1", "253402300800000000000", "-5", "x"]

const timeOf = (random: Random): Json => {
  const kind = random(0, 20)
  if (kind === 0) return oneOf(random, nanoseconds)
  if (kind === 1) return 1_795_000_000_000_000_000
  return `17950000${random(10, 99)}${random(100, 999)}000000`
}

const longName = (random: Random): string =>
  random(0, 2_000) === 0
    ? oneOf(random, ["n", "😀", "\0"]).repeat(1_000_000)
    : oneOf(random, [...texts, "chat gpt", ""])

const spanOf = (random: Random): Json => {
  const [key, values] = oneOf(random, marks)
  const isMarked = random(0, 4) > 0
  return {
    traceId: idOf(random, 32),
    spanId: idOf(random, 16),
    ...(random(0, 2) === 0 ? {} : { parentSpanId: random(0, 3) === 0 ? "" : idOf(random, 16) }),
    name: longName(random),
    kind: oneOf<Json>(random, [1, 3, "SPAN_KIND_CLIENT", "none", -1, 1e9]),
    startTimeUnixNano: timeOf(random),
    endTimeUnixNano: timeOf(random),
    droppedAttributesCount: oneOf<Json>(random, [0, 3, "7", -1, 4_294_967_295]),
    attributes: [...(isMarked ? [text(key, oneOf(random, values))] : []), ...attributesOf(random)],
    events: times(random, 0, 2, () => ({
      name: oneOf(random, ["exception", ...logNames]),
      timeUnixNano: timeOf(random),
      attributes: attributesOf(random)
    })),
    status: oneOf<Json>(random, [
      {},
      null,
      { code: 2, message: "failed" },
      { code: "STATUS_CODE_ERROR", message: textOf(random) },
      { code: 1 }
    ])
  }
}

const logOf = (random: Random): Json => ({
  ...(random(0, 2) === 0 ? {} : { traceId: idOf(random, 32), spanId: idOf(random, 16) }),
  timeUnixNano: timeOf(random),
  observedTimeUnixNano: timeOf(random),
  eventName: oneOf(random, logNames),
  body: oneOf(random, [null, {}, valueOf(random)]),
  attributes: attributesOf(random)
})

/** A call that has everything: whatever else is in its post, a 200 says that it is kept. */
const wholeCall = (traceId: string, spanId: string): Json => ({
  traceId,
  spanId,
  name: "ai.generateText.doGenerate",
  startTimeUnixNano: "1795000010123000000",
  endTimeUnixNano: "1795000011123000000",
  attributes: [
    text("ai.operationId", "ai.generateText.doGenerate"),
    text("ai.telemetry.metadata.sessionId", "session of whole calls"),
    text("gen_ai.request.model", "m"),
    text("ai.prompt.messages", `[{"role":"user","content":"Hello"}]`),
    text("ai.response.text", "Hi"),
    { key: "ai.usage.promptTokens", value: { intValue: "5" } }
  ]
})

const at = (random: Random, list: ReadonlyArray<Json>, item: Json): ReadonlyArray<Json> =>
  list.toSpliced(random(0, list.length), 0, item)

export const generated = (random: Random): Post => {
  const signal = random(0, 3) === 0 ? "logs" : "traces"
  const isTraces = signal === "traces"
  const [outer, inner, items] = isTraces
    ? (["resourceSpans", "scopeSpans", "spans"] as const)
    : (["resourceLogs", "scopeLogs", "logRecords"] as const)
  const scopeOf = (name: string, records: ReadonlyArray<Json>): Json => ({
    scope: oneOf<Json>(random, [
      { name, version: "1.2.3" },
      { name, version: "1.2.3", attributes: [] }
    ]),
    [items]: records
  })
  const resource: Json = {
    attributes: [text("service.name", oneOf(random, texts)), ...attributesOf(random)]
  }
  const emitted = times(random, 0, 3, () =>
    scopeOf(
      oneOf(random, scopes),
      times(random, 0, 4, () => (isTraces ? spanOf(random) : logOf(random)))
    )
  )
  const calls = isTraces && random(0, 3) > 0 ? [{ traceId: hex(random, 32), spanId: `1${hex(random, 15)}` }] : []
  const whole = calls.map(({ spanId, traceId }) =>
    scopeOf("ai", at(random, [spanOf(random)], wholeCall(traceId, spanId)))
  )
  const all = whole.reduce<ReadonlyArray<Json>>((list, each) => at(random, list, each), emitted)
  // The same resource once more, and an empty one.
  const resources = [{ resource, [inner]: all }, { resource, [inner]: [] }, {}, { [inner]: [{ [items]: [] }] }]
  return { signal, calls, value: { [outer]: resources.slice(0, random(1, 4)) } }
}
