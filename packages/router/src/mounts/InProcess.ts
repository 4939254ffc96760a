/** Recording and reading in process, without HTTP: what the interface takes and answers. */
import {
  type AgentVersions,
  type Agents,
  type Events,
  Fingerprints,
  type People,
  prefix,
  ValidationFailure
} from "@tachograph/api"
import { CurrentProject, ProjectId, Recorder } from "@tachograph/core"
import { DateTime, Effect, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { KnownPrincipal } from "../front/Authorizer.ts"
import * as EventDecoder from "../events/EventDecoder.ts"
import * as EventText from "../events/EventText.ts"
import { toFingerprint } from "../handlers/Fingerprints.ts"
import * as RequestBody from "../front/RequestBody.ts"
import * as TachographError from "../TachographError.ts"
import * as ValidationDetail from "../validation/ValidationDetail.ts"

export interface InProject {
  /** 1 to 255 characters; `default` unless given. */
  readonly project?: string | undefined
}

export interface RecordOptions extends InProject {
  /** 1 to 255 characters. The same body under the same key is recorded once, for 7 days. */
  readonly idempotencyKey?: string | undefined
}

export type EventReceipt = typeof Events.EventCreated.Encoded
export type RecordedEvent = typeof Events.EventOnWire.Encoded
export type RecordedEventSummary = typeof Events.EventSummaryOnWire.Encoded
export type RecordedAgent = typeof Agents.AgentOnWire.Encoded
export type RecordedAgentVersion = typeof AgentVersions.AgentVersionOnWire.Encoded
export type RecordedPerson = typeof People.PersonOnWire.Encoded

/** As in the query of List Events. */
export interface EventListQuery {
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  /** 1 to 1,000; 100 unless given. */
  readonly limit?: number | undefined
  /** The `next_cursor` of the page before, with the same filters and order. */
  readonly cursor?: string | undefined
  readonly order?: "asc" | "desc" | undefined
}

export interface RecordedEvents {
  readonly events: ReadonlyArray<RecordedEventSummary>
  /** Null where this was the last page. */
  readonly next_cursor: string | null
}

/** Each rejects with a `TachographError`, as `agent-not-found` or `validation-error`. */
export interface Reads {
  readonly getEvent: (eventId: string, options?: InProject) => Promise<RecordedEvent>
  /** The JSON text of the event, `inputs` and `output` byte for byte as they were sent: parsing may round numbers. */
  readonly getEventText: (eventId: string, options?: InProject) => Promise<string>
  readonly listEvents: (query?: EventListQuery, options?: InProject) => Promise<RecordedEvents>
  readonly getAgent: (agent: string, options?: InProject) => Promise<RecordedAgent>
  readonly getAgentVersion: (agent: string, version: string, options?: InProject) => Promise<RecordedAgentVersion>
  readonly getPerson: (personId: string, options?: InProject) => Promise<RecordedPerson>
}

const projectDecoder = ValidationDetail.decodeOption(ProjectId, "project")

const inProject = Effect.fnUntraced(function* <A, E, R>(
  { project = "default" }: InProject,
  use: (project: ProjectId) => Effect.Effect<A, E, R>
) {
  const id = yield* projectDecoder(project)
  return yield* Effect.provideService(use(id), CurrentProject, id)
})

const fingerprintBody = RequestBody.decodeText(Fingerprints.CreateFingerprint)

/** The body of a request: a value that is written as JSON, or a JSON text that is taken as it is, byte for byte. */
export type Body = object | string

/** Takes the body of Create Fingerprint, and answers the fingerprint's id. */
export const fingerprint = (body: Body, options: InProject = {}) =>
  inProject(options, () =>
    Effect.gen(function* () {
      const recorder = yield* Recorder
      const { value } = yield* fingerprintBody(yield* textOf(body, JSON.stringify))
      return yield* recorder.createFingerprint(toFingerprint(value))
    })
  )

/**
 * Takes the body of Create Event. `inputs` and `output` may be JSON texts themselves, which are kept byte for byte. Succeeds
 * when the event is committed and readable, and not before.
 */
export const record = (body: Body, { idempotencyKey, ...options }: RecordOptions = {}) =>
  inProject(options, (project) =>
    Effect.gen(function* () {
      const recorder = yield* Recorder
      const bytes = Buffer.from(yield* textOf(body, EventText.of))
      const key = idempotencyKey === undefined ? undefined : yield* EventDecoder.decodeKey(idempotencyKey)
      const event = yield* EventDecoder.decode({ bytes, json: true }, project, recorder.knownPrefixesOf)
      const { id, receivedAt } = yield* recorder.createEvent(EventDecoder.withKey(event, key, bytes))
      return { event_id: id, received_at: DateTime.formatIso(receivedAt) } satisfies EventReceipt
    })
  )

/** Of texts that were cut in the middle of a character, what UTF-8 cannot hold: JSON has it in strings only, and escaped. */
const escaped = (text: string) =>
  text.isWellFormed() ? text : text.replaceAll(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`)

/** What is nothing is refused as a body that is missing. */
const textOf = (body: Body, write: (body: object) => string | undefined) =>
  Effect.try({
    try: () => escaped(typeof body === "string" ? body : (write(body) ?? "null")),
    catch: (error) =>
      new ValidationFailure({
        detail: [
          {
            type: "json_invalid",
            loc: ["body"],
            msg: "The body cannot be written as JSON",
            input: {},
            ctx: { error: String(error) }
          }
        ]
      })
  })

type Handler = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Asked of the routes themselves, so that there is one way to read. */
const ask = (handler: Handler, base: string, path: string, options: InProject | undefined) =>
  inProject(options ?? {}, (project) => {
    // A `Request` would take the name `..` for a way up.
    const request = HttpServerRequest.fromWeb(new Request("http://localhost/")).modify({ url: base + prefix + path })
    return handler.pipe(
      Effect.orDie,
      Effect.map(HttpServerResponse.toWeb),
      Effect.flatMap((response) => Effect.promise(async () => ({ ok: response.ok, text: await response.text() }))),
      Effect.provideService(HttpServerRequest.HttpServerRequest, request),
      Effect.provideService(KnownPrincipal, { project, scopes: ["read"] }),
      Effect.scoped
    )
  })

/** What cannot be written in UTF-8 is no name, as the zero is none. */
const segment = (name: string) => encodeURIComponent(String(name).isWellFormed() ? name : "\0")

const queryOf = (query: EventListQuery): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.toString()
}

/** `run` is how the effects of a `Tachograph` are run. */
export const reads = (
  handler: Handler,
  base: string,
  run: <A>(effect: Effect.Effect<A, TachographError.Failure>) => Promise<A>
): Reads => {
  const text = async (path: string, options: InProject | undefined) => {
    const answer = await run(ask(handler, base, path, options))
    if (!answer.ok) throw TachographError.fromBody(JSON.parse(answer.text))
    return answer.text
  }
  const read = async <A>(path: string, options: InProject | undefined) => JSON.parse(await text(path, options)) as A
  return {
    getEvent: (eventId, options) => read(`/events/${segment(eventId)}`, options),
    getEventText: (eventId, options) => text(`/events/${segment(eventId)}`, options),
    listEvents: (query, options) => read(`/events?${queryOf(query ?? {})}`, options),
    getAgent: (agent, options) => read(`/agents/${segment(agent)}`, options),
    getAgentVersion: (agent, version, options) =>
      read(`/agents/${segment(agent)}/agent-versions/${segment(version)}`, options),
    getPerson: (personId, options) => read(`/people/${segment(personId)}`, options)
  }
}
