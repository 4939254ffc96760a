/**
 * Reads the events of AWS's HTTP gateways into one form. Each gateway encodes path and query differently:
 *
 * | gateway | path | query |
 * | --- | --- | --- |
 * | REST API | as sent, without the stage | decoded |
 * | HTTP API, payload 1.0 | decoded, with the stage on AWS's own domain | decoded |
 * | HTTP API, payload 2.0 | decoded, with the stage unless it is `$default` | as sent |
 * | function URL | as sent | as sent |
 * | load balancer | as sent | as sent, split into names and values |
 */
import { Buffer } from "node:buffer"

/** A request from any gateway. */
export interface HttpCall {
  readonly method: string
  /** The percent-encoded path, and the query. */
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Uint8Array<ArrayBuffer> | undefined
  /** The original event. */
  readonly event: unknown
  /** The format of the result that the gateway expects. */
  readonly resultFormat: ResultFormat
}

/** `single`: one value per header. `multi`: a list per header. `cookies`: as `single`, with a separate list of cookies. */
export interface ResultFormat {
  readonly headers: "single" | "multi" | "cookies"
  /** Load balancers expect a `statusDescription`. */
  readonly hasStatusDescription: boolean
}

/** The event is not an HTTP request, but e.g. from a schedule, a queue or the console's test button. */
export class UnknownEventError extends Error {
  override readonly name = "UnknownEventError"
  readonly type = "unknown-event"
  constructor() {
    super(
      "The event is not an HTTP request from API Gateway, a function URL or a load balancer. " +
        "Invoke the function through one of them."
    )
  }
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** The names and values of a map whose values are strings, lists of strings, or missing. */
const pairsOf = (map: unknown): Array<readonly [name: string, value: string]> =>
  Object.entries(fieldsOf(map)).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => (typeof value === "string" ? [[name, value] as const] : []))
  )

/** Percent-encodes a decoded path. A `%2F` was decoded to a slash and cannot be restored. */
const encodePath = (path: string): string => path.toWellFormed().split("/").map(encodeURIComponent).join("/")

const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed())

const join = (pairs: ReadonlyArray<readonly [name: string, value: string]>): string =>
  pairs.map(([name, value]) => `${name}=${value}`).join("&")

const withoutStage = (path: string, { stage }: Fields): string => {
  const prefix = `/${textOf(stage)}`
  return prefix !== "/" && `${path}/`.startsWith(`${prefix}/`) ? path.slice(prefix.length) || "/" : path
}

const isOwnDomain = ({ domainName }: Fields): boolean => textOf(domainName).includes(".execute-api.")

const isFunctionUrl = ({ domainName }: Fields): boolean => textOf(domainName).includes(".lambda-url.")

type Head = Pick<HttpCall, "method" | "target" | "headers" | "resultFormat">

const targetOf = (path: string, query: string): string => path + (query === "" ? "" : `?${query}`)

/** HTTP APIs and function URLs. */
const readVersion2 = (event: Fields, context: Fields): Head => {
  const path = textOf(event.rawPath)
  const cookies = pairsOf({ cookie: event.cookies }).map(([, cookie]) => cookie)
  return {
    method: textOf(fieldsOf(context.http).method),
    target: targetOf(
      isFunctionUrl(context) ? path : encodePath(withoutStage(path, context)),
      textOf(event.rawQueryString)
    ),
    headers: [...pairsOf(event.headers), ...(cookies.length > 0 ? [["cookie", cookies.join("; ")] as const] : [])],
    resultFormat: { headers: "cookies", hasStatusDescription: false }
  }
}

/** REST APIs, and HTTP APIs with payload 1.0. */
const readVersion1 = (event: Fields, context: Fields): Head => {
  const path = textOf(event.path)
  const query = pairsOf(event.multiValueQueryStringParameters ?? event.queryStringParameters)
  // On AWS's own domain the full path begins with the stage. On a custom domain it does not, even if its first segment has
  // the stage's name.
  const appPath = path === context.path && isOwnDomain(context) ? withoutStage(path, context) : path
  return {
    method: textOf(event.httpMethod),
    // Only HTTP APIs set the version.
    target: targetOf(
      event.version === "1.0" ? encodePath(appPath) : appPath,
      join(query.map(([name, value]) => [encodeText(name), encodeText(value)]))
    ),
    headers: pairsOf(event.multiValueHeaders ?? event.headers),
    resultFormat: { headers: "multi", hasStatusDescription: false }
  }
}

const readLoadBalancer = (event: Fields): Head => ({
  method: textOf(event.httpMethod),
  target: targetOf(
    textOf(event.path),
    join(pairsOf(event.multiValueQueryStringParameters ?? event.queryStringParameters))
  ),
  headers: pairsOf(event.multiValueHeaders ?? event.headers),
  // A target group with multi-value headers ignores single values in the result, and vice versa.
  resultFormat: { headers: event.multiValueHeaders ? "multi" : "single", hasStatusDescription: true }
})

/** Decodes the body: UTF-8 or base64. An empty body counts as none. */
const bodyOf = ({ body, isBase64Encoded }: Fields): HttpCall["body"] =>
  typeof body === "string" && body !== "" ? Buffer.from(body, isBase64Encoded === true ? "base64" : "utf8") : undefined

const readHead = (event: Fields, context: Fields): Head => {
  if ("elb" in context) return readLoadBalancer(event)
  if ("http" in context) return readVersion2(event, context)
  return readVersion1(event, context)
}

/** Throws an `UnknownEventError` if the event is not an HTTP request. */
export const read = (invocation: unknown): HttpCall => {
  const event = fieldsOf(invocation)
  const head = readHead(event, fieldsOf(event.requestContext))
  if (head.method === "" || !head.target.startsWith("/")) throw new UnknownEventError()
  return { ...head, body: bodyOf(event), event: invocation }
}
