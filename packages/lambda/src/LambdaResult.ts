import { Buffer, isUtf8 } from "node:buffer"
import { STATUS_CODES } from "node:http"
import type { ResultFormat } from "./LambdaEvent.ts"

/** A function's result for an HTTP request. The fields depend on the gateway. */
export interface LambdaResult {
  statusCode: number
  /** Load balancers only, such as `200 OK`. */
  statusDescription?: string
  headers?: Record<string, string>
  multiValueHeaders?: Record<string, Array<string>>
  /** HTTP APIs and function URLs only. Each becomes a `Set-Cookie` header. */
  cookies?: Array<string>
  body: string
  /** Whether `body` is base64. A body that is valid UTF-8 is never encoded. */
  isBase64Encoded: boolean
}

const headersOf = (response: Response, format: ResultFormat["headers"]): Partial<LambdaResult> => {
  const lists: Record<string, Array<string>> = {}
  for (const [name, value] of response.headers) {
    // AWS manages the connection.
    if (name !== "connection") (lists[name] ??= []).push(value)
  }
  if (format === "multi") return { multiValueHeaders: lists }
  const { "set-cookie": cookies, ...others } = lists
  const selected = format === "cookies" || cookies === undefined ? others : lists
  const headers = Object.fromEntries(Object.entries(selected).map(([name, values]) => [name, values.at(-1)!]))
  return format === "cookies" && cookies !== undefined ? { headers, cookies } : { headers }
}

export const fromResponse = async (response: Response, format: ResultFormat): Promise<LambdaResult> => {
  const bytes = Buffer.from(await response.arrayBuffer())
  const isBase64Encoded = !isUtf8(bytes)
  return {
    statusCode: response.status,
    ...(format.hasStatusDescription
      ? { statusDescription: `${response.status} ${STATUS_CODES[response.status] ?? ""}` }
      : {}),
    ...headersOf(response, format.headers),
    body: bytes.toString(isBase64Encoded ? "base64" : "utf8"),
    isBase64Encoded
  }
}
