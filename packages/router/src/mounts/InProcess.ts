/** Recording and reading in process, without HTTP: the same requests through the same front, without a key. */
import {
  type AgentVersions,
  type Agents,
  type ErrorDetail,
  Events,
  type Fingerprints,
  type Me,
  type People,
  prefix,
  ValidationFailure
} from "@tachograph/api"
import { defaultProject, type Principal, ProjectId } from "@tachograph/core"
import { Effect } from "effect"
import { BasePath } from "../BasePath.ts"
import * as EventText from "../events/EventText.ts"
import { Front } from "../front/Front.ts"
import type { Answer } from "../response/Answer.ts"
import * as TachographError from "../TachographError.ts"
import * as ValidationDetail from "../validation/ValidationDetail.ts"

export interface InProject {
  /** 1 to 255 characters; `default` by default. */
  readonly project?: string | undefined
}

export interface RecordOptions extends InProject {
  /** 1 to 255 characters. The same body with the same key is recorded once within 7 days. */
  readonly idempotencyKey?: string | undefined
}

export type EventReceipt = typeof Events.EventCreated.Encoded
export type RecordedEvent = typeof Events.EventOnWire.Encoded
export type RecordedEventSummary = typeof Events.EventSummaryOnWire.Encoded
export type RecordedConversation = typeof Events.ConversationOnWire.Encoded
export type RecordedAgent = typeof Agents.AgentOnWire.Encoded
export type RecordedAgentVersion = typeof AgentVersions.AgentVersionOnWire.Encoded
export type RecordedMe = typeof Me.MeOnWire.Encoded
export type RecordedPerson = typeof People.PersonOnWire.Encoded
export type RecordedFingerprint = typeof Fingerprints.FingerprintOnWire.Encoded

export interface PageQuery {
  /** 1 to 1,000; 100 by default. */
  readonly limit?: number | undefined
  /** The `next_cursor` of the previous page, with the same filters and order. */
  readonly cursor?: string | undefined
}

/** A page of rows under this name. */
export type Page<Name extends string, Row> = Readonly<Record<Name, ReadonlyArray<Row>>> & {
  /** Null on the last page. */
  readonly next_cursor: string | null
}

/** The query of List Events. */
export interface EventListQuery extends PageQuery {
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  readonly fingerprint?: string | undefined
  readonly api?: string | undefined
  readonly model?: string | undefined
  readonly stop_reason?: string | undefined
  readonly trace_id?: string | undefined
  /** Received at this time or later: ISO 8601 with a date and a time. */
  readonly after?: string | undefined
  /** Received before this time. */
  readonly before?: string | undefined
  readonly order?: "asc" | "desc" | undefined
}

export type RecordedEvents = Page<"events", RecordedEventSummary>

/** Each rejects with a `TachographError`, such as `agent-not-found` or `validation-error`. */
export interface Reads {
  readonly getEvent: (eventId: string, options?: InProject) => Promise<RecordedEvent>
  /** The call in normal form. */
  readonly getEventMessages: (eventId: string, options?: InProject) => Promise<RecordedConversation>
  /** The JSON text of the event, with `inputs` and `output` byte for byte: parsing it may round numbers. */
  readonly getEventText: (eventId: string, options?: InProject) => Promise<string>
  readonly listEvents: (query?: EventListQuery, options?: InProject) => Promise<RecordedEvents>
  readonly getAgent: (agent: string, options?: InProject) => Promise<RecordedAgent>
  readonly listAgents: (query?: PageQuery, options?: InProject) => Promise<Page<"agents", RecordedAgent>>
  readonly getAgentVersion: (agent: string, version: string, options?: InProject) => Promise<RecordedAgentVersion>
  readonly listAgentVersions: (
    agent: string,
    query?: PageQuery,
    options?: InProject
  ) => Promise<Page<"agent_versions", RecordedAgentVersion>>
  /** The one that does not only read. A second time changes nothing. */
  readonly deprecateAgentVersion: (agent: string, version: string, options?: InProject) => Promise<RecordedAgentVersion>
  readonly getPerson: (personId: string, options?: InProject) => Promise<RecordedPerson>
  readonly listPeople: (query?: PageQuery, options?: InProject) => Promise<Page<"people", RecordedPerson>>
  readonly getFingerprint: (fingerprintId: string, options?: InProject) => Promise<RecordedFingerprint>
  readonly listFingerprints: (
    query?: PageQuery,
    options?: InProject
  ) => Promise<Page<"fingerprints", RecordedFingerprint>>
  /** The project, what a call in process may do there, and what this recorder is. */
  readonly getMe: (options?: InProject) => Promise<RecordedMe>
}

/** The body of a request: a value that is written as JSON, or a JSON text that is taken byte for byte. */
export type Body = object | string

type Result<A> = Effect.Effect<A, TachographError.TachographError, Front>

const decodeProject = ValidationDetail.decodeNamed(ProjectId, "project")

/** What a call in process may do. */
const scopes: Principal["scopes"] = ["record", "read"]

interface Call {
  readonly method: "GET" | "POST" | "PUT"
  /** Below the prefix of the contract. */
  readonly path: string
  readonly options: InProject
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: Uint8Array
}

const noBody = new Uint8Array()

/** Hands a request to the front. Returns the text of its answer, and fails where that is an error. */
const call = Effect.fnUntraced(function* ({ body = noBody, headers = {}, method, options, path }: Call) {
  const front = yield* Front
  const base = yield* BasePath
  const project = yield* Effect.mapError(
    decodeProject(options.project === undefined ? defaultProject : options.project),
    TachographError.fromValidation
  )
  const principal: Principal = { project, scopes }
  const handled = front.handle({ method, url: base + prefix + path, headers, source: {}, body, principal })
  const reply = Effect.isEffect(handled) ? yield* handled : handled
  const error = TachographError.fromAnswer(reply)
  const text = textOf(reply)
  reply.pieces?.close()
  return error === undefined ? text : yield* Effect.fail(error)
})

/** Each part is complete UTF-8. */
const textOf = ({ body }: Answer): string =>
  typeof body === "string" ? body : body.map((part) => Buffer.from(part.buffer, part.byteOffset, part.length)).join("")

/** JSON can hold a lone surrogate only as an escape; a text that was cut inside a character may contain one. */
const escapeLoneSurrogates = (text: string): string =>
  text.isWellFormed() ? text : text.replaceAll(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`)

const unwritable = (error: unknown): ErrorDetail => ({
  type: "json_invalid",
  loc: ["body"],
  msg: "The body cannot be written as JSON",
  input: {},
  ctx: { error: error instanceof Error ? String(error) : "The thrown value is not an Error" }
})

/** The bytes of a body. `undefined`, like `null`, is refused as a missing body. */
const bytesOf = (body: Body, write: (body: object) => string | undefined) =>
  Effect.try({
    try: () => Buffer.from(escapeLoneSurrogates(typeof body === "string" ? body : (write(body) ?? "null"))),
    catch: (error) => TachographError.fromValidation(new ValidationFailure({ detail: [unwritable(error)] }))
  })

/** Takes the body of Create Fingerprint, and answers the fingerprint's id. */
export const fingerprint = Effect.fnUntraced(function* (body: Body, options: InProject = {}) {
  const bytes = yield* bytesOf(body, JSON.stringify)
  const text = yield* call({ method: "PUT", path: "/fingerprints", options, body: bytes })
  return (JSON.parse(text) as typeof Fingerprints.FingerprintCreated.Encoded).fingerprint_id
}) satisfies (body: Body, options?: InProject) => Result<string>

/**
 * Takes the body of Create Event. `inputs` and `output` may be JSON texts, which are kept byte for byte. Succeeds when the
 * event is committed and readable, and not before.
 */
export const record = Effect.fnUntraced(function* (body: Body, { idempotencyKey, ...options }: RecordOptions = {}) {
  const bytes = yield* bytesOf(body, EventText.of)
  return yield* recordBytes(bytes, { idempotencyKey, ...options })
}) satisfies (body: Body, options?: RecordOptions) => Result<EventReceipt>

/** The same for a JSON text in UTF-8. */
export const recordBytes = Effect.fnUntraced(function* (
  body: Uint8Array,
  { idempotencyKey, ...options }: RecordOptions = {}
) {
  const headers = { [Events.idempotencyKeyHeader]: idempotencyKey }
  const text = yield* call({ method: "POST", path: "/events", options, headers, body })
  return JSON.parse(text) as EventReceipt
}) satisfies (body: Uint8Array, options?: RecordOptions) => Result<EventReceipt>

/** Replaces a name that UTF-8 cannot encode with U+0000, which validation refuses. */
const segment = (name: string) => encodeURIComponent(String(name).isWellFormed() ? name : "\0")

const queryOf = (query: object = {}): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.toString()
}

/** `run` runs the effects of a `Tachograph`. */
export const reads = (run: <A>(effect: Result<A>) => Promise<A>): Reads => {
  const text = (path: string, options: InProject = {}, method: "GET" | "POST" = "GET") =>
    run(call({ method, path, options }))
  const read = async <A>(path: string, options?: InProject) => JSON.parse(await text(path, options)) as A
  const version = (agent: string, name: string) => `/agents/${segment(agent)}/agent-versions/${segment(name)}`
  return {
    getEvent: (eventId, options) => read(`/events/${segment(eventId)}`, options),
    getEventMessages: (eventId, options) => read(`/events/${segment(eventId)}/messages`, options),
    getEventText: (eventId, options) => text(`/events/${segment(eventId)}`, options),
    listEvents: (query, options) => read(`/events?${queryOf(query)}`, options),
    getAgent: (agent, options) => read(`/agents/${segment(agent)}`, options),
    listAgents: (query, options) => read(`/agents?${queryOf(query)}`, options),
    getAgentVersion: (agent, name, options) => read(version(agent, name), options),
    listAgentVersions: (agent, query, options) =>
      read(`/agents/${segment(agent)}/agent-versions?${queryOf(query)}`, options),
    deprecateAgentVersion: async (agent, name, options) =>
      JSON.parse(await text(`${version(agent, name)}/deprecate`, options, "POST")) as RecordedAgentVersion,
    getPerson: (personId, options) => read(`/people/${segment(personId)}`, options),
    listPeople: (query, options) => read(`/people?${queryOf(query)}`, options),
    getFingerprint: (fingerprintId, options) => read(`/fingerprints/${segment(fingerprintId)}`, options),
    listFingerprints: (query, options) => read(`/fingerprints?${queryOf(query)}`, options),
    getMe: (options) => read("/me", options)
  }
}
