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
  const call: Http["call"] = (method, path, body, headers = {}) =>
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
      // The server may close an idle connection while a request is on its way. A read can be sent again.
      const isStale = (error: Error) =>
        method === "GET" && outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET"
      outgoing.on("error", (error) => (isStale(error) ? resolve(call(method, path, body, headers)) : reject(error)))
      outgoing.end(bytes)
    })
  return { call, close: () => agent.destroy() }
}
