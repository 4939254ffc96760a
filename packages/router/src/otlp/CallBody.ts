/** The body of Create Event for a call that spans and log records tell. */
import { groupingOf } from "@tachograph/capture/Grouping"
import type { Call } from "@tachograph/capture/spans/Assemble"
import { bodiesOf, isClaude } from "@tachograph/capture/spans/LogCalls"
import * as Outcome from "@tachograph/capture/spans/Outcome"
import { payloadOf } from "@tachograph/capture/spans/Payload"
import { formats } from "@tachograph/formats"
import type { Span } from "@tachograph/capture/spans/Span"
import { sessionSeed } from "@tachograph/capture/SessionSeed"
import { hash } from "node:crypto"
import { nameOf } from "../calls/CallName.ts"

/** Characters of what is said of the span: it has a name that programs choose. */
const maxText = 200

const cut = (text: string): string | undefined => (text === "" ? undefined : text.slice(0, maxText))

/** The latest time that an event can have. */
const maxMs = Date.UTC(9999, 11, 31)

export const isTime = (ms: number): boolean => ms > 0 && ms < maxMs

/** What says of which span an event was made, and what of it is missing. */
const recordedOf = ({ span }: Call, isRebuilt: boolean, verbatim: ReadonlyArray<string>) => ({
  ...(isRebuilt ? { rebuilt: true } : {}),
  otlp: {
    scope: cut(span.scope.name),
    scope_version: cut(span.scope.version),
    span: cut(span.name),
    service: cut(String(span.resource.get("service.name") ?? "")),
    parent: span.parentSpanId === span.spanId ? undefined : cut(span.parentSpanId),
    verbatim: isRebuilt && verbatim.length > 0 ? verbatim : undefined,
    dropped: span.droppedAttributes || undefined
  }
})

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000

/** Milliseconds, where both its times are known. */
export const durationOf = ({ endMs, startMs }: Span): number | undefined =>
  isTime(startMs) && endMs >= startMs ? rounded(endMs - startMs) : undefined

/** By which a call is the same when it is told again. */
export const keyOf = ({ logs, span }: Call): string => {
  const id = logs
    .filter(isClaude)
    .map((log) => log.attributes.get("request_body_id"))
    .find((each) => typeof each === "string")
  if (id === undefined && span.spanId !== "") return `otlp ${span.traceId} ${span.spanId}`
  const said = logs.map((log) => [log.timeMs, Array.from(log.attributes, ([key, value]) => [key, String(value)])])
  return `otlp ${hash("sha256", id ?? JSON.stringify(said))}`
}

/** The session of a call that says none: that of the beginning of its conversation, or else of its trace. */
const derivedSession = (call: Call, api: Parameters<typeof sessionSeed>[0], inputs: string): string => {
  const seed = call.hasContent ? sessionSeed(api, JSON.parse(inputs), formats[api]) : call.span.traceId
  return hash("sha256", seed)
}

/** What Claude Code tells is the body of the request with `betas` added, and of both what thinks is left out. */
const payloadIn = (call: Call) => {
  const { ancestors, fill, logs, span } = call
  const bodies = bodiesOf(logs)
  return bodies === undefined
    ? payloadOf(span, Outcome.errorOf(span, fill, ancestors), fill)
    : { api: "provider2-beta-messages" as const, ...bodies, rebuilt: true, verbatim: [] }
}

/** The names of whose a call or a step is, as events have them. */
export const namesOf = ({ group }: Pick<Call, "group">) =>
  groupingOf(
    { session: group.session, agent: group.agent, agent_version: group.version, person: group.person },
    {},
    nameOf
  )

/** The text of the event, and whose it is. */
export const of = (call: Call, fingerprintId: string) => {
  const { fill, span } = call
  const { api, inputs, output, rebuilt, verbatim } = payloadIn(call)
  const names = namesOf(call)
  const session = names.session ?? derivedSession(call, api, inputs)
  const { agent, agent_version, person } = names
  const firstTokenMs = Outcome.firstTokenOf(span, fill)
  const beside = {
    session,
    agent,
    agent_version,
    person,
    fingerprint_id: fingerprintId,
    occurred_at: isTime(span.startMs) ? new Date(span.startMs).toISOString() : undefined,
    duration_ms: durationOf(span),
    first_token_ms: firstTokenMs === undefined ? undefined : rounded(firstTokenMs),
    http_status: Outcome.httpStatusOf(span, fill),
    trace_id: span.traceId || undefined,
    span_id: span.spanId || call.spans[0]?.spanId || undefined,
    recorded: recordedOf(call, rebuilt, verbatim)
  }
  const text = `{"event_name":"llm","properties":{"api":${JSON.stringify(api)},"inputs":${inputs},"output":${output}},${JSON.stringify(beside).slice(1)}`
  return { bytes: Buffer.from(text), session, person }
}
