/** Posts of programs whose calls wait for something: of real ones, where they are there, and of small ones that are written like them. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as OtlpPosts from "./OtlpPosts.ts"

type Json = Readonly<Record<string, any>>

export interface Post {
  readonly signal: "traces" | "logs"
  readonly body: Json
}

const folder = fileURLToPath(new URL("../../../../shared/otlp/", import.meta.url))

const emitters =
  /^(?:openinference-.*|vercel7.*|mastra|otel-contrib-.*|gemini-cli-otel|claude-code-otel|openlit.*|sentry.*|traceloop.*)$/

const real = (): ReadonlyArray<Post> =>
  (existsSync(folder) ? readdirSync(folder) : []).flatMap((emitter) =>
    readdirSync(`${folder}${emitter}`)
      .filter((file) => emitters.test(emitter) && /-(?:traces|logs)\.json$/.test(file))
      .map((file) => ({
        signal: file.includes("-logs") ? ("logs" as const) : ("traces" as const),
        body: JSON.parse(readFileSync(`${folder}${emitter}/${file}`, "utf8")) as Json
      }))
  )

let traces = 0
const idOf = (digits: number, number: number): string => number.toString(16).padStart(digits, "0")
const messages = (text: string) => JSON.stringify([{ role: "user", parts: [{ type: "text", content: text }] }])

/** Spans of one trace, the root first: each is below the one before it. */
const chain = (scope: string, ...attributes: ReadonlyArray<Json>): Post => {
  const traceId = idOf(32, 0xabc0000 + ++traces)
  const spans = attributes.map((each, n) => ({
    ...{
      traceId,
      spanId: idOf(16, n + 1),
      attributes: each,
      startMs: 1_790_000_000_000 + n,
      endMs: 1_790_000_000_900 - n
    },
    ...(n === 0 ? {} : { parentSpanId: idOf(16, n) })
  }))
  return { signal: "traces", body: OtlpPosts.traces(spans, scope, { "service.name": "a service" }) }
}

const call = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" }
const step = { "gen_ai.operation.name": "agent_step" }
const agent = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bot", "gen_ai.agent.version": "2" }

const log = (traceId: string, name: string, body: Json, ms: number) => ({
  ...{ traceId, spanId: idOf(16, 1), timeUnixNano: `${1_790_000_000_000 + ms}000000`, eventName: name, body }
})

const small = (): ReadonlyArray<Post> => {
  const contrib = "@opentelemetry/instrumentation-openai"
  const bare = chain(contrib, { ...call, "session.id": "of logs" })
  const { traceId } = bare.body["resourceSpans"][0].scopeSpans[0].spans[0]
  const records = [
    log(traceId, "gen_ai.system.message", { stringValue: "Be brief" }, 1),
    log(traceId, "gen_ai.user.message", { stringValue: "Hello" }, 2),
    log(traceId, "gen_ai.choice", { stringValue: "Hi" }, 3)
  ]
  return [
    chain("gen_ai", { ...agent, "session.id": "of an ancestor", "user.id": "p" }, step, {
      ...call,
      "gen_ai.input.messages": messages("a")
    }),
    chain("gen_ai", step, { ...call, "gen_ai.input.messages": messages("of no session") }),
    chain(
      "@mastra/otel-exporter",
      { "mastra.span.type": "agent_run", "gen_ai.conversation.id": "of a parent" },
      { "mastra.span.type": "model_step", "mastra.model_step.input": messages("b") },
      { "mastra.span.type": "model_inference", "gen_ai.request.model": "m", "gen_ai.output.messages": messages("c") }
    ),
    bare,
    {
      signal: "logs",
      body: { resourceLogs: [{ scopeLogs: [{ scope: { name: contrib, version: "1" }, logRecords: records }] }] }
    }
  ]
}

export const posts = (): ReadonlyArray<Post> => {
  traces = 0
  return [...small(), ...real()]
}

/** Each span as a post of its own, and the log records of each: of records of one time, only their order in a post is known. */
export const split = ({ body, signal }: Post): ReadonlyArray<Post> => {
  const [outer, inner, items] =
    signal === "traces"
      ? (["resourceSpans", "scopeSpans", "spans"] as const)
      : (["resourceLogs", "scopeLogs", "logRecords"] as const)
  const lists = (value: Json, name: string) => (value[name] ?? []) as ReadonlyArray<Json>
  return lists(body, outer).flatMap((resource) =>
    lists(resource, inner).flatMap((scope) =>
      Array.from(
        Map.groupBy(lists(scope, items), ({ spanId, traceId }) => `${traceId} ${spanId}`).values(),
        (ofSpan) => ({ signal, body: { [outer]: [{ ...resource, [inner]: [{ ...scope, [items]: ofSpan }] }] } })
      )
    )
  )
}

const told = [
  ...["session", "person", "agent", "agent_version", "api", "model", "trace_id", "span_id"],
  ...["input_tokens", "output_tokens", "cached_tokens", "occurred_at", "duration_ms", "http_status", "stop_reason"]
]

/** What of all events is told, their texts included, in an order of its own. */
export const eventsIn = async (get: (path: string) => Promise<string>): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  for (let path = "/api/v1/events?limit=100"; ;) {
    const { events, next_cursor } = JSON.parse(await get(path)) as Json
    ids.push(...events.map((event: Json) => event["event_id"]))
    if (typeof next_cursor !== "string") break
    path = `/api/v1/events?limit=100&cursor=${encodeURIComponent(next_cursor)}`
  }
  const events = []
  for (const id of ids) {
    const event = JSON.parse(await get(`/api/v1/events/${id}`)) as Json
    events.push(JSON.stringify([...told.map((name) => [name, event[name]]), event["properties"]]))
  }
  return events.toSorted()
}
