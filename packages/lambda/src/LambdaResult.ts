import { Buffer, isUtf8 } from "node:buffer"
import { STATUS_CODES } from "node:http"
import type { AnswerForm } from "./LambdaEvent.ts"

/** What a function answers an HTTP request with. Which fields are there depends on who asked. */
export interface LambdaResult {
  statusCode: number
  /** Load balancers only, such as `200 OK`. */
  statusDescription?: string
  headers?: Record<string, string>
  multiValueHeaders?: Record<string, Array<string>>
  /** HTTP APIs and function URLs only: each becomes a `Set-Cookie`. */
  cookies?: Array<string>
  body: string
  /** Whether `body` is base64 of what is to be sent. What is UTF-8 never is. */
  isBase64Encoded: boolean
}

const headersOf = (response: Response, form: AnswerForm["headers"]): Partial<LambdaResult> => {
  const lists: Record<string, Array<string>> = {}
  for (const [name, value] of response.headers) {
    // The connection is AWS's own.
    if (name !== "connection") (lists[name] ??= []).push(value)
  }
  if (form === "multi") return { multiValueHeaders: lists }
  const { "set-cookie": cookies, ...others } = lists
  const kept = form === "cookies" || cookies === undefined ? others : lists
  const headers = Object.fromEntries(Object.entries(kept).map(([name, values]) => [name, values.at(-1)!]))
  return form === "cookies" && cookies !== undefined ? { headers, cookies } : { headers }
}

export const fromResponse = async (response: Response, answer: AnswerForm): Promise<LambdaResult> => {
  const bytes = Buffer.from(await response.arrayBuffer())
  const isBase64Encoded = !isUtf8(bytes)
  return {
    statusCode: response.status,
    ...(answer.describesStatus
      ? { statusDescription: `${response.status} ${STATUS_CODES[response.status] ?? ""}` }
      : {}),
    ...headersOf(response, answer.headers),
    body: bytes.toString(isBase64Encoded ? "base64" : "utf8"),
    isBase64Encoded
  }
}
