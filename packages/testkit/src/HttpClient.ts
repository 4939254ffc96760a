/** The HTTP client of the suites: sends JSON and returns the status, headers, text and parsed body. */
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
  readonly text: string
  /** Undefined if the text is not JSON. */
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

/** Without a `key`, sends no `Authorization`. `basePath` is prepended to every path. */
export const make = (fetch: Fetch, key: string | undefined, basePath = ""): Client => {
  const call: Client["call"] = async (method, path, body, headers = {}) => {
    const request = new Request(`http://localhost${basePath}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...headers
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body) })
    })
    const response = await fetch(request)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parsed(text) }
  }
  return {
    call,
    get: (path) => call("GET", path),
    put: (path, body) => call("PUT", path, body),
    post: (path, body) => call("POST", path, body)
  }
}
