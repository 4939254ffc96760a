/** A Tachograph behind HTTP that can be away, or answer what a test says. */
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterFile } from "../../../scripts/vitest/AfterFile.ts"
import { eventsOf, openTachograph, type RecordedCall } from "./Recording.ts"

export const apiKey = "a key of at least twenty characters"

/** Whether it has answered the request itself. */
type Interception = (request: IncomingMessage, response: ServerResponse) => boolean

export interface Server {
  readonly url: string
  /** Looks at each request first. */
  intercept: Interception
  readonly requests: Array<{ readonly path: string; readonly headers: IncomingMessage["headers"] }>
  readonly events: () => Promise<ReadonlyArray<RecordedCall>>
}

export const refuse =
  (status: number, type: string, headers: Readonly<Record<string, string>> = {}): Interception =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify({ type }))
    return true
  }

/** Lets each interception answer one recorded event, and then none. */
export const script = (...interceptions: ReadonlyArray<Interception>): Interception => {
  const left = [...interceptions]
  return (request, response) => request.url === "/api/v1/events" && (left.shift()?.(request, response) ?? false)
}

export const startServer = async (): Promise<Server> => {
  const tachograph = await openTachograph([apiKey])
  const http = createServer((request, response) => {
    const { headers, url: path = "" } = request
    server.requests.push({ path, headers })
    if (server.intercept(request, response)) request.resume()
    else tachograph.node(request, response)
  })
  http.listen(0, "127.0.0.1")
  await once(http, "listening")
  afterFile(() => {
    http.closeAllConnections()
    http.close()
  })
  const server: Server = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    intercept: () => false,
    requests: [],
    events: () => eventsOf(tachograph)
  }
  return server
}
