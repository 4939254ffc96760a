/** A model provider on this machine: it answers as a test says, and keeps what it got. */
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterFile } from "../../../scripts/vitest/AfterFile.ts"

interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

export interface Provider {
  readonly url: string
  readonly requests: Array<ReceivedRequest>
  /** Answers the requests that follow. */
  answer: (response: ServerResponse, request: ReceivedRequest) => void | Promise<void>
  readonly close: () => Promise<void>
}

export const json =
  (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { "content-type": "application/json", "request-id": "r1", ...headers })
    response.end(typeof value === "string" ? value : JSON.stringify(value))
  }

/** Writes each chunk when the one before it has left. */
export const stream =
  (chunks: ReadonlyArray<string | Uint8Array>, type = "text/event-stream") =>
  async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { "content-type": type, "request-id": "r1" })
    for (const chunk of chunks) {
      await new Promise((resolve) => response.write(chunk, resolve))
      await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  }

/** Writes chunks, and does not end. */
export const begun =
  (chunks: ReadonlyArray<string>) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/event-stream", "request-id": "r1" })
    response.write(chunks.join(""))
  }

export const startProvider = async (): Promise<Provider> => {
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const { headers, method = "", url: path = "" } = request
      const received = { method, path, headers, body: Buffer.concat(parts).toString() }
      provider.requests.push(received)
      void provider.answer(response, received)
    })
    request.on("error", () => {})
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const provider: Provider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answer: json({}),
    close: async () => {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    }
  }
  afterFile(provider.close)
  return provider
}
