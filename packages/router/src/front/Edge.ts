/**
 * What holds for every request, whatever its endpoint: a request id, paths taken to the letter, the answers to paths and
 * methods that are none, the headers of every answer, and the one place where what nobody expected becomes a 500 that
 * says nothing but where to look in the log.
 */
import { Recorder } from "@tachograph/core"
import { Cause, Context, Effect, type Types } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import * as StandardHeaders from "./StandardHeaders.ts"
import * as BasePath from "./BasePath.ts"
import * as CreateEvent from "../events/CreateEvent.ts"
import * as AmbiguousRequest from "./AmbiguousRequest.ts"
import { replayed } from "../handlers/Events.ts"
import * as Paths from "./Paths.ts"
import * as RequestState from "./RequestState.ts"
import * as RequestBody from "./RequestBody.ts"

const error = (status: number, type: string, more?: object) =>
  HttpServerResponse.jsonUnsafe({ type, ...more }, { status })

const notFound = error(404, "not-found")

const unauthorized = HttpServerResponse.setHeader(error(401, "unauthorized"), "connection", "close")

const badRequest = HttpServerResponse.setHeader(error(400, "bad-request"), "connection", "close")

/** What is said where one of our paths does not take the method. */
const withoutRoute = (request: HttpServerRequest.HttpServerRequest) => {
  const methods = Paths.methodsOf(request.url)
  if (methods === undefined || (methods.includes(request.method) && request.method !== "OPTIONS")) return notFound
  const answer = request.method === "OPTIONS" ? HttpServerResponse.empty() : error(405, "method-not-allowed")
  return HttpServerResponse.setHeader(answer, "allow", methods.join(", "))
}

const isRouteNotFound = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some((reason) => {
    const failure = reason._tag === "Fail" ? (reason.error as Partial<HttpServerError.HttpServerError>) : undefined
    return failure?._tag === "HttpServerError" && failure.reason?._tag === "RouteNotFound"
  })

/** An answer to every failure; to an interruption there is nobody to answer. */
const recover = (request: HttpServerRequest.HttpServerRequest, id: string) =>
  Effect.catchCause((cause: Cause.Cause<unknown>) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
    if (isRouteNotFound(cause)) return Effect.succeed(withoutRoute(request))
    return Effect.as(Effect.logError("A request failed unexpectedly", cause), error(500, "internal", { id }))
  })

const dress = (
  request: HttpServerRequest.HttpServerRequest,
  id: string,
  response: HttpServerResponse.HttpServerResponse
) => {
  const headers: Record<string, string> = { ...StandardHeaders.headers(id) }
  const contentType = response.headers["content-type"]
  if (contentType !== undefined && /^text\/[^;]*$/.test(contentType)) {
    headers["content-type"] = `${contentType}; charset=utf-8`
  }
  if (request.url.startsWith("/api/")) Object.assign(headers, StandardHeaders.unkept)
  if (response.status === 401) headers["www-authenticate"] = "Bearer"
  if (response.status === 503) headers["retry-after"] = StandardHeaders.retryAfter()
  return HttpServerResponse.setHeaders(response, headers)
}

/** An error's `type`, which stands first in it. */
const refusalIn = ({ body, status }: HttpServerResponse.HttpServerResponse): string | undefined => {
  if (status < 400) return undefined
  const start = body._tag === "Uint8Array" ? Buffer.from(body.body.subarray(0, 64)).toString("latin1") : ""
  return /^\{"type":"([a-z-]+)"/.exec(start)?.[1] ?? (start.startsWith('{"detail"') ? "validation-error" : "other")
}

/** The request as our routes know it, below the base path; undefined where its path is none of ours. */
const asOurs = (base: string, request: HttpServerRequest.HttpServerRequest) => {
  const path = BasePath.below(base, request.url)
  if (path === undefined || Paths.methodsOf(path) === undefined) return undefined
  const url = Paths.toTheLetter(path)
  return url === request.url ? request : request.modify({ url })
}

/** The answer to what two readers could read in two ways. */
const refusalOf = (request: HttpServerRequest.HttpServerRequest) => {
  const verdict = AmbiguousRequest.classify(request)
  return verdict === "clear" ? undefined : Effect.succeed(verdict === "two-keys" ? unauthorized : badRequest)
}

const toResponse = ({ isReplay, status, text }: CreateEvent.Answer) => {
  const response = HttpServerResponse.text(text, { status, contentType: "application/json" })
  return isReplay ? HttpServerResponse.setHeader(response, ...replayed) : response
}

/** Whether the request has come this way. */
const IsOurs = Context.Reference<boolean>("tachograph/router/Edge/IsOurs", { defaultValue: () => false })

/** Fails as the router does where it finds none. */
const routeNotFound = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  Effect.fail(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) }))
) as Effect.Effect<never, unknown, HttpServerRequest.HttpServerRequest> as Handled

type Handled = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Types.unhandled,
  HttpServerRequest.HttpServerRequest
>

/**
 * Keeps our routes to those that have. A router takes several ways to write a path for the same, and what is not to the
 * letter would come past all that is done here.
 */
export const guard = HttpRouter.middleware((httpEffect: Handled): Handled =>
  Effect.flatMap(IsOurs, (isOurs) => (isOurs ? httpEffect : routeNotFound))
).layer

export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const base = yield* BasePath.BasePath
    const eventLane = yield* CreateEvent.make
    const { admission: room } = yield* Recorder
    const tell = yield* StandardHeaders.teller

    const route = (httpEffect: Handled, request: HttpServerRequest.HttpServerRequest) =>
      httpEffect.pipe(
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          base === "" ? request : request.modify({ url: base + request.url })
        ),
        Effect.provideService(IsOurs, true)
      )

    const answer = (httpEffect: Handled, request: HttpServerRequest.HttpServerRequest): Handled => {
      const { headers, method, source, url } = request
      if (!CreateEvent.isPlain(method, url, headers)) return route(httpEffect, request)
      const body = RequestBody.readBytes(request)
      return Effect.flatMap(eventLane.answer({ headers, method, source, url, body }), (plain) =>
        plain === undefined ? route(httpEffect, request) : Effect.succeed(toResponse(plain))
      )
    }

    /** Every answer of ours, whatever comes to it. */
    const respond = (httpEffect: (request: HttpServerRequest.HttpServerRequest) => Handled) => {
      return (request: HttpServerRequest.HttpServerRequest): Handled => {
        const { source } = request
        const started = StandardHeaders.startOf(source)
        const id = randomUUID()
        RequestState.enter(room, source)
        return (refusalOf(request) ?? httpEffect(request)).pipe(
          recover(request, id),
          Effect.annotateLogs("request_id", id),
          Effect.map((response) => {
            const dressed = dress(request, id, response)
            const seconds = (performance.now() - started) / 1000
            tell(id, { method: request.method, status: response.status, refusal: refusalIn(response), seconds })
            return dressed
          }),
          Effect.onExit(() => Effect.sync(() => RequestState.leave(source)))
        )
      }
    }

    const respondNotFound = respond(() => Effect.succeed(notFound))

    // Nothing of ours fails; the type says otherwise, because a router's middleware is not expected to catch everything.
    return (httpEffect: Handled): Handled =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (incoming) => {
        const request = asOurs(base, incoming)
        if (request !== undefined) return respond((request) => answer(httpEffect, request))(request)
        // Other routes of the same router are left as they are.
        return Effect.catchCauseIf(httpEffect, isRouteNotFound, () => respondNotFound(incoming))
      })
  }),
  { global: true }
)
