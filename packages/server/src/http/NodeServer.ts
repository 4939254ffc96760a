/**
 * The `node:http` server of `tachograph serve`, with its limits. Requests that Node's parser rejects (malformed, too large,
 * too slow) are answered here with the same JSON as every other error, and the connection is closed.
 */
import { type IncomingMessage, Server, ServerResponse, STATUS_CODES } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
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
const respond = (socket: Duplex, status: number, type: string) => {
  const body = JSON.stringify({ type })
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\nx-content-type-options: nosniff\r\n\r\n${body}`
  )
  socket.end(() => socket.destroy())
}

const onClientError = (
  error: NodeJS.ErrnoException,
  socket: Duplex & { readonly _httpMessage?: { headersSent: boolean } }
) => {
  // A response that has begun cannot be replaced, and a broken connection cannot take one.
  if (!socket.writable || socket._httpMessage?.headersSent || error.code === "ECONNRESET") return socket.destroy()
  return respond(socket, ...(statuses[error.code ?? ""] ?? ([400, "bad-request"] as const)))
}

type Connection = Socket & { readonly _httpMessage?: ServerResponse | null }

/**
 * Node checks a response's `Content-Length` with a second, empty write, which costs as much as the first. The router writes
 * each response at once and with its true length, so the check is turned off.
 */
class UncheckedResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
Object.defineProperty(UncheckedResponse.prototype, "strictContentLength", { get: () => false, set: () => {} })

/** Responds to a request, or calls `next` to pass it to the `request` listeners. */
export type Front = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

class GracefulServer extends Server {
  readonly #connections = new Set<Connection>()
  front: Front = (_request, _response, next) => next()

  constructor({ maxConnections, maxHeaderBytes, requestTimeoutMs }: Limits) {
    super({
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
    this.#queueUntilReady()
  }

  override emit(event: string, ...args: Array<unknown>): boolean {
    if (event !== "request") return super.emit(event, ...args)
    const [request, response] = args as [IncomingMessage, ServerResponse]
    if (!this.listening) response.shouldKeepAlive = false
    this.front(request, response, () => super.emit(event, ...args))
    return true
  }

  /** A worker accepts connections before its routes exist: requests are queued until there is a `request` listener. */
  #queueUntilReady() {
    const queue: Array<[IncomingMessage, ServerResponse]> = []
    const enqueue = (...exchange: [IncomingMessage, ServerResponse]) => void queue.push(exchange)
    const drain = (event: string) => {
      if (event !== "request") return
      this.off("newListener", drain)
      this.off("request", enqueue)
      process.nextTick(() => queue.forEach((exchange) => this.emit("request", ...exchange)))
    }
    this.on("request", enqueue)
    this.on("newListener", drain)
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

  /** As `close`, but keeps idle connections open for one more request, which may already be in transit. */
  retire(callback: () => void): void {
    this.#disableKeepAlive()
    NetServer.prototype.close.call(this, callback)
  }
}

export type { GracefulServer }

export const make = (limits: Limits): GracefulServer => {
  const server = new GracefulServer(limits)
  server.on("clientError", onClientError)
  // CONNECT is answered like any other method that is not allowed.
  server.on("connect", (_request, socket: Duplex) => respond(socket, 405, "method-not-allowed"))
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const body = JSON.stringify({ type: "expectation-failed" })
    const headers = { connection: "close", "content-type": "application/json", "content-length": body.length }
    response.writeHead(417, headers).end(body)
  })
  return server
}
