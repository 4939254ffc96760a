import { describe, expect, it } from "vitest"
import { UnknownEventError } from "../src/index.ts"
import { read } from "../src/LambdaEvent.ts"
import { eventOf, type Kind, kinds } from "./Events.ts"

const target = async (kind: Kind, sent: string) =>
  read(await eventOf(kind, new Request("http://localhost/"), sent)).target

const decoding: ReadonlyArray<Kind> = ["http", "http-1"]
const preserving = kinds.filter((kind) => !decoding.includes(kind))

const apiDomain = "a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com"

describe("Paths", () => {
  const paths = [
    "/api/v1/agents/a%2Fb%20c",
    "/api/v1/agents/%25",
    "/api/v1/agents/100%2525",
    "/api/v1/agents/%C3%A9%F0%9F%98%80",
    "/api/v1/agents/semi;colon=1",
    "/api/v1/agents/a%3Fb%23c+d",
    "/api/v1/people/%2E%2E",
    "/api/v1/agents/../x",
    "/api/v1//agents/x/",
    "/"
  ]

  it.each(preserving.flatMap((kind) => paths.map((path) => [kind, path] as const)))(
    "are unchanged from %s: %s",
    async (kind, path) => {
      expect(await target(kind, path)).toBe(path)
    }
  )

  it.each(decoding.flatMap((kind) => paths.map((path) => [kind, path] as const)))(
    "are encoded again from %s, as far as possible: %s",
    async (kind, path) => {
      const read = await target(kind, path)
      // HTTP APIs truncate the path at an encoded question mark, and decode encoded slashes.
      expect(decodeURIComponent(read)).toBe(decodeURIComponent(path).split("?")[0])
      if (!/%2F|%3F/.test(path)) {
        expect(read.split("/").map(decodeURIComponent)).toEqual(path.split("/").map(decodeURIComponent))
      }
    }
  )

  it.each<[what: string, event: object, path: string]>([
    [
      "REST: the path does not contain it",
      {
        httpMethod: "GET",
        path: "/api/v1/events",
        requestContext: { stage: "prod", path: "/prod/api/v1/events", domainName: apiDomain }
      },
      "/api/v1/events"
    ],
    [
      "REST, a stage with the name of the first segment",
      {
        httpMethod: "GET",
        path: "/api/v1/events",
        requestContext: { stage: "api", path: "/api/api/v1/events", domainName: apiDomain }
      },
      "/api/v1/events"
    ],
    [
      "REST on a custom domain, a stage with the name of the first segment",
      {
        httpMethod: "GET",
        path: "/api/v1/events",
        requestContext: { stage: "api", path: "/api/v1/events", domainName: "t.example" }
      },
      "/api/v1/events"
    ],
    [
      "REST on a custom domain with a base path mapping, which `basePath` handles",
      {
        httpMethod: "GET",
        path: "/mapped/health",
        requestContext: { stage: "prod", path: "/mapped/health", domainName: "t.example" }
      },
      "/mapped/health"
    ],
    [
      "HTTP, payload 1.0",
      {
        version: "1.0",
        httpMethod: "GET",
        path: "/prod/health",
        requestContext: { stage: "prod", path: "/prod/health", domainName: apiDomain }
      },
      "/health"
    ],
    [
      "HTTP, payload 1.0, `$default`",
      {
        version: "1.0",
        httpMethod: "GET",
        path: "/health",
        requestContext: { stage: "$default", path: "/health", domainName: apiDomain }
      },
      "/health"
    ],
    [
      "HTTP, payload 2.0",
      {
        rawPath: "/prod/health",
        rawQueryString: "",
        requestContext: { stage: "prod", domainName: apiDomain, http: { method: "GET" } }
      },
      "/health"
    ],
    [
      "HTTP, payload 2.0, on a custom domain",
      {
        rawPath: "/prod/health",
        rawQueryString: "",
        requestContext: { stage: "prod", domainName: "t.example", http: { method: "GET" } }
      },
      "/health"
    ],
    [
      "HTTP, payload 2.0, removed only once",
      {
        rawPath: "/api/api/v1/events",
        rawQueryString: "",
        requestContext: { stage: "api", domainName: apiDomain, http: { method: "GET" } }
      },
      "/api/v1/events"
    ],
    [
      "HTTP, payload 2.0, a segment that begins with the stage",
      {
        rawPath: "/production/health",
        rawQueryString: "",
        requestContext: { stage: "prod", domainName: apiDomain, http: { method: "GET" } }
      },
      "/production/health"
    ],
    [
      "HTTP, payload 2.0, only the stage",
      {
        rawPath: "/prod",
        rawQueryString: "",
        requestContext: { stage: "prod", domainName: apiDomain, http: { method: "GET" } }
      },
      "/"
    ],
    [
      "function URL",
      {
        rawPath: "/$default/health",
        rawQueryString: "",
        requestContext: { stage: "$default", domainName: "a.lambda-url.eu-west-1.on.aws", http: { method: "GET" } }
      },
      "/$default/health"
    ]
  ])("have the stage removed if they contain it: %s", (_, event, path) => {
    expect(read(event).target).toBe(path)
  })
})

it("replaces lone surrogates", () => {
  const http = { method: "GET" }
  expect(read({ rawPath: "/a\ud800", requestContext: { http } }).target).toBe("/a%EF%BF%BD")
  const parameters = { a: ["\ud800"] }
  const event = { httpMethod: "GET", path: "/", multiValueQueryStringParameters: parameters }
  expect(read(event).target).toBe("/?a=%EF%BF%BD")
})

it("removes nothing without a stage", () => {
  expect(read({ rawPath: "//health", requestContext: { http: { method: "GET" } } }).target).toBe("//health")
})

it.each<[Kind, object]>([
  ["rest", { headers: "multi", hasStatusDescription: false }],
  ["http", { headers: "cookies", hasStatusDescription: false }],
  ["http-1", { headers: "multi", hasStatusDescription: false }],
  ["url", { headers: "cookies", hasStatusDescription: false }],
  ["alb", { headers: "single", hasStatusDescription: true }],
  ["alb-multi", { headers: "multi", hasStatusDescription: true }]
])("selects the result format of %s", async (kind, format) => {
  expect(read(await eventOf(kind, new Request("http://localhost/"))).resultFormat).toEqual(format)
})

describe("Queries", () => {
  const query = "a=1&b=x%26y%3Dz&plus=%2B&space=a+b&%C3%A9=%F0%9F%98%80&none=&a=2"

  it.each(kinds.filter((kind) => kind !== "alb"))("are the same over %s, including repeated names", async (kind) => {
    const { searchParams } = new URL(await target(kind, `/x?${query}`), "http://localhost")
    const sent = new URLSearchParams(query)
    for (const name of sent.keys()) expect(searchParams.getAll(name)).toEqual(sent.getAll(name))
    expect(searchParams.size).toBe(sent.size)
  })

  it("keep only the last value of a name over a load balancer with single values", async () => {
    const { searchParams } = new URL(await target("alb", `/x?${query}`), "http://localhost")
    expect([...searchParams]).toEqual([...new URLSearchParams(query.replace("a=1", "a=2").replace(/&a=2$/, ""))])
  })
})

describe("Headers", () => {
  const named = async (kind: Kind, name: string) => {
    // One character per byte, as on the wire.
    const word = Buffer.from("ключ").toString("latin1")
    const headers = { cookie: "a=1; b=2", "idempotency-key": word }
    const { headers: pairs } = read(await eventOf(kind, new Request("http://localhost/", { headers })))
    return pairs.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value)
  }

  it.each(kinds)("include the cookies from %s", async (kind) => {
    expect(await named(kind, "cookie")).toEqual(["a=1; b=2"])
    expect(await named(kind, "idempotency-key")).toEqual(["ключ"])
  })

  it("are separate for multi-value headers, without duplicates", () => {
    const multiValueHeaders = { "X-Two": ["1", "2"], "X-One": ["1"] }
    const headers = { "X-Two": "2", "X-One": "1" }
    for (const requestContext of [{}, { elb: {} }]) {
      const { headers: pairs } = read({ httpMethod: "GET", path: "/", headers, multiValueHeaders, requestContext })
      expect(pairs).toEqual([
        ["X-Two", "1"],
        ["X-Two", "2"],
        ["X-One", "1"]
      ])
    }
  })
})

describe("Bodies", () => {
  const bodies: ReadonlyArray<[what: string, type: string, bytes: Uint8Array<ArrayBuffer>]> = [
    ["text", "application/json", new TextEncoder().encode(`{"é":"😀"}`)],
    ["a byte order mark", "application/json", new TextEncoder().encode("\ufeff{}")],
    ["invalid UTF-8", "application/json", Uint8Array.of(0x22, 0xff, 0xfe, 0x22)],
    ["binary", "application/octet-stream", Uint8Array.from({ length: 256 }, (_, i) => i)]
  ]

  it.each(kinds.flatMap((kind) => bodies.map((body) => [kind, ...body] as const)))(
    "are the same bytes from %s: %s",
    async (kind, _, type, bytes) => {
      const request = new Request("http://localhost/", {
        method: "POST",
        body: bytes,
        headers: { "content-type": type }
      })
      const { body } = read(await eventOf(kind, request))
      expect(Buffer.from(body!).equals(bytes)).toBe(true)
    }
  )

  it.each(kinds)("are undefined if empty: %s", async (kind) => {
    expect(read(await eventOf(kind, new Request("http://localhost/"))).body).toBeUndefined()
    expect(
      read(await eventOf(kind, new Request("http://localhost/", { method: "POST", body: "" }))).body
    ).toBeUndefined()
  })
})

describe("An event that is not an HTTP request", () => {
  it.each([
    ["null", null],
    ["undefined", undefined],
    ["a text", "hello"],
    ["a list", []],
    ["an empty object", {}],
    ["a schedule", { version: "0", source: "aws.events", "detail-type": "Scheduled Event", detail: {}, resources: [] }],
    ["a queue", { Records: [{ messageId: "1", body: "{}", eventSource: "aws:sqs" }] }],
    ["a WebSocket", { requestContext: { eventType: "MESSAGE", connectionId: "c", domainName: apiDomain }, body: "x" }],
    ["a method without a path", { httpMethod: "GET", path: 7, requestContext: null }],
    ["a path without a method", { rawPath: "/health", requestContext: { http: {} } }],
    ["a path without a leading slash", { httpMethod: "GET", path: "health", requestContext: {} }]
  ])("is rejected: %s", (_, event) => {
    expect(() => read(event)).toThrow(UnknownEventError)
  })
})
