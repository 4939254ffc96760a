import { Buffer } from "node:buffer"
import { preferredWait } from "@tachograph/router"
import type { HttpCall } from "./LambdaEvent.ts"

/** Converts a header value to Node's form, one character per byte. AWS decodes header values as UTF-8. */
const toBytes = (value: string): string => Buffer.from(value, "utf8").toString("latin1")

/** For so long a request waits for events at most: less than the 29 s after which API Gateway gives up. */
const maxWaitSeconds = 10

/**
 * What is preferred of a stream of events. The result of a function is one value: an answer without end is to end with what comes
 * first, or soon.
 */
const preferring = (prefer: string | null): string => {
  const wait = preferredWait(prefer ?? undefined) ?? maxWaitSeconds
  return `wait=${Math.min(wait, maxWaitSeconds)}`
}

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
  headers.set("prefer", preferring(headers.get("prefer")))
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
