/**
 * What holds for every request, whatever its endpoint: a request id, paths taken to the letter, the answers to paths and
 * methods that are none, the headers of every answer, and the one place where what nobody expected becomes a 500 that
 * says nothing but where to look in the log.
 */
import { Cause, Effect, LogLevel, Random, type Types } from "effect"
import { HttpRouter, type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import * as BasePath from "./BasePath.ts"
import * as EventLane from "./EventLane.ts"
import * as Framing from "./Framing.ts"
import * as Paths from "./Paths.ts"
import * as RequestMetrics from "./RequestMetrics.ts"

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

/** Seconds to wait before another try, spread so that not all come back at once. */
const retryAfter = Effect.map(Random.nextIntBetween(1, 4), String)

const dress = (
  request: HttpServerRequest.HttpServerRequest,
  id: string,
  response: HttpServerResponse.HttpServerResponse
) => {
  const headers: Record<string, string> = { "x-request-id": id, "x-content-type-options": "nosniff" }
  const contentType = response.headers["content-type"]
  if (contentType !== undefined && /^text\/[^;]*$/.test(contentType)) {
    headers["content-type"] = `${contentType}; charset=utf-8`
  }
  if (request.url.startsWith("/api/")) headers["cache-control"] = "no-store"
  if (response.status === 401) headers["www-authenticate"] = "Bearer"
  const dressed = HttpServerResponse.setHeaders(response, headers)
  return response.status === 503
    ? Effect.map(retryAfter, (seconds) => HttpServerResponse.setHeader(dressed, "retry-after", seconds))
    : Effect.succeed(dressed)
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

/** Nobody pays for a line that nobody reads. */
const logAnswered = (request: HttpServerRequest.HttpServerRequest, id: string, status: number, seconds: number) =>
  Effect.flatMap(LogLevel.isEnabled("Debug"), (isEnabled) =>
    isEnabled
      ? Effect.annotateLogs(Effect.logDebug("Answered"), {
          request_id: id,
          method: RequestMetrics.nameOf(request.method),
          status,
          ms: Math.round(seconds * 1000)
        })
      : Effect.void
  )

/** The answer to what two readers could read in two ways. */
const refusalOf = (request: HttpServerRequest.HttpServerRequest) => {
  const verdict = Framing.judge(request)
  return verdict === "clear" ? undefined : Effect.succeed(verdict === "two-keys" ? unauthorized : badRequest)
}

type Handled = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Types.unhandled,
  HttpServerRequest.HttpServerRequest
>

export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const base = yield* BasePath.BasePath
    const eventLane = yield* EventLane.make

    const route = (httpEffect: Handled, request: HttpServerRequest.HttpServerRequest) =>
      Effect.provideService(
        httpEffect,
        HttpServerRequest.HttpServerRequest,
        base === "" ? request : request.modify({ url: base + request.url })
      )

    const answer = (httpEffect: Handled, request: HttpServerRequest.HttpServerRequest): Handled => {
      const plain = eventLane(request)
      return plain === undefined
        ? route(httpEffect, request)
        : Effect.flatMap(plain, (response) =>
            response === undefined ? route(httpEffect, request) : Effect.succeed(response)
          )
    }

    /** Every answer of ours, whatever comes to it. */
    const respond = (httpEffect: (request: HttpServerRequest.HttpServerRequest) => Handled) => {
      return (request: HttpServerRequest.HttpServerRequest): Handled => {
        const started = performance.now()
        const id = randomUUID()
        return (refusalOf(request) ?? httpEffect(request)).pipe(
          recover(request, id),
          Effect.annotateLogs("request_id", id),
          Effect.flatMap((response) => dress(request, id, response)),
          Effect.tap((response) => {
            const seconds = (performance.now() - started) / 1000
            const { status } = response
            const answered = { method: request.method, status, refusal: refusalIn(response), seconds }
            return Effect.andThen(RequestMetrics.update(answered), logAnswered(request, id, status, seconds))
          })
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
