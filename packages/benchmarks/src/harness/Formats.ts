/** How servers take calls: as events of Tachograph, one or many in a request, or the same in the format of another recorder. */
import { randomBytes } from "node:crypto"

export interface Format {
  readonly path: string
  readonly contentType: string
  /** Calls in each request. */
  readonly calls: number
  /** Bodies of requests, from those of Create Event. */
  readonly requestsOf: (events: ReadonlyArray<Buffer>) => ReadonlyArray<Buffer>
}

export type Name = "event" | "lines" | "aigne" | "aigneArray" | "genkit"

/** Calls in each request that takes many. */
const many = 20

const json = "application/json"

interface Event {
  readonly session: string
  readonly agent?: string
  readonly person?: string
  readonly properties: { readonly inputs: { readonly model?: string }; readonly output: object }
}

/** What the formats of others have in common: ids, and times, which an event does not have. */
const spanOf = (body: Buffer) => {
  const { properties, session, ...rest } = JSON.parse(body.toString()) as Event
  const { inputs, output, ...facts } = properties
  const endTime = Date.now()
  return {
    ids: { trace: randomBytes(16).toString("hex"), span: randomBytes(8).toString("hex") },
    times: { startTime: endTime - 1_000, endTime },
    name: inputs.model ?? "model",
    metadata: { ...rest, ...facts },
    inputs,
    output,
    session
  }
}

/** As `@aigne/observability-api` exports a span: input and output are members of its attributes. */
const aigneSpanOf = (body: Buffer): object => {
  const { ids, inputs, metadata, name, output, session, times } = spanOf(body)
  const attributes = { input: inputs, output, metadata }
  const { person } = metadata
  return {
    id: ids.span,
    rootId: ids.trace,
    name,
    ...times,
    status: { code: 1 },
    attributes,
    sessionId: session,
    userId: person
  }
}

/** As Genkit exports a trace: input and output are texts in the attributes of a span. */
const genkitTraceOf = (body: Buffer): object => {
  const { ids, inputs, metadata, name, output, session, times } = spanOf(body)
  const span = {
    spanId: ids.span,
    traceId: ids.trace,
    ...times,
    attributes: {
      "genkit:type": "action",
      "genkit:metadata:subtype": "model",
      "genkit:name": name,
      "genkit:isRoot": true,
      "genkit:state": "success",
      "genkit:sessionId": session,
      "genkit:input": JSON.stringify(inputs),
      "genkit:output": JSON.stringify(output),
      ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`genkit:metadata:${key}`, value]))
    },
    displayName: name,
    links: [],
    instrumentationLibrary: { name: "genkit-tracer", version: "v1" },
    spanKind: "INTERNAL",
    status: { code: 0 },
    timeEvents: { timeEvent: [] }
  }
  return { traceId: ids.trace, displayName: name, ...times, spans: { [ids.span]: span } }
}

const encode = (value: object): Buffer => Buffer.from(JSON.stringify(value))

const inChunks = (events: ReadonlyArray<Buffer>, join: (chunk: ReadonlyArray<Buffer>) => Buffer) =>
  Array.from({ length: Math.ceil(events.length / many) }, (_, n) => join(events.slice(n * many, (n + 1) * many)))

export const formats: Readonly<Record<Name, Format>> = {
  event: { path: "/api/v1/events", contentType: json, calls: 1, requestsOf: (events) => events },
  lines: {
    path: "/api/v1/events/batch",
    contentType: "application/x-ndjson",
    calls: many,
    requestsOf: (events) =>
      inChunks(events, (chunk) => Buffer.from(chunk.map((body) => `${body.toString()}\n`).join("")))
  },
  aigne: {
    path: "/api/trace/tree",
    contentType: json,
    calls: 1,
    requestsOf: (events) => events.map((body) => encode([aigneSpanOf(body)]))
  },
  aigneArray: {
    path: "/api/trace/tree",
    contentType: json,
    calls: many,
    requestsOf: (events) => inChunks(events, (chunk) => encode(chunk.map(aigneSpanOf)))
  },
  genkit: {
    path: "/api/traces",
    contentType: json,
    calls: 1,
    requestsOf: (events) => events.map((body) => encode(genkitTraceOf(body)))
  }
}
