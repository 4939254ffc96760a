/** Calls of the API, relative to the page: the pages are at `viewer/`, beside `api/`. */
import * as ExactJson from "./ExactJson.ts"
import * as Key from "./Key.ts"

/** An answer that is an error or no JSON (`unreadable`), or no answer at all (`offline`). */
export class ServerError extends Error {
  readonly status: number
  /** The error's `type` on the wire: `docs/errors.md` of the server lists them. */
  readonly type: string
  /** When the server wants to be asked again at the earliest (epoch ms). */
  readonly notBefore: number | undefined
  /** The event that the error is about. */
  readonly eventId: string | undefined
  constructor(
    status: number,
    type: string,
    { eventId, notBefore }: { readonly notBefore?: number | undefined; readonly eventId?: string | undefined } = {}
  ) {
    super(`${status} ${type}`)
    this.status = status
    this.type = type
    this.notBefore = notBefore
    this.eventId = eventId
  }

  /** Whether the same question may be answered later. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

export const toError = (error: unknown): ServerError =>
  error instanceof ServerError ? error : new ServerError(0, "offline")

type Value = string | number | boolean | null | undefined
export type Query = Readonly<Record<string, Value>>

/** A path below `api/v1/`, whose parts are encoded. Parameters that are null, undefined or empty are left out. */
export const urlOf = (parts: ReadonlyArray<string>, query: Query = {}): URL => {
  const url = new URL(`../api/v1/${parts.map(encodeURIComponent).join("/")}`, document.baseURI)
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, String(value))
  }
  return url
}

/** Where the key is known to open nothing. */
let onUnauthorized: () => void = () => {}
export const whenUnauthorized = (listener: () => void): void => void (onUnauthorized = listener)

const errorOf = async (response: Response): Promise<ServerError> => {
  const body = (await response.json().catch(() => undefined)) as
    | { readonly type?: unknown; readonly event_id?: unknown }
    | undefined
  const untyped = response.status === 422 ? "validation-error" : "error"
  const type = typeof body?.type === "string" ? body.type : untyped
  const seconds = Number(response.headers.get("retry-after") ?? NaN)
  return new ServerError(response.status, type, {
    notBefore: seconds > 0 ? Date.now() + 1_000 * seconds : undefined,
    eventId: typeof body?.event_id === "string" ? body.event_id : undefined
  })
}

/** Rejects with a `ServerError`, or with what `signal` was aborted for. */
export const send = async (url: URL, init: RequestInit = {}): Promise<Response> => {
  const key = Key.get()
  const headers = new Headers(init.headers)
  if (key !== undefined) headers.set("authorization", `Bearer ${key}`)
  let response: Response
  try {
    response = await fetch(url, { ...init, headers, cache: "no-store" })
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw new ServerError(0, "offline")
  }
  if (response.ok) return response
  // An answer to the key before says nothing of the one that was entered since.
  if (response.status === 401 && key === Key.get()) onUnauthorized()
  throw await errorOf(response)
}

export const get = async <A>(
  parts: ReadonlyArray<string>,
  query: Query = {},
  signal: AbortSignal | undefined = undefined
): Promise<A> => {
  const response = await send(urlOf(parts, query), signal === undefined ? {} : { signal })
  const text = await response.text()
  try {
    return ExactJson.parse(text) as A
  } catch {
    throw new ServerError(response.status, "unreadable")
  }
}
