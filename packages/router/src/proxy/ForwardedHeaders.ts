/** Which headers pass the proxy, in both directions: all but those of one connection, and Tachograph's own. */

/** Names and values in turn, as `rawHeaders` of `node:http` has them. */
export type RawHeaders = ReadonlyArray<string>

/** RFC 9110, section 7.6.1. */
const ofConnection: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade"
])

const own = "x-tachograph-"

/** The names that the headers of the connection list, in lower case. */
const listed = (headers: RawHeaders): ReadonlySet<string> => {
  const names = new Set<string>()
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]!.toLowerCase() !== "connection") continue
    for (const name of headers[at + 1]!.split(",")) names.add(name.trim().toLowerCase())
  }
  return names
}

const without = (headers: RawHeaders, isLeftOut: (name: string) => boolean): Array<string> => {
  const kept: Array<string> = []
  const named = listed(headers)
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase()
    if (!ofConnection.has(name) && !named.has(name) && !isLeftOut(name)) kept.push(headers[at]!, headers[at + 1]!)
  }
  return kept
}

/** Of a request. The proxy writes `Host` itself. */
const ofRequest = (headers: RawHeaders): Array<string> =>
  without(headers, (name) => name === "host" || name.startsWith(own))

/** Of a response. */
export const ofResponse = (headers: RawHeaders): Array<string> => without(headers, () => false)

/** The first value of a header. */
export const valueOf = (headers: RawHeaders, wanted: string): string | undefined => {
  for (let at = 0; at < headers.length; at += 2) if (headers[at]!.toLowerCase() === wanted) return headers[at + 1]
  return undefined
}

/** Trailers in pairs, as `addTrailers` takes them. */
export const pairs = (headers: RawHeaders): Array<[string, string]> =>
  Array.from({ length: headers.length / 2 }, (_, at) => [headers[2 * at]!, headers[2 * at + 1]!])

/** Methods whose requests have no body unless they say so. */
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"])

/**
 * Of a request, with the length or the coding that says where its body ends on the connection to the upstream. `isChunked` says
 * that the length of the body is not known.
 */
export const framed = (method: string, headers: RawHeaders, isChunked: boolean): Array<string> => {
  const passed = ofRequest(headers)
  if (isChunked) passed.push("Transfer-Encoding", "chunked")
  else if (valueOf(passed, "content-length") === undefined && !bodiless.has(method)) passed.push("Content-Length", "0")
  return passed
}
