import type { Operations } from "./generated/Operations.ts"
import type { ValidationError } from "./generated/Types.ts"

type Body = Operations[keyof Operations]["error"]

/** The bodies of errors. That of a 422 has no type on the wire. */
export type ErrorBody = Exclude<Body, ValidationError> | (ValidationError & { readonly type: "validation-error" })

/** The errors that an operation answers. */
export type ErrorOf<Name extends keyof Operations> =
  | Exclude<Operations[Name]["error"], ValidationError>
  | Extract<ErrorBody, { type: "validation-error" }>

/** The type of a Tachograph's error, or, where something else has answered, `http-` and the status. */
export type ErrorType = ErrorBody["type"] | `http-${number}`

/** What `Retry-After` says, in seconds or as a date, in ms from now on. */
const retryAfterMsOf = (header: string | null): number | undefined => {
  if (header === null || header.trim() === "") return undefined
  const seconds = Number(header)
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

type BodyOf<Type extends ErrorType> = Type extends `http-${number}`
  ? { readonly type: Type }
  : Extract<ErrorBody, { type: Type }>

/** An answer that is no success. What `fetch` throws, such as for a connection that fails, is thrown as it is. */
export class ApiError<Type extends ErrorType = ErrorType> extends Error {
  override readonly name = "ApiError"
  /** Such as `event-not-found`, or `http-502` where something else than Tachograph has answered. */
  readonly type: Type
  readonly status: number
  /** What was answered. The type alone, where something else than a Tachograph has answered. */
  readonly body: BodyOf<Type>
  /** When to try again, in ms; undefined where the answer does not say it. */
  readonly retryAfterMs: number | undefined
  /** The id under which the server logs the request. */
  readonly requestId: string | undefined

  constructor(status: number, headers: Pick<Headers, "get">, text: string) {
    const body = bodyOf(status, text)
    super(`${status} ${body.type}${said(body)}`)
    this.status = status
    this.body = body as BodyOf<Type>
    this.type = body.type as Type
    this.retryAfterMs = retryAfterMsOf(headers.get("retry-after"))
    this.requestId = headers.get("x-request-id") ?? undefined
  }
}

interface AnyBody {
  readonly type: string
  readonly detail?: unknown
}

/** Others answer a list of details as well. */
const isProblem = (value: unknown): boolean => {
  const { loc, msg } = (value ?? {}) as Readonly<Record<string, unknown>>
  return Array.isArray(loc) && typeof msg === "string"
}

const bodyOf = (status: number, text: string): AnyBody => {
  try {
    const body = JSON.parse(text) as Partial<AnyBody> | null
    if (Array.isArray(body?.detail) && body.detail.every(isProblem)) return { type: "validation-error", ...body }
    if (typeof body?.type === "string" && body.detail === undefined) return body as AnyBody
  } catch {}
  return { type: `http-${status}` }
}

/** What is wrong with a request, in one line. */
const said = ({ detail }: AnyBody): string => {
  if (!Array.isArray(detail)) return ""
  const problems = (detail as ValidationError["detail"]).map(({ loc, msg }) => `${loc.join(".")}: ${msg}`)
  return `: ${problems.join("; ")}`
}

/** Whether an error is the answer of a Tachograph, of this type if one is given. */
export const isApiError = <Type extends ErrorType = ErrorType>(error: unknown, type?: Type): error is ApiError<Type> =>
  error instanceof ApiError && (type === undefined || error.type === type)
