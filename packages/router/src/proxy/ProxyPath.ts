/** The paths of the proxy: `/proxy/NAME/rest`, and what of them reaches the upstream. */

const prefix = "/proxy/"

export interface ProxyPath {
  /** The upstream's name. */
  readonly name: string
  /** Path and query below the upstream, as they were sent; empty, or with a slash or a question mark first. */
  readonly rest: string
}

/** Undefined if the URL is not one of the proxy. `url` is path and query below the base path. */
export const match = (url: string | undefined): ProxyPath | undefined => {
  if (url === undefined || !url.startsWith(prefix)) return undefined
  const end = url.slice(prefix.length).search(/[/?]/)
  const below = end === -1 ? url.length : prefix.length + end
  return { name: url.slice(prefix.length, below), rest: url.slice(below) }
}

/** The path of `rest`, without its query. */
const pathIn = (rest: string): string => rest.replace(/\?.*$/s, "")

/** What a line of a request may hold. A fragment is not part of one, and some servers take a backslash for a slash. */
const form = /^[\x21\x22\x24-\x5b\x5d-\x7e\x80-\xff]*$/

/** What servers decode before they resolve a path: dots, slashes, and semicolons. */
const hidden: Readonly<Record<string, string>> = { "%2e": ".", "%2f": "/", "%3b": ";", "%5c": "/" }

const decodeHidden = (path: string): string =>
  path.replace(/%(?:2e|2f|3b|5c)/gi, (escape) => hidden[escape.toLowerCase()]!)

/** Some servers drop what follows a semicolon. */
const isDotSegment = (segment: string): boolean => /^\.\.?(?:;.*)?$/.test(segment)

/**
 * Whether a server that resolves or decodes the path in some way could leave the base path of the upstream, or take a part of it
 * for a host.
 */
export const isHostile = (rest: string): boolean => {
  if (!form.test(rest) || rest.startsWith("//")) return true
  // An escape may be escaped again, however often.
  const path = pathIn(rest).replaceAll(/%(?:25)+/g, "%")
  return decodeHidden(path).split("/").some(isDotSegment)
}
