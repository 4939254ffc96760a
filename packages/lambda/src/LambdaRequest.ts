import { Buffer } from "node:buffer"
import type { HttpCall } from "./LambdaEvent.ts"

/** Converts a header value to Node's form, one character per byte. AWS decodes header values as UTF-8. */
const toBytes = (value: string): string => Buffer.from(value, "utf8").toString("latin1")

/** For so long a stream of events waits for the first ones. */
const maxWaitSeconds = 10

const events = new WeakMap<object, unknown>()

/**
 * The Lambda event of a request, for `authorize: ({ source }) => …` behind an API Gateway authorizer: its result is in
 * `requestContext.authorizer`. Undefined if the request was not made from a Lambda event.
 */
export const eventOf = (source: object): unknown => events.get(source)

/** Throws a `TypeError` on an invalid header name or value. */
export const toRequest = ({ body, event, headers: pairs, method, target }: HttpCall): Request => {
  const headers = new Headers()
  for (const [name, value] of pairs) headers.append(name, toBytes(value))
  // The result of a function is one value: an answer without end is to end with what comes first.
  if (!headers.has("prefer")) headers.set("prefer", `wait=${maxWaitSeconds}`)
  // The gateway may have decoded the body, so its Content-Length may be wrong.
  headers.delete("content-length")
  if (body !== undefined) headers.set("content-length", String(body.length))
  // `Request` normalizes `..` in URLs, and rejects methods and bodies that node:http allows: set both afterwards.
  const request = new Request("http://localhost/", { method: "POST", headers, ...(body === undefined ? {} : { body }) })
  events.set(request, event)
  return Object.defineProperties(request, {
    method: { value: method },
    url: { value: `http://localhost${target}` }
  })
}
