/**
 * What AWS hands to a function for an HTTP request, read into one form. Each front door writes it in its own way:
 *
 * | from | path | query |
 * | --- | --- | --- |
 * | REST API | as it was sent, without the stage | decoded |
 * | HTTP API, payload 1.0 | decoded, with the stage on AWS's own domain | decoded |
 * | HTTP API, payload 2.0 | decoded, with the stage unless it is `$default` | as it was sent |
 * | function URL | as it was sent | as it was sent |
 * | load balancer | as it was sent | as it was sent, but cut into names and values |
 */
import { Buffer } from "node:buffer"

/** A request, whichever door it came through. */
export interface HttpCall {
  readonly method: string
  /** The path, percent-encoded, and the query. */
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Uint8Array<ArrayBuffer> | undefined
  /** What it was read from. */
  readonly event: unknown
  /** How the door wants its answer. */
  readonly answer: AnswerForm
}

/** `single`: one value for each header. `multi`: a list for each. `cookies`: as `single`, and cookies apart. */
export interface AnswerForm {
  readonly headers: "single" | "multi" | "cookies"
  /** A load balancer wants a text beside the status. */
  readonly describesStatus: boolean
}

/** The function was invoked with something else than an HTTP request: by a schedule, a queue, a test event of the console. */
export class UnknownEventError extends Error {
  override readonly name = "UnknownEventError"
  readonly type = "unknown-event"
  constructor() {
    super(
      "This is no HTTP request of API Gateway, a function URL or a load balancer. " +
        "Invoke the function through one of them."
    )
  }
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** Names and values of a map whose values are texts, lists of texts, or missing. */
const pairsOf = (map: unknown): Array<readonly [name: string, value: string]> =>
  Object.entries(fieldsOf(map)).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => (typeof value === "string" ? [[name, value] as const] : []))
  )

/** Percent-encodes what was decoded. A slash that was encoded once cannot be told from one that was not. */
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

type Target = Pick<HttpCall, "method" | "target" | "headers" | "answer">

const targetOf = (path: string, query: string): string => path + (query === "" ? "" : `?${query}`)

/** HTTP APIs and function URLs. */
const readVersion2 = (event: Fields, context: Fields): Target => {
  const path = textOf(event.rawPath)
  const cookies = pairsOf({ cookie: event.cookies }).map(([, cookie]) => cookie)
  return {
    method: textOf(fieldsOf(context.http).method),
    target: targetOf(
      isFunctionUrl(context) ? path : encodePath(withoutStage(path, context)),
      textOf(event.rawQueryString)
    ),
    headers: [...pairsOf(event.headers), ...(cookies.length > 0 ? [["cookie", cookies.join("; ")] as const] : [])],
    answer: { headers: "cookies", describesStatus: false }
  }
}

/** REST APIs, and HTTP APIs that were asked for payload 1.0. */
const readVersion1 = (event: Fields, context: Fields): Target => {
  const path = textOf(event.path)
  const query = pairsOf(event.multiValueQueryStringParameters ?? event.queryStringParameters)
  // On AWS's own domain a path that is whole begins with the stage. On a domain of one's own it never does, whatever
  // its first name is.
  const ofOurs = path === context.path && isOwnDomain(context) ? withoutStage(path, context) : path
  return {
    method: textOf(event.httpMethod),
    // Only HTTP APIs say which version this is.
    target: targetOf(
      event.version === "1.0" ? encodePath(ofOurs) : ofOurs,
      join(query.map(([name, value]) => [encodeText(name), encodeText(value)]))
    ),
    headers: pairsOf(event.multiValueHeaders ?? event.headers),
    answer: { headers: "multi", describesStatus: false }
  }
}

const readLoadBalancer = (event: Fields): Target => ({
  method: textOf(event.httpMethod),
  target: targetOf(
    textOf(event.path),
    join(pairsOf(event.multiValueQueryStringParameters ?? event.queryStringParameters))
  ),
  headers: pairsOf(event.multiValueHeaders ?? event.headers),
  // A target group that takes lists ignores what is no list, and the other way round.
  answer: { headers: event.multiValueHeaders ? "multi" : "single", describesStatus: true }
})

/** A text is what was sent, as UTF-8; anything else is base64 of it. An empty body is none. */
const bodyOf = ({ body, isBase64Encoded }: Fields): HttpCall["body"] =>
  typeof body === "string" && body !== "" ? Buffer.from(body, isBase64Encoded === true ? "base64" : "utf8") : undefined

/** Throws an `UnknownEventError` where the event is no HTTP request. */
export const read = (invocation: unknown): HttpCall => {
  const event = fieldsOf(invocation)
  const context = fieldsOf(event.requestContext)
  const target =
    "elb" in context
      ? readLoadBalancer(event)
      : "http" in context
        ? readVersion2(event, context)
        : readVersion1(event, context)
  if (target.method === "" || !target.target.startsWith("/")) throw new UnknownEventError()
  return { ...target, body: bodyOf(event), event: invocation }
}
