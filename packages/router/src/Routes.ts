/** The mount for Effect's `HttpRouter`. */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Types from "effect/Types"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { IncomingMessage, type ServerResponse } from "node:http"
import { Front } from "./front/Front.ts"
import type { Incoming } from "./front/Incoming.ts"
import * as NodeBody from "./front/NodeBody.ts"
import type { Pieces, Reply } from "./front/Reply.ts"
import type { TimedStream } from "./front/TimedStream.ts"
import type { BodySource } from "./front/RequestBody.ts"
import * as Answer from "./response/Answer.ts"

type Handled = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Types.unhandled,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Effect's server answers `Expect: 100-continue` when its own stream is read. */
const bodyOf = (request: HttpServerRequest.HttpServerRequest): BodySource => {
  const { source } = request
  if (source instanceof IncomingMessage && (source.headers.expect === undefined || NodeBody.isTouched(source))) {
    return source
  }
  return Stream.toAsyncIterable(request.stream)
}

/**
 * Does nothing where the server is not a Node server, or an earlier response on the same connection is not complete: then the
 * stream fails when its next piece is due.
 */
const closeConnection = (request: HttpServerRequest.HttpServerRequest): void => {
  // As `NodeHttpServerRequest.toServerResponse` of `@effect/platform-node` reads it, which a host on another server does not have.
  const { response } = request as { readonly response?: ServerResponse | (() => ServerResponse) }
  const ofNode = typeof response === "function" ? response() : response
  if (ofNode?.socket) ofNode.destroy()
}

/** Makes each piece when the server asks for it, in a turn of the event loop of its own. */
const streamOf = (pieces: Pieces): Stream.Stream<Uint8Array> =>
  Stream.unfold(undefined, () =>
    Effect.map(Effect.yieldNow, () => {
      const piece = pieces.next()
      // A copy, because a server may hold it after the body is freed.
      return piece === undefined ? undefined : ([Uint8Array.from(piece), undefined] as const)
    })
  )

/** Asks for each piece when the server does. Fails if the body is cut: then the server closes the connection. */
const madeWhileRead = (live: TimedStream): Stream.Stream<Uint8Array> =>
  Stream.unfold(undefined, () =>
    Effect.map(Effect.promise(live.next), (piece) => piece && ([piece, undefined] as const))
  )

const toResponse = (request: HttpServerRequest.HttpServerRequest, reply: Reply): Handled => {
  const { body, headers, live, pieces, status } = reply
  const contentType = headers["content-type"]
  if (contentType === undefined || request.method === "HEAD") {
    return Effect.succeed(HttpServerResponse.empty({ status, headers }))
  }
  if (live !== undefined) {
    live.onTimeout = () => {
      live.cancel()
      closeConnection(request)
    }
    return Effect.as(
      Effect.addFinalizer(() => Effect.sync(live.cancel)),
      HttpServerResponse.stream(madeWhileRead(live), { status, headers, contentType })
    )
  }
  if (pieces === undefined) {
    const bytes = Buffer.from(Answer.whole(body))
    return Effect.succeed(HttpServerResponse.uint8Array(bytes, { status, headers, contentType }))
  }
  pieces.onTimeout = () => {
    pieces.close()
    closeConnection(request)
  }
  // The scope of the request ends when the response is written, or its client has disconnected.
  return Effect.as(
    Effect.addFinalizer(() => Effect.sync(() => pieces.close())),
    HttpServerResponse.stream(streamOf(pieces), { status, headers, contentType })
  )
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

    const respond = (request: HttpServerRequest.HttpServerRequest, handled: ReturnType<typeof front.handle>): Handled =>
      Effect.flatMap(Effect.isEffect(handled) ? handled : Effect.succeed(handled), (reply) =>
        toResponse(request, reply)
      )

    return (httpEffect: Handled): Handled =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const handled = front.handleOwn(toIncoming(request))
        if (handled !== undefined) return respond(request, handled)
        // Other routes of the same router are left alone; a path that has none is answered like every unknown path.
        return Effect.catchIf(httpEffect, isRouteNotFound, () => respond(request, front.handle(toIncoming(request))))
      })
  }),
  { global: true }
)

/**
 * Answers every request to a path of the contract, `/openapi.json` and `/docs` in an `HttpRouter`, below the `BasePath`. Other
 * routes of the router are left alone.
 */
export const layer: Layer.Layer<never, never, Front | HttpRouter.HttpRouter> = middleware
