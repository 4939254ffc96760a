/** Requests over `node:http`: hundreds of clients at once cost little, and a broken connection is told from an answer. */
import { Agent, type IncomingHttpHeaders, request } from "node:http"

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface Http {
  /** Fails where no whole answer came: the request may have been taken all the same. */
  readonly call: (
    method: string,
    path: string,
    body?: string,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Answer>
  readonly close: () => void
}

/** How long an answer is waited for, in milliseconds: longer than any that the server promises. */
const patience = 90_000

export const open = (url: string, key: string): Http => {
  const agent = new Agent({ keepAlive: true })
  return {
    call: (method, path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const bytes = body === undefined ? undefined : Buffer.from(body)
        const sending = request(
          new URL(path, url),
          {
            method,
            agent,
            signal: AbortSignal.timeout(patience),
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
        sending.on("error", reject)
        sending.end(bytes)
      }),
    close: () => agent.destroy()
  }
}
