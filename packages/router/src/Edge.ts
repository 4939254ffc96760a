/**
 * What holds for every request, whatever its endpoint: a request id, paths taken to the letter, the answers to paths and
 * methods that are none, the headers of every answer, and the one place where what nobody expected becomes a 500 that
 * says nothing but where to look in the log.
 */
import { Cause, Clock, Effect, Metric, Random, type Types } from "effect"
import { HttpRouter, type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import * as Framing from "./Framing.ts"
import * as Paths from "./Paths.ts"

const requests = Metric.counter("tachograph_http_requests_total", {
  description: "HTTP requests answered, by method and status",
  incremental: true
})

/** Methods that are counted by their name; a client could make up any number of others. */
const counted: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

const error = (status: number, type: string, more?: object) =>
  HttpServerResponse.jsonUnsafe({ type, ...more }, { status })

const notFound = error(404, "not-found")

const unauthorized = HttpServerResponse.setHeader(error(401, "unauthorized"), "connection", "close")

const badRequest = HttpServerResponse.setHeader(error(400, "bad-request"), "connection", "close")

/** What is said where no route was found. */
const withoutRoute = (request: HttpServerRequest.HttpServerRequest) => {
  const methods = Paths.methodsOf(request.url)
  if (methods === undefined || (methods.includes(request.method) && request.method !== "OPTIONS")) return notFound
  const answer = request.method === "OPTIONS" ? HttpServerResponse.empty() : error(405, "method-not-allowed")
  return HttpServerResponse.setHeader(answer, "allow", methods.join(", "))
}

const isRouteNotFound = (failure: unknown): boolean =>
  (failure as Partial<HttpServerError.HttpServerError>)?._tag === "HttpServerError" &&
  (failure as HttpServerError.HttpServerError).reason._tag === "RouteNotFound"

/** An answer to every failure; to an interruption there is nobody to answer. */
const recover = (request: HttpServerRequest.HttpServerRequest, id: string) =>
  Effect.catchCause((cause: Cause.Cause<unknown>) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
    if (cause.reasons.some((reason) => reason._tag === "Fail" && isRouteNotFound(reason.error))) {
      return Effect.succeed(withoutRoute(request))
    }
    return Effect.as(Effect.logError("A request failed unexpectedly", cause), error(500, "internal", { id }))
  })

/** Seconds to wait before another try, spread so that not all come back at once. */
const retryAfter = Effect.map(Random.nextIntBetween(1, 4), String)

const dress = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  id: string,
  response: HttpServerResponse.HttpServerResponse
) {
  const contentType = response.headers["content-type"]
  return HttpServerResponse.setHeaders(response, {
    "x-request-id": id,
    "x-content-type-options": "nosniff",
    ...(contentType !== undefined && /^text\/[^;]*$/.test(contentType)
      ? { "content-type": `${contentType}; charset=utf-8` }
      : {}),
    ...(request.url.startsWith("/api/") ? { "cache-control": "no-store" } : {}),
    ...(response.status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(response.status === 503 ? { "retry-after": yield* retryAfter } : {})
  })
})

export const layer = HttpRouter.middleware(
  // Nothing fails behind it; the type says otherwise, because a router's middleware is not expected to catch everything.
  (
    httpEffect
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpServerRequest.HttpServerRequest> =>
    Effect.gen(function* () {
      const incoming = yield* HttpServerRequest.HttpServerRequest
      const request = incoming.modify({ url: Paths.toTheLetter(incoming.url) })
      const id = randomUUID()
      const started = yield* Clock.currentTimeMillis
      const verdict = Framing.judge(request)
      const answer =
        verdict === "clear"
          ? yield* httpEffect.pipe(
              Effect.provideService(HttpServerRequest.HttpServerRequest, request),
              recover(request, id),
              Effect.annotateLogs("request_id", id)
            )
          : verdict === "two-keys"
            ? unauthorized
            : badRequest
      const response = yield* dress(request, id, answer)
      const { status } = response
      const method = counted.has(request.method) ? request.method : "other"
      yield* Metric.update(Metric.withAttributes(requests, { method, status: String(status) }), 1)
      yield* Effect.logDebug("Answered").pipe(
        Effect.annotateLogs({ request_id: id, method, status, ms: (yield* Clock.currentTimeMillis) - started })
      )
      return response
    }),
  { global: true }
)
