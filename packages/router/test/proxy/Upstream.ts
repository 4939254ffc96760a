/** A provider on this machine: keeps every request as it came over the wire, and answers as a test says. */
import { once } from "node:events"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { type AddressInfo, createServer as createRawServer, type Socket } from "node:net"
import { onTestFinished } from "vitest"

interface Received {
  readonly method: string
  readonly url: string
  /** Names and values as they were sent. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Buffer
  readonly trailers: ReadonlyArray<string>
}

export interface Upstream {
  readonly url: string
  readonly port: number
  /** Complete requests, in order. */
  readonly received: ReadonlyArray<Received>
}

export const bodyOf = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

export const pairsOf = (rawHeaders: ReadonlyArray<string>) =>
  Array.from({ length: rawHeaders.length / 2 }, (_, at) => [rawHeaders[2 * at]!, rawHeaders[2 * at + 1]!] as const)

/** Listens until the end of the test. */
export const listen = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** Gets each connection once a request has begun on it, and writes what a test says. Returns its URL. */
export const rawUpstream = async (answer: (socket: Socket) => void): Promise<string> => {
  const server = createRawServer((socket) => void socket.on("error", () => {}).once("data", () => answer(socket)))
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Answers each complete request. */
export const upstream = async (
  answer: (response: ServerResponse, received: Received) => void | Promise<void>
): Promise<Upstream> => {
  const received: Array<Received> = []
  const port = await listen(async (message, response) => {
    const body = await bodyOf(message).catch(() => undefined)
    if (body === undefined) return
    const { method, rawHeaders, rawTrailers, url } = message
    const one = { method: method!, url: url!, headers: pairsOf(rawHeaders), body, trailers: rawTrailers }
    received.push(one)
    await answer(response, one)
  })
  return { url: `http://127.0.0.1:${port}`, port, received }
}
