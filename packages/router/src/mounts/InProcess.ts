/** Recording in process, and the whole interface, without HTTP: the same requests through the same front, without a key. */
import { type ErrorDetail, Events, type Fingerprints, prefix, ValidationFailure } from "@tachograph/api"
import {
  type Answered,
  type Api as ApiWith,
  apiOver,
  type CallOptions,
  type EventReceipt,
  type Sent
} from "@tachograph/client/api"
import { CurrentActor, defaultProject, type Principal, ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { BasePath } from "../BasePath.ts"
import * as EventText from "../events/EventText.ts"
import { Front } from "../front/Front.ts"
import type { Incoming } from "../front/Incoming.ts"
import type { Reply } from "../front/Reply.ts"
import type { Body } from "../response/Answer.ts"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"
import * as TachographError from "../TachographError.ts"
import * as ValidationDetail from "../validation/ValidationDetail.ts"
import * as Web from "./Web.ts"

export type * from "@tachograph/client/api"
export type * from "./Bodies.ts"

export interface InProject {
  /** 1 to 255 characters; `default` by default. */
  readonly project?: string | undefined
}

export interface RecordOptions extends InProject {
  /** 1 to 255 characters. The same body with the same key is recorded once within 7 days. */
  readonly idempotencyKey?: string | undefined
}

/** The body of a request: a value that is written as JSON, or a JSON text that is taken byte for byte. */
export type Written = object | string

type Result<A> = Effect.Effect<A, TachographError.TachographError, Front>

const decodeName = ValidationDetail.decodeNamed(ProjectId, "project")

const decodeProject = (name: string | undefined) =>
  name === undefined ? Effect.succeed(defaultProject) : decodeName(name)

/** A request to the front, without the base path. */
type Request = Pick<Incoming, "method" | "url" | "headers" | "body">

/** Hands a request to the front. Answers errors as HTTP does. */
const replyTo = Effect.fnUntraced(function* (request: Request, project: string | undefined) {
  const front = yield* Front
  const base = yield* BasePath
  const decoded = yield* Effect.result(decodeProject(project))
  if (decoded._tag === "Failure") return ErrorAnswer.of(decoded.failure)! as Reply
  const principal: Principal = { project: decoded.success, scopes: ["admin"], id: yield* CurrentActor }
  const handled = front.handle({ ...request, url: base + request.url, source: {}, principal })
  return Effect.isEffect(handled) ? yield* handled : handled
})

/** The text of the answer to a request. Fails where that is an error. */
const call = Effect.fnUntraced(function* (request: Request, { project }: InProject) {
  const reply = yield* replyTo(request, project)
  const error = TachographError.fromAnswer(reply)
  const text = takeText(reply)
  return error === undefined ? text : yield* Effect.fail(error)
})

/** Each part is complete UTF-8. */
const textOf = (body: Body): string =>
  typeof body === "string" ? body : body.map((part) => Buffer.from(part.buffer, part.byteOffset, part.length)).join("")

const takeText = ({ body, pieces }: Reply): string => {
  const text = textOf(body)
  pieces?.close()
  return text
}

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
const bytesOf = (body: Written, write: (body: object) => string | undefined) =>
  Effect.try({
    try: () => Buffer.from(escapeLoneSurrogates(typeof body === "string" ? body : (write(body) ?? "null"))),
    catch: (error) => TachographError.fromValidation(new ValidationFailure({ detail: [unwritable(error)] }))
  })

/** Takes the body of Create Fingerprint, and answers the fingerprint's id. */
export const fingerprint = Effect.fnUntraced(function* (body: Written, options: InProject = {}) {
  const bytes = yield* bytesOf(body, JSON.stringify)
  const text = yield* call({ method: "PUT", url: `${prefix}/fingerprints`, headers: {}, body: bytes }, options)
  return (JSON.parse(text) as typeof Fingerprints.FingerprintCreated.Encoded).fingerprint_id
}) satisfies (body: Written, options?: InProject) => Result<string>

/**
 * Takes the body of Create Event. `inputs` and `output` may be JSON texts, which are kept byte for byte. Succeeds when the
 * event is committed and readable, and not before.
 */
export const record = Effect.fnUntraced(function* (body: Written, { idempotencyKey, ...options }: RecordOptions = {}) {
  const bytes = yield* bytesOf(body, EventText.of)
  return yield* recordBytes(bytes, { idempotencyKey, ...options })
}) satisfies (body: Written, options?: RecordOptions) => Result<EventReceipt>

/** The same for a JSON text in UTF-8. */
export const recordBytes = Effect.fnUntraced(function* (
  body: Uint8Array,
  { idempotencyKey, ...options }: RecordOptions = {}
) {
  const headers = { [Events.idempotencyKeyHeader]: idempotencyKey }
  const text = yield* call({ method: "POST", url: `${prefix}/events`, headers, body }, options)
  return JSON.parse(text) as EventReceipt
}) satisfies (body: Uint8Array, options?: RecordOptions) => Result<EventReceipt>

/** What each call of the interface can be told. */
export interface Options extends InProject, CallOptions {}

export type Api = ApiWith<Options>

const noBody = new Uint8Array()

const bodyOf = (body: Sent["body"]): Incoming["body"] => {
  if (body === undefined) return noBody
  if (typeof body === "string") return Buffer.from(body)
  return body instanceof Uint8Array ? body : new Response(body).body!
}

const answered = (method: string, reply: Reply): Answered => ({
  status: reply.status,
  headers: { get: (name) => reply.headers[name] ?? null },
  get body() {
    return Web.toResponse(method, reply).body
  },
  text: async () => (reply.live === undefined ? takeText(reply) : Web.toResponse(method, reply).text()),
  toResponse: () => Web.toResponse(method, reply)
})

/** Every operation of the interface. `run` runs the effects of a `Tachograph`. */
export const api = (run: (reply: Effect.Effect<Reply, never, Front>, signal?: AbortSignal) => Promise<Reply>): Api =>
  apiOver(async ({ body, headers, method, target }, { project, signal }) => {
    const reply = await run(replyTo({ method, url: target, headers, body: bodyOf(body) }, project), signal)
    if (reply.live !== undefined) signal?.addEventListener("abort", reply.live.cancel, { once: true })
    return answered(method, reply)
  })
