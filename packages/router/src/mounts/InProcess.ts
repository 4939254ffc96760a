/** Recording and reading in process, without HTTP: the same requests through the same front, without a key. */
import {
  type AgentVersions,
  type Agents,
  type ErrorDetail,
  Events,
  type Fingerprints,
  type Me,
  type People,
  type Usage,
  prefix,
  type Sessions,
  type Search,
  ValidationFailure
} from "@tachograph/api"
import { defaultProject, type Principal, ProjectId } from "@tachograph/core"
import { Effect } from "effect"
import { BasePath } from "../BasePath.ts"
import * as EventText from "../events/EventText.ts"
import { Front } from "../front/Front.ts"
import type { TimedStream } from "../front/TimedStream.ts"
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
export type RecordedConfiguration = typeof AgentVersions.ConfigurationOnWire.Encoded
export type RecordedSessionCall = typeof Sessions.SessionCallOnWire.Encoded
export type RecordedAgent = typeof Agents.AgentOnWire.Encoded
export type RecordedAgentVersion = typeof AgentVersions.AgentVersionOnWire.Encoded
export type RecordedMe = typeof Me.MeOnWire.Encoded
export type RecordedPerson = typeof People.PersonOnWire.Encoded
export type RecordedSession = typeof Sessions.SessionOnWire.Encoded
export type RecordedUsage = typeof Usage.UsageGroupOnWire.Encoded
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

/** The filters of events. */
export interface EventFilters {
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  readonly fingerprint?: string | undefined
  readonly api?: string | undefined
  readonly model?: string | undefined
  readonly stop_reason?: string | undefined
  readonly error?: boolean | undefined
  readonly trace_id?: string | undefined
  /** Received at this time or later: ISO 8601 with a date and a time. */
  readonly after?: string | undefined
  /** Received before this time. */
  readonly before?: string | undefined
}

/** The query of List Events. */
export interface EventListQuery extends EventFilters, PageQuery {
  readonly order?: "asc" | "desc" | undefined
}

interface SessionPageQuery extends PageQuery {
  readonly order?: "asc" | "desc" | undefined
}

/** The query of List Session Messages. */
export interface SessionMessageQuery extends SessionPageQuery {
  /** With the JSON texts of the messages, as they were sent. */
  readonly verbatim?: boolean | undefined
  /** Only messages with a higher number. */
  readonly after_number?: number | undefined
}

/** The query of List Session Calls. */
export interface SessionCallQuery extends SessionPageQuery {
  /** Only calls that were recorded after this event of the session. */
  readonly after_event?: string | undefined
}

/** A message of a session. Numbers that JavaScript cannot hold are rounded. */
export interface RecordedSessionMessage {
  readonly number: number
  /** The call that carried it first, and when that was. */
  readonly event_id: string
  readonly at: string
  readonly from: "input" | "output"
  readonly role: string
  readonly parts: ReadonlyArray<{ readonly type: string; readonly [key: string]: unknown }>
  /** With `verbatim`: null where no value of the call is the message alone. */
  readonly verbatim?: string | null
  /** True if it cannot be read. It has no parts then. */
  readonly is_damaged?: true
  /** What else the provider's message holds. */
  readonly [key: string]: unknown
}

/** The query of Export. */
export interface ExportQuery extends EventFilters {
  /** Only events after the one with this id. */
  readonly after_event?: string | undefined
  /** How many events at most. */
  readonly limit?: number | undefined
}

/** The query of List Sessions. The times are those of a session's last event. */
export interface SessionListQuery extends PageQuery {
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  readonly model?: string | undefined
  /** Whether a call of the session is an error. */
  readonly error?: boolean | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly order?: "asc" | "desc" | undefined
}

export interface UsageQuery extends PageQuery {
  /** `day`, `hour`, `agent`, `agent_version`, `model`, `person`, `session`, `api`, or two of them: `day,model`. */
  readonly group_by?: string | undefined
  /** Of days and hours: an IANA name. UTC by default. */
  readonly time_zone?: string | undefined
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  readonly model?: string | undefined
  readonly api?: string | undefined
  /** Received at this time or later: ISO 8601 with a date and a time. */
  readonly after?: string | undefined
  /** Received before this time. */
  readonly before?: string | undefined
}

/** What has become of a line of an import; the last one counts the lines. */
export type ImportAnswer =
  | {
      /** From 1. */
      readonly line: number
      readonly type: string | null
      readonly event_id?: string
      /** `kept`: something else of this name exists, which was not changed. `ignored`: the line holds nothing to import. */
      readonly result: "imported" | "exists" | "kept" | "ignored" | "failed"
      /** As HTTP answers it, where the line was refused. */
      readonly error?: { readonly type: string } | { readonly detail: ReadonlyArray<ErrorDetail> }
    }
  | {
      /** `cut`: the lines could not be read to their end. */
      readonly type: "end" | "cut"
      /** Only of `cut`: nothing after this line was imported. */
      readonly after_line?: number
      readonly lines: number
      readonly imported: number
      readonly exists: number
      readonly kept: number
      readonly ignored: number
      readonly failed: number
    }

export type RecordedEvents = Page<"events", RecordedEventSummary>

/** Which events are followed, from where on: from now on without a cursor. */
export interface FollowQuery extends EventFilters {
  readonly cursor?: string | undefined
}

export interface AwaitQuery extends FollowQuery {
  /** Seconds to wait for events, 0 to 30. 30 by default. */
  readonly wait?: number | undefined
}

export interface NewEvents {
  /** None if none came in time. */
  readonly events: ReadonlyArray<RecordedEventSummary>
  readonly next_cursor: string
}

export interface FollowedEvent extends RecordedEventSummary {
  /** Where to go on after it. */
  readonly cursor: string
}

/** The query of Search. */
export interface SearchQuery extends EventFilters, PageQuery {
  /** Upper and lower case are alike. */
  readonly q: string
  /** Unless this is given. */
  readonly case?: "sensitive" | undefined
}

/** The texts that were found, the newest first. A page may have few or none although there are more. */
export type FoundTexts = Page<"results", typeof Search.SearchResultOnWire.Encoded> & {
  /** How many events could not be searched, because what is stored of them is damaged. */
  readonly damaged_events: number
}

/** Each rejects with a `TachographError`, such as `agent-not-found` or `validation-error`. */
export interface Reads {
  readonly getEvent: (eventId: string, options?: InProject) => Promise<RecordedEvent>
  /** The call in normal form. */
  readonly getEventMessages: (eventId: string, options?: InProject) => Promise<RecordedConversation>
  /** The JSON text of the event, with `inputs` and `output` byte for byte: parsing it may round numbers. */
  readonly getEventText: (eventId: string, options?: InProject) => Promise<string>
  /** One of the two texts alone, as it was sent. */
  readonly getEventInputs: (eventId: string, options?: InProject) => Promise<string>
  readonly getEventOutput: (eventId: string, options?: InProject) => Promise<string>
  readonly listEvents: (query?: EventListQuery, options?: InProject) => Promise<RecordedEvents>
  /** Sessions, the latest activity first unless asked otherwise, with what their calls add up to. */
  readonly listSessions: (query?: SessionListQuery, options?: InProject) => Promise<Page<"sessions", RecordedSession>>
  readonly getSession: (session: string, options?: InProject) => Promise<RecordedSession>
  /** What calls add up to, in groups. */
  readonly readUsage: (query?: UsageQuery, options?: InProject) => Promise<Page<"usage", RecordedUsage>>
  /** The events after a cursor, when there are some. */
  readonly awaitEvents: (query?: AwaitQuery, options?: InProject) => Promise<NewEvents>
  /**
   * Events as they are recorded, by any process over the same database, without end. Iterating fails if the server ends; go on
   * with the cursor of the last event.
   */
  readonly followEvents: (query?: FollowQuery, options?: InProject) => AsyncIterable<FollowedEvent>
  /** The messages of a session, each once. */
  readonly listSessionMessages: (
    session: string,
    query?: SessionMessageQuery,
    options?: InProject
  ) => Promise<Page<"messages", RecordedSessionMessage>>
  /** The calls of a session, and what each carried of its messages. */
  readonly listSessionCalls: (
    session: string,
    query?: SessionCallQuery,
    options?: InProject
  ) => Promise<Page<"calls", RecordedSessionCall>>
  readonly search: (query: SearchQuery, options?: InProject) => Promise<FoundTexts>
  /**
   * The lines of an export, in pieces of UTF-8 that may end anywhere. Iterating fails if it cannot be completed: then its last line is
   * missing.
   */
  readonly export: (query?: ExportQuery, options?: InProject) => AsyncIterable<Uint8Array>
  /**
   * Takes the lines of an export, in pieces that may end anywhere. Ids and times are kept, and nothing that exists is changed. Each
   * line is answered; nothing is imported further than the answers are iterated.
   */
  readonly import: (
    lines: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
    options?: InProject
  ) => AsyncIterable<ImportAnswer>
  readonly getAgent: (agent: string, options?: InProject) => Promise<RecordedAgent>
  readonly listAgents: (query?: PageQuery, options?: InProject) => Promise<Page<"agents", RecordedAgent>>
  readonly getAgentVersion: (agent: string, version: string, options?: InProject) => Promise<RecordedAgentVersion>
  readonly listAgentVersions: (
    agent: string,
    query?: PageQuery,
    options?: InProject
  ) => Promise<Page<"agent_versions", RecordedAgentVersion>>
  /** What a version ran with. Pages may have the same configuration, whose sums add up. */
  readonly listConfigurations: (
    agent: string,
    version: string,
    query?: PageQuery & { readonly after?: string | undefined; readonly before?: string | undefined },
    options?: InProject
  ) => Promise<Page<"configurations", RecordedConfiguration>>
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

/** What a call in process may do by default. */
const ownScopes: Principal["scopes"] = ["record", "read"]

interface Call {
  readonly method: "GET" | "POST" | "PUT"
  /** What a call in process may do by default. */
  readonly scopes?: Principal["scopes"]
  /** Below the prefix of the contract. */
  readonly path: string
  readonly options: InProject
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
}

const noBody = new Uint8Array()

/** Hands a request to the front. Fails where its answer is an error. */
const replyTo = Effect.fnUntraced(function* ({
  body = noBody,
  headers = {},
  method,
  options,
  path,
  scopes = ownScopes
}: Call) {
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
  if (error === undefined) return reply
  reply.pieces?.close()
  return yield* Effect.fail(error)
})

/** The text of the answer to a request. */
const call = Effect.fnUntraced(function* (request: Call) {
  const reply = yield* replyTo(request)
  const text = textOf(reply)
  reply.pieces?.close()
  return text
})

/** The body of an answer that is made while it is taken. Iterating it fails if the body is cut; ending early gives it up. */
const callLive = Effect.fnUntraced(function* (request: Call) {
  const { headers, live } = yield* replyTo(request)
  if (live === undefined)
    return yield* Effect.die(new Error(`The answer to ${request.path} is not made while it is taken`))
  return { headers, pieces: piecesOf(live) }
})

const piecesOf = async function* (live: TimedStream): AsyncGenerator<Uint8Array, void> {
  try {
    for (let piece = await live.next(); piece !== undefined; piece = await live.next()) yield piece
  } finally {
    live.cancel()
  }
}

const bytesOfAll = async function* (pieces: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>) {
  for await (const piece of pieces) yield typeof piece === "string" ? Buffer.from(piece) : piece
}

/** Without the ends of the lines. */
const linesOf = async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n")
    rest = lines.pop()!
    yield* lines
  }
}

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
  const live = async function* (request: Call) {
    yield* (await run(callLive(request))).pieces
  }
  const follow = async function* ({ cursor, ...query }: FollowQuery, options: InProject) {
    let next = cursor
    for (;;) {
      const path = `/events/stream?${queryOf({ ...query, cursor: next })}`
      const { headers, pieces } = await run(callLive({ method: "GET", path, options }))
      next ??= headers[Events.cursorHeader]
      for await (const line of linesOf(pieces)) {
        // An empty one only shows that there is nothing new.
        if (line === "") continue
        const event = JSON.parse(line) as FollowedEvent
        next = event.cursor
        yield event
      }
    }
  }
  const version = (agent: string, name: string) => `/agents/${segment(agent)}/agent-versions/${segment(name)}`
  return {
    getEvent: (eventId, options) => read(`/events/${segment(eventId)}`, options),
    getEventMessages: (eventId, options) => read(`/events/${segment(eventId)}/messages`, options),
    getEventText: (eventId, options) => text(`/events/${segment(eventId)}`, options),
    export: (query, options) => live({ method: "GET", path: `/export?${queryOf(query)}`, options: options ?? {} }),
    getEventInputs: (eventId, options) => text(`/events/${segment(eventId)}/inputs`, options),
    getEventOutput: (eventId, options) => text(`/events/${segment(eventId)}/output`, options),
    import: async function* (lines, options = {}) {
      const body = bytesOfAll(lines)
      const { pieces } = await run(callLive({ method: "POST", path: "/import", scopes: ["admin"], options, body }))
      for await (const line of linesOf(pieces)) yield JSON.parse(line) as ImportAnswer
    },
    listEvents: (query, options) => read(`/events?${queryOf(query)}`, options),
    listSessions: (query, options) => read(`/sessions?${queryOf(query)}`, options),
    getSession: (session, options) => read(`/sessions/${segment(session)}`, options),
    readUsage: (query, options) => read(`/usage?${queryOf(query)}`, options),
    awaitEvents: ({ wait = Events.maxWait, ...query } = {}, options) =>
      read(`/events/stream?${queryOf({ ...query, wait })}`, options),
    followEvents: (query = {}, options = {}) => follow(query, options),
    listSessionMessages: (session, query, options) =>
      read(`/sessions/${segment(session)}/messages?${queryOf(query)}`, options),
    listSessionCalls: (session, query, options) =>
      read(`/sessions/${segment(session)}/calls?${queryOf(query)}`, options),
    search: (query, options) => read(`/search?${queryOf(query)}`, options),
    getAgent: (agent, options) => read(`/agents/${segment(agent)}`, options),
    listAgents: (query, options) => read(`/agents?${queryOf(query)}`, options),
    getAgentVersion: (agent, name, options) => read(version(agent, name), options),
    listAgentVersions: (agent, query, options) =>
      read(`/agents/${segment(agent)}/agent-versions?${queryOf(query)}`, options),
    listConfigurations: (agent, name, query, options) =>
      read(`${version(agent, name)}/configurations?${queryOf(query)}`, options),
    deprecateAgentVersion: async (agent, name, options) =>
      JSON.parse(await text(`${version(agent, name)}/deprecate`, options, "POST")) as RecordedAgentVersion,
    getPerson: (personId, options) => read(`/people/${segment(personId)}`, options),
    listPeople: (query, options) => read(`/people?${queryOf(query)}`, options),
    getFingerprint: (fingerprintId, options) => read(`/fingerprints/${segment(fingerprintId)}`, options),
    listFingerprints: (query, options) => read(`/fingerprints?${queryOf(query)}`, options),
    getMe: (options) => read("/me", options)
  }
}
