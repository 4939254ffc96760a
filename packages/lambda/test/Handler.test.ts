import { MemoryStorage } from "@tachograph/core"
import { sqlite } from "@tachograph/storage-sqlite"
import { HttpClient } from "@tachograph/testkit"
import type { ALBHandler, APIGatewayProxyHandler, APIGatewayProxyHandlerV2, LambdaFunctionURLHandler } from "aws-lambda"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import { describe, expect, inject, it, onTestFinished, vi } from "vitest"
import { createHandler, eventOf, type LambdaHandler, UnknownEventError } from "../src/index.ts"
import * as Events from "./Events.ts"

const key = "a key for the lambda tests"
const storage = MemoryStorage.layer

const closed = (handler: LambdaHandler) => {
  onTestFinished(() => handler.close())
  return handler
}

const health = () => Events.eventOf("url", new Request("http://localhost/health"))

/** The headers of every response. */
const commonHeaders = {
  "cache-control": "no-store",
  "content-length": expect.stringMatching(/^\d+$/),
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/)
}

const type = ({ body, statusCode }: { statusCode: number; body: string }) => [statusCode, JSON.parse(body).type]

describe("createHandler", () => {
  it("has the type of AWS's own handlers", () => {
    const handler = closed(createHandler({ storage }))
    const typed: [APIGatewayProxyHandler, APIGatewayProxyHandlerV2, LambdaFunctionURLHandler, ALBHandler] = [
      handler,
      handler,
      handler,
      handler
    ]
    // Newer Lambda runtimes reject handlers with a third parameter, the callback.
    expect(typed.map(({ length }) => length)).toEqual([1, 1, 1, 1])
  })

  it.each(Events.kinds)(
    "reads a name as the path has it, and refuses one that URLs leave out, over %s",
    async (kind) => {
      const handler = closed(createHandler({ storage, apiKeys: [key] }))
      const client = HttpClient.make(Events.overLambda(kind, handler), key)
      await client.put("/api/v1/agents", { agent_name: "..a" })
      const request = new Request("http://localhost/", { headers: { authorization: `Bearer ${key}` } })
      const of = async (path: string) => JSON.parse((await handler(await Events.eventOf(kind, request, path))).body)
      expect(await of("/api/v1/agents/%2E%2Ea?x=1")).toMatchObject({ agent_name: "..a" })
      expect(await of("/api/v1/agents/%2E%2E?x=1")).toMatchObject({ detail: [{ loc: ["path", "agent_name"] }] })
    }
  )

  it.each(Events.kinds)("is mounted below a path, over %s", async (kind) => {
    const handler = closed(createHandler({ storage, apiKeys: [key], basePath: "/tachograph" }))
    const { get } = HttpClient.make(Events.overLambda(kind, handler), key)
    expect((await get("/tachograph/health")).body).toMatchObject({ status: "ok" })
    expect((await get("/tachograph/api/v1/events?limit=1")).body).toEqual({ events: [], next_cursor: null })
    expect((await get("/health")).status).toBe(404)
  })

  it("answers sessions and usage right after a 200, and adds up what they read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tachograph-lambda-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, "lambda.db")
    const handler = closed(createHandler({ storage: sqlite(file), apiKeys: [key] }))
    const { get, post, put } = HttpClient.make(Events.overLambda("url", handler), key)
    const fingerprint = { language: "l", language_version: "1", system: "s" }
    const { fingerprint_id } = (await put("/api/v1/fingerprints", fingerprint)).body
    const addedUp = () => {
      const database = new DatabaseSync(file, { readOnly: true })
      const rows = database.prepare("SELECT lower(hex(max(last_event))) AS last FROM rollups").all()
      database.close()
      return rows[0]!["last"]
    }
    const reads = ["/api/v1/usage?group_by=model", "/api/v1/sessions", "/api/v1/sessions/frozen"]
    expect(addedUp()).toBe("")
    for (const [index, path] of reads.entries()) {
      const usage = { prompt_tokens: 7, completion_tokens: 1 }
      const inputs = { model: "m", messages: [{ role: "user", content: "hello" }] }
      const properties = { api: "openai-chat-completions", inputs, output: { model: "m", choices: [], usage } }
      const call = { event_name: "llm", fingerprint_id, session: "frozen", properties }
      const { event_id } = (await post("/api/v1/events", call)).body
      const { body } = await get(path)
      const sums = { events: index + 1, input_tokens: 7 * (index + 1) }
      expect((body.usage ?? body.sessions ?? [body])[0]).toMatchObject(sums)
      expect(addedUp()).toBe(event_id.replaceAll("-", ""))
    }
  })

  it("ends a stream of events with the first ones, whatever its client prefers", async () => {
    const handler = closed(createHandler({ storage, apiKeys: [key] }))
    const { call, get, post, put } = HttpClient.make(Events.overLambda("url", handler), key)
    const { next_cursor } = (await get("/api/v1/events/stream?wait=0")).body
    const fingerprint = { language: "l", language_version: "1", system: "s" }
    const { fingerprint_id } = (await put("/api/v1/fingerprints", fingerprint)).body
    const properties = { api: "openai-responses", inputs: {}, output: {} }
    const { event_id } = (await post("/api/v1/events", { event_name: "llm", fingerprint_id, session: "s", properties }))
      .body
    const path = `/api/v1/events/stream?cursor=${next_cursor}`
    const { status, text } = await call("GET", path, undefined, { prefer: "respond-async" })
    expect([
      status,
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).event_id)
    ]).toEqual([200, [event_id]])
  })

  it("passes the result of a gateway's authorizer to authorize", async () => {
    const handler = closed(
      createHandler({
        storage,
        authorize: ({ source, url }) => {
          const { requestContext } = eventOf(source) as {
            requestContext: { authorizer?: { lambda: { tenant: string } } }
          }
          expect(url).toBe("/api/v1/events?limit=1")
          const tenant = requestContext.authorizer?.lambda.tenant
          return tenant === undefined ? null : { project: tenant, scopes: ["read"] }
        }
      })
    )
    const event = (authorizer?: object) => ({
      version: "2.0",
      rawPath: "/api/v1/events",
      rawQueryString: "limit=1",
      headers: {},
      requestContext: { stage: "$default", http: { method: "GET" }, authorizer }
    })
    expect(type(await handler(event()))).toEqual([401, "unauthorized"])
    expect((await handler(event({ lambda: { tenant: "acme" } }))).statusCode).toBe(200)
    expect(eventOf(new Request("http://localhost/"))).toBeUndefined()
  })

  it("responds to the health check of a load balancer", async () => {
    const handler = closed(createHandler({ storage }))
    const event = {
      requestContext: { elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-west-1:1:targetgroup/t/0" } },
      httpMethod: "GET",
      path: "/health",
      queryStringParameters: {},
      headers: { "user-agent": "ELB-HealthChecker/2.0" },
      body: "",
      isBase64Encoded: false
    }
    expect(await handler(event)).toMatchObject({
      statusCode: 200,
      statusDescription: "200 OK",
      headers: { "content-type": "application/json" },
      body: expect.stringContaining(`{"status":"ok","version":`)
    })
  })

  it("accepts methods and bodies that the Request constructor rejects", async () => {
    const handler = closed(createHandler({ storage }))
    const event = (method: string) => ({
      httpMethod: method,
      path: "/health",
      headers: null,
      body: "{}",
      requestContext: {}
    })
    expect((await handler(event("GET"))).statusCode).toBe(200)
    expect(type(await handler(event("TRACE")))).toEqual([405, "method-not-allowed"])
    expect(type(await handler(event("CONNECT")))).toEqual([405, "method-not-allowed"])
  })

  it("returns 400 for an invalid header", async () => {
    const handler = closed(createHandler({ storage }))
    for (const headers of [{ "a b": "x" }, { a: "x\ny" }, { "": "x" }]) {
      const refused = await handler({ httpMethod: "GET", path: "/health", headers, requestContext: {} })
      expect(type(refused)).toEqual([400, "bad-request"])
      expect(Object.keys(refused.multiValueHeaders!)).toEqual(Object.keys(commonHeaders))
    }
  })

  it("rejects an event that is not an HTTP request", async () => {
    const handler = closed(createHandler({ storage }))
    const failed = handler({ source: "aws.events" })
    await expect(failed).rejects.toBeInstanceOf(UnknownEventError)
    await expect(failed).rejects.toMatchObject({ name: "UnknownEventError", type: "unknown-event" })
  })

  it("opens the storage once, while the function starts", async () => {
    let opened = 0
    const counted = Layer.unwrap(Effect.sync(() => (opened++, storage)))
    const handler = closed(createHandler({ storage: counted }))
    await vi.waitFor(() => expect(opened).toBe(1), { timeout: 60_000 })
    await Promise.all([handler(await health()), handler(await health())])
    expect(opened).toBe(1)
  })

  it("returns 503 while the storage cannot be opened, and retries on each invocation", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    let tries = 0
    const flaky = Layer.unwrap(
      Effect.suspend(() => (++tries < 3 ? Effect.fail(new Error("away")) : Effect.succeed(storage)))
    )
    const handler = closed(createHandler({ storage: flaky }))
    // The attempt during the start fails without an invocation.
    await vi.waitFor(() => expect(log).toHaveBeenCalledTimes(1), { timeout: 60_000 })
    const refused = await handler(await health())
    expect(type(refused)).toEqual([503, "storage-unavailable"])
    expect(refused.headers).toEqual({ ...commonHeaders, "retry-after": "1" })
    expect(log).toHaveBeenLastCalledWith(
      "Tachograph could not be opened:",
      expect.objectContaining({ message: "storage-unavailable: away" })
    )
    expect((await handler(await health())).statusCode).toBe(200)
    expect(tries).toBe(3)
  })

  it.each([
    ["an unset key", `{ storage: MemoryStorage.layer, apiKeys: [process.env.NO_SUCH_VARIABLE] }`, "apiKeys: expected"],
    ["an empty key", `{ storage: MemoryStorage.layer, apiKeys: [""] }`, "apiKeys: expected"],
    ["an invalid base path", `{ storage: MemoryStorage.layer, basePath: "a b" }`, "basePath: expected"],
    ["a rule that is not a function", `{ storage: MemoryStorage.layer, authorize: "me" }`, "authorize: expected"],
    ["an invalid storage", `{ storage: "memory:" }`, "storage: expected"]
  ])("fails the start of the function with %s, and reports the reason", async (_name, options, reason) => {
    const program = `
      import { createHandler, MemoryStorage } from ${JSON.stringify(inject("lambdaModules"))}
      export const handler = createHandler(${options})
      setInterval(() => {}, 60_000)
    `
    const started = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])
    await expect(started).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(`TypeError: ${reason}`) })
  })

  it("rejects every invocation with an invalid option, and opens no storage", async () => {
    const before = process.listenerCount("SIGTERM")
    let opened = 0
    const counted = Layer.unwrap(Effect.sync(() => (opened++, storage)))
    const events = [await health(), await health()]
    const handler = createHandler({ storage: counted, apiKeys: ["short"] })
    for (const event of events) await expect(handler(event)).rejects.toThrow(TypeError)
    expect(opened).toBe(0)
    await handler.close()
    expect(process.listenerCount("SIGTERM")).toBe(before)
  })

  it("retries for the invocation if the attempt that began before it fails", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const gate = Promise.withResolvers<void>()
    let tries = 0
    const halfway = Effect.promise(() => gate.promise).pipe(Effect.andThen(Effect.fail(new Error("frozen"))))
    const flaky = Layer.unwrap(Effect.suspend(() => (++tries === 1 ? halfway : Effect.succeed(storage))))
    const handler = closed(createHandler({ storage: flaky }))
    const answers = [handler(await health()), handler(await health())]
    gate.resolve()
    expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual([200, 200])
    expect(tries).toBe(2)
  })

  it("returns 503 after close, opens no storage and leaves no listener", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const before = process.listenerCount("SIGTERM")
    let tries = 0
    const away: typeof storage = Layer.unwrap(
      Effect.suspend((): Effect.Effect<typeof storage> => (tries++, Effect.die(new Error("away"))))
    )
    for (const make of [() => createHandler({ storage }), () => createHandler({ storage: away })]) {
      const handler = make()
      expect(process.listenerCount("SIGTERM")).toBe(before + 1)
      await handler.close()
      await handler.close()
      expect(type(await handler(await health()))).toEqual([503, "storage-unavailable"])
      expect(process.listenerCount("SIGTERM")).toBe(before)
    }
    expect(tries).toBe(1)
  })
})
