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

/** How the names of Tachograph's own headers begin. */
export const own = "x-tachograph-"

/** Whether a name in lower case is of one, also with underscores, as gateways and variables of a CGI write names: it may hold a key. */
export const isOwn = (name: string): boolean => name.slice(0, own.length).replaceAll("_", "-") === own

/** What says how long a body is and how to read it. It stays, even if the headers of the connection list it. */
const describesBody = /^content-/

/** The names that the headers of the connection list, in lower case. */
const listed = (headers: RawHeaders): ReadonlySet<string> => {
  const names = new Set<string>()
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]!.toLowerCase() !== "connection") continue
    for (const listed of headers[at + 1]!.split(",")) {
      const name = listed.trim().toLowerCase()
      if (!describesBody.test(name)) names.add(name)
    }
  }
  return names
}

/** Cookies in which a person has signed in to Tachograph. */
const ownCookies = /^__(?:Host|Secure)-tachograph\b/

/** A header whose value has cookies without those; undefined if none are left. */
const valueWithout = (name: string, value: string): string | undefined => {
  if (name !== "cookie" || !value.includes("-tachograph")) return value
  const kept = value.split(/; ?/).filter((cookie) => !ownCookies.test(cookie))
  return kept.length === 0 ? undefined : kept.join("; ")
}

const without = (headers: RawHeaders, isLeftOut: (name: string) => boolean): Array<string> => {
  const kept: Array<string> = []
  const named = listed(headers)
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase()
    if (ofConnection.has(name) || named.has(name) || isLeftOut(name)) continue
    const value = valueWithout(name, headers[at + 1]!)
    if (value !== undefined) kept.push(headers[at]!, value)
  }
  return kept
}

/** The headers of a response. Where no trailers can follow, `node:http` writes no header that announces them. */
export const ofResponse = (headers: RawHeaders, hasTrailers: boolean): Array<string> =>
  without(headers, (name) => name === "trailer" && !hasTrailers)

/** The first value of a header. */
export const valueOf = (headers: RawHeaders, wanted: string): string | undefined => {
  for (let at = 0; at < headers.length; at += 2) if (headers[at]!.toLowerCase() === wanted) return headers[at + 1]
  return undefined
}

/** All values of a header that is a list. */
export const listOf = (headers: RawHeaders, wanted: string): string | undefined => {
  const values = pairs(headers).flatMap(([name, value]) => (name.toLowerCase() === wanted ? [value] : []))
  return values.length === 0 ? undefined : values.join(", ")
}

/** In pairs, as `Headers` takes them. */
export const pairs = (headers: RawHeaders): Array<[string, string]> =>
  Array.from({ length: headers.length / 2 }, (_, at) => [headers[2 * at]!, headers[2 * at + 1]!])

/** What RFC 9110, section 6.5.1, forbids in trailers beside `Content-…` and the headers of one connection. */
const inHeadersOnly: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "expect",
  "host",
  "set-cookie",
  "trailer",
  "www-authenticate"
])

/** The trailers, in pairs, as `addTrailers` takes them: what frames, routes or opens a request counts in its headers only. */
export const ofTrailers = (trailers: RawHeaders): Array<[string, string]> =>
  pairs(without(trailers, (name) => inHeadersOnly.has(name) || describesBody.test(name) || isOwn(name)))

/** Methods whose requests have no body unless they say so. */
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"])

/**
 * The headers of a request, with the length or the coding that says where its body ends on the connection to the upstream: never
 * both, and never none where there is a body. The upstream would read what exceeds them as another request. `isChunked` says that the
 * length of the body is not known. The proxy writes `Host` itself.
 */
export const framed = (method: string, headers: RawHeaders, isChunked: boolean): Array<string> => {
  const misframing = isChunked ? "content-length" : "trailer"
  const passed = without(headers, (name) => name === "host" || name === misframing || isOwn(name))
  if (isChunked) passed.push("Transfer-Encoding", "chunked")
  else if (valueOf(passed, "content-length") === undefined && !bodiless.has(method)) passed.push("Content-Length", "0")
  return passed
}

/**
 * The headers of a request for a WebSocket. Where it is recorded, no extension is asked for, such as one that compresses: what passes are
 * the messages themselves.
 */
export const ofUpgrade = (headers: RawHeaders, isRecorded: boolean): Array<string> => [
  ...without(
    headers,
    (name) =>
      name === "host" || isOwn(name) || describesBody.test(name) || (isRecorded && name === "sec-websocket-extensions")
  ),
  "Connection",
  "Upgrade",
  "Upgrade",
  "websocket"
]
