/**
 * Requests over node:http that two readers could read in two ways: refused, and their connection closed, so that nothing
 * in front of us and we can ever disagree on where a request ends, whom it is for or who sent it.
 */
import type { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"

/** Headers that count once. Node would keep the first of several, silently. */
const single: ReadonlySet<string> = new Set([
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "host",
  "idempotency-key",
  "transfer-encoding"
])

/** The request of node:http, where that is what carried it. */
const nodeRequest = (request: HttpServerRequest.HttpServerRequest): IncomingMessage | undefined =>
  request.source instanceof IncomingMessage ? request.source : undefined

/** The single headers that were sent more than once; undefined where no header was. */
const repeated = ({ headers, rawHeaders }: IncomingMessage): Set<string> | undefined => {
  if (2 * Object.keys(headers).length === rawHeaders.length) return undefined
  const found = new Set<string>()
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!single.has(name)) continue
    if (seen.has(name)) found.add(name)
    seen.add(name)
  }
  return found
}

/** A proxy's form of the target, `GET http://host/path`, must name the host that `Host` names. */
const isForeign = ({ headers, url = "" }: IncomingMessage): boolean => {
  if (url.startsWith("/") || url === "*") return false
  const target = URL.parse(url)
  if (target === null || !/^https?:$/.test(target.protocol) || target.username !== "") return true
  // Parsed in the same way, a default port is no difference.
  return target.host !== URL.parse(`${target.protocol}//${headers.host}`)?.host
}

/** A version that our parser reads as if it were 1.1, or none. */
const isForeignVersion = ({ httpVersion }: IncomingMessage): boolean => httpVersion !== "1.1" && httpVersion !== "1.0"

/** Before 1.1 a request need not say which host it is for. */
const lacksHost = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion === "1.1" && headers.host === undefined

/** Codings beneath the chunks would have to be undone, and whoever is in front of us may not see them. */
const isCoded = ({ headers, httpVersion }: IncomingMessage): boolean => {
  const coding = headers["transfer-encoding"]
  // Before 1.1 there are no chunks: whoever is in front of us may read the body to the end of the connection.
  return coding !== undefined && (coding.trim().toLowerCase() !== "chunked" || httpVersion === "1.0")
}

/** RFC 9112, section 3.2: a host, perhaps with a port, or nothing. */
const hostForm = /^(?:\[[\da-f:.]+\]|[\w.~%-]*)(?::\d*)?$/i

const hasBadHost = ({ headers }: IncomingMessage): boolean => !hostForm.test(headers.host ?? "")

const doubts = [isForeign, isForeignVersion, lacksHost, hasBadHost, isCoded]

export type Verdict = "clear" | "ambiguous" | "two-keys"

export const classifyMessage = (message: IncomingMessage): Verdict => {
  const found = repeated(message)
  // Which key is meant cannot be told: to the sender that is no key.
  if (found?.delete("authorization") && found.size === 0) return "two-keys"
  return (found !== undefined && found.size > 0) || doubts.some((isDoubtful) => isDoubtful(message))
    ? "ambiguous"
    : "clear"
}

export const classify = (request: HttpServerRequest.HttpServerRequest): Verdict => {
  const message = nodeRequest(request)
  return message === undefined ? "clear" : classifyMessage(message)
}
