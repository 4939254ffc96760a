/** The upstreams of the proxy: providers by the name that follows `/proxy/` in a path. */
import { type Endpoint, endpointOf, type Environment, type ForwardProxy, proxyFor } from "./ForwardProxies.ts"

/** Where requests go. */
export interface Upstream extends Endpoint {
  readonly name: string
  /** The value of `Host`: host name, and port where it is not the protocol's own. */
  readonly host: string
  /** The path of the base URL, without a slash at its end. */
  readonly path: string
  /** The proxy of the environment that leads to it. */
  readonly via?: ForwardProxy | undefined
}

export type Upstreams = ReadonlyMap<string, Upstream>

/** Base URLs as the SDKs of the providers have them. A configured upstream of the same name takes the place of one. */
export const defaultUpstreams: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com"
}

/** What an upstream must be, for messages. */
export const upstreamRule =
  "a name of lower-case letters, digits, - and _, and an http or https URL without user, query and fragment"

/** Names that need no percent-encoding, so that there is one way to write a path. */
const nameForm = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** Undefined if it breaks `upstreamRule`. */
export const parseUpstream = (name: string, url: string): Upstream | undefined => {
  const parsed = URL.parse(url)
  if (parsed === null || !nameForm.test(name)) return undefined
  const { host, password, pathname, username } = parsed
  const endpoint = endpointOf(parsed)
  // An empty query or fragment leaves its mark in the text only.
  if (endpoint === undefined || username !== "" || password !== "" || /[?#]/.test(url)) return undefined
  return { ...endpoint, name, host, path: pathname.replace(/\/+$/, "") }
}

/**
 * The default upstreams and the configured ones, with the proxies of the environment. Throws a `TypeError` that names one that is wrong,
 * without its URL.
 */
export const parseUpstreams = (
  configured: Readonly<Record<string, string>> = {},
  environment: Environment = process.env
): Upstreams => {
  const upstreams = new Map<string, Upstream>()
  for (const [name, url] of Object.entries({ ...defaultUpstreams, ...configured })) {
    const upstream = parseUpstream(name, String(url))
    if (upstream === undefined) throw new TypeError(`upstream ${JSON.stringify(name)}: expected ${upstreamRule}`)
    upstreams.set(name, { ...upstream, via: proxyFor(upstream, environment) })
  }
  return upstreams
}
