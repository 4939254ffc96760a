/** Posts of real instrumentation, which a clone does not contain, and what really went over the wire. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import type { Attributes, LogRecord, Span, Value } from "../../src/spans/Span.ts"

const folder = fileURLToPath(new URL("../../../../../shared/otlp/", import.meta.url))

export const areThere = existsSync(folder)

if (!areThere) console.info("Spans: the posts of real instrumentation are not there; what they tell is not compared.")

type Raw = Readonly<Record<string, unknown>>

const raws = (value: unknown, key: string): ReadonlyArray<Raw> =>
  ((value as Raw | undefined)?.[key] as ReadonlyArray<Raw> | undefined) ?? []

const valueOf = (value: Raw | null | undefined): Value => {
  const [kind, content] = Object.entries(value ?? {})[0] ?? []
  if (kind === "arrayValue") return raws(content, "values").map(valueOf)
  if (kind === "kvlistValue") return Object.fromEntries(attributesOf(raws(content, "values")))
  return kind === "intValue" ? Number(content) : ((content as Value | undefined) ?? null)
}

const attributesOf = (pairs: ReadonlyArray<Raw>): Attributes =>
  new Map(pairs.map(({ key, value }) => [key as string, valueOf(value as Raw)]))

const msOf = (nanos: unknown): number => Number(nanos ?? 0) / 1e6

const emitted = (raw: Raw, resource: unknown, scope: unknown) => ({
  traceId: (raw["traceId"] as string | undefined) ?? "",
  spanId: (raw["spanId"] as string | undefined) ?? "",
  attributes: attributesOf(raws(raw, "attributes")),
  droppedAttributes: 0,
  resource: attributesOf(raws(resource, "attributes")),
  scope: { name: String((scope as Raw | undefined)?.["name"] ?? ""), version: "" }
})

const spanOf = (raw: Raw, resource: unknown, scope: unknown): Span => {
  const status = (raw["status"] ?? {}) as { readonly code?: number; readonly message?: string }
  return {
    ...emitted(raw, resource, scope),
    parentSpanId: (raw["parentSpanId"] as string | undefined) ?? "",
    name: String(raw["name"]),
    kind: Number(raw["kind"] ?? 0),
    startMs: msOf(raw["startTimeUnixNano"]),
    endMs: msOf(raw["endTimeUnixNano"]),
    status: { code: status.code ?? 0, message: status.message ?? "" },
    events: raws(raw, "events").map((event) => ({
      name: String(event["name"]),
      timeMs: msOf(event["timeUnixNano"]),
      attributes: attributesOf(raws(event, "attributes"))
    }))
  }
}

const logOf = (raw: Raw, resource: unknown, scope: unknown): LogRecord => {
  const made = emitted(raw, resource, scope)
  return {
    ...made,
    name: String(made.attributes.get("event.name") ?? raw["eventName"] ?? ""),
    timeMs: msOf(raw["timeUnixNano"]),
    body: valueOf(raw["body"] as Raw | undefined)
  }
}

/** A call as it went over the wire. */
export interface WireCall {
  readonly url: string
  readonly status: number
  readonly aborted?: boolean
  readonly request?: unknown
  readonly response: unknown
}

export interface Run {
  readonly emitter: string
  readonly run: string
  readonly spans: ReadonlyArray<Span>
  readonly logs: ReadonlyArray<LogRecord>
  readonly calls: ReadonlyArray<WireCall>
}

const read = (path: string): Raw => JSON.parse(readFileSync(path, "utf8")) as Raw

const runOf = (emitter: string, run: string): Run => {
  const posts = readdirSync(`${folder}${emitter}`)
    .filter((file) => file.startsWith(`${run}-`) && file.endsWith(".json"))
    .map((file) => read(`${folder}${emitter}/${file}`))
  const each = <A>(of: "Spans" | "Logs", items: string, make: (raw: Raw, resource: unknown, scope: unknown) => A) =>
    posts
      .flatMap((post) => raws(post, `resource${of}`))
      .flatMap((outer) =>
        raws(outer, `scope${of}`).flatMap((inner) =>
          raws(inner, items).map((raw) => make(raw, outer["resource"], inner["scope"]))
        )
      )
  const truth = JSON.parse(gunzipSync(readFileSync(`${folder}${emitter}/${run}.truth.json.gz`)).toString()) as Raw
  const calls = truth["calls"] as ReadonlyArray<WireCall> | string | undefined
  return {
    emitter,
    run,
    spans: each("Spans", "spans", spanOf),
    logs: each("Logs", "logRecords", logOf),
    calls: Array.isArray(calls) ? (calls as ReadonlyArray<WireCall>) : []
  }
}

/** In the order of their names. */
export const runs = (): ReadonlyArray<Run> =>
  areThere
    ? readdirSync(folder).flatMap((emitter) =>
        readdirSync(`${folder}${emitter}`)
          .filter((file) => file.endsWith(".truth.json.gz") && !file.includes("proto"))
          .map((file) => runOf(emitter, file.replace(".truth.json.gz", "")))
      )
    : []
