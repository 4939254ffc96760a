/**
 * Requests that a page of another origin makes a browser send: with the host's cookies, which a rule of the host may trust (CSRF).
 */

interface Sent {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly source: object
}

const hostIn = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined)

/** A web request has a whole URL, but perhaps no `Host`; that of Node has a path and a `Host`. */
const ownHost = ({ headers, source }: Sent): string | undefined =>
  headers["host"] ?? ("url" in source && typeof source.url === "string" ? hostIn(source.url) : undefined)

const reads: ReadonlySet<string> = new Set(["GET", "HEAD"])

/** The same of a request that changes something, also where nothing says which page sent it. */
export const mayBeCrossSite = (sent: Sent & { readonly method: string }): boolean => {
  const { authorization, origin, "sec-fetch-site": site } = sent.headers
  const isUnknown = authorization === undefined && origin === undefined && site === undefined
  return isCrossSite(sent) || (isUnknown && !reads.has(sent.method))
}

/**
 * By `Sec-Fetch-Site`, which browsers send and pages cannot change; without it, by `Origin`. A request with `Authorization` is
 * never one: no browser adds that by itself.
 */
export const isCrossSite = (sent: Sent): boolean => {
  const { authorization, origin, "sec-fetch-site": site } = sent.headers
  if (authorization !== undefined) return false
  // `none`: the person has opened the address.
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return origin !== undefined && hostIn(origin) !== ownHost(sent)
}
