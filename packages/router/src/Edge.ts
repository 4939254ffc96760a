/**
 * What holds for every request, whatever its endpoint: a request id, paths taken to the letter, the answers to paths and
 * methods that are none, the headers of every answer, and the one place where what nobody expected becomes a 500 that
 * says nothing but where to look in the log.
 */
import { TachographApi } from "@tachograph/api"
import { randomUUID } from "node:crypto"
import { Cause, Effect, Metric, Random, type Types } from "effect"
import { HttpRouter, type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"

const requests = Metric.counter("tachograph_http_requests_total", {
  description: "HTTP requests answered, by method and status",
  incremental: true
})

/** The paths of the contract, and what stands beside it. */
const paths: ReadonlyArray<{ readonly pattern: RegExp; readonly methods: Set<string> }> = (() => {
  const methodsByPath = new Map<string, Set<string>>([
    ["/docs", new Set(["GET"])],
    ["/openapi.json", new Set(["GET"])]
  ])
  HttpApi.reflect(TachographApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const methods = methodsByPath.get(endpoint.path) ?? new Set()
      methodsByPath.set(endpoint.path, methods.add(endpoint.method))
    }
  })
  return Array.from(methodsByPath, ([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/:\w+/g, "[^/]*")}$`),
    methods: methods.has("GET") ? methods.add("HEAD") : methods
  }))
})()

const pathOf = (url: string): string => url.split("?", 1)[0]!

/** Whether a path is one of ours, whatever the method. */
export const isOurs = (url: string): boolean => paths.some(({ pattern }) => pattern.test(pathOf(url)))

/** The router would cut a path at `;` and `#`; in a name they are characters like others. */
const toTheLetter = (url: string): string => {
  const path = pathOf(url)
  return path.replaceAll(";", "%3B").replaceAll("#", "%23") + url.slice(path.length)
}

const error = (status: number, type: string, more?: object) =>
  HttpServerResponse.jsonUnsafe({ type, ...more }, { status })

const notFound = (request: HttpServerRequest.HttpServerRequest) => {
  const path = pathOf(request.url)
  const methods = paths.find(({ pattern }) => pattern.test(path))?.methods
  return methods === undefined || methods.has(request.method)
    ? error(404, "not-found")
    : error(405, "method-not-allowed").pipe(
        HttpServerResponse.setHeader("allow", Array.from(methods).sort().join(", "))
      )
}

const isRouteNotFound = (failure: unknown): boolean =>
  (failure as Partial<HttpServerError.HttpServerError>)?._tag === "HttpServerError" &&
  (failure as HttpServerError.HttpServerError).reason._tag === "RouteNotFound"

/** Seconds to wait before another try, spread so that not all come back at once. */
const retryAfter = Effect.map(Random.nextIntBetween(1, 4), String)

const answer = (request: HttpServerRequest.HttpServerRequest, id: string) =>
  Effect.catchCause((cause: Cause.Cause<unknown>) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
    if (cause.reasons.some((reason) => reason._tag === "Fail" && isRouteNotFound(reason.error))) {
      return Effect.succeed(notFound(request))
    }
    return Effect.as(Effect.logError("A request failed unexpectedly", cause), error(500, "internal", { id }))
  })

export const layer = HttpRouter.middleware(
  // Nothing fails behind it; the type says otherwise, because a router's middleware is not expected to catch everything.
  (
    httpEffect
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpServerRequest.HttpServerRequest> =>
    Effect.gen(function* () {
      const incoming = yield* HttpServerRequest.HttpServerRequest
      const request = incoming.modify({ url: toTheLetter(incoming.url) })
      const id = randomUUID()
      let response = yield* httpEffect.pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request),
        answer(request, id),
        Effect.annotateLogs("request_id", id)
      )
      response = HttpServerResponse.setHeaders(response, {
        "x-request-id": id,
        "x-content-type-options": "nosniff",
        ...(request.url.startsWith("/api/") ? { "cache-control": "no-store" } : {}),
        ...(response.status === 401 ? { "www-authenticate": "Bearer" } : {}),
        ...(response.status === 503 ? { "retry-after": yield* retryAfter } : {})
      })
      const method = request.method
      yield* Metric.update(Metric.withAttributes(requests, { method, status: String(response.status) }), 1)
      yield* Effect.logDebug("Answered").pipe(Effect.annotateLogs({ request_id: id, method, status: response.status }))
      return response
    }),
  { global: true }
)
