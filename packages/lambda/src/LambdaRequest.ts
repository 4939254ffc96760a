import { Buffer } from "node:buffer"
import type { HttpCall } from "./LambdaEvent.ts"

/** As Node reads headers: a character for each byte. AWS reads them as UTF-8. */
const toBytes = (value: string): string => Buffer.from(value, "utf8").toString("latin1")

const events = new WeakMap<object, unknown>()

/**
 * The event that a request was made of. For a rule of your own, `authorize: ({ source }) => …`, when API Gateway has asked
 * an authorizer already: `requestContext.authorizer` holds what that found. Undefined where the request is another's.
 */
export const eventOf = (source: object): unknown => events.get(source)

/** Throws a `TypeError` where a header has a name or a value that no header can have. */
export const toRequest = ({ body, event, headers: pairs, method, target }: HttpCall): Request => {
  const headers = new Headers()
  for (const [name, value] of pairs) headers.append(name, toBytes(value))
  // Whoever was in front may have counted otherwise: in chunks, or before it undid an encoding.
  headers.delete("content-length")
  if (body !== undefined) headers.set("content-length", String(body.length))
  // A `Request` folds `..` out of its URL, refuses methods that node:http knows, and bodies of some that it takes itself.
  const request = new Request("http://localhost/", { method: "POST", headers, ...(body === undefined ? {} : { body }) })
  events.set(request, event)
  return Object.defineProperties(request, {
    method: { value: method },
    url: { value: `http://localhost${target}` }
  })
}
