/**
 * The plain case of Create Event, which nearly every request is: a key that opens, a JSON body, an event that is kept. It
 * is answered here, by the same key check, decoding and recorder, without what the contract's machinery costs.
 *
 * Whatever is not plain is left to the route, and answered there: this decides nothing that would be decided otherwise
 * there. It refuses only what is too much: before the body is read, because what ends as a refusal must cost next to
 * nothing, or at three times the load that can be served nothing would be served.
 */
import { Events, TachographApi, writing } from "@tachograph/api"
import { ApiKeys, CurrentProject, type ProjectId, Recorder, WriterLimits } from "@tachograph/core"
import { Effect, Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Authorization from "./Authorization.ts"
import * as EventBody from "./EventBody.ts"
import { toReceipt } from "./handlers/Events.ts"
import * as RequestBody from "./RequestBody.ts"
import * as StorageFailures from "./StorageFailures.ts"

const { createEvent } = TachographApi.groups.events.endpoints

const scheme = "Bearer "

/** The credential of a header as nearly everybody writes it. */
const credentialIn = (header: string | undefined): string | undefined =>
  header?.startsWith(scheme) && header[scheme.length] !== " " ? header.slice(scheme.length) : undefined

/** Undefined: the request is for the route to answer. */
type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse | undefined>

const none: Answer = Effect.undefined

const overloaded = HttpServerResponse.jsonUnsafe({ type: "overloaded" }, { status: 503 })

/** To ask again at once would only add to what is too much already. */
const again = (error: { readonly _tag: string }): Answer =>
  error._tag === "overloaded"
    ? Effect.succeed(overloaded)
    : error._tag === "storage-unavailable"
      ? Effect.succeed(HttpServerResponse.jsonUnsafe({ type: error._tag }, { status: 503 }))
      : none

export const make = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const recorder = yield* Recorder
  const { queue } = yield* WriterLimits
  const underWay = { events: 0, bytes: 0 }

  const record = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, project: ProjectId) {
    const body = yield* RequestBody.read(request)
    const event = body.json ? EventBody.decodePlain(body.bytes, project, recorder.beginningsOf) : undefined
    if (event === undefined) return undefined
    const key = request.headers[Events.idempotencyKeyHeader]
    const keyed = key === undefined ? event : EventBody.withKey(event, yield* EventBody.decodeKey(key), body.bytes)
    return toReceipt(yield* Effect.provideService(recorder.createEvent(keyed), CurrentProject, project))
  })

  const answer = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest, credential: string) {
      const principal = yield* keys.verify(Redacted.make(credential))
      if (principal === undefined || !Authorization.opens(principal.scopes, writing)) return undefined
      const bytes = Number(request.headers["content-length"] ?? 0)
      const isFull = underWay.events >= queue.events || underWay.bytes + bytes > queue.bytes
      if (isFull && underWay.events > 0) return overloaded
      underWay.events++
      underWay.bytes += bytes
      return yield* Effect.ensuring(
        record(request, principal.project),
        Effect.sync(() => {
          underWay.events--
          underWay.bytes -= bytes
        })
      )
    },
    StorageFailures.log,
    Effect.catch(again)
  )

  return (request: HttpServerRequest.HttpServerRequest): Answer | undefined => {
    if (request.method !== createEvent.method || request.url !== createEvent.path) return undefined
    const { headers } = request
    const credential = credentialIn(headers["authorization"])
    // What is compressed is read as it comes, and cannot be read again.
    return credential === undefined || headers["content-encoding"] !== undefined
      ? undefined
      : answer(request, credential)
  }
})
