/**
 * Calls every operation of a Tachograph. Needs nothing but `fetch`: it runs in a browser.
 *
 * `createApi({ url, apiKey }).getEvent({ event_id })`
 */
import { checkKey, checkUrl, serverOf } from "./Access.ts"
import { ApiError } from "./ApiError.ts"
import { type Operations, operations } from "./generated/Operations.ts"
import { parsedLines } from "./Lines.ts"

export interface ApiOptions {
  /** The server, such as `http://127.0.0.1:4400`, with the path below which it is mounted. In a page it may be a path alone. */
  readonly url: string
  /** Not needed where the host lets requests in by a rule of its own. */
  readonly apiKey?: string | undefined
  /** The global one by default. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

interface Operation {
  readonly input: object
  readonly answer: unknown
}

/** The input may be left out where nothing of it is required. */
type Arguments<Input, Options> = object extends Input
  ? [input?: Input, options?: Options]
  : [input: Input, options?: Options]

type Call<Of extends Operation, Options, Result> = (...args: Arguments<Of["input"], Options>) => Result

/** Rejects with an `ApiError` where the answer is no success. */
type Whole<Of extends Operation, Options> = Call<Of, Options, Promise<Of["answer"]>> & {
  /** The bytes that were recorded, of which `JSON.parse` may round numbers. */
  readonly text: Call<Of, Options, Promise<string>>
  /** The answer as it came. */
  readonly response: Call<Of, Options, Promise<Response>>
}

type Paged<Of, Options> = Of extends Operation & { readonly row: infer Row }
  ? {
      /** The rows of this page and all that follow, each page read when its rows are asked for. */
      readonly each: Call<Of, Options, AsyncIterable<Row>>
    }
  : unknown

type Streamed<Of, Options> = Of extends Operation & { readonly line: infer Line }
  ? {
      /** The values of an answer that comes as lines of JSON, each as it comes. */
      readonly lines: Call<Of, Options, AsyncIterable<Line>>
    }
  : unknown

export type Method<Of extends Operation, Options = CallOptions> = Whole<Of, Options> &
  Paged<Of, Options> &
  Streamed<Of, Options>

/** A method for each operation of the interface. */
export type Api<Options = CallOptions> = { readonly [Name in keyof Operations]: Method<Operations[Name], Options> }

type Body = NonNullable<RequestInit["body"]>

/** A request as it is sent. */
export interface Sent {
  readonly method: string
  /** The path with its query. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Record<string, string>
  readonly body?: Body
}

/** What is needed of an answer. A `Response` is one; another one makes a `Response` of itself where somebody asks for that. */
export interface Answered extends Pick<Response, "status" | "body" | "text"> {
  readonly headers: Pick<Headers, "get">
  readonly toResponse?: () => Response
}

/** Carries requests: over HTTP, or within a process. */
export type Send<Options = CallOptions> = (sent: Sent, options: Options) => Promise<Answered>

interface Entry {
  readonly method: string
  readonly path: string
  /** The key of a page's rows. */
  readonly rows?: string
  /** Fields of the input that are headers. */
  readonly headers?: ReadonlyArray<string>
  readonly bodyType?: string
  readonly hasLines?: boolean
  /** Whether the answer is neither JSON nor lines of it. */
  readonly isText?: boolean
}

type Input = Readonly<Record<string, unknown>>

const ndjson = "application/x-ndjson"

/** Not yet in the types of a page. */
const half = { duplex: "half" as const }

/** Streams and bytes are sent as they are, like texts. */
const isWritten = (body: unknown): body is Body =>
  typeof body !== "object" ||
  body instanceof ReadableStream ||
  body instanceof ArrayBuffer ||
  ArrayBuffer.isView(body) ||
  body instanceof Blob

/** What stands for a part of a path. Dots alone would lead to another path. */
const segmentOf = (name: string, value: unknown): string => {
  const text = value === undefined || value === null ? "" : String(value)
  if (/^\.{0,2}$|\p{Cs}/u.test(text)) {
    throw new TypeError(`${name}: expected a text that is not empty, . or .., without halves of characters`)
  }
  return encodeURIComponent(text)
}

const requestOf = ({ bodyType = "application/json", headers: names = [], method, path }: Entry, input: Input): Sent => {
  const headers: Record<string, string> = {}
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || name === "body" || path.includes(`{${name}}`)) continue
    if (names.includes(name)) headers[name.replaceAll("_", "-")] = String(value)
    else query.set(name, String(value))
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, input[name]))
  const target = query.size === 0 ? filled : `${filled}?${query}`
  const { body } = input
  if (body === undefined) return { method, target, headers }
  headers["content-type"] = bodyType
  return { method, target, headers, body: isWritten(body) ? body : JSON.stringify(body) }
}

const typeOf = ({ headers }: Answered): string => headers.get("content-type") ?? ""

const make = <Options>(entry: Entry, send: Send<Options>, parse: (text: string) => unknown) => {
  const ask = async (input: Input = {}, options = {} as Options, accept = "application/json") => {
    const sent = requestOf(entry, input)
    sent.headers["accept"] = `${accept}, */*;q=0.1`
    const answer = await send(sent, options)
    const isSuccess = answer.status >= 200 && answer.status <= 299
    const expected = accept === ndjson ? /^application\/x-ndjson\b/ : /^application\/(?:x-nd)?json\b/
    // A page to log in by is no success either.
    if (!isSuccess || (entry.isText !== true && !expected.test(typeOf(answer)))) {
      throw new ApiError(answer.status, answer.headers, await answer.text())
    }
    return answer
  }

  const call = async (input?: Input, options?: Options): Promise<unknown> => {
    const answer = await ask(input, options)
    const text = await answer.text()
    if (!/^application\/json\b/.test(typeOf(answer))) return text
    const value = parse(text)
    if (entry.rows === undefined || Array.isArray((value as Input | null)?.[entry.rows])) return value
    throw new ApiError(answer.status, answer.headers, text)
  }

  const each = async function* (input?: Input, options?: Options) {
    for (let cursor = input?.["cursor"]; cursor !== null;) {
      const page = (await call({ ...input, cursor }, options)) as Input
      yield* page[entry.rows!] as ReadonlyArray<unknown>
      // Without one, the first page would come again and again.
      cursor = page["next_cursor"] ?? null
    }
  }

  const lines = async function* (input?: Input, options?: Options) {
    const { body } = await ask(input, options, ndjson)
    if (body !== null) yield* parsedLines(body, parse)
  }

  return Object.assign(call, {
    text: async (input?: Input, options?: Options) => (await ask(input, options)).text(),
    response: async (input?: Input, options?: Options) => {
      const answer = await ask(input, options, entry.hasLines === true ? ndjson : undefined)
      return answer.toResponse?.() ?? answer
    },
    ...(entry.rows === undefined ? {} : { each }),
    ...(entry.hasLines === true ? { lines } : {})
  })
}

/** Calls the operations by `send`, and reads their answers by `parse`. */
export const apiOver = <Options = CallOptions>(
  send: Send<Options>,
  parse: (text: string) => unknown = JSON.parse
): Api<Options> => {
  const methods = Object.entries<Entry>(operations).map(([name, entry]) => [name, make(entry, send, parse)])
  return Object.fromEntries(methods) as unknown as Api<Options>
}

/** Throws a `TypeError` if the address or the key can never be sent. */
export const createApi = (options: ApiOptions): Api => {
  if (typeof options?.url !== "string" || !/^\s*(?:https?:\/\/|\/|$)/i.test(options.url)) {
    throw new TypeError("url: expected http://…, https://… or a path")
  }
  checkUrl(options.url)
  const { apiKey } = options
  if (apiKey !== undefined) checkKey(apiKey)
  const base = serverOf(options.url)
  return apiOver(({ target, ...sent }, { signal = null }) => {
    if (apiKey !== undefined) sent.headers["authorization"] = `Bearer ${apiKey}`
    const fetch = options.fetch ?? globalThis.fetch
    // A redirect could carry the key to another host.
    return fetch(base + target, { ...sent, ...half, signal, redirect: "manual" })
  })
}

/** All operations, each of which rejects with a `TypeError` of this message. */
export const unavailable = (message: string): Api => apiOver(() => Promise.reject(new TypeError(message)))
