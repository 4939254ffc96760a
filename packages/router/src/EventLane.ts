/**
 * The plain case of Create Event, which nearly every request is: a key that opens, a JSON body, an event that is kept. It
 * is answered here, by the same key check, decoding and recorder, without what the contract's machinery costs.
 *
 * Whatever is not plain is left to the route, and answered there; what the recorder refuses is refused here in the same
 * words. So nothing is decided otherwise than there, but that too much is refused before its body is read: what ends as a
 * refusal must cost next to nothing, or at three times the load that can be served nothing would be served.
 */
import { Events, TachographApi, writing } from "@tachograph/api"
import { CurrentProject, type ProjectId, Recorder, WriterLimits } from "@tachograph/core"
import { Effect, Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Authorization from "./Authorization.ts"
import { Authorizer } from "./Authorizer.ts"
import * as EventBody from "./EventBody.ts"
import { toReceipt } from "./handlers/Events.ts"
import * as RequestBody from "./RequestBody.ts"
import * as StorageFailures from "./StorageFailures.ts"

const { createEvent } = TachographApi.groups.events.endpoints

const scheme = "Bearer "

/** The credential of a header as nearly everybody writes it; empty where there is none. */
const credentialIn = (header = ""): Redacted.Redacted =>
  Redacted.make(header.startsWith(scheme) && header[scheme.length] !== " " ? header.slice(scheme.length) : "")

/** Undefined: the request is for the route to answer. */
type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse | undefined>

const none: Answer = Effect.undefined

const overloaded = HttpServerResponse.jsonUnsafe({ type: "overloaded" }, { status: 503 })

/** Of what the recorder may refuse; `Overloaded` aside, of which there is one answer. */
const statuses: Readonly<Record<string, number>> = {
  "fingerprint-not-found": 404,
  "session-id-empty": 422,
  "idempotency-key-reused": 422,
  "storage-unavailable": 503
}

/** What the recorder has refused is not asked for again. */
const refuse = ({ _tag: type }: { readonly _tag: string }): Answer => {
  if (type === "overloaded") return Effect.succeed(overloaded)
  const status = statuses[type]
  return status === undefined ? none : Effect.succeed(HttpServerResponse.jsonUnsafe({ type }, { status }))
}

export const make = Effect.gen(function* () {
  const authorizer = yield* Authorizer
  const recorder = yield* Recorder
  const { queue } = yield* WriterLimits
  /** From when a body is there until it is answered: who sends slowly takes nobody's place. */
  const underWay = { events: 0, bytes: 0 }
  const isFull = (bytes: number) =>
    underWay.events > 0 && (underWay.events >= queue.events || underWay.bytes + bytes > queue.bytes)

  const record = Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    body: RequestBody.Body,
    project: ProjectId
  ) {
    const event = body.json ? EventBody.decodePlain(body.bytes, project, recorder.beginningsOf) : undefined
    if (event === undefined) return undefined
    const key = request.headers[Events.idempotencyKeyHeader]
    const keyed = key === undefined ? event : EventBody.withKey(event, yield* EventBody.decodeKey(key), body.bytes)
    return toReceipt(yield* Effect.provideService(recorder.createEvent(keyed), CurrentProject, project))
  })

  const answer = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest) {
      const principal = yield* authorizer.authorize(request, credentialIn(request.headers["authorization"]))
      if (principal === undefined || !Authorization.opens(principal.scopes, writing)) return undefined
      const announced = Number(request.headers["content-length"] ?? 0)
      if (announced > (yield* RequestBody.maxBytes)) return undefined
      if (isFull(announced)) return overloaded
      const body = yield* RequestBody.read(request)
      const bytes = body.bytes.length
      // Many may have come in meanwhile.
      if (isFull(bytes)) return overloaded
      underWay.events++
      underWay.bytes += bytes
      return yield* Effect.ensuring(
        record(request, body, principal.project),
        Effect.sync(() => {
          underWay.events--
          underWay.bytes -= bytes
        })
      )
    },
    StorageFailures.log,
    Effect.catch(refuse)
  )

  return (request: HttpServerRequest.HttpServerRequest): Answer | undefined => {
    if (request.method !== createEvent.method || request.url !== createEvent.path) return undefined
    // What is compressed is read as it comes, and cannot be read again.
    return request.headers["content-encoding"] === undefined ? answer(request) : undefined
  }
})
