/**
 * Connections to upstreams that stay open, that take headers as they came, and that lose nothing which has arrived: neither where a write
 * has failed, because an upstream answers and closes before it has the whole request, nor where one resets the connection.
 */
import * as Redacted from "effect/Redacted"
import * as http from "node:http"
import * as https from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { ForwardProxy } from "./ForwardProxies.ts"

/** The errors of a write where the other end has closed the connection. What has arrived can still be read; then the reading ends. */
const isClosed = (error: NodeJS.ErrnoException): boolean => error.code === "EPIPE" || error.code === "ECONNRESET"

/** Sockets that nothing can be written to any more. */
const unwritable = new WeakSet<Duplex>()

type Callback = (error?: Error | null) => void

/** Discards what cannot be written, instead of destroying the socket, and with it an answer that has arrived. */
const readToItsEnd = (socket: Socket): Socket => {
  const { _write, _writev } = socket
  const discarding =
    (callback: Callback): Callback =>
    (error) => {
      if (!error || !isClosed(error)) return callback(error)
      unwritable.add(socket)
      callback()
    }
  socket._write = (chunk, encoding, callback) =>
    unwritable.has(socket) ? callback() : _write.call(socket, chunk, encoding, discarding(callback))
  socket._writev = (chunks, callback) =>
    unwritable.has(socket) ? callback() : _writev!.call(socket, chunks, discarding(callback))
  return socket
}

/**
 * Reads nothing while the socket is paused. Node would read on, up to a limit, and lose what it has read so if the other end then resets
 * the connection. The system does not lose what it still has.
 */
const resting = (socket: Socket): Socket => {
  const { _read, push } = socket
  let hasToRead = false
  socket._read = (size) => {
    if (socket.isPaused()) hasToRead = true
    else _read.call(socket, size)
  }
  // The answer says whether to read on.
  socket.push = (chunk, encoding) => push.call(socket, chunk, encoding) && !socket.isPaused()
  return socket.on("resume", () => {
    if (!hasToRead) return
    hasToRead = false
    _read.call(socket, 0)
  })
}

/** Why the proxy itself ended a request. */
export class UpstreamTimeout extends Error {
  override readonly name = "UpstreamTimeout"
  readonly code = "ETIMEDOUT"
}

/** A proxy did not connect to the upstream. */
class ForwardProxyFailed extends Error {
  override readonly name = "ForwardProxyFailed"
  readonly code: string

  /** `reason` is the status with which it refused, or the code of an error. */
  constructor(reason: string | number | undefined) {
    super("The proxy of the environment did not connect to the upstream")
    this.code = `PROXY_${reason ?? "FAILED"}`
  }
}

type Connected = (error: Error | null, socket?: Socket) => void

/** Asks a proxy for a connection to a host, and calls back once with it. */
const tunnel = (
  proxy: ForwardProxy,
  { host, port }: http.ClientRequestArgs,
  timeoutMs: number,
  done: Connected
): void => {
  const authority = `${String(host).includes(":") ? `[${host}]` : host}:${port}`
  const { authorization, hostname, protocol } = proxy
  const asked = (protocol === "https:" ? https : http).request({
    agent: false,
    hostname,
    port: proxy.port,
    method: "CONNECT",
    path: authority,
    headers: {
      host: authority,
      ...(authorization === undefined ? {} : { "proxy-authorization": Redacted.value(authorization) })
    }
  })
  const timer = setTimeout(
    () => asked.destroy(new UpstreamTimeout("The proxy of the environment took too long")),
    timeoutMs
  )
  const fail = (error: Error) => {
    clearTimeout(timer)
    done(error)
  }
  asked.once("error", (error: NodeJS.ErrnoException) =>
    fail(error instanceof UpstreamTimeout ? error : new ForwardProxyFailed(error.code))
  )
  asked.once("connect", ({ statusCode }, socket: Socket, head) => {
    if (statusCode! < 200 || statusCode! > 299) {
      socket.destroy()
      return fail(new ForwardProxyFailed(statusCode))
    }
    clearTimeout(timer)
    if (head.length > 0) socket.unshift(head)
    done(null, socket)
  })
  asked.end()
}

/** Where connections lead over a proxy, and how long it may take to connect. */
export interface Via {
  readonly proxy: ForwardProxy
  readonly connectTimeoutMs: number
}

const losingNothing = (agent: http.Agent, via: Via | undefined): http.Agent => {
  const { createConnection, keepSocketAlive } = agent
  const made = (socket: Socket): Socket => {
    // Node writes the headers of a request with `Expect` without saying their encoding, which is UTF-8 by default.
    socket.setDefaultEncoding("latin1")
    return resting(readToItsEnd(socket))
  }
  const isSecure = agent instanceof https.Agent
  return Object.assign(agent, {
    createConnection: (...[options, callback]: Parameters<typeof createConnection>) => {
      if (via === undefined) return made(createConnection.call(agent, options, callback) as Socket)
      const connected = callback as Connected
      tunnel(via.proxy, options, via.connectTimeoutMs, (error, socket) => {
        if (socket === undefined) return connected(error)
        const upper = isSecure
          ? (createConnection.call(agent, { ...options, socket } as typeof options) as Socket)
          : socket
        connected(null, made(upper))
      })
      return undefined
    },
    keepSocketAlive: (socket: Duplex) => !unwritable.has(socket) && keepSocketAlive.call(agent, socket)
  })
}

export type Agents = Readonly<Record<"http:" | "https:", http.Agent>>

/** Directly, or over a proxy. */
export const make = (options: http.AgentOptions, via?: Via): Agents => ({
  "http:": losingNothing(new http.Agent(options), via),
  "https:": losingNothing(new https.Agent(options), via)
})
