/** How much work it is to assemble a trace: how often attributes are looked at, for so many spans and for twice as many. */
import { expect, it } from "vitest"
import { assemble, type Told } from "../../src/spans/Assemble.ts"
import type { LogRecord, Span, Value } from "../../src/spans/Span.ts"

let looks = 0
class Counted extends Map<string, Value> {
  override get(key: string): Value | undefined {
    looks++
    return super.get(key)
  }
}

const idOf = (n: number): string => n.toString(16).padStart(16, "0")

const emitted = (scope: string, attributes: Readonly<Record<string, Value>>) => ({
  traceId: "ab".repeat(16),
  scope: { name: scope, version: "" },
  resource: new Map(),
  droppedAttributes: 0,
  attributes: new Counted(Object.entries(attributes))
})

const span = (
  n: number,
  parentSpanId: string,
  attributes: Readonly<Record<string, Value>> = {},
  scope = "s"
): Span => ({
  ...emitted(scope, { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", ...attributes }),
  spanId: idOf(n + 1),
  parentSpanId,
  name: "chat",
  kind: 3,
  startMs: 1e12 + 10 * n,
  endMs: 1e12 + 10 * n + 5,
  status: { code: 0, message: "" },
  events: []
})

const log = (n: number, scope: string, name: string, attributes: Readonly<Record<string, Value>>): LogRecord => ({
  ...emitted(scope, { model: "m", ...attributes }),
  spanId: "",
  name,
  timeMs: 1e12 + 10 * n,
  body: null
})

const content = { "gen_ai.input.messages": "[]" }
const claude = "com.anthropic.claude_code.events"
const list = <A>(count: number, make: (n: number) => A): Array<A> => Array.from({ length: count }, (_, n) => make(n))
const told = (spans: ReadonlyArray<Span>, logs: ReadonlyArray<LogRecord> = []): Told => ({ spans, logs, links: [] })

const shapes: Readonly<Record<string, (count: number) => Told>> = {
  "a chain of calls": (count) => told(list(count, (n) => span(n, idOf(n)))),
  "a circle of calls": (count) => told(list(count, (n) => span(n, idOf(((n + 1) % count) + 1)))),
  "calls that are told twice": (count) =>
    told(list(count, (n) => span(n, idOf(1e6), n % 2 === 0 ? content : {}, `${n % 2}`))),
  "log records of no span": (count) =>
    told(
      list(count, (n) => span(n, "")),
      list(count, (n) => log(n, "s", "gen_ai.choice", {}))
    ),
  "log records of Claude Code that do not belong together": (count) =>
    told(
      [],
      [
        ...list(count, (n) => log(n, claude, "claude_code.api_request", { query_source: "one" })),
        ...list(count, (n) => log(n, claude, "claude_code.api_response_body", { query_source: "other" }))
      ]
    ),
  "a span that many exporters told": (count) =>
    told(list(count, (n) => ({ ...span(0, "", { [`k${n}`]: n }, `s${n}`), spanId: idOf(1) })))
}

it.each(Object.keys(shapes))("%s: twice as many take about twice the work", (name) => {
  const looksAt = (count: number) => {
    const all = shapes[name]!(count)
    looks = 0
    assemble(all)
    return looks
  }
  // With all comparisons that there are at most.
  expect(looksAt(2_400)).toBeLessThan(2.5 * looksAt(1_200) + 10_000)
})

it("a call whose parent never comes is of whom all others of its trace name, where they agree", () => {
  const agent = (n: number, session: string) =>
    span(n, "", { "gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": session })
  const sessionOf = (spans: ReadonlyArray<Span>) =>
    assemble(told([span(0, idOf(99)), ...spans])).calls[0]!.group.session
  expect(sessionOf([agent(1, "one")])).toBe("one")
  expect(sessionOf([agent(1, "one"), agent(2, "other")])).toBeUndefined()
})

it("a circle of ancestors ends, and its calls wait", () => {
  const { calls } = assemble(shapes["a circle of calls"]!(3))
  expect(calls.map(({ isComplete }) => isComplete)).toEqual([false, false, false])
})

it("a log record that names no span belongs to the only call of its time", () => {
  const calls = [span(0, ""), span(1, ""), span(500, "")]
  const logs = [log(500.2, "s", "gen_ai.choice", {}), log(1.2, "s", "gen_ai.choice", {})]
  const assembled = assemble(told(calls, logs))
  expect(assembled.calls.map(({ logs }) => logs)).toEqual([[], [], [logs[0]]])
  expect(assembled.logs).toEqual([logs[1]])
})
