/** Calls that only log records tell: Claude Code's, which has the bodies of each call in two of them, and others without a span. */
import { failureOf } from "../Failures.ts"
import { isTelling } from "./Emitters.ts"
import type { Attributes, LogRecord, Span, Value } from "./Span.ts"

interface LogCall {
  /** A span made of the records. Its id is empty if none of a span is known. */
  readonly span: Span
  readonly logs: ReadonlyArray<LogRecord>
  /** Whether neither another record nor a span is to come. */
  readonly isComplete: boolean
}

interface LogCalls {
  readonly calls: ReadonlyArray<LogCall>
  readonly rest: ReadonlyArray<LogRecord>
}

const numberOf = (value: Value | undefined): number => (Number.isFinite(Number(value)) ? Number(value) : 0)

/** The bodies of a call at Anthropic, as Claude Code sent and got them. */
const requestBody = "api_request_body"
const responseBody = "api_response_body"

const bareName = (log: LogRecord): string => log.name.replace(/^claude_code\./, "")

const spanOf = (logs: ReadonlyArray<LogRecord>, parent: boolean): Span => {
  const last = logs.at(-1)!
  const attributes: Attributes = new Map(logs.flatMap((log) => Array.from(log.attributes)))
  const endMs = last.timeMs
  const durationMs = numberOf(attributes.get("duration_ms"))
  return {
    traceId: last.traceId,
    spanId: parent ? "" : last.spanId,
    // The way to the ancestors is not known.
    parentSpanId: last.spanId,
    name: bareName(last),
    kind: 0,
    startMs: durationMs > 0 ? endMs - durationMs : logs[0]!.timeMs,
    endMs,
    status: { code: 0, message: "" },
    events: [],
    droppedAttributes: last.droppedAttributes,
    scope: last.scope,
    resource: last.resource,
    attributes
  }
}

export const isClaude = (log: LogRecord): boolean => log.scope.name.startsWith("com.anthropic.claude_code")

const sequenceOf = (log: LogRecord): number => numberOf(log.attributes.get("event.sequence"))

/** Of one session, model and source there may be several calls at a time. */
const sourceOf = ({ attributes }: LogRecord): string =>
  JSON.stringify(["session.id", "model", "query_source"].map((key) => String(attributes.get(key))))

/** Claude Code numbers its records. The counts of a call come right before the body of its answer. */
const ofClaudeCode = (logs: ReadonlyArray<LogRecord>): LogCalls => {
  const ordered = logs.toSorted((one, other) => sequenceOf(one) - sequenceOf(other))
  const requests = new Map<Value, LogRecord>()
  const counts = new Map<string, Array<LogRecord>>()
  const calls: Array<LogCall> = []
  for (const log of ordered) {
    const id = log.attributes.get("request_body_id") ?? null
    switch (bareName(log)) {
      case requestBody:
        requests.set(id, log)
        break
      case "api_request":
      case "api_error":
        counts.set(sourceOf(log), counts.get(sourceOf(log)) ?? [])
        counts.get(sourceOf(log))!.push(log)
        break
      case responseBody: {
        const parts = [requests.get(id), log, counts.get(sourceOf(log))?.pop()].filter((part) => part !== undefined)
        requests.delete(id)
        calls.push({ span: spanOf(parts, true), logs: parts, isComplete: parts.length === 3 && log.traceId === "" })
      }
    }
  }
  // Without bodies, which is the default, there are counts alone. A request without an answer waits for that, and says nothing of counts.
  const alone = [
    ...Array.from(counts.values())
      .flat()
      .map((log) => [log]),
    ...Array.from(requests.values(), (log) => [log])
  ]
  return {
    calls: [...calls, ...alone.map((parts) => ({ span: spanOf(parts, true), logs: parts, isComplete: false }))],
    rest: []
  }
}

/** Calls of log records. Those of a span that is known belong to it, whatever they tell. */
export const callsOfLogs = (logs: ReadonlyArray<LogRecord>, spans: ReadonlyMap<string, Span>): LogCalls => {
  const claude = ofClaudeCode(logs.filter(isClaude))
  const others = logs.filter((log) => !isClaude(log))
  const tells = (log: LogRecord) => isTelling(log) && !spans.has(`${log.traceId} ${log.spanId}`)
  const told = new Map<string, Array<LogRecord>>()
  for (const log of others.filter(tells)) {
    const id = log.spanId === "" ? `${told.size}` : `${log.traceId} ${log.spanId}`
    told.set(id, told.get(id) ?? [])
    told.get(id)!.push(log)
  }
  return {
    calls: [
      ...claude.calls,
      ...Array.from(told.values(), (parts) => ({
        span: spanOf(parts, false),
        logs: parts,
        isComplete: parts[0]!.name === "codex.sse_event"
      }))
    ],
    rest: others.filter((log) => !tells(log))
  }
}

const isWhole = (text: string): boolean => {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** What stands where a body should, of which only the beginning is told. */
const cut = (body: string): string => JSON.stringify(failureOf("cut", body, "Only the beginning of the body was told."))

/** The JSON texts of the request and of the answer, where records have them. What thinks is left out in them. */
export const bodiesOf = (
  logs: ReadonlyArray<LogRecord>
): { readonly inputs: string; readonly output: string } | undefined => {
  const bodyOf = (name: string) => {
    const text = logs.find((log) => bareName(log) === name)?.attributes.get("body")
    return typeof text === "string" ? text : undefined
  }
  const [request, response] = [bodyOf(requestBody), bodyOf(responseBody)]
  if (request === undefined && response === undefined) return undefined
  const failed = logs.find((log) => bareName(log) === "api_error")?.attributes
  const error = {
    type: failed?.get("error_type") ?? failed?.get("status_code") ?? "unknown",
    message: failed?.get("error") ?? ""
  }
  const textOf = (body: string) => (isWhole(body) ? body : cut(body))
  return {
    inputs: request === undefined ? cut("") : textOf(request),
    output:
      response === undefined
        ? JSON.stringify(
            failed === undefined ? failureOf("cut", "", "No answer was told.") : { error },
            (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)
          )
        : textOf(response)
  }
}
