/** The mount for Effect's `HttpRouter`. */
import { Effect, type Layer, Stream, type Types } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import { Front, type Incoming } from "./front/Front.ts"
import * as NodeBody from "./front/NodeBody.ts"
import type { BodySource } from "./front/RequestBody.ts"
import type { Answer } from "./response/Answer.ts"

type Handled = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Types.unhandled,
  HttpServerRequest.HttpServerRequest
>

/** Effect's server answers `Expect: 100-continue` when its own stream is read. */
const bodyOf = (request: HttpServerRequest.HttpServerRequest): BodySource => {
  const { source } = request
  if (source instanceof IncomingMessage && (source.headers.expect === undefined || NodeBody.isTouched(source))) {
    return source
  }
  return Stream.toAsyncIterable(request.stream)
}

const toResponse = ({ body, headers, status }: Answer): HttpServerResponse.HttpServerResponse => {
  const contentType = headers["content-type"]
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  return contentType === undefined
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.uint8Array(bytes, { status, headers, contentType })
}

const isRouteNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** Runs before the router matches a path, because a router folds and decodes paths. */
const middleware = HttpRouter.middleware(
  Effect.gen(function* () {
    const front = yield* Front

    const toIncoming = (request: HttpServerRequest.HttpServerRequest): Incoming => {
      const { headers, method, source, url } = request
      return { method, url, headers, source, body: bodyOf(request) }
    }

    const respond = (handled: ReturnType<typeof front.handle>): Handled =>
      Effect.map(Effect.isEffect(handled) ? handled : Effect.succeed(handled), toResponse)

    return (httpEffect: Handled): Handled =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const handled = front.handleOwn(toIncoming(request))
        if (handled !== undefined) return respond(handled)
        // Other routes of the same router are left alone; a path that has none is answered like every unknown path.
        return Effect.catchIf(httpEffect, isRouteNotFound, () => respond(front.handle(toIncoming(request))))
      })
  }),
  { global: true }
)

/**
 * Answers every request to a path of the contract, `/openapi.json` and `/docs` in an `HttpRouter`, below the `BasePath`. Other
 * routes of the router are left alone.
 */
export const layer: Layer.Layer<never, never, Front | HttpRouter.HttpRouter> = middleware
