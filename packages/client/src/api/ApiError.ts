import type { Operations } from "./generated/Operations.ts"
import type { ValidationError } from "./generated/Types.ts"

type Body = Operations[keyof Operations]["error"]

/** The bodies of errors. That of a 422 has no type on the wire. */
export type ErrorBody = Exclude<Body, ValidationError> | (ValidationError & { readonly type: "validation-error" })

/** The errors that an operation answers. */
export type ErrorOf<Name extends keyof Operations> =
  | Exclude<Operations[Name]["error"], ValidationError>
  | Extract<ErrorBody, { type: "validation-error" }>

export type ErrorType = ErrorBody["type"]

/** An answer that is no success. What `fetch` throws, such as for a connection that fails, is thrown as it is. */
export class ApiError<Type extends ErrorType = ErrorType> extends Error {
  override readonly name = "ApiError"
  /** Such as `event-not-found`: one of `ErrorType`, or `http-502` where something else than Tachograph has answered. */
  readonly type: Type
  readonly status: number
  readonly body: Extract<ErrorBody, { type: Type }>
  /** When to try again, in ms; undefined where the answer does not say it. */
  readonly retryAfterMs: number | undefined
  /** The id under which the server logs the request. */
  readonly requestId: string | undefined

  constructor(status: number, headers: Headers, text: string) {
    const body = bodyOf(status, text)
    super(`${status} ${body.type}${said(body)}`)
    this.status = status
    this.body = body as Extract<ErrorBody, { type: Type }>
    this.type = body.type as Type
    const seconds = Number(headers.get("retry-after") ?? Number.NaN)
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined
    this.requestId = headers.get("x-request-id") ?? undefined
  }
}

interface AnyBody {
  readonly type: string
  readonly detail?: unknown
}

const bodyOf = (status: number, text: string): AnyBody => {
  try {
    const body = JSON.parse(text) as Partial<AnyBody> | null
    if (Array.isArray(body?.detail)) return { type: "validation-error", ...body }
    if (typeof body?.type === "string") return body as AnyBody
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
