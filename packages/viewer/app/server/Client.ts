/** Calls of the interface, relative to the page: the pages are at `viewer/`, beside `api/`. */
import { ApiError, apiOver } from "@tachograph/client/api"
import * as Moments from "../text/Moments.ts"
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

/** The address of a path below `api/v1/`, whose parts are encoded here. */
export const urlOf = (parts: ReadonlyArray<string>): URL =>
  new URL(`../api/v1/${parts.map(encodeURIComponent).join("/")}`, document.baseURI)

export type Query = Readonly<Record<string, string | null | undefined>>

const times: ReadonlySet<string> = new Set(["after", "before"])

/** The parameters that are given: those that are null, undefined or empty are left out. Times that are words are those of now. */
export const given = (query: Query): Readonly<Record<string, never>> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === null || value === undefined || value === ""
        ? []
        : [[name, times.has(name) ? Moments.resolve(value) : value]]
    )
  ) as Readonly<Record<string, never>>

/** Where the key is known to open nothing. */
let onUnauthorized: () => void = () => {}
export const whenUnauthorized = (listener: () => void): void => void (onUnauthorized = listener)

const errorOf = async (response: Response): Promise<ServerError> => {
  const { body, retryAfterMs, status, type } = new ApiError(response.status, response.headers, await response.text())
  return new ServerError(status, type.startsWith("http-") ? "error" : type, {
    notBefore: retryAfterMs === undefined ? undefined : Date.now() + retryAfterMs,
    eventId: "event_id" in body ? body.event_id : undefined
  })
}

/** Rejects with a `ServerError`, or with what `signal` was aborted for. */
export const send = async (url: URL, init: RequestInit, key = Key.get()): Promise<Response> => {
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

/** Rejects as `send` does where another key opens nothing. */
export const check = (key: string): Promise<Response> => send(urlOf(["me"]), {}, key)

const unreadable = (status = 200) => new ServerError(status, "unreadable")

/** Every operation. Each rejects as `send` does, and with `unreadable`. */
export const api = apiOver(
  async ({ target, ...sent }, { signal = null }) => {
    const response = await send(new URL(`..${target}`, document.baseURI), { ...sent, signal })
    if (!/json/.test(response.headers.get("content-type") ?? "")) throw unreadable(response.status)
    return response
  },
  (text) => {
    try {
      return ExactJson.parse(text)
    } catch {
      throw unreadable()
    }
  }
)
