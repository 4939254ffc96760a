/** An HTTP client on `node:http`: cheap for hundreds of clients, and it distinguishes a broken connection from a response. */
import { Agent, type IncomingHttpHeaders, request } from "node:http"

interface Response {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface Http {
  /** Rejects without a complete response. The server may have processed the request nevertheless. */
  readonly call: (
    method: string,
    path: string,
    body?: string,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Response>
  readonly close: () => void
}

/** Response timeout (ms): longer than any timeout of the server. */
const timeoutMs = 90_000

export const open = (url: string, key: string): Http => {
  const agent = new Agent({ keepAlive: true })
  return {
    call: (method, path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const bytes = body === undefined ? undefined : Buffer.from(body)
        const outgoing = request(
          new URL(path, url),
          {
            method,
            agent,
            signal: AbortSignal.timeout(timeoutMs),
            headers: {
              authorization: `Bearer ${key}`,
              ...(bytes === undefined ? {} : { "content-type": "application/json", "content-length": bytes.length }),
              ...headers
            }
          },
          (response) => {
            const chunks: Array<Buffer> = []
            response.on("data", (chunk: Buffer) => chunks.push(chunk))
            response.on("error", reject)
            response.on("end", () =>
              resolve({
                status: response.statusCode!,
                headers: response.headers,
                text: Buffer.concat(chunks).toString()
              })
            )
          }
        )
        outgoing.on("error", reject)
        outgoing.end(bytes)
      }),
    close: () => agent.destroy()
  }
}
