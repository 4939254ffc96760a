/** The HTTP client of the suites: sends JSON and returns the status, headers, text and parsed body. */
import { Agent, request } from "node:http"

export type Fetch = (request: Request) => Promise<Response>

/** Returns a `fetch` that sends requests to the server at `url`, whatever host they name. */
export const at =
  (url: string): Fetch =>
  async (request) => {
    const { pathname, search } = new URL(request.url)
    return fetch(`${url}${pathname}${search}`, {
      method: request.method,
      headers: request.headers,
      signal: request.signal,
      ...(request.body === null ? {} : { body: await request.arrayBuffer() })
    })
  }

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  /** The bytes as UTF-8. */
  readonly text: string
  /** The parsed text; undefined if it is not JSON. */
  readonly body: any
}

export interface Client {
  /** Sends strings and bytes unchanged, other bodies as JSON. */
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>
  readonly get: (path: string) => Promise<Answer>
  readonly put: (path: string, body: unknown) => Promise<Answer>
  readonly post: (path: string, body: unknown) => Promise<Answer>
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text is decoded and parsed when it is first asked for: many tests compare bytes, or only the status. */
const answer = (status: number, headers: Headers, bytes: Buffer): Answer => {
  let text: string | undefined
  let body: { readonly value: unknown } | undefined
  return {
    status,
    headers,
    bytes,
    get text() {
      return (text ??= bytes.toString())
    },
    get body() {
      return (body ??= { value: parsed(this.text) }).value
    }
  }
}

type Send = (
  method: string,
  path: string,
  body: string | Uint8Array | undefined,
  headers: Record<string, string>
) => Promise<Answer>

const client = (send: Send, key: string | undefined): Client => {
  const call: Client["call"] = (method, path, body, headers = {}) =>
    send(
      method,
      path,
      body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...headers
      }
    )
  return {
    call,
    get: (path) => call("GET", path),
    put: (path, body) => call("PUT", path, body),
    post: (path, body) => call("POST", path, body)
  }
}

/** Without a `key`, sends no `Authorization`. `basePath` is prepended to every path. */
export const make = (fetch: Fetch, key: string | undefined, basePath = ""): Client =>
  client(async (method, path, body, headers) => {
    const sent = body === undefined ? {} : { body: body as BodyInit }
    const response = await fetch(new Request(`http://localhost${basePath}${path}`, { method, headers, ...sent }))
    return answer(response.status, response.headers, Buffer.from(await response.arrayBuffer()))
  }, key)

/**
 * How long an unused connection is kept, in ms: far below the time after which a server closes it, which a busy client would
 * not see before it sends the next request.
 */
const idleMs = 1_000

/**
 * A client of the server at `url` over `node:http`, which takes a third of the CPU time of `fetch`. Keeps its connections open
 * and uses them in turn; a request with `connection: close` has its own.
 */
export const open = (url: string, key: string | undefined): Client => {
  const agent = new Agent({ keepAlive: true, scheduling: "fifo", timeout: idleMs })
  const { hostname, port } = new URL(url)
  return client(
    (method, path, body, headers) =>
      new Promise((resolve, reject) => {
        const { pathname, search } = new URL(url + path)
        const connection = headers["connection"] === "close" ? false : agent
        // Node sends the length of a body with POST and PUT only.
        const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
        const sent = { ...length, ...headers }
        const options = { agent: connection, hostname, port, method, path: pathname + search, headers: sent }
        request(options, (response) => {
          const chunks: Array<Buffer> = []
          response.on("data", (chunk: Buffer) => chunks.push(chunk))
          response.on("error", reject)
          response.once("end", () => {
            const pairs = Object.entries(response.headersDistinct)
            const received = new Headers(pairs.flatMap(([name, values = []]) => values.map((value) => [name, value])))
            resolve(answer(response.statusCode!, received, Buffer.concat(chunks)))
          })
        })
          .on("error", reject)
          .end(body)
      }),
    key
  )
}
