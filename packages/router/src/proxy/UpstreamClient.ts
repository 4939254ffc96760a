/** Sends requests to upstreams over `node:http`, which changes neither headers nor bodies, over connections that stay open. */
import * as Redacted from "effect/Redacted"
import * as http from "node:http"
import * as https from "node:https"
import type { Interruption } from "../calls/PassedCall.ts"
import type { ForwardProxy } from "./ForwardProxies.ts"
import type { RawHeaders } from "./ForwardedHeaders.ts"
import * as UpstreamAgents from "./UpstreamAgents.ts"
import { UpstreamTimeout } from "./UpstreamAgents.ts"
import type { Upstream } from "./Upstreams.ts"

export interface Timeouts {
  /** How long a connection may take until it can be written to, in milliseconds. */
  readonly connectTimeoutMs: number
  /** How long no byte may pass between the proxy and the upstream, in milliseconds. */
  readonly idleTimeoutMs: number
}

/** The proxy ends, and every request that it still passes. */
export class ProxyClosing extends Error {
  override readonly name = "ProxyClosing"
}

/** The key of a connection that stays open was revoked, or has expired. */
export class KeyOver extends ProxyClosing {}

/** The request broke off at the host, or is not what its headers say. */
export class RequestBroken extends Error {
  override readonly name = "RequestBroken"
}

/** What ended a request early. */
export interface Ending {
  readonly interruption: Interruption
  /** A code of the system, of TLS, or of the parser of HTTP, such as `ECONNREFUSED`. */
  readonly code: string | undefined
}

/** An answer that is no HTTP, or none that can be passed on. */
export class AnswerNotUnderstood extends Error {
  override readonly name = "AnswerNotUnderstood"
  readonly code = "ANSWER_NOT_UNDERSTOOD"
}

/** The code of an error; undefined if it has none. Messages are not shown: they may have addresses, and parts of an answer. */
export const codeOf = ({ code }: Error & { readonly code?: unknown }): string | undefined =>
  typeof code === "string" && /^[A-Z][A-Z\d_]{0,63}$/.test(code) ? code : undefined

/** What a failure of an upstream is called; without one, the client ended the request. */
export const endingOf = (failure: Error | undefined): Ending => {
  if (failure === undefined || failure instanceof RequestBroken) return { interruption: "aborted", code: undefined }
  if (failure instanceof ProxyClosing) return { interruption: "exit", code: undefined }
  const interruption = failure instanceof UpstreamTimeout ? "timeout" : "connection_error"
  return { interruption, code: codeOf(failure) }
}

/**
 * Whether an answer can be written again: with a status and a reason that HTTP has, and without a transfer coding that would have to be
 * decoded here, since none was asked for.
 */
export const isUnderstood = ({ headers, statusCode, statusMessage }: http.IncomingMessage): boolean =>
  statusCode! >= 200 &&
  /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage!) &&
  /^(?:chunked|identity)?$/i.test(headers["transfer-encoding"] ?? "")

/**
 * How long an unused connection stays open (ms). Providers close theirs later, so that a request is not sent into a connection
 * that is being closed.
 */
const unusedConnectionMs = 4_000

/** Providers send more headers than Node takes by default (16 KiB) only by mistake, but a call should not fail for it. */
const maxHeaderSize = 64 * 1024

export interface Passed {
  readonly upstream: Upstream
  readonly method: string
  /** Path and query below the upstream. */
  readonly rest: string
  /** Without `Host`. */
  readonly headers: RawHeaders
  /** Whether it asks for a WebSocket, to which a proxy of the environment only connects. */
  readonly isSocket?: boolean
}

const agentOptions = { keepAlive: true, timeout: unusedConnectionMs, maxFreeSockets: 256 }

export class UpstreamClient {
  readonly #timeouts: Timeouts
  readonly #agents = UpstreamAgents.make(agentOptions)
  readonly #tunnels = new Map<string, UpstreamAgents.Agents>()

  constructor(timeouts: Timeouts) {
    this.#timeouts = timeouts
  }

  get idleTimeoutMs(): number {
    return this.#timeouts.idleTimeoutMs
  }

  /** Begins a request. Its body is written by the caller. */
  begin(passed: Passed): http.ClientRequest {
    const { headers, method, upstream } = passed
    const { connectTimeoutMs, idleTimeoutMs } = this.#timeouts
    const route = this.#routeOf(passed)
    const { host, protocol } = upstream
    const { request } = route.protocol === "https:" ? https : http
    const sent = request({
      ...route,
      method,
      headers: ["Host", host, ...headers, ...route.headers],
      timeout: idleTimeoutMs,
      maxHeaderSize
    })
    // Node leaves out headers after the first 1,000. Their size is limited anyway.
    sent.maxHeadersCount = 0
    const end = (message: string) => sent.destroy(new UpstreamTimeout(message))
    sent.on("timeout", () => end("The upstream was silent for too long"))
    sent.once("socket", (socket) => {
      // Behind a tunnel, TLS alone is still to begin.
      if (sent.reusedSocket || (!socket.connecting && protocol === "http:")) return
      const timer = setTimeout(end, connectTimeoutMs, "The connection took too long")
      const stop = () => clearTimeout(timer)
      socket.once(route.protocol === "https:" ? "secureConnect" : "connect", stop).once("close", stop)
    })
    return sent
  }

  /** Where a request goes: to the upstream, over a tunnel, or to a proxy that asks the upstream in its turn. */
  #routeOf({ isSocket = false, rest, upstream }: Passed) {
    const { host, hostname, port, protocol, via } = upstream
    const path = pathOf(upstream.path, rest)
    const direct = { protocol, hostname, port, path, headers: [] as ReadonlyArray<string> }
    if (via === undefined) return { ...direct, agent: this.#agents[protocol] }
    if (protocol === "https:" || isSocket) return { ...direct, agent: this.#tunnelsOver(via)[protocol] }
    const authorization = via.authorization && Redacted.value(via.authorization)
    return {
      protocol: via.protocol,
      hostname: via.hostname,
      port: via.port,
      path: `http://${host}${path}`,
      headers: authorization === undefined ? [] : ["Proxy-Authorization", authorization],
      agent: this.#agents[via.protocol]
    }
  }

  /** Over one proxy, of which there are at most two. */
  #tunnelsOver(proxy: ForwardProxy): UpstreamAgents.Agents {
    const key = `${proxy.protocol}${proxy.hostname}:${proxy.port}`
    const { connectTimeoutMs } = this.#timeouts
    const agents = this.#tunnels.get(key) ?? UpstreamAgents.make(agentOptions, { proxy, connectTimeoutMs })
    this.#tunnels.set(key, agents)
    return agents
  }

  close(): void {
    for (const agents of [this.#agents, ...this.#tunnels.values()]) {
      for (const agent of Object.values(agents)) agent.destroy()
    }
  }
}

/** A request's target always begins with a slash. */
const pathOf = (base: string, rest: string): string => {
  const path = base + rest
  return path.startsWith("/") ? path : `/${path}`
}
