import { describe, expect, it } from "vitest"
import { UnknownEventError } from "../src/index.ts"
import { read } from "../src/LambdaEvent.ts"
import { eventOf, type Kind, kinds } from "./Events.ts"

const target = async (kind: Kind, sent: string) =>
  read(await eventOf(kind, new Request("http://localhost/"), sent)).target

const decoding: ReadonlyArray<Kind> = ["http", "http-1"]
const faithful = kinds.filter((kind) => !decoding.includes(kind))

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

  it.each(faithful.flatMap((kind) => paths.map((path) => [kind, path] as const)))(
    "come from %s as they were sent: %s",
    async (kind, path) => {
      expect(await target(kind, path)).toBe(path)
    }
  )

  it.each(decoding.flatMap((kind) => paths.map((path) => [kind, path] as const)))(
    "are encoded again from %s, where nothing was lost: %s",
    async (kind, path) => {
      const read = await target(kind, path)
      // HTTP APIs cut at the question mark, and what was a slash cannot be told.
      expect(decodeURIComponent(read)).toBe(decodeURIComponent(path).split("?")[0])
      if (!/%2F|%3F/.test(path)) {
        expect(read.split("/").map(decodeURIComponent)).toEqual(path.split("/").map(decodeURIComponent))
      }
    }
  )

  it.each<[what: string, event: object, path: string]>([
    [
      "REST: its path has none",
      {
        httpMethod: "GET",
        path: "/api/v1/events",
        requestContext: { stage: "prod", path: "/prod/api/v1/events", domainName: apiDomain }
      },
      "/api/v1/events"
    ],
    [
      "REST, a stage named as a path begins: its path has none",
      {
        httpMethod: "GET",
        path: "/api/v1/events",
        requestContext: { stage: "api", path: "/api/api/v1/events", domainName: apiDomain }
      },
      "/api/v1/events"
    ],
    [
      "REST on a domain of one's own, a stage named as a path begins",
      {
        httpMethod: "GET",
        path: "/api/v1/events",
        requestContext: { stage: "api", path: "/api/v1/events", domainName: "t.example" }
      },
      "/api/v1/events"
    ],
    [
      "REST on a domain of one's own, mapped below a path: `basePath` is for it",
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
      "HTTP, payload 2.0, on a domain of one's own",
      {
        rawPath: "/prod/health",
        rawQueryString: "",
        requestContext: { stage: "prod", domainName: "t.example", http: { method: "GET" } }
      },
      "/health"
    ],
    [
      "HTTP, payload 2.0, once",
      {
        rawPath: "/api/api/v1/events",
        rawQueryString: "",
        requestContext: { stage: "api", domainName: apiDomain, http: { method: "GET" } }
      },
      "/api/v1/events"
    ],
    [
      "HTTP, payload 2.0, a longer name",
      {
        rawPath: "/production/health",
        rawQueryString: "",
        requestContext: { stage: "prod", domainName: apiDomain, http: { method: "GET" } }
      },
      "/production/health"
    ],
    [
      "HTTP, payload 2.0, the stage alone",
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
  ])("lose the stage where they have it: %s", (_, event, path) => {
    expect(read(event).target).toBe(path)
  })
})

it("takes what is no Unicode for what stands in for it", () => {
  const http = { method: "GET" }
  expect(read({ rawPath: "/a\ud800", requestContext: { http } }).target).toBe("/a%EF%BF%BD")
  const parameters = { a: ["\ud800"] }
  const event = { httpMethod: "GET", path: "/", multiValueQueryStringParameters: parameters }
  expect(read(event).target).toBe("/?a=%EF%BF%BD")
})

it("takes nothing off where there is no stage", () => {
  expect(read({ rawPath: "//health", requestContext: { http: { method: "GET" } } }).target).toBe("//health")
})

it.each<[Kind, object]>([
  ["rest", { headers: "multi", describesStatus: false }],
  ["http", { headers: "cookies", describesStatus: false }],
  ["http-1", { headers: "multi", describesStatus: false }],
  ["url", { headers: "cookies", describesStatus: false }],
  ["alb", { headers: "single", describesStatus: true }],
  ["alb-multi", { headers: "multi", describesStatus: true }]
])("knows how %s wants its answer", async (kind, form) => {
  expect(read(await eventOf(kind, new Request("http://localhost/"))).answer).toEqual(form)
})

describe("Queries", () => {
  const query = "a=1&b=x%26y%3Dz&plus=%2B&space=a+b&%C3%A9=%F0%9F%98%80&none=&a=2"

  it.each(kinds.filter((kind) => kind !== "alb"))(
    "say over %s what was sent, repeated names included",
    async (kind) => {
      const { searchParams } = new URL(await target(kind, `/x?${query}`), "http://localhost")
      const sent = new URLSearchParams(query)
      for (const name of sent.keys()) expect(searchParams.getAll(name)).toEqual(sent.getAll(name))
      expect(searchParams.size).toBe(sent.size)
    }
  )

  it("lose all but the last value of a name over a load balancer that takes single values", async () => {
    const { searchParams } = new URL(await target("alb", `/x?${query}`), "http://localhost")
    expect([...searchParams]).toEqual([...new URLSearchParams(query.replace("a=1", "a=2").replace(/&a=2$/, ""))])
  })
})

describe("Headers", () => {
  const named = async (kind: Kind, name: string) => {
    // A character for each byte, as a client sends it.
    const word = Buffer.from("ключ").toString("latin1")
    const headers = { cookie: "a=1; b=2", "idempotency-key": word }
    const { headers: pairs } = read(await eventOf(kind, new Request("http://localhost/", { headers })))
    return pairs.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value)
  }

  it.each(kinds)("come from %s with their cookies", async (kind) => {
    expect(await named(kind, "cookie")).toEqual(["a=1; b=2"])
    expect(await named(kind, "idempotency-key")).toEqual(["ключ"])
  })

  it("come each by itself where the event holds lists, and never twice", () => {
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
    ["no UTF-8", "application/json", Uint8Array.of(0x22, 0xff, 0xfe, 0x22)],
    ["binary", "application/octet-stream", Uint8Array.from({ length: 256 }, (_, i) => i)]
  ]

  it.each(kinds.flatMap((kind) => bodies.map((body) => [kind, ...body] as const)))(
    "come from %s byte for byte: %s",
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

  it.each(kinds)("are none where none came: %s", async (kind) => {
    expect(read(await eventOf(kind, new Request("http://localhost/"))).body).toBeUndefined()
    expect(
      read(await eventOf(kind, new Request("http://localhost/", { method: "POST", body: "" }))).body
    ).toBeUndefined()
  })
})

describe("What is no HTTP request", () => {
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
    ["a path that is none", { httpMethod: "GET", path: "health", requestContext: {} }]
  ])("is refused: %s", (_, event) => {
    expect(() => read(event)).toThrow(UnknownEventError)
  })
})
