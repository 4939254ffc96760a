/** Sends browsers that ask for `/` to a page, in front of a handler. Other clients get the answer of the handler. */
import type { IncomingMessage, ServerResponse } from "node:http"

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const isBrowserAtRoot = ({ headers, method, url }: IncomingMessage): boolean =>
  url === "/" && (method === "GET" || method === "HEAD") && headers.accept?.includes("text/html") === true

export const to =
  (path: string, handler: Handler): Handler =>
  (request, response) => {
    if (!isBrowserAtRoot(request)) return handler(request, response)
    response.writeHead(302, { location: path, vary: "Accept", "content-length": 0, "cache-control": "no-store" }).end()
  }
