/** The paths of the contract, and what the front needs to know about the endpoint behind each. */
import { type EndpointName, endpoints, prefix, TachographApi } from "@tachograph/api"
import { decodedOrSame } from "@tachograph/capture/PercentDecoding"
import type { Scope } from "@tachograph/core"
import { HttpApi } from "effect/http-api"
import { langfusePath, otlpPaths, pagePaths, viewerPaths } from "../Engine.ts"

interface Route {
  /** The endpoint's name in the contract, or the name of a page beside it. */
  readonly endpoint: string
  /** A key needs one of them; undefined where no key is needed. */
  readonly scopes: ReadonlyArray<Scope> | undefined
  readonly takesBody: boolean
  /** Whether its body is read as it comes. */
  readonly streamsBody: boolean
  /** Whether its body is a batch of events, which has a limit of its own. Any other that is read as it comes may have any length. */
  readonly isBatch: boolean
  /** Whether it is one event, which goes through the commit queue. */
  readonly isRecording: boolean
  /** Whether a body that cannot be read is a bad request, and no invalid one: OTLP has no other word. */
  readonly isOtlp?: boolean
  /** Whether a key may come as the password of `Basic`. */
  readonly takesBasic?: boolean
}

/** Which of the paths that can be left out are served. */
export interface Served {
  readonly viewer: boolean
  readonly langfuse: boolean
}

/** What is served unless an option says otherwise. */
const byDefault: Served = { viewer: true, langfuse: false }

export interface Match {
  readonly route: Route
  /** The segments that the path names, percent-decoded once. */
  readonly params: Readonly<Record<string, string>>
  /** Without its question mark. */
  readonly query: string
}

/** The methods that a path takes, sorted, as `Allow` lists them. */
export type Allowed = ReadonlyArray<string>

interface Entry {
  readonly routes: Map<string, Route>
  readonly paramNames: ReadonlyArray<string>
  /** What it is of, if that can be left out. */
  readonly of: keyof Served | undefined
}

const optionOf = (path: string): keyof Served | undefined => {
  if (path.startsWith(viewerPaths.viewerRedirect)) return "viewer"
  return path === langfusePath ? "langfuse" : undefined
}

const entries = (() => {
  const byPath = new Map<string, Entry>()
  const add = (path: string, method: string, route: Route) => {
    const paramNames = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!)
    const entry = byPath.get(path) ?? { routes: new Map<string, Route>(), paramNames, of: optionOf(path) }
    byPath.set(path, entry)
    entry.routes.set(method, route)
    if (method === "GET") entry.routes.set("HEAD", route)
  }
  for (const [endpoint, path] of Object.entries({ ...pagePaths, ...viewerPaths })) {
    const page = { takesBody: false, streamsBody: false, isBatch: false, isRecording: false }
    add(path, "GET", { endpoint, scopes: undefined, ...page })
  }
  const post = {
    isOtlp: true,
    scopes: ["record"],
    takesBody: true,
    streamsBody: false,
    isBatch: false,
    isRecording: true
  } as const
  for (const [endpoint, path] of Object.entries(otlpPaths)) add(path, "POST", { endpoint, ...post })
  add(langfusePath, "POST", { endpoint: "otlpTraces", takesBasic: true, ...post })
  HttpApi.reflect(TachographApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { identifier, method, path, payload } }) => {
      const { body, scopes } = endpoints[identifier as EndpointName]
      add(path, method, {
        endpoint: identifier,
        scopes,
        takesBody: payload.size > 0,
        streamsBody: body === "stream" || body === "batch",
        isBatch: body === "batch",
        isRecording: body === "event"
      })
    }
  })
  const literal = new Map<string, Entry>()
  const patterns: Array<readonly [pattern: RegExp, entry: Entry]> = []
  for (const [path, entry] of byPath) {
    if (entry.paramNames.length === 0) literal.set(path, entry)
    else patterns.push([new RegExp(`^${path.replace(/:\w+/g, "([^/]*)")}$`), entry])
  }
  return { literal, patterns }
})()

const noParams: Readonly<Record<string, string>> = {}

/** A malformed percent-encoding is taken literally. */
const decodeSegment = (segment: string): string => (segment.includes("%") ? decodedOrSame(segment) : segment)

const find = (path: string): readonly [entry: Entry, params: Readonly<Record<string, string>>] | undefined => {
  const literal = entries.literal.get(path)
  if (literal !== undefined) return [literal, noParams]
  // A host hands over the requests of all its paths: most fail here, without a regular expression.
  if (!path.startsWith(prefix) && !path.startsWith(viewerPaths.viewer)) return undefined
  for (const [pattern, entry] of entries.patterns) {
    const found = pattern.exec(path)
    if (found === null) continue
    return [entry, Object.fromEntries(entry.paramNames.map((name, index) => [name, decodeSegment(found[index + 1]!)]))]
  }
  return undefined
}

/**
 * Matches a path with its query, below the base path, to the letter: nothing is folded, trimmed or normalised. The route, or
 * the methods that the path takes where it does not take this one; undefined where there is no such path, or it is not served.
 */
export const match = (method: string, url: string, served = byDefault): Match | Allowed | undefined => {
  const end = url.indexOf("?")
  const path = end === -1 ? url : url.slice(0, end)
  const found = find(path)
  if (found === undefined) return undefined
  const [{ of, routes }, params] = found
  if (of !== undefined && !served[of]) return undefined
  const route = routes.get(method)
  if (route === undefined) return [...routes.keys(), "OPTIONS"].sort()
  return { route, params, query: end === -1 ? "" : url.slice(end + 1) }
}

/** Whether a URL below the base path has a path of the contract, whatever its method. */
export const isOurs = (url: string, served = byDefault): boolean => match("", url, served) !== undefined
