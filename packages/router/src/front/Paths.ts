/** The paths of the contract, and what the front needs to know about the endpoint behind each. */
import { type EndpointName, endpoints, prefix, TachographApi } from "@tachograph/api"
import { decodedOrSame } from "@tachograph/capture/PercentDecoding"
import type { Scope } from "@tachograph/core"
import { HttpApi } from "effect/http-api"
import { otlpPaths, pagePaths, viewerPaths } from "../Engine.ts"

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
}

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
  /** Whether it is of the viewer, which can be left out. */
  readonly isViewer: boolean
}

const entries = (() => {
  const byPath = new Map<string, Entry>()
  const add = (path: string, method: string, route: Route) => {
    const paramNames = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!)
    const isViewer = path.startsWith(viewerPaths.viewerRedirect)
    const entry = byPath.get(path) ?? { routes: new Map<string, Route>(), paramNames, isViewer }
    byPath.set(path, entry)
    entry.routes.set(method, route)
    if (method === "GET") entry.routes.set("HEAD", route)
  }
  for (const [endpoint, path] of Object.entries({ ...pagePaths, ...viewerPaths })) {
    const page = { takesBody: false, streamsBody: false, isBatch: false, isRecording: false }
    add(path, "GET", { endpoint, scopes: undefined, ...page })
  }
  for (const [endpoint, path] of Object.entries(otlpPaths)) {
    const post = { takesBody: true, streamsBody: false, isBatch: false, isRecording: true }
    add(path, "POST", { endpoint, scopes: ["record"], ...post })
  }
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
 * the methods that the path takes where it does not take this one; undefined where there is no such path. Without the viewer
 * there are no paths of it.
 */
export const match = (method: string, url: string, servesViewer = true): Match | Allowed | undefined => {
  const end = url.indexOf("?")
  const path = end === -1 ? url : url.slice(0, end)
  const found = find(path)
  if (found === undefined) return undefined
  const [{ isViewer, routes }, params] = found
  if (isViewer && !servesViewer) return undefined
  const route = routes.get(method)
  if (route === undefined) return [...routes.keys(), "OPTIONS"].sort()
  return { route, params, query: end === -1 ? "" : url.slice(end + 1) }
}

/** Whether a URL below the base path has a path of the contract, whatever its method. */
export const isOurs = (url: string, servesViewer = true): boolean => match("", url, servesViewer) !== undefined
