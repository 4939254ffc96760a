/** CORS (https://fetch.spec.whatwg.org/#http-cors-protocol) for one origin, in front of a handler. */
import type { IncomingMessage, ServerResponse } from "node:http"

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const allowedMethods = "GET, PUT, POST, DELETE"
const exposedHeaders = "Idempotent-Replayed,Retry-After,Tachograph-Ignored,X-Request-Id"

/** How long a browser may cache the answer to a preflight (s). */
const maxAgeSeconds = "600"

const isPreflight = ({ headers, method }: IncomingMessage): boolean =>
  method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined

/** Without an origin, browsers keep the pages of other sites from reading answers. */
export const allow = (origin: string | undefined, handler: Handler): Handler => {
  if (origin === undefined) return handler
  return (request, response) => {
    // The browser compares the allowed origin with the page's: the same header is right for every page.
    response.setHeader("access-control-allow-origin", origin)
    response.setHeader("vary", "Origin")
    response.setHeader("access-control-expose-headers", exposedHeaders)
    if (!isPreflight(request)) return handler(request, response)
    response.setHeader("access-control-allow-methods", allowedMethods)
    response.setHeader("access-control-allow-headers", request.headers["access-control-request-headers"] ?? "")
    response.setHeader("access-control-max-age", maxAgeSeconds)
    response.writeHead(204).end()
  }
}
