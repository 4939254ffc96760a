/** Recording and reading in process, without HTTP: the same requests through the same front, without a key. `Reads.ts` has their shapes. */
import { type ErrorDetail, Events, type Fingerprints, prefix, ValidationFailure } from "@tachograph/api"
import { defaultProject, type Principal, ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { BasePath } from "../BasePath.ts"
import * as EventText from "../events/EventText.ts"
import { Front } from "../front/Front.ts"
import type { TimedStream } from "../front/TimedStream.ts"
import type { Answer } from "../response/Answer.ts"
import * as TachographError from "../TachographError.ts"
import * as ValidationDetail from "../validation/ValidationDetail.ts"
import type {
  Erased,
  FollowQuery,
  FollowedEvent,
  ImportAnswer,
  InProject,
  Reads,
  RecordedAgentVersion,
  RecordedPerson
} from "./Reads.ts"

export type * from "./Bodies.ts"
export type * from "./Reads.ts"

export interface RecordOptions extends InProject {
  /** 1 to 255 characters. The same body with the same key is recorded once within 7 days. */
  readonly idempotencyKey?: string | undefined
}

export type EventReceipt = typeof Events.EventCreated.Encoded

/** The body of a request: a value that is written as JSON, or a JSON text that is taken byte for byte. */
export type Body = object | string

type Result<A> = Effect.Effect<A, TachographError.TachographError, Front>

const decodeProject = ValidationDetail.decodeNamed(ProjectId, "project")

/** What a call in process may do by default. */
const ownScopes: Principal["scopes"] = ["record", "read"]

interface Call {
  readonly method: "DELETE" | "GET" | "POST" | "PUT"
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
  const principal: Principal = { project, scopes, id: "in process" }
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
  const write = async (path: string, body: object, options: InProject = {}) => {
    const written = Effect.flatMap(bytesOf(body, JSON.stringify), (bytes) =>
      call({ method: "PUT", path, options, body: bytes })
    )
    return JSON.parse(await run(written)) as RecordedPerson
  }
  const erase = async (path: string, options: InProject = {}) =>
    JSON.parse(await run(call({ method: "DELETE", path, scopes: ["admin"], options }))) as Erased
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
    getSharedText: (sha256, options) => text(`/shared/${segment(sha256)}`, options),
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
    createPerson: (person, options) => write("/people", person, options),
    updatePerson: (personId, properties, options) => write(`/people/${segment(personId)}`, { properties }, options),
    eraseSession: (session, options) => erase(`/sessions/${segment(session)}`, options),
    erasePerson: (personId, options) => erase(`/people/${segment(personId)}`, options),
    getPerson: (personId, options) => read(`/people/${segment(personId)}`, options),
    listPeople: (query, options) => read(`/people?${queryOf(query)}`, options),
    getFingerprint: (fingerprintId, options) => read(`/fingerprints/${segment(fingerprintId)}`, options),
    listFingerprints: (query, options) => read(`/fingerprints?${queryOf(query)}`, options),
    getMe: (options) => read("/me", options)
  }
}
