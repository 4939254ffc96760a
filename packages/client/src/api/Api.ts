/**
 * Calls every operation of a Tachograph over HTTP. Needs nothing but `fetch`: it runs in a browser.
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
type Arguments<Input> = object extends Input
  ? [input?: Input, options?: CallOptions]
  : [input: Input, options?: CallOptions]

type Call<Of extends Operation, Result> = (...args: Arguments<Of["input"]>) => Result

/** Rejects with an `ApiError` where the answer is no success. */
type Whole<Of extends Operation> = Call<Of, Promise<Of["answer"]>> & {
  /** The answer as it came: `text()` has the bytes that were recorded, of which `JSON.parse` may round numbers. */
  readonly response: Call<Of, Promise<Response>>
}

type Paged<Of> = Of extends Operation & { readonly row: infer Row }
  ? {
      /** The rows of this page and all that follow, each page read when its rows are asked for. */
      readonly each: Call<Of, AsyncIterable<Row>>
    }
  : unknown

type Streamed<Of> = Of extends Operation & { readonly line: infer Line }
  ? {
      /** The values of an answer that comes as lines of JSON, each as it comes. */
      readonly lines: Call<Of, AsyncIterable<Line>>
    }
  : unknown

export type Method<Of extends Operation> = Whole<Of> & Paged<Of> & Streamed<Of>

/** A method for each operation of the interface. */
export type Api = { readonly [Name in keyof Operations]: Method<Operations[Name]> }

interface Entry {
  readonly method: string
  readonly path: string
  /** The key of a page's rows. */
  readonly rows?: string
  /** Fields of the input that are headers. */
  readonly headers?: ReadonlyArray<string>
  readonly bodyType?: string
  readonly hasLines?: boolean
}

type Body = NonNullable<RequestInit["body"]>

type Input = Readonly<Record<string, unknown>>

const ndjson = "application/x-ndjson"

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
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name}: expected a text that is not empty, . or ..`)
  return encodeURIComponent(text)
}

/** The target and the parts of a request. */
const requestOf = ({ bodyType = "application/json", headers: names = [], method, path }: Entry, input: Input) => {
  const { body, ...rest } = input
  const headers = new Headers()
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined || path.includes(`{${name}}`)) continue
    if (names.includes(name)) headers.set(name.replaceAll("_", "-"), String(value))
    else query.set(name, String(value))
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, input[name]))
  const target = query.size === 0 ? filled : `${filled}?${query}`
  if (body === undefined) return { target, headers, init: { method } }
  headers.set("content-type", bodyType)
  const written: Body = isWritten(body) ? body : JSON.stringify(body)
  return { target, headers, init: { method, body: written, duplex: "half" as const } }
}

const make = (entry: Entry, options: ApiOptions) => {
  const base = serverOf(options.url)
  const { apiKey } = options

  const response = async (input: Input = {}, { signal }: CallOptions = {}, accept = "application/json") => {
    const { headers, init, target } = requestOf(entry, input)
    if (apiKey !== undefined) headers.set("authorization", `Bearer ${apiKey}`)
    headers.set("accept", `${accept}, */*;q=0.1`)
    const fetch = options.fetch ?? globalThis.fetch
    // A redirect could carry the key to another host.
    const answer = await fetch(base + target, { ...init, headers, signal: signal ?? null, redirect: "manual" })
    if (!answer.ok) throw new ApiError(answer.status, answer.headers, await answer.text())
    return answer
  }

  const call = async (input?: Input, callOptions?: CallOptions): Promise<unknown> => {
    const answer = await response(input, callOptions)
    const isJson = /^application\/json\b/.test(answer.headers.get("content-type") ?? "")
    return isJson ? answer.json() : answer.text()
  }

  const each = async function* (input?: Input, callOptions?: CallOptions) {
    for (let cursor = input?.["cursor"]; cursor !== null;) {
      const page = (await call({ ...input, cursor }, callOptions)) as Input
      yield* page[entry.rows!] as ReadonlyArray<unknown>
      // Without one, the first page would come again and again.
      cursor = page["next_cursor"] ?? null
    }
  }

  const lines = async function* (input?: Input, callOptions?: CallOptions) {
    const { body } = await response(input, callOptions, ndjson)
    if (body !== null) yield* parsedLines(body)
  }

  return Object.assign(call, {
    response: (input?: Input, callOptions?: CallOptions) =>
      response(input, callOptions, entry.hasLines === true ? ndjson : undefined),
    ...(entry.rows === undefined ? {} : { each }),
    ...(entry.hasLines === true ? { lines } : {})
  })
}

/** Throws a `TypeError` if the address or the key can never be sent. */
export const createApi = (options: ApiOptions): Api => {
  if (typeof options?.url !== "string" || !/^\s*(?:https?:\/\/|\/|$)/i.test(options.url)) {
    throw new TypeError("url: expected http://…, https://… or a path")
  }
  checkUrl(options.url)
  if (options.apiKey !== undefined) checkKey(options.apiKey)
  const methods = Object.entries<Entry>(operations).map(([name, entry]) => [name, make(entry, options)])
  return Object.fromEntries(methods) as unknown as Api
}

/** All operations, each of which rejects with a `TypeError` of this message. */
export const unavailable = (message: string): Api =>
  createApi({ url: "http://unavailable.invalid", fetch: () => Promise.reject(new TypeError(message)) })
