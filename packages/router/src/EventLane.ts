/**
 * The plain case of Create Event, which nearly every request is: a key that opens, a JSON body, an event that is kept. It
 * is answered here, by the same key check, decoding and recorder, without what the contract's machinery costs.
 *
 * Whatever is not plain is left to the route, and answered there: this decides nothing that would be decided otherwise
 * there, and refuses nothing.
 */
import { Events, TachographApi, writing } from "@tachograph/api"
import { ApiKeys, CurrentProject, Recorder } from "@tachograph/core"
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

/** To ask again at once would only add to what is too much already. */
const again = (error: { readonly _tag: string }): Answer =>
  error._tag === "overloaded" || error._tag === "storage-unavailable"
    ? Effect.succeed(HttpServerResponse.jsonUnsafe({ type: error._tag }, { status: 503 }))
    : none

export const make = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const recorder = yield* Recorder

  const answer = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest, credential: string) {
      const principal = yield* keys.verify(Redacted.make(credential))
      if (principal === undefined || !Authorization.opens(principal.scopes, writing)) return undefined
      const body = yield* RequestBody.read(request)
      const event = body.json ? EventBody.decodePlain(body.bytes, principal.project, recorder.beginningsOf) : undefined
      if (event === undefined) return undefined
      const key = request.headers[Events.idempotencyKeyHeader]
      const keyed = key === undefined ? event : EventBody.withKey(event, yield* EventBody.decodeKey(key), body.bytes)
      return toReceipt(yield* Effect.provideService(recorder.createEvent(keyed), CurrentProject, principal.project))
    },
    StorageFailures.log,
    Effect.catch(again)
  )

  return (request: HttpServerRequest.HttpServerRequest): Answer => {
    if (request.method !== createEvent.method || request.url !== createEvent.path) return none
    const { headers } = request
    const credential = credentialIn(headers["authorization"])
    // What is compressed is read as it comes, and cannot be read again.
    return credential === undefined || headers["content-encoding"] !== undefined ? none : answer(request, credential)
  }
})
