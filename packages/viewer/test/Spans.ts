/** Sessions as OpenTelemetry tells them: calls of models, and the steps around and between them. */
import { type HttpClient, OtlpPosts } from "@tachograph/testkit"

type Attributes = Record<string, unknown>

/** A span of a trace that one digit names, which begins and ends so many milliseconds after it. */
export interface Told {
  readonly trace: number
  readonly id: number
  readonly parent?: number
  readonly name: string
  readonly at: readonly [beginMs: number, endMs: number]
  readonly attributes: Attributes
  readonly droppedAttributesCount?: number
}

/** When the first trace begins (epoch ms). Each other one begins a minute after the one before. */
const startMs = Date.UTC(2026, 5, 14, 5, 0)

export const traceId = (trace: number): string => String(trace).repeat(32)

const spanId = (id: number): string => String(id).padStart(16, "0")

export const told = async (
  client: HttpClient.Client,
  session: string,
  spans: ReadonlyArray<Told>,
  names = { scope: "gen_ai", service: "harbour" }
): Promise<void> => {
  const post = OtlpPosts.traces(
    spans.map(({ at: [beginMs, endMs], attributes, id, parent, trace, ...others }) => {
      const traceMs = startMs + 60_000 * (trace - 1)
      return {
        ...others,
        traceId: traceId(trace),
        spanId: spanId(id),
        parentSpanId: parent === undefined ? "" : spanId(parent),
        startMs: traceMs + beginMs,
        endMs: traceMs + endMs,
        attributes: { "gen_ai.conversation.id": session, ...attributes }
      }
    }),
    names.scope,
    { "service.name": names.service }
  )
  const { status, text } = await client.post("/otlp/v1/traces", post)
  if (status !== 200) throw new Error(`${status} ${text}`)
}

type Parts = ReadonlyArray<Readonly<Record<string, unknown>>>

export const says = (role: string, ...parts: Parts) => ({ role, parts })
export const text = (content: string) => ({ type: "text", content })
export const asks = (id: string, name: string, args: object) => ({ type: "tool_call", id, name, arguments: args })
const answers = (id: string, response: unknown) => ({ type: "tool_call_response", id, response })

export const chat = (input: ReadonlyArray<object>, output: object): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "gpt-5-mini",
  "gen_ai.input.messages": JSON.stringify(input),
  "gen_ai.output.messages": JSON.stringify([output])
})

export const agent = { "gen_ai.operation.name": "invoke_agent" }

export const ran = (name: string, id: string, others: Attributes = {}): Attributes => ({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": name,
  "gen_ai.tool.call.id": id,
  ...others
})

/** Two traces: an answer that only its span has, a tool that failed, and a tool whose span has no id. */
export const recordTraced = async (client: HttpClient.Client, session: string): Promise<void> => {
  const question = says("user", text("When is low water, and will it rain?"))
  const asked = says(
    "assistant",
    asks("c1", "tide_table", { port: "Oslo" }),
    asks("c2", "forecast", { port: "Oslo", days: 1 })
  )
  const answered = says("tool", answers("c1", "[tool-result: tide_table]"), answers("c2", "no forecast"))
  const said = says("assistant", text("Low water is at 06:14. No forecast came."))
  const next = [question, asked, answered, said, says("user", text("And in Bergen?"))]
  await told(client, session, [
    { trace: 1, id: 1, name: "invoke_agent desk", at: [0, 3_000], attributes: agent },
    { trace: 1, id: 2, parent: 1, name: "chat gpt-5-mini", at: [100, 400], attributes: chat([question], asked) },
    {
      trace: 1,
      id: 3,
      parent: 1,
      name: "execute_tool tide_table",
      at: [410, 640],
      attributes: ran("tide_table", "c1", { "gen_ai.tool.call.result": '{"low":"06:14"}' })
    },
    {
      trace: 1,
      id: 4,
      parent: 1,
      name: "execute_tool forecast",
      at: [410, 2_410],
      attributes: ran("forecast", "c2", {
        "error.type": "timeout",
        "error.message": "The forecast took too long",
        "app.log": "A line of a log. ".repeat(2_000)
      })
    },
    {
      trace: 1,
      id: 5,
      parent: 1,
      name: "chat gpt-5-mini",
      at: [2_500, 2_900],
      attributes: chat([question, asked, answered], said),
      droppedAttributesCount: 3
    },
    { trace: 2, id: 6, name: "invoke_agent desk", at: [0, 900], attributes: agent },
    {
      trace: 2,
      id: 7,
      parent: 6,
      name: "chat gpt-5-mini",
      at: [100, 400],
      attributes: chat(next, says("assistant", asks("c3", "tide_table", { port: "Bergen" })))
    },
    {
      trace: 2,
      id: 8,
      parent: 6,
      name: "tide_table",
      at: [420, 435],
      attributes: {
        "openinference.span.kind": "TOOL",
        "tool.name": "tide_table",
        "input.value": '{"port":"Bergen"}',
        "output.value": "05:58"
      }
    }
  ])
}
