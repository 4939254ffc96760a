/** The proxies of the environment, over which upstreams are reached where there is no other way out: `HTTPS_PROXY` and the like. */
import { decodedOrSame } from "@tachograph/capture/PercentDecoding"
import * as Redacted from "effect/Redacted"
import { BlockList, isIP } from "node:net"

/** What a connection leads to. */
export interface Endpoint {
  readonly protocol: "http:" | "https:"
  /** A host name or an address, an IPv6 address without brackets. */
  readonly hostname: string
  readonly port: number
}

export interface ForwardProxy extends Endpoint {
  /** The value of `Proxy-Authorization`. */
  readonly authorization: Redacted.Redacted | undefined
}

export type Environment = Readonly<Record<string, string | undefined>>

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1")

/** Undefined if it is none of HTTP. */
export const endpointOf = ({ hostname, port, protocol }: URL): Endpoint | undefined => {
  if ((protocol !== "http:" && protocol !== "https:") || hostname === "") return undefined
  const ownPort = protocol === "https:" ? 443 : 80
  return { protocol, hostname: withoutBrackets(hostname), port: port === "" ? ownPort : Number(port) }
}

const authorizationIn = ({ password, username }: URL): Redacted.Redacted | undefined => {
  if (username === "" && password === "") return undefined
  const user = `${decodedOrSame(username)}:${decodedOrSame(password)}`
  return Redacted.make(`Basic ${Buffer.from(user).toString("base64")}`)
}

/** Throws a `TypeError` that names the variable, without its value: it may have a password. */
const parse = (variable: string, text: string): ForwardProxy => {
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  const endpoint = url === null ? undefined : endpointOf(url)
  if (url === null || endpoint === undefined) {
    throw new TypeError(`${variable}: expected the URL of an HTTP proxy, such as http://proxy.example:3128`)
  }
  return { ...endpoint, authorization: authorizationIn(url) }
}

/** No proxy reaches this machine for it. */
const isLoopback = (hostname: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(hostname)

const isInSubnet = (entry: string, hostname: string): boolean => {
  const [network = "", prefix = ""] = entry.split("/")
  const [version, ofHost] = [isIP(network), isIP(hostname)]
  if (version === 0 || version !== ofHost || !/^\d{1,3}$/.test(prefix) || Number(prefix) > (version === 4 ? 32 : 128)) {
    return false
  }
  const family = version === 4 ? "ipv4" : "ipv6"
  const subnet = new BlockList()
  subnet.addSubnet(network, Number(prefix), family)
  return subnet.check(hostname, family)
}

/** Whether an entry of `NO_PROXY` is for a host: its name, a domain that it is in, its address or a network, with or without a port. */
const isFor = (entry: string, { hostname, port }: Endpoint): boolean => {
  if (entry === "*") return true
  const host = hostname.toLowerCase()
  if (entry.includes("/")) return isInSubnet(entry, host)
  const [, named = entry, ofPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
  if (ofPort !== undefined && Number(ofPort) !== port) return false
  const name = withoutBrackets(named).replace(/^\*?\./, "")
  return name !== "" && (host === name || (isIP(host) === 0 && host.endsWith(`.${name}`)))
}

/** That for an upstream; undefined where it is reached without one. Names in lower case come first, as they do everywhere. */
export const proxyFor = (target: Endpoint, environment: Environment): ForwardProxy | undefined => {
  const scheme = target.protocol === "https:" ? "https_proxy" : "http_proxy"
  const variable = [scheme, scheme.toUpperCase()].find((name) => (environment[name] ?? "") !== "")
  if (variable === undefined || isLoopback(target.hostname)) return undefined
  const excluded = (environment["no_proxy"] || environment["NO_PROXY"] || "").toLowerCase().split(/[\s,]+/)
  return excluded.some((entry) => isFor(entry, target)) ? undefined : parse(variable, environment[variable]!)
}
