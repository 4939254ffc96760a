/**
 * Refuses requests over `node:http` that two readers could understand differently, and closes their connection. A proxy in
 * front of this server and the server itself must agree where a request ends, which host it is for, and who sent it.
 */
import { IncomingMessage } from "node:http"

/** Headers that may occur once. Node would silently keep the first of several. */
const singleHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "host",
  "idempotency-key",
  "transfer-encoding"
])

/** The single headers that occur more than once; undefined if no header does. */
const repeatedHeaders = ({ headers, rawHeaders }: IncomingMessage): Set<string> | undefined => {
  if (2 * Object.keys(headers).length === rawHeaders.length) return undefined
  const repeated = new Set<string>()
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!singleHeaders.has(name)) continue
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  return repeated
}

/** The absolute form of the target, `GET http://host/path`, must name the same host as `Host`. */
const namesAnotherHost = ({ headers, url = "" }: IncomingMessage): boolean => {
  if (url.startsWith("/") || url === "*") return false
  const target = URL.parse(url)
  if (target === null || !/^https?:$/.test(target.protocol) || target.username !== "") return true
  // Parsing `Host` in the same way drops a default port from both.
  return target.host !== URL.parse(`${target.protocol}//${headers.host}`)?.host
}

/** Node's parser treats other versions as if they were 1.1. */
const hasUnknownVersion = ({ httpVersion }: IncomingMessage): boolean => httpVersion !== "1.1" && httpVersion !== "1.0"

/** `Host` is required from HTTP/1.1 on. */
const lacksHost = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion === "1.1" && headers.host === undefined

/** Only `chunked` is understood. HTTP/1.0 has no chunks: a proxy may read such a body to the end of the connection. */
const hasOtherTransferCoding = ({ headers, httpVersion }: IncomingMessage): boolean => {
  const coding = headers["transfer-encoding"]
  return coding !== undefined && (coding.trim().toLowerCase() !== "chunked" || httpVersion === "1.0")
}

/** RFC 9112, section 3.2: a host with an optional port, or nothing. */
const hostForm = /^(?:\[[\da-f:.]+\]|[\w.~%-]*)(?::\d*)?$/i

const hasMalformedHost = ({ headers }: IncomingMessage): boolean => !hostForm.test(headers.host ?? "")

const ambiguities = [namesAnotherHost, hasUnknownVersion, lacksHost, hasMalformedHost, hasOtherTransferCoding]

export type Classification = "clear" | "ambiguous" | "duplicate-authorization"

/** `source` is what the mount received; only a request of `node:http` can be ambiguous. */
export const classify = (source: object): Classification => {
  if (!(source instanceof IncomingMessage)) return "clear"
  const repeated = repeatedHeaders(source)
  // Which of two keys is meant is unknown, so that the request counts as one without a key.
  if (repeated?.delete("authorization") && repeated.size === 0) return "duplicate-authorization"
  const isAmbiguous = (repeated !== undefined && repeated.size > 0) || ambiguities.some((applies) => applies(source))
  return isAmbiguous ? "ambiguous" : "clear"
}
