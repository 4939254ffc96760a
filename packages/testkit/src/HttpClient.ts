/** Requests for the suites: JSON in, status, headers, text and parsed body out. */
export type Fetch = (request: Request) => Promise<Response>

/** Sends requests to a server, wherever they say they go. */
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
  /** Undefined where the body is no JSON. */
  readonly body: any
}

export interface Client {
  /** Strings and bytes are sent as they are, anything else as JSON. */
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

/** `key` undefined sends no `Authorization`. `basePath` goes before every path. */
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
