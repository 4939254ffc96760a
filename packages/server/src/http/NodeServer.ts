/**
 * The `node:http` server of `tachograph serve`, with its limits. Requests that Node's parser rejects (malformed, too large,
 * too slow) are answered here with the same JSON as every other error, and the connection is closed.
 */
import { Node } from "@tachograph/router"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type IncomingMessage, Server, ServerResponse, STATUS_CODES } from "node:http"
import { type AddressInfo, Server as NetServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"

export interface Limits {
  /** How long a client may take to send a request, headers and body (ms). */
  readonly requestTimeoutMs: number
  /** Largest request line and headers. */
  readonly maxHeaderBytes: number
  /** Concurrent connections. Further ones are closed immediately. */
  readonly maxConnections: number
}

/** How often request timeouts are checked (ms). A timeout fires up to this much late. */
const timeoutCheckMs = 1_000

/** How long an idle connection stays open (ms). */
const keepAliveMs = 5_000

/** How long a shutdown waits for requests in progress (ms). Less than the 10 s after which Docker sends SIGKILL. */
export const shutdownGraceMs = 8_000

/** By the error code of Node's parser. */
const statuses: Readonly<Record<string, readonly [status: number, type: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "headers-too-large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "request-timeout"]
}

/** Writes a response to a socket that has no `ServerResponse`, and closes it. */
const respond = (socket: Socket, status: number, type: string) => {
  const body = JSON.stringify({ type })
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\nx-content-type-options: nosniff\r\n\r\n${body}`
  )
  socket.end(() => socket.destroy())
}

/** `_httpMessage` is the response that is written now. Those behind it follow one after the other. */
type Connection = Socket & { readonly _httpMessage?: ServerResponse | null }

/** Connections whose last response, a refusal, is due. */
const refused = new WeakSet<Connection>()

/** Refuses what came last, once all requests before it are answered: their clients would take the refusal for their answer. */
const refuseInTurn = (socket: Connection, status: number, type: string): void => {
  if (refused.has(socket)) return
  refused.add(socket)
  const refuse = (): void => {
    const current = socket._httpMessage
    if (current?.req.complete === true && !socket.destroyed) return void current.once("close", refuse)
    // A response that has begun cannot be replaced, and a broken connection cannot take one.
    if (!socket.writable || current?.headersSent === true) return void socket.destroy()
    respond(socket, status, type)
  }
  refuse()
}

const onClientError = (error: NodeJS.ErrnoException, socket: Connection) => {
  // A body of any length, which is answered or passed on as it comes. The server says it once.
  const response = socket._httpMessage
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && response && Node.isLive(response)) return
  if (error.code === "ECONNRESET") return socket.destroy()
  return refuseInTurn(socket, ...(statuses[error.code ?? ""] ?? ([400, "bad-request"] as const)))
}

/**
 * CONNECT is answered like any other method that is not allowed. Node lets go of a connection with it: what the responses before it need
 * of the connection is done here.
 */
const onConnect = (_request: IncomingMessage, socket: Connection) => {
  socket.on("error", () => socket.destroy())
  // What comes after it is no request any more.
  socket.resume()
  socket.on("drain", () => {
    const response = socket._httpMessage
    if (response?.writableNeedDrain === true) response.emit("drain")
  })
  refuseInTurn(socket, 405, "method-not-allowed")
}

/**
 * Node checks a response's `Content-Length` with a second, empty write, which costs as much as the first. The router writes
 * each response at once and with its true length, so the check is turned off.
 */
class UncheckedResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
Object.defineProperty(UncheckedResponse.prototype, "strictContentLength", { get: () => false, set: () => {} })

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

/** Takes requests for a WebSocket. All others are requests like any. */
export interface Sockets {
  readonly asksForSocket: (request: IncomingMessage) => boolean
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
}

/** A WebSocket that is asked for while another answer is due on the connection is refused in its turn, as a request. */
const isFree = ({ socket }: IncomingMessage): boolean => !(socket as Connection)._httpMessage

class GracefulServer extends Server {
  readonly #connections = new Set<Connection>()

  constructor({ maxConnections, maxHeaderBytes, requestTimeoutMs }: Limits, sockets: Sockets | undefined) {
    super({
      ...(sockets === undefined
        ? {}
        : { shouldUpgradeCallback: (request: IncomingMessage) => sockets.asksForSocket(request) && isFree(request) }),
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: timeoutCheckMs,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: maxHeaderBytes,
      ServerResponse: UncheckedResponse,
      // The router checks the Host header, and responds with its own JSON error.
      requireHostHeader: false
    })
    this.maxConnections = maxConnections
    this.on("connection", (socket: Connection) => {
      this.#connections.add(socket)
      socket.once("close", () => this.#connections.delete(socket))
    })
  }

  /** Closes each busy connection after its current response: a client that is never idle would keep it open forever. */
  #disableKeepAlive() {
    for (const { _httpMessage: response } of this.#connections) {
      if (response && !response.headersSent) response.shouldKeepAlive = false
    }
  }

  override close(callback?: (error?: Error) => void): this {
    this.#disableKeepAlive()
    return super.close(callback)
  }

  /** Also those that Node has let go of. */
  override closeAllConnections(): void {
    super.closeAllConnections()
    for (const socket of this.#connections) socket.destroy()
  }

  /** As `close`, but keeps idle connections open for one more request, which may already be in transit. */
  retire(callback: () => void): void {
    this.#disableKeepAlive()
    NetServer.prototype.close.call(this, callback)
  }
}

export type { GracefulServer }

/** A server whose requests `handler` answers, with or without `Expect: 100-continue`. */
export const make = (limits: Limits, handler: RequestHandler, sockets?: Sockets): GracefulServer => {
  const server = new GracefulServer(limits, sockets)
  // Older versions of Node would take every offer, also one of HTTP/2 that a request with a body makes.
  if (sockets !== undefined && "shouldUpgradeCallback" in server) server.on("upgrade", sockets.upgrade)
  const onRequest: RequestHandler = (request, response) => {
    // The server is closing.
    if (!server.listening) response.shouldKeepAlive = false
    handler(request, response)
  }
  server.on("request", onRequest)
  // The handler sends the response 100 when it reads the body.
  server.on("checkContinue", onRequest)
  server.on("clientError", onClientError)
  server.on("connect", onConnect)
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const body = JSON.stringify({ type: "expectation-failed" })
    const headers = {
      connection: "close",
      "content-type": "application/json",
      "content-length": body.length,
      "x-content-type-options": "nosniff"
    }
    response.writeHead(417, headers).end(body)
  })
  return server
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Connections that the system holds until they are accepted. */
  readonly backlog: number
}

export interface Address {
  readonly port: number
  readonly url: string
}

const addressOf = (server: Server): Address => {
  const { address, family, port } = server.address() as AddressInfo
  return { port, url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}` }
}

/**
 * Listens until the scope is closed. Closing it stops accepting connections, waits for the requests in progress for at most
 * the grace period, and then closes the connections that are left, after `onDeadline`.
 */
export const listen = (
  server: GracefulServer,
  options: ListenOptions,
  onDeadline: () => void = () => {}
): Effect.Effect<Address, NodeJS.ErrnoException, Scope.Scope> => {
  const open = Effect.callback<Address, NodeJS.ErrnoException>((resume) => {
    const fail = (error: NodeJS.ErrnoException) => resume(Effect.fail(error))
    server.once("error", fail)
    server.listen(options, () => {
      server.off("error", fail)
      resume(Effect.sync(() => addressOf(server)))
    })
  })
  const close = Effect.callback<void>((resume) => {
    if (!server.listening) return resume(Effect.void)
    const timer = setTimeout(() => {
      onDeadline()
      server.closeAllConnections()
    }, shutdownGraceMs)
    server.close(() => {
      clearTimeout(timer)
      resume(Effect.void)
    })
  })
  return Effect.acquireRelease(open, () => close)
}
