/** Every refusal, through every way into the router: the same status, body and headers. */
import { AdmissionControl, Errors } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect } from "effect"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { type Expected, expectAnswer, type Fixture, fixtureOf, type Sent, type Setup, uuid } from "./Fixture.ts"
import { type Answer, type Way, ways } from "./Ways.ts"

interface Case {
  readonly answer: Expected
  readonly setup?: Setup
  /** The request, or all calls that lead to the answer. A valid event by default. */
  readonly request?: Sent | ((fixture: Fixture) => Promise<Answer>)
  /** The ways that cannot give this answer, and why. */
  readonly inapplicable?: Partial<Record<Way, string>>
}

const none = (why: string, ...some: ReadonlyArray<Way>): Partial<Record<Way, string>> =>
  Object.fromEntries(some.map((way) => [way, why]))

const needsNoKey = none("A call in process needs no key.", "in process")
const hasNoPath = none("A call in process has no path and no method.", "in process")
const hasNoHeaders = none("A call in process has no headers.", "in process")
const webWays = ["fetch", "fetch, gzip", "AWS Lambda", "AWS Lambda, gzip"] as const
const gzipWays = ["node:http, gzip", "fetch, gzip", "AWS Lambda, gzip", "Effect's HttpRouter, gzip"] as const
const hasNoFraming = {
  ...none("A web `Request` cannot repeat a header: the platform has joined or refused it.", ...webWays),
  ...hasNoHeaders
}

const unauthorized: Expected = { status: 401, body: { type: "unauthorized" } }
const tooLarge: Expected = { status: 413, body: { type: "payload-too-large" } }
const overloaded: Expected = { status: 503, body: { type: "overloaded" } }
const unavailable: Expected = { status: 503, body: { type: "storage-unavailable" } }
const internal: Expected = { status: 500, body: { type: "internal", id: uuid } }
const receipt: Expected = { status: 200, body: { event_id: uuid, received_at: expect.any(String) } }

const invalid = (...detail: ReadonlyArray<object>): Expected => ({ status: 422, body: { detail } })
const missing = (field: string, input: object) => ({
  type: "missing",
  loc: ["body", field],
  msg: "Field required",
  input
})
const invalidJson = (at: string, error: string) => ({
  type: "json_invalid",
  loc: ["body", at],
  msg: "JSON decode error",
  input: {},
  ctx: { error }
})
const emptyKey = {
  type: "string_too_short",
  loc: ["header", "idempotency-key"],
  msg: "String should have at least 1 character",
  input: "",
  ctx: { min_length: 1 }
}

const extra = (path: ReadonlyArray<string>, input: unknown) => ({
  type: "extra_forbidden",
  loc: ["body", ...path],
  msg: "Extra inputs are not permitted",
  input
})

/** The body of an event with two fields more. */
const withUnknown = (body: string): string => {
  const { properties, ...event } = JSON.parse(body)
  return JSON.stringify({ properties: { ...properties, inptus: {} }, ...event, sesion: "s" })
}

const storageIsGone = Effect.fail(new Errors.StorageUnavailable({ cause: new Error("planted") }))
const defect = Effect.die(new Error("planted"))

/** Compressed it is no shorter than the limit, either. */
const incompressible = StorageSuite.Calls.noise(1, 5_000)
const limit = 1_000

const agent = '{"agent_name":"a"}'
const creatingAgent = { method: "PUT", target: "/api/v1/agents" } as const

const cases = {
  "200 for an event": { answer: receipt },
  "200 for an event in chunks": { answer: receipt, request: { framing: "chunked" } },
  "200 with Idempotent-Replayed for a repeated event": {
    answer: { ...receipt, headers: { "idempotent-replayed": "true" } },
    request: async ({ send }) => {
      const headers = { "idempotency-key": "k" }
      const first = await send({ headers })
      const second = await send({ headers })
      expect(second.text).toBe(first.text)
      return second
    }
  },
  "200 with Tachograph-Ignored for unknown fields": {
    answer: { ...receipt, headers: { "tachograph-ignored": "properties.inptus, sesion" } },
    request: ({ body, send }) => send({ body: withUnknown(body) })
  },
  "422 for unknown fields where they are refused": {
    answer: invalid(extra(["properties", "inptus"], {}), extra(["sesion"], "s")),
    setup: { strict: true },
    request: ({ body, send }) => send({ body: withUnknown(body) })
  },

  "401 without a key": {
    answer: unauthorized,
    request: { headers: { authorization: undefined } },
    inapplicable: needsNoKey
  },
  "401 for another scheme": {
    answer: unauthorized,
    request: { headers: { authorization: "Basic dTpw" } },
    inapplicable: needsNoKey
  },
  "401 for a malformed key": {
    answer: unauthorized,
    request: { headers: { authorization: "Bearer  two spaces" } },
    inapplicable: needsNoKey
  },
  "401 for an unknown key": {
    answer: unauthorized,
    request: { headers: { authorization: `Bearer tg_${"0".repeat(33)}` } },
    inapplicable: needsNoKey
  },
  "401 for two keys": {
    answer: { ...unauthorized, headers: { connection: "close" } },
    request: { headers: { authorization: ["Bearer a", "Bearer b"] } },
    inapplicable: hasNoFraming
  },
  "403 for a key without the scope": {
    answer: { status: 403, body: { type: "forbidden" } },
    request: async ({ issue, send }) => send({ headers: { authorization: await issue("read") } }),
    inapplicable: needsNoKey
  },
  "400 for a repeated header": {
    answer: { status: 400, body: { type: "bad-request" }, headers: { connection: "close" } },
    request: { headers: { "content-type": ["application/json", "text/plain"] } },
    inapplicable: hasNoFraming
  },
  "404 for an unknown path": {
    answer: { status: 404, body: { type: "not-found" } },
    request: { target: "/api/v1/nothing" },
    inapplicable: { ...none("Express answers the paths that are not of the contract.", "Express"), ...hasNoPath }
  },
  "405 for another method": {
    answer: {
      status: 405,
      body: { type: "method-not-allowed" },
      headers: { allow: "GET, HEAD, OPTIONS, POST" }
    },
    request: { method: "PUT" },
    inapplicable: hasNoPath
  },
  "405 beside the API": {
    answer: {
      status: 405,
      body: { type: "method-not-allowed" },
      headers: { allow: "GET, HEAD, OPTIONS" },
      isCacheable: true
    },
    request: { target: "/health" },
    inapplicable: hasNoPath
  },

  "413 for an announced length": {
    answer: tooLarge,
    setup: { maxBody: limit },
    request: { body: incompressible, framing: "withheld" }
  },
  "413 while the body is read": {
    answer: tooLarge,
    setup: { maxBody: limit },
    request: ({ body, send }) => send({ body: body.padEnd(limit + 1), framing: "chunked" })
  },
  "200 at the limit of the length": {
    answer: receipt,
    setup: { maxBody: limit },
    request: ({ body, send }) => send({ body: body.padEnd(limit), framing: "chunked" })
  },
  "413 for an announced length that only an event may have": {
    answer: tooLarge,
    setup: { maxOtherBody: limit },
    request: { ...creatingAgent, body: incompressible, framing: "withheld" },
    inapplicable: hasNoPath
  },
  "413 while a body is read that only an event may be": {
    answer: tooLarge,
    setup: { maxOtherBody: limit },
    request: { ...creatingAgent, body: agent.padEnd(limit + 1), framing: "chunked" },
    inapplicable: hasNoPath
  },
  "200 at the limit of a body that is no event": {
    answer: { status: 200, body: expect.objectContaining({ agent_name: "a", agent_number: 1 }) },
    setup: { maxOtherBody: limit },
    request: { ...creatingAgent, body: agent.padEnd(limit), framing: "chunked" },
    inapplicable: hasNoPath
  },
  "200 for an event above the limit of other bodies": {
    answer: receipt,
    setup: { maxOtherBody: limit },
    request: ({ body, send }) => send({ body: body.padEnd(limit + 1), framing: "chunked" })
  },
  "415 for an unknown encoding": {
    answer: { status: 415, body: { type: "unsupported-content-encoding" } },
    request: { headers: { "content-encoding": "compress" } },
    inapplicable: hasNoHeaders
  },
  "422 for a body that is not valid gzip": {
    answer: invalid(invalidJson("0", "The body is not valid gzip")),
    request: { headers: { "content-encoding": "gzip" } },
    inapplicable: { ...none("The body is valid gzip.", ...gzipWays), ...hasNoHeaders }
  },
  "422 for a body that is not JSON": {
    answer: invalid(invalidJson("1", "SyntaxError")),
    request: { body: "{" }
  },
  "422 for an empty body": {
    answer: invalid({ type: "missing", loc: ["body"], msg: "Field required", input: null }),
    request: { body: "" }
  },
  "422 for another content type": {
    answer: invalid({
      type: "model_attributes_type",
      loc: ["body"],
      msg: "Input should be a valid dictionary or object to extract fields from",
      input: "{}"
    }),
    request: { headers: { "content-type": "text/plain" }, body: "{}" },
    inapplicable: hasNoHeaders
  },
  "422 for missing fields": {
    answer: invalid(...["event_name", "properties", "fingerprint_id", "session"].map((field) => missing(field, {}))),
    request: { body: "{}" }
  },
  "422 for a bad idempotency key and a bad body together": {
    answer: invalid(
      emptyKey,
      missing("properties", { event_name: "llm" }),
      missing("fingerprint_id", { event_name: "llm" }),
      missing("session", { event_name: "llm" })
    ),
    request: { headers: { "idempotency-key": "" }, body: '{"event_name":"llm"}' }
  },
  "422 for an empty session": {
    answer: { status: 422, body: { type: "session-id-empty" } },
    request: ({ body, send }) => send({ body: body.replace('"in process"', '""') })
  },
  "422 for an idempotency key with another body": {
    answer: { status: 422, body: { type: "idempotency-key-reused" } },
    request: async ({ body, send }) => {
      const headers = { "idempotency-key": "k" }
      await send({ headers })
      return send({ headers, body: `${body} ` })
    }
  },
  "404 for an unknown fingerprint": {
    answer: { status: 404, body: { type: "fingerprint-not-found" } },
    request: ({ body, send }) => send({ body: body.replace(/[0-9a-f-]{36}/, "11111111-1111-4111-8111-111111111111") })
  },

  "503 before the body while the queue is full": {
    answer: overloaded,
    setup: { queue: { events: 1 }, holds: ["appendEvents"] },
    request: async ({ holdOne, send }) => {
      await holdOne()
      return send({ framing: "withheld" })
    }
  },
  "503, and not 401, while the queue is full": {
    answer: overloaded,
    setup: { queue: { events: 1 }, holds: ["appendEvents"] },
    request: async ({ holdOne, send }) => {
      await holdOne()
      return send({ framing: "withheld", headers: { authorization: undefined } })
    }
  },
  "503 for a complete body when the queue became full": {
    answer: overloaded,
    setup: { queue: { events: 1 }, holds: ["appendEvents", "findApiKey"] },
    request: async ({ holdOne, issue, lookups, send }) => {
      // The lookup of its key delays the request between its admission and the end of its body.
      const delayed = send({ headers: { authorization: await issue("record") } })
      await lookups.arrived(1)
      await holdOne()
      lookups.open()
      return delayed
    },
    inapplicable: none("A call in process is admitted and enqueued in one turn of the event loop.", "in process")
  },
  "503 while the body is read when it exceeds the budget of all bodies": {
    answer: overloaded,
    setup: { bodyBudgetBytes: 40_000, holds: ["appendEvents"] },
    request: async ({ body, holdOne, send }) => {
      await holdOne({ body: body.padEnd(30_000) })
      return send({ body: body.padEnd(20_000), framing: "chunked" })
    }
  },
  "503 for a large body that would time out in the queue": {
    answer: overloaded,
    request: ({ body, send }) => {
      // A queue that fills between the end of a body and its decoding depends on how long other bodies take to decode.
      const wouldTimeOut = vi.spyOn(AdmissionControl.prototype, "wouldTimeOut").mockReturnValue(true)
      onTestFinished(() => wouldTimeOut.mockRestore())
      return send({ body: body.padEnd(32 * 1024) })
    }
  },
  "503 for a large body whose turn to be decoded comes too late": {
    answer: overloaded,
    setup: { queue: { waitMs: 0 } },
    request: ({ body, send }) => send({ body: body.padEnd(32 * 1024) })
  },
  "503 for an event that times out in the queue": {
    answer: overloaded,
    setup: { queue: { waitMs: 160 }, holds: ["appendEvents"] },
    request: async ({ holdOne, send }) => {
      await holdOne()
      return send()
    }
  },
  "503 when the storage fails to look up the key": {
    answer: unavailable,
    setup: { fails: { findApiKey: () => storageIsGone } },
    request: async ({ issue, send }) => send({ headers: { authorization: await issue("record") } }),
    inapplicable: needsNoKey
  },
  "503 when the storage fails to append": {
    answer: unavailable,
    setup: { fails: { appendEvents: () => storageIsGone } }
  },
  "503 after closing": {
    answer: unavailable,
    request: async ({ close, send }) => {
      await close()
      return send()
    },
    inapplicable: none(
      "The server ends with its layers, and accepts no connection.",
      "Effect's HttpRouter",
      "Effect's HttpRouter, gzip"
    )
  },
  "500 for a defect": {
    answer: internal,
    setup: { fails: { appendEvents: () => defect } }
  },
  "500 for a defect of the key lookup": {
    answer: internal,
    setup: { fails: { findApiKey: () => defect } },
    request: async ({ issue, send }) => send({ headers: { authorization: await issue("record") } }),
    inapplicable: needsNoKey
  }
} satisfies Record<string, Case>

describe.each(Object.keys(ways) as Array<Way>)("One way in, over %s", (way) => {
  const applicable = Object.entries<Case>(cases).filter(([, { inapplicable }]) => inapplicable?.[way] === undefined)

  it.each(applicable)("answers %s", async (_, { answer, request = {}, setup = {} }) => {
    const fixture = await fixtureOf(way, setup)
    const given = typeof request === "function" ? await request(fixture) : await fixture.send(request)
    expectAnswer(given, answer)
  })
})
