/** A provider and an application that speak over WebSockets, as a test says. */
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import { type ClientOptions, type RawData, type ServerOptions, WebSocket, WebSocketServer } from "ws"
import type { ProxyOptions } from "../../src/proxy/ProxyOptions.ts"
import { apiKey, opened } from "../Samples.ts"

export interface SocketUpstream {
  readonly url: string
  /** Requests for a WebSocket, as they came. */
  readonly requests: ReadonlyArray<IncomingMessage>
  /** Messages of the application, as texts. */
  readonly messages: ReadonlyArray<string>
  readonly server: WebSocketServer
}

/** Calls back with each message that an application sends. */
export const socketUpstream = async (
  answer: (socket: WebSocket, message: string) => void,
  options: ServerOptions = {}
): Promise<SocketUpstream> => {
  const http = createServer()
  const server = new WebSocketServer({ server: http, ...options })
  const requests: Array<IncomingMessage> = []
  const messages: Array<string> = []
  server.on("connection", (socket, request) => {
    requests.push(request)
    socket.on("error", () => {})
    socket.on("message", (data: RawData) => {
      messages.push(String(data))
      answer(socket, String(data))
    })
  })
  await once(http.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    http.close()
    http.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, requests, messages, server }
}

/** A proxy that passes WebSockets on to the upstream `local`. */
export const socketProxyTo = async (url: string, options: ProxyOptions = {}, maxBody?: number) => {
  const proxy = { upstreams: { local: url }, ...options }
  const tachograph = await opened({ proxy, ...(maxBody === undefined ? {} : { maxBody }) })
  const server = createServer(tachograph.node)
  server.on("upgrade", (request, socket, head) => tachograph.upgrade(request, socket, head) || socket.destroy())
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { tachograph, port }
}

export const withKey = { "x-tachograph-key": apiKey }

/** An application's end of a WebSocket, once it is open. */
export const connected = async (port: number, path: string, options: ClientOptions = { headers: withKey }) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, options)
  const received: Array<string> = []
  socket.on("message", (data: RawData) => received.push(String(data)))
  onTestFinished(() => socket.terminate())
  await once(socket, "open")
  socket.on("error", () => {})
  return { socket, received }
}
