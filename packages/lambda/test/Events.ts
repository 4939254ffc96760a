/**
 * Converts requests to Lambda events and results to responses by the encoding rules of each AWS gateway, without its limits.
 * Based on AWS's documentation and published captures of events.
 */
import { Buffer, isUtf8 } from "node:buffer"
import type { LambdaResult } from "../src/index.ts"

export const kinds = ["rest", "http", "http-1", "url", "alb", "alb-multi"] as const
export type Kind = (typeof kinds)[number]

interface Parts {
  readonly method: string
  /** As sent. */
  readonly path: string
  /** As sent, without the question mark. */
  readonly query: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: { readonly body: string; readonly isBase64Encoded: boolean }
}

type Pairs = Parts["headers"]

const lists = (pairs: Pairs) => {
  const map: Record<string, Array<string>> = {}
  for (const [name, value] of pairs) (map[name] ??= []).push(value)
  return map
}

const last = (pairs: Pairs) => Object.fromEntries(pairs)

const joined = (pairs: Pairs) =>
  Object.fromEntries(Object.entries(lists(pairs)).map(([name, values]) => [name, values.join(",")]))

const orNull = <A extends object>(map: A): A | null => (Object.keys(map).length === 0 ? null : map)

/** The names and values of a query, without decoding. */
const rawPairs = (query: string): Pairs =>
  query === ""
    ? []
    : query.split("&").map((part) => {
        const equals = part.indexOf("=")
        return equals < 0 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)]
      })

const decodedPairs = (query: string): Pairs => [...new URLSearchParams(query)]

/** The path of an HTTP API: decoded once, and truncated at an encoded question mark. */
const decodedPath = (path: string) => decodeURIComponent(path).split("?", 1)[0]!

const ownDomain = "a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com"

const version1 = ({ body, headers, method, query }: Parts, path: string, context: object) => ({
  resource: "/{proxy+}",
  path,
  httpMethod: method,
  headers: last(headers),
  multiValueHeaders: lists(headers),
  queryStringParameters: orNull(last(decodedPairs(query))),
  multiValueQueryStringParameters: orNull(lists(decodedPairs(query))),
  pathParameters: { proxy: path.slice(1) },
  stageVariables: null,
  requestContext: { apiId: "a1b2c3d4e5", domainName: ownDomain, httpMethod: method, protocol: "HTTP/1.1", ...context },
  // An absent body is null in this format.
  body: body.body === "" ? null : body.body,
  isBase64Encoded: body.isBase64Encoded
})

const version2 = ({ body, headers, method, query }: Parts, path: string, context: object) => {
  const cookies = headers.filter(([name]) => name === "cookie").flatMap(([, value]) => value.split("; "))
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    ...(cookies.length === 0 ? {} : { cookies }),
    headers: joined(headers.filter(([name]) => name !== "cookie")),
    ...(query === "" ? {} : { queryStringParameters: joined(decodedPairs(query)) }),
    requestContext: {
      domainName: ownDomain,
      routeKey: "$default",
      stage: "$default",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "test" },
      ...context
    },
    // An absent body has no field in this format.
    ...(body.body === "" ? {} : { body: body.body }),
    isBase64Encoded: body.isBase64Encoded
  }
}

const loadBalancer = ({ body, method, path }: Parts, values: object) => ({
  requestContext: { elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/t/0123" } },
  httpMethod: method,
  path,
  ...values,
  ...body
})

const events: Record<Kind, (parts: Parts) => object> = {
  rest: (parts) => version1(parts, parts.path, { stage: "prod", path: `/prod${parts.path}` }),
  http: (parts) => version2(parts, decodedPath(parts.path), {}),
  "http-1": (parts) => {
    const path = decodedPath(parts.path)
    return { version: "1.0", ...version1(parts, path, { stage: "$default", path }) }
  },
  url: (parts) => version2(parts, parts.path, { domainName: "a1b2c3.lambda-url.eu-west-1.on.aws" }),
  alb: (parts) =>
    loadBalancer(parts, { headers: last(parts.headers), queryStringParameters: last(rawPairs(parts.query)) }),
  "alb-multi": (parts) =>
    loadBalancer(parts, {
      multiValueHeaders: lists(parts.headers),
      multiValueQueryStringParameters: lists(rawPairs(parts.query))
    })
}

const textual = /^(?:text\/|application\/(?:json|javascript|xml)(?:;|$))/

/** Plain text if the content type is textual, there is no content encoding, and the bytes are valid UTF-8. */
const bodyOf = (bytes: Buffer, headers: Headers): Parts["body"] => {
  const isText = textual.test(headers.get("content-type") ?? "") && !headers.has("content-encoding") && isUtf8(bytes)
  return { body: bytes.toString(isText ? "utf8" : "base64"), isBase64Encoded: bytes.length > 0 && !isText }
}

/** A value after it was sent as JSON. The text of the body stays as it is, because JSON preserves every string. */
const sentAsJson = <A extends object>(value: A): A => {
  if (!("body" in value) || typeof value.body !== "string") return JSON.parse(JSON.stringify(value))
  const { body, ...others } = value
  return { ...JSON.parse(JSON.stringify(others)), body }
}

/** The event of a request. `target` replaces path and query with ones that `Request` would normalize. */
export const eventOf = async (kind: Kind, request: Request, target?: string): Promise<unknown> => {
  const { pathname, search } = new URL(request.url)
  const [path = "", query = ""] = (target ?? pathname + search).split(/\?(.*)/s)
  const bytes = Buffer.from(await request.arrayBuffer())
  const headers = new Headers(request.headers)
  headers.set("host", "tachograph.example")
  headers.set("content-length", String(bytes.length))
  const parts = {
    method: request.method,
    path,
    query,
    headers: [...headers].map(([name, value]) => [name, Buffer.from(value, "latin1").toString("utf8")] as const),
    body: bodyOf(bytes, request.headers)
  }
  return sentAsJson(events[kind](parts))
}

/** The response that AWS sends. Each gateway ignores the fields of the others. */
const responseOf = (kind: Kind, result: LambdaResult): Response => {
  const { body, cookies = [], headers = {}, isBase64Encoded, multiValueHeaders = {}, statusCode } = sentAsJson(result)
  const pairs: Array<readonly [string, string]> = []
  if (kind !== "alb-multi") pairs.push(...Object.entries(headers))
  if (kind === "http" || kind === "url") pairs.push(...cookies.map((cookie) => ["set-cookie", cookie] as const))
  if (kind === "rest" || kind === "http-1" || kind === "alb-multi") {
    pairs.push(
      ...Object.entries(multiValueHeaders).flatMap(([name, values]) => values.map((value) => [name, value] as const))
    )
  }
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8")
  const responseHeaders = new Headers()
  for (const [name, value] of pairs) responseHeaders.append(name, value)
  return new Response(bytes.length === 0 ? null : bytes, { status: statusCode, headers: responseHeaders })
}

/** Sends requests through a handler as AWS does. */
export const overLambda =
  (kind: Kind, handler: (event: unknown) => Promise<LambdaResult>) =>
  async (request: Request): Promise<Response> =>
    responseOf(kind, await handler(await eventOf(kind, request)))
