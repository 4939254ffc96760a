/**
 * The `node:http` server behind `tachograph serve`, with its limits. What is wrong with a request before it is one (its
 * framing, its size, its pace) is answered here, in the form of every other error, and its connection is closed.
 */
import { type IncomingMessage, Server, ServerResponse, STATUS_CODES } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"

export interface Limits {
  /** How long a client may take to send a request, headers and body, in milliseconds. */
  readonly requestTimeout: number
  /** Bytes of a request's line and headers. */
  readonly maxHeader: number
  /** Connections at once; further ones are closed as they come. */
  readonly maxConnections: number
}

/** How often slow requests are looked for, in milliseconds: they end this much late at most. */
const checkEvery = 1_000

/** How long an idle connection is kept for its next request, in milliseconds. */
const keepAlive = 5_000

/** How long requests under way are waited for when the server ends, in milliseconds. Whoever starts servers kills later. */
export const grace = 8_000

const complaints: Readonly<Record<string, readonly [status: number, type: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "headers-too-large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "request-timeout"]
}

/** Writes an answer by hand, where there is no request to answer, and closes. */
const respond = (socket: Duplex, status: number, type: string) => {
  const body = JSON.stringify({ type })
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\nx-content-type-options: nosniff\r\n\r\n${body}`
  )
  socket.end(() => socket.destroy())
}

const refuse = (
  error: NodeJS.ErrnoException,
  socket: Duplex & { readonly _httpMessage?: { headersSent: boolean } }
) => {
  // What was begun cannot be taken back; and to a connection that is gone there is nothing to say.
  if (!socket.writable || socket._httpMessage?.headersSent || error.code === "ECONNRESET") return socket.destroy()
  return respond(socket, ...(complaints[error.code ?? ""] ?? ([400, "bad-request"] as const)))
}

type Connection = Socket & { readonly _httpMessage?: ServerResponse | null }

/**
 * Node holds an answer against the length that it announces by a second, empty write, which costs as much as the first.
 * Ours come whole, with the length that they have.
 */
class Answer<Request extends IncomingMessage> extends ServerResponse<Request> {}
Object.defineProperty(Answer.prototype, "strictContentLength", { get: () => false, set: () => {} })

/** Answers a request before whatever listens for it, or calls `next`. */
export type Front = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

class GracefulServer extends Server {
  readonly #connections = new Set<Connection>()
  front: Front = (_request, _response, next) => next()

  constructor({ maxConnections, maxHeader, requestTimeout }: Limits) {
    super({
      requestTimeout,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: checkEvery,
      keepAliveTimeout: keepAlive,
      maxHeaderSize: maxHeader,
      ServerResponse: Answer,
      // The router looks for it, and answers in its own form.
      requireHostHeader: false
    })
    this.maxConnections = maxConnections
    this.on("connection", (socket: Connection) => {
      this.#connections.add(socket)
      socket.once("close", () => this.#connections.delete(socket))
    })
    this.#holdEarly()
  }

  override emit(event: string, ...args: Array<unknown>): boolean {
    if (event !== "request") return super.emit(event, ...args)
    const [request, response] = args as [IncomingMessage, ServerResponse]
    if (!this.listening) response.shouldKeepAlive = false
    this.front(request, response, () => super.emit(event, ...args))
    return true
  }

  /** Workers are connected to before they have their routes: what comes so early waits for them. */
  #holdEarly() {
    const early: Array<[IncomingMessage, ServerResponse]> = []
    const hold = (...exchange: [IncomingMessage, ServerResponse]) => void early.push(exchange)
    const release = (event: string) => {
      if (event !== "request") return
      this.off("newListener", release)
      this.off("request", hold)
      process.nextTick(() => early.forEach((exchange) => this.emit("request", ...exchange)))
    }
    this.on("request", hold)
    this.on("newListener", release)
  }

  /** From here on an answer is its connection's last: clients that are never idle would hold theirs open. */
  #answerLast() {
    for (const { _httpMessage: response } of this.#connections) {
      if (response && !response.headersSent) response.shouldKeepAlive = false
    }
  }

  override close(callback?: (error?: Error) => void): this {
    this.#answerLast()
    return super.close(callback)
  }

  /** As `close`, but leaves idle connections be, over which a request may be on its way; each may bring one more. */
  retire(callback: () => void): void {
    this.#answerLast()
    NetServer.prototype.close.call(this, callback)
  }
}

export type { GracefulServer }

export const make = (limits: Limits): GracefulServer => {
  const server = new GracefulServer(limits)
  server.on("clientError", refuse)
  // No proxy: a tunnel is a method like others that are not taken.
  server.on("connect", (_request, socket: Duplex) => respond(socket, 405, "method-not-allowed"))
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const body = JSON.stringify({ type: "expectation-failed" })
    const headers = { connection: "close", "content-type": "application/json", "content-length": body.length }
    response.writeHead(417, headers).end(body)
  })
  return server
}
